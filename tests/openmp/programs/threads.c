/* test: libs=-pthread
 * Many host threads with regions and transfers of their own on all devices at once. */
#include <pthread.h>
#include "check.h"

enum { THREADS = 8, ROUNDS = 40, N = 600 };

static int counts, bad[THREADS];

static void *work(void *argument)
{
    int me = (int)(long)argument;
    int *a = malloc(N * sizeof(int));
    for (int r = 0; r < ROUNDS; r++) {
        int device = (me + r) % counts, sum = 0, n = N - r;
        for (int i = 0; i < N; i++)
            a[i] = me;
#pragma omp target map(tofrom : a [0:N], sum) firstprivate(me, r, n) device(device)
        for (int i = 0; i < n; i++) {
            sum += a[i];
            a[i] += r;
        }
        bad[me] += sum != n * me || a[0] != me + r || a[N - 1] != (r ? me : me + r);
    }
    free(a);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    counts = check_devices();
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(bad[i], 0);
    return finish("threads");
}

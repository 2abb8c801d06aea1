/* test: reference=no needs=own;program status=7 libs=-pthread
 * A thread calls exit() while others compute on a device, with and without nowait, copy to it and
 * take memory of it: the status is the program's, and nothing is said. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 8 };

static void *work(void *number)
{
    double values[100] = {0};
    char *there = omp_target_alloc(sizeof(values), 0);
    for (;;) {
        int sum = 0;
        if ((long)number % 4 == 0) {
            omp_target_memcpy(there, values, sizeof(values), 0, 0, 0, omp_get_initial_device());
        } else if ((long)number % 4 == 1) {
#pragma omp target map(tofrom : sum)
            for (int i = 0; i < 1000; i++)
                sum += 1;
        } else if ((long)number % 4 == 2) {
#pragma omp target map(tofrom : sum) nowait
            sum += 1;
#pragma omp taskwait
        } else {
            char *more = omp_target_alloc(sizeof(values), 0);
            omp_target_memcpy(more, there, sizeof(values), 0, 0, 0, 0);
            omp_target_free(more, 0);
        }
    }
    return NULL;
}

/* Any line, which would be omprma's, is one too many. */
static void look(void)
{
    fflush(stderr);
    if (lseek(STDERR_FILENO, 0, SEEK_END) > 0)
        _exit(1);
}

int main(void)
{
    pthread_t threads[THREADS];
    atexit(look);
    check_devices();
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    usleep(300000);
    printf("exit_threads: ends\n");
    exit(failures ? 1 : 7);
}

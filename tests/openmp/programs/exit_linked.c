/* test: tier=few needs=worker reference=no status=9 env=OMPRMA_TIMEOUT=3 linked=stuck stderr=ends
 * As exit_stuck.c, with the region in a library: omprma starts before libc has begun to count what
 * is to be called at the end. Another thread waits for input, and has the lock of stdin. */
#include <pthread.h>
#include "check.h"

void stuck(void);

static void *leave(void *unused)
{
    (void)unused;
    usleep(300000);
    exit(9);
}

static void *read_on(void *file)
{
    getc(file);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int ends[2];
    check_devices();
    CHECK_EQUAL(pipe(ends), 0);
    pthread_create(&threads[0], NULL, leave, NULL);
    pthread_create(&threads[1], NULL, read_on, fdopen(ends[0], "r"));
    stuck();
    return 1;
}

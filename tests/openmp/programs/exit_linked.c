/* test: tier=few needs=worker reference=no status=9 env=OMPRMA_TIMEOUT=3 linked=stuck stderr=longer
 * As exit_stuck.c, with the region in a library: omprma starts before libc has begun to count what
 * is to be called at the end. Another thread waits for input, and has the lock of its file. */
#include "check.h"
#include "leave.h"

void stuck(void);

static void *read_on(void *file)
{
    getc(file);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int ends[2];
    check_devices();
    CHECK_EQUAL(pipe(ends), 0);
    leave_after(300000);
    pthread_create(&thread, NULL, read_on, fdopen(ends[0], "r"));
    stuck();
    return 1;
}

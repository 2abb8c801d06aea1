/* leave.h: exit() from another thread, while the program does something else. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEAVE_STATUS = 9 };

static void *leave_thread(void *microseconds)
{
    usleep(*(const useconds_t *)microseconds);
    exit(LEAVE_STATUS);
}

static inline void leave_after(useconds_t microseconds)
{
    static useconds_t delay;
    pthread_t thread;
    delay = microseconds;
    pthread_create(&thread, NULL, leave_thread, &delay);
}

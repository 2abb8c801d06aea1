/*
 * watch.h: a thread that looks at something from time to time, while other threads are in calls
 * that cannot be called off.
 *
 * Thread: any, one at a time. Signals are left to the program's own threads.
 */
#ifndef OMPRMA_BASE_WATCH_H
#define OMPRMA_BASE_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { WATCH_END = -1, WATCH_WHEN_TOLD = 0 };

struct watch {
    /* Called on the watch's thread with `lock` held, and must not touch the watch. Returns when to
     * be called again (clock_ns()), WATCH_WHEN_TOLD, or WATCH_END for never again. */
    int64_t (*look)(void *data);
    void *data;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool told, over;
};

/* Looks from now on. False: no thread can be made, and nothing is to be ended. */
bool watch_begin(struct watch *watch, int64_t (*look)(void *data), void *data);

/* Around a change of what is looked at, which is looked at then. */
void watch_lock(struct watch *watch);
void watch_tell(struct watch *watch);

/* Ends the thread; waits for a look that goes on. */
void watch_end(struct watch *watch);

#endif

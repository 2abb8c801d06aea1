/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * spinlock.h: a lock for sections of some tens of nanoseconds that are rarely contended. Half the
 * cost of a mutex when free; a thread that finds it taken yields, because its holder may have been
 * descheduled.
 */
#ifndef OMPRMA_BASE_SPINLOCK_H
#define OMPRMA_BASE_SPINLOCK_H

#include <sched.h>
#include <stdatomic.h>

struct spinlock {
    atomic_flag taken;
};

static inline void spinlock_init(struct spinlock *lock)
{
    atomic_flag_clear(&lock->taken);
}

static inline void spinlock_lock(struct spinlock *lock)
{
    while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire))
        sched_yield();
}

static inline void spinlock_unlock(struct spinlock *lock)
{
    atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}

#endif

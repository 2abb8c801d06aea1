/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.h: start and end of the runtime, and its devices. Which device a construct means, whether
 * it is to run on the host, and what happens when it cannot do what it must.
 *
 * Thread: any function from any thread. Blocks: the first use of a device starts omprma and loads
 * images.
 */
#ifndef OMPRMA_OPENMP_DEVICE_H
#define OMPRMA_OPENMP_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/abi.h"
#include "openmp/mapping.h"
#include "openmp/share.h"
#include "openmp/site.h"

/* Numbers of OpenMP's that are no device's: omp_initial_device and omp_invalid_device. Compilers
 * also pass the first to constructs that have no device clause. */
enum { DEVICE_HOST = -1, DEVICE_INVALID = -2 };

enum { PLANS = 16, PLAN_RANGES = 64 };

/* What a region needed the last time: its kernel, while nothing was registered or removed since,
 * and the ranges of its list, which are asked whether they are still what it needs. */
struct plan {
    const void *host_id;
    unsigned long changes; /* of the registry until then */
    omprma_addr_t kernel;  /* 0: there is none, or nothing was looked up */
    const char *name;
    bool has_leading, as_on_gpus;        /* see struct entry */
    const struct location *caller;       /* whose it is alone; NULL: everybody's */
    struct mapped *entered[PLAN_RANGES]; /* by each item; of a longer list none */
};

/* What the program sees as one. */
struct device {
    int number;           /* the program's */
    pthread_mutex_t lock; /* guards the table, its memory, the works and the plans */
    struct mapping mapping;
    struct shares shares;
    struct work *free_works;
    uint64_t works; /* numbers given to works so far */
    struct plan plans[PLANS];
    struct site site;     /* that serves it */
    _Atomic bool refused; /* that functions of the program cannot use it has been said */
    bool settled;         /* what was lost with it has been said */
};

/* Starts omprma at the first call. The number of devices; 0, after a line that says why, when there
 * are none. Asks libomp for nothing, for it calls this when it starts. */
int devices_start(void);

/* Is this process a child of the one that has the devices? It sees them, and cannot use them. */
bool devices_forked(void);

/* True from the moment the process has begun to end. */
bool devices_ended(void);

/* Device 0 <= number < devices_start(); NULL for another number. */
struct device *device_at(int number);

/* For all devices, if omprma has been started; else it is not. */
int devices_started(void);

/* Does this program want no devices at all? */
bool devices_disabled(void);

/* The same without starting libomp, which knows for sure, but main() may still set variables that
 * it reads when it starts; and a tool may ask while it starts. */
bool devices_wished_off(void);

/* Must every region run on a device? */
bool devices_mandatory(void);

/* The run goes on without it. */
static inline bool device_is_lost(const struct device *device)
{
    return site_is_lost(&device->site);
}

/* Of the device that a construct means, if it is one of ours; -1 is the default device. Else -1. */
int device_number(int64_t id);

enum choice {
    CHOICE_HOST,   /* run it on the host, quietly */
    CHOICE_DEVICE, /* device_leave() has to follow */
    CHOICE_FAILED  /* reported */
};

/* Which device a construct means; -1 is the default device. Its images are loaded. */
enum choice device_choose(int64_t id, const struct location *where, struct device **device);

/* The same without images, for constructs that need none. */
enum choice device_choose_bare(int64_t id, const struct location *where, struct device **device);

/* Which device a function means that is given a number; -1 is the host. Its images are loaded. Ends
 * the process for omp_invalid_device, as the specification has it. */
enum choice device_of_function(int number, struct device **device);

/* The same without images, for functions that only use memory. */
enum choice device_of_function_bare(int number, struct device **device);

/* Is that a number of the host? */
bool device_is_host(int number);

/* The program has asked for the number of devices, which is the host's number, too, or for that as
 * such: so it may mean the host by it. */
enum host_asked { HOST_NOT_ASKED, HOST_AS_COUNT, HOST_AS_DEVICE };
void device_host_asked(enum host_asked asked);

void device_leave(void);

/* What the construct's entry point returns: ABI_OK, or ABI_FAIL, which lets the program run the
 * region on the host. Where it must not, this ends the process. */
int outcome(bool right, const struct location *where, struct device *device);

#endif

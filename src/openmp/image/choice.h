/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * choice.h: which device a construct or a function of the program means, whether it is to run on
 * the host, and what happens when it cannot do what it must.
 *
 * Thread: any function from any thread. Blocks: the first use of a device starts omprma and loads
 * images.
 */
#ifndef OMPRMA_OPENMP_IMAGE_CHOICE_H
#define OMPRMA_OPENMP_IMAGE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "openmp/abi/abi.h"
#include "openmp/device/device.h"

/* Numbers of OpenMP's that are no device's: omp_initial_device and omp_invalid_device. Compilers
 * also pass the first to constructs that have no device clause. */
enum { DEVICE_HOST = -1, DEVICE_INVALID = -2 };

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

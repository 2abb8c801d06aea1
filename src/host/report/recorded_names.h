/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recorded_names.h: the texts of a recording, found fast: of kernels, and of words of this program.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_REPORT_RECORDED_NAMES_H
#define OMPRMA_HOST_REPORT_RECORDED_NAMES_H

#include "host/core/operation.h"
#include "report/recording.h"

enum { RECORDED_NAMES = 4096 /* that are found at once */, RECORDED_KERNELS = 4096 };

/* A text by what it was made of: an address that does not change, of a device or of this program.
 */
struct known_name {
    uint64_t key;
    uint32_t device, text;
};

struct recorded_names {
    struct recording *recording;
    struct known_name known[RECORDED_NAMES];
    uint32_t kernel_count;
    uint32_t kernels[RECORDED_KERNELS]; /* texts */
};

/* Of a text that does not change, and of the kernel of a launch, with its source file, or "",
 * behind it. 0: there is no room. */
uint32_t recorded_text(struct recorded_names *names, const char *text);
uint32_t recorded_kernel(struct recorded_names *names, const struct operation *launch);

/* Is it a kernel of the program's? Those of the worker's own move data. */
bool recorded_is_programs(const struct recorded_names *names, uint32_t kernel);

#endif

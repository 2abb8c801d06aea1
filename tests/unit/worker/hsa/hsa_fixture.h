/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hsa_fixture.h: a core with two GPUs of the stand-in for the HSA runtime (tests/hsa) and a native
 * device on one worker. Included after cmocka.h.
 */
#ifndef OMPRMA_TESTS_HSA_FIXTURE_H
#define OMPRMA_TESTS_HSA_FIXTURE_H

#include "tests/hsa/code_object.h"
#include "tests/hsa/counts.h"
#include "worker/hsa/hsa.h"

#define GPU_KIND hsa_kind
#define GPU_SONAME "libhsa-runtime64.so.1"
#include "tests/unit/worker/gpu/gpu_fixture.h"

static inline const void *gpu_image(size_t *bytes)
{
    static void *image;
    static size_t image_bytes;

    if (!image)
        image = code_object_of_standin(&image_bytes);
    *bytes = image_bytes;
    return image;
}

static inline int count_left(void)
{
    struct standin_counts now = count_things();

    return now.blocks + now.executables + now.readers + now.queues + now.signals + now.locks;
}

#endif

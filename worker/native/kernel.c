/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel.c: calls of kernels, see kernel.h. Must not know: queues, messages, images.
 *
 * Kernels take 64-bit integers and pointers only, so that for up to six of them (all in registers)
 * the compiler's own call is right; libffi does the rest.
 */
#include "worker/native/kernel.h"

#include <ffi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"

/* One call interface per count, made at its first use and kept. */
static ffi_cif *_Atomic interfaces[OMPRMA_LAUNCH_ARGUMENTS + 1];
static ffi_type *types[OMPRMA_LAUNCH_ARGUMENTS + 1]; /* all the same; guarded by `lock` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static omprma_status_t interface_make(uint32_t count, ffi_cif **cif)
{
    omprma_status_t status = OMPRMA_OK;
    pthread_mutex_lock(&lock);
    *cif = atomic_load(&interfaces[count]);
    if (*cif)
        goto unlock;
    if (!types[0])
        for (uint32_t i = 0; i <= OMPRMA_LAUNCH_ARGUMENTS; i++)
            types[i] = &ffi_type_uint64;
    *cif = malloc(sizeof(**cif));
    if (!*cif || ffi_prep_cif(*cif, FFI_DEFAULT_ABI, count, &ffi_type_void, types) != FFI_OK) {
        free(*cif);
        status = error_set(OMPRMA_ERR_HOST_MEMORY,
                           "no call interface for a kernel with %u arguments", count);
        goto unlock;
    }
    atomic_store_explicit(&interfaces[count], *cif, memory_order_release);
unlock:
    pthread_mutex_unlock(&lock);
    return status;
}

static omprma_status_t call_ffi(uint64_t entry, const uint64_t *arguments, uint32_t count)
{
    ffi_cif *cif = atomic_load_explicit(&interfaces[count], memory_order_acquire);
    if (!cif) {
        omprma_status_t status = interface_make(count, &cif);
        if (status)
            return status;
    }
    void *values[OMPRMA_LAUNCH_ARGUMENTS]; /* 32 KiB of stack, of which `count` words are touched */
    for (uint32_t i = 0; i < count; i++)
        values[i] = (void *)(uintptr_t)&arguments[i];
    ffi_call(cif, FFI_FN((uintptr_t)entry), NULL, values);
    return OMPRMA_OK;
}

static omprma_status_t check(uint64_t entry, const uint64_t *arguments, uint32_t count)
{
    if (!entry || (count && !arguments))
        return error_set(OMPRMA_ERR_ARGUMENT, "launch of a kernel at address 0x%llx without %s",
                         (unsigned long long)entry, entry ? "its arguments" : "code");
    if (count > OMPRMA_LAUNCH_ARGUMENTS)
        return error_set(OMPRMA_ERR_ARGUMENT, "launch with %u arguments, at most %d are possible",
                         count, OMPRMA_LAUNCH_ARGUMENTS);
    return OMPRMA_OK;
}

omprma_status_t kernel_call_context(uint64_t entry, const uint64_t *arguments, uint32_t count)
{
    omprma_status_t status = check(entry, arguments, count);
    uint64_t words[OMPRMA_LAUNCH_ARGUMENTS]; /* stack as in call_ffi() */
    void *context[OMPRMA_LAUNCH_ARGUMENTS];

    if (status)
        return status;
    for (uint32_t i = 0; i < count; i++) {
        words[i] = arguments[i];
        context[i] = &words[i];
    }
    ((void (*)(void **))(uintptr_t)entry)(context);
    return OMPRMA_OK;
}

omprma_status_t kernel_call(uint64_t entry, const uint64_t *arguments, uint32_t count)
{
    typedef uint64_t word;
    const word *a = arguments;
    uintptr_t f = (uintptr_t)entry;
    omprma_status_t status = check(entry, arguments, count);

    if (status)
        return status;
    switch (count) {
    case 0:
        ((void (*)(void))f)();
        break;
    case 1:
        ((void (*)(word))f)(a[0]);
        break;
    case 2:
        ((void (*)(word, word))f)(a[0], a[1]);
        break;
    case 3:
        ((void (*)(word, word, word))f)(a[0], a[1], a[2]);
        break;
    case 4:
        ((void (*)(word, word, word, word))f)(a[0], a[1], a[2], a[3]);
        break;
    case 5:
        ((void (*)(word, word, word, word, word))f)(a[0], a[1], a[2], a[3], a[4]);
        break;
    case 6:
        ((void (*)(word, word, word, word, word, word))f)(a[0], a[1], a[2], a[3], a[4], a[5]);
        break;
    default:
        return call_ffi(entry, arguments, count);
    }
    return OMPRMA_OK;
}

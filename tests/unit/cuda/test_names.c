/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_names.c: functions of the CUDA driver library by name: each symbol of cuda.def is found
 * by itself, by the plain name from its version on, and in the form for a stream per thread. None
 * of them is called, so no device is needed.
 * Covers: names.c
 */
#include "tests/unit/test.h"
#include "cuda/exports.h"

enum { PER_THREAD_STREAM = 2, FOUND = 0, UNKNOWN = 1, NEWER = 2, NOW = 13000 };

/* Does not compile where a symbol has two rows. */
enum {
#define CU_FUNCTION(name, suffix, since, parameters) only_##name##suffix,
#include "cuda/cuda.def"
    SYMBOLS
};

/* What the name stands for; NULL: nothing. */
static void *ask(const char *name, int version, uint64_t flags, int status)
{
    void *function = &status;
    int said = -1;

    assert_int_equal(cuGetProcAddress_v2(name, &function, version, flags, &said), CUDA_SUCCESS);
    assert_int_equal(said, status);
    assert_int_equal(cuGetProcAddress_v2(name, &function, version, flags, NULL),
                     status == FOUND ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
    return function;
}

static void check(const char *name, const char *suffix, const char *symbol, int since,
                  void *function)
{
    if (*suffix)
        assert_ptr_equal(ask(symbol, NOW, 0, FOUND), function);
    else
        assert_non_null(ask(symbol, NOW, 0, FOUND));
    if (since)
        assert_ptr_equal(ask(name, since, 0, FOUND), function);
}

TEST(each_symbol_is_found)
{
#define CU_FUNCTION(name, suffix, since, parameters)                                               \
    check(#name, #suffix, #name #suffix, since, (void *)name##suffix);
#include "cuda/cuda.def"
}

TEST(each_form_per_thread_is_found)
{
    const uint64_t flags = PER_THREAD_STREAM;

#define CU_FUNCTION(name, suffix, since, parameters)
#define CU_STREAM(name, suffix, since, parameters, arguments)                                      \
    assert_ptr_equal(ask(#name, NOW, flags, FOUND), name##suffix##_ptsz);
#define CU_NULL_STREAM(name, suffix, since, parameters, call)                                      \
    assert_ptr_equal(ask(#name, NOW, flags, FOUND), name##suffix##_ptds);
#include "cuda/cuda.def"
    assert_ptr_equal(ask("cuLaunchKernelEx", NOW, flags, FOUND), cuLaunchKernelEx_ptsz);
    assert_ptr_equal(ask("cuMemAlloc", NOW, flags, FOUND), cuMemAlloc_v2);
}

TEST(versions_count)
{
    assert_ptr_equal(ask("cuCtxCreate", 12080, 0, FOUND), cuCtxCreate_v2);
    assert_ptr_equal(ask("cuCtxCreate", 13000, 0, FOUND), cuCtxCreate_v4);
    assert_ptr_equal(ask("cuGetProcAddress", 11080, 0, FOUND), cuGetProcAddress);
    assert_null(ask("cuMemAlloc", 3019, 0, NEWER));
    assert_ptr_equal(ask("cuLaunchKernel", 1000, 0, FOUND), cuLaunchKernel);
}

TEST(others_are_unknown)
{
    assert_null(ask("cuNoSuchFunction", NOW, 0, UNKNOWN));
    assert_null(ask("cuMemAlloc_v3", NOW, 0, UNKNOWN));
    assert_null(ask("malloc", NOW, 0, UNKNOWN));
    assert_int_equal(cuGetProcAddress_v2(NULL, &(void *){NULL}, NOW, 0, NULL),
                     CUDA_ERROR_INVALID_VALUE);
}

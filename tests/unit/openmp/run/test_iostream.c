/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_iostream.c: what is said of addresses in C++'s library: streams, tables of their classes,
 * and what is none of these.
 * Covers: openmp/run/iostream.c */
#include <dlfcn.h>
#include <string.h>

#include "openmp/run/iostream.h"
#include "tests/unit/test.h"

static void is_advised(void *library, const char *name, const char *words)
{
    char *address = dlsym(library, name);

    assert_non_null(address);
    assert_non_null(iostream_advice((uintptr_t)address));
    assert_non_null(strstr(iostream_advice((uintptr_t)address), words));
    assert_non_null(strstr(iostream_advice((uintptr_t)(address + 8)), words));
}

TEST(streams_are_known)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW);

    if (!library)
        skip();
    is_advised(library, "_ZSt3cin", "read it outside");
    is_advised(library, "_ZSt4wcin", "read it outside");
    is_advised(library, "_ZSt4cout", "printf");
    is_advised(library, "_ZSt4cerr", "printf");
    is_advised(library, "_ZSt5wcout", "printf");
    is_advised(library, "_ZTVSt14basic_ofstreamIcSt11char_traitsIcEE", "the file");
    is_advised(library, "_ZTVSt13basic_filebufIcSt11char_traitsIcEE", "the file");
    is_advised(library, "_ZTVSi", "read it outside");
    is_advised(library, "_ZTVSo", "printf");
    assert_null(iostream_advice((uintptr_t)dlsym(library, "_ZSt7nothrow")));
}

TEST(others_are_none)
{
    int here = 0;

    assert_null(iostream_advice((uintptr_t)&here));
    assert_null(iostream_advice((uintptr_t)&strlen));
    assert_null(iostream_advice(0));
}

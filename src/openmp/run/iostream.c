/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * iostream.c: The address lies in the stream, or in the table of virtual functions of its class. A
 * program that is not position-independent has copies of both, under their names.
 */
#define _GNU_SOURCE
#include "openmp/run/iostream.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const char read_before[] = "read it outside of regions, and map what was read";
static const char print_instead[] = "print by printf";
static const char file_outside[] = "use the file outside of regions, and map its data";

/* Parts of names as g++ and clang make them, the first that fits. */
static const struct {
    const char *part, *advice;
} names[] = {{"_ZSt3cin", read_before}, {"_ZSt4wcin", read_before},
             {"_ZSt4c", print_instead}, {"_ZSt5wc", print_instead},
             {"fstream", file_outside}, {"filebuf", file_outside},
             {"_ZTVSi", read_before},   {"basic_istream", read_before},
             {"_ZTVSo", print_instead}, {"basic_ostream", print_instead}};

const char *iostream_advice(uintptr_t address)
{
    Dl_info found;

    if (!dladdr((const void *)address, &found) || !found.dli_sname)
        return NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strstr(found.dli_sname, names[i].part))
            return names[i].advice;
    return NULL;
}

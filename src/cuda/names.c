/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * names.c: functions by name. A program asks for a plain name and says for which version of the
 * interface it is made. It gets the newest symbol that this version knows, from the table that
 * cuda.def makes. A symbol's own name finds it in any version.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/result.h"

enum { PER_THREAD_STREAM = 2 };
enum { NAME_FOUND = 0, NAME_UNKNOWN = 1, NAME_NEWER = 2 };

/* Addresses are this library's own, whatever else of the process has the same names: it is linked
 * with -Bsymbolic-functions. */
static const struct symbol {
    const char *name, *symbol; /* the plain name; with what stands behind it */
    int since;                 /* see cuda.def */
    void (*function)(void);
} symbols[] = {
#define CU_FUNCTION(name, suffix, since, parameters)                                               \
    {#name, #name #suffix, since, (void (*)(void))name##suffix},
#include "cuda/cuda.def"
};
enum { SYMBOLS = sizeof(symbols) / sizeof(symbols[0]) };

static const struct symbol *symbol_find(const char *symbol)
{
    for (int i = 0; i < SYMBOLS; i++)
        if (strcmp(symbols[i].symbol, symbol) == 0)
            return &symbols[i];
    return NULL;
}

/* Its form for programs with a stream per thread, if it has one, else itself. */
static const struct symbol *symbol_per_thread(const struct symbol *symbol)
{
    const struct symbol *found;
    char name[128];

    snprintf(name, sizeof(name), "%s_ptsz", symbol->symbol);
    found = symbol_find(name);
    if (found)
        return found;
    snprintf(name, sizeof(name), "%s_ptds", symbol->symbol);
    found = symbol_find(name);
    return found ? found : symbol;
}

/* NAME_FOUND and so on. */
static int name_find(const char *name, int version, uint64_t flags, void **function)
{
    const struct symbol *found = NULL;
    bool newer = false;

    for (int i = 0; i < SYMBOLS && !found; i++) {
        if (symbols[i].since == 0 || strcmp(symbols[i].name, name) != 0)
            continue;
        if (version >= symbols[i].since)
            found = &symbols[i];
        else
            newer = true;
    }
    if (!found && newer)
        return NAME_NEWER;
    if (!found)
        found = symbol_find(name);
    if (!found)
        return NAME_UNKNOWN;
    if (flags & PER_THREAD_STREAM)
        found = symbol_per_thread(found);
    *function = (void *)found->function;
    return NAME_FOUND;
}

/* ---- exported ------------------------------------------------------------------------------- */

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                             int *status)
{
    if (!name || !function)
        return CUDA_ERROR_INVALID_VALUE;
    *function = NULL;
    int found = name_find(name, version, flags, function);
    if (status)
        *status = found;
    if (found != NAME_FOUND)
        report_choice("a program asks for %s of CUDA %d.%d, which is not served", name,
                      version / 1000, version % 1000 / 10);
    return found == NAME_FOUND || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress_v2_ptsz(const char *name, void **function, int version, uint64_t flags,
                                  int *status)
{
    return cuGetProcAddress_v2(name, function, version, flags ? flags : PER_THREAD_STREAM, status);
}

/* The first form cannot say why. */
CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

/* Tables of functions without names, which belong to NVIDIA's own libraries. libcudart cannot start
 * without them. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    report_error("a program asks for a table of NVIDIA's own functions, which only the CUDA "
                 "runtime (libcudart) uses; programs of the runtime are not served");
    return CUDA_ERROR_NOT_FOUND;
}

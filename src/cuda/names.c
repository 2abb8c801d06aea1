/*
 * names.c: functions by name. Programs ask for a function's plain name and the version of the
 * interface that they are made for; which form of it that means is in the table.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/gpu.h"
#include "cuda/result.h"

enum { PER_THREAD_STREAM = 2 };
enum { NAME_FOUND = 0, NAME_UNKNOWN = 1, NAME_NEWER = 2 };

/* Names of which a form is not called like the plain name; the newest form that the program may
 * know comes first. `since` is the version of the interface that brought it. */
static const struct form {
    const char *name, *symbol;
    int since;
} forms[] = {
    {"cuCtxCreate", "cuCtxCreate_v4", 13000},
    {"cuCtxCreate", "cuCtxCreate_v2", 3020},
    {"cuCtxDestroy", "cuCtxDestroy_v2", 4000},
    {"cuCtxPopCurrent", "cuCtxPopCurrent_v2", 4000},
    {"cuCtxPushCurrent", "cuCtxPushCurrent_v2", 4000},
    {"cuDeviceGetUuid", "cuDeviceGetUuid_v2", 11040},
    {"cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", 11000},
    {"cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2", 11000},
    {"cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags_v2", 11000},
    {"cuDeviceTotalMem", "cuDeviceTotalMem_v2", 3020},
    {"cuEventDestroy", "cuEventDestroy_v2", 4000},
    {"cuGetProcAddress", "cuGetProcAddress_v2", 12000},
    {"cuGetProcAddress", "cuGetProcAddress", 11030},
    {"cuLinkAddData", "cuLinkAddData_v2", 6050},
    {"cuLinkCreate", "cuLinkCreate_v2", 6050},
    {"cuMemAlloc", "cuMemAlloc_v2", 3020},
    {"cuMemAllocHost", "cuMemAllocHost_v2", 3020},
    {"cuMemAllocPitch", "cuMemAllocPitch_v2", 3020},
    {"cuMemFree", "cuMemFree_v2", 3020},
    {"cuMemGetAddressRange", "cuMemGetAddressRange_v2", 3020},
    {"cuMemGetInfo", "cuMemGetInfo_v2", 3020},
    {"cuMemHostGetDevicePointer", "cuMemHostGetDevicePointer_v2", 3020},
    {"cuMemHostRegister", "cuMemHostRegister_v2", 6050},
    {"cuMemcpy2D", "cuMemcpy2D_v2", 3020},
    {"cuMemcpy2DAsync", "cuMemcpy2DAsync_v2", 3020},
    {"cuMemcpy2DUnaligned", "cuMemcpy2DUnaligned_v2", 3020},
    {"cuMemcpyDtoD", "cuMemcpyDtoD_v2", 3020},
    {"cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync_v2", 3020},
    {"cuMemcpyDtoH", "cuMemcpyDtoH_v2", 3020},
    {"cuMemcpyDtoHAsync", "cuMemcpyDtoHAsync_v2", 3020},
    {"cuMemcpyHtoD", "cuMemcpyHtoD_v2", 3020},
    {"cuMemcpyHtoDAsync", "cuMemcpyHtoDAsync_v2", 3020},
    {"cuMemsetD16", "cuMemsetD16_v2", 3020},
    {"cuMemsetD2D16", "cuMemsetD2D16_v2", 3020},
    {"cuMemsetD2D32", "cuMemsetD2D32_v2", 3020},
    {"cuMemsetD2D8", "cuMemsetD2D8_v2", 3020},
    {"cuMemsetD32", "cuMemsetD32_v2", 3020},
    {"cuMemsetD8", "cuMemsetD8_v2", 3020},
    {"cuModuleGetGlobal", "cuModuleGetGlobal_v2", 3020},
    {"cuStreamDestroy", "cuStreamDestroy_v2", 4000},
};

/* This library, without the others of the process, which may have another driver's functions. */
static void *own_symbol(const char *name)
{
    static const int here;
    Dl_info info;
    void *found = NULL;

    if (!dladdr(&here, &info))
        return NULL;
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
        found = dlsym(library, name);
        Dl_info whose;
        if (found && (!dladdr(found, &whose) || whose.dli_fbase != info.dli_fbase))
            found = NULL; /* of a library that this one needs */
        dlclose(library);
    }
    return found;
}

/* The form of `symbol` for programs with a stream per thread, if it has one. */
static void *per_thread_symbol(const char *symbol)
{
    char name[128];
    void *found = NULL;

    if (snprintf(name, sizeof(name), "%s_ptsz", symbol) < (int)sizeof(name))
        found = own_symbol(name);
    if (!found && snprintf(name, sizeof(name), "%s_ptds", symbol) < (int)sizeof(name))
        found = own_symbol(name);
    return found;
}

/* NAME_FOUND and so on. */
static int name_find(const char *name, int version, uint64_t flags, void **function)
{
    const char *symbol = NULL;
    int known = NAME_UNKNOWN;

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && !symbol; i++) {
        if (strcmp(forms[i].name, name) != 0)
            continue;
        known = NAME_NEWER;
        if (version >= forms[i].since)
            symbol = forms[i].symbol;
    }
    if (!symbol && known == NAME_NEWER)
        return NAME_NEWER;
    if (!symbol)
        symbol = name;
    if (strncmp(symbol, "cu", 2) != 0)
        return NAME_UNKNOWN;
    void *found = flags & PER_THREAD_STREAM ? per_thread_symbol(symbol) : NULL;
    if (!found)
        found = own_symbol(symbol);
    if (!found)
        return NAME_UNKNOWN;
    *function = found;
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
    report_choice("a program asks for a table of NVIDIA's own functions, which only the CUDA "
                  "runtime (libcudart) uses; programs of the runtime are not served");
    return CUDA_ERROR_NOT_FOUND;
}

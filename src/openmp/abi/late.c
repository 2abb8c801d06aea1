/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * late.c: see late.h. libomp leaves a sign that it has started: an object in shared memory, else a
 * file, else a variable, named after its process. A sign that is left from an ended process of this
 * number only makes nowait constructs wait in place.
 */
#include "openmp/abi/late.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool late;

static bool libomp_has_started(void)
{
    static const char *const folders[] = {"/dev/shm", "/tmp"};
    char name[64], path[96];
    snprintf(name, sizeof(name), "__KMP_REGISTERED_LIB_%d_%d", (int)getpid(), (int)getuid());
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folders[i], name);
        if (access(path, F_OK) == 0)
            return true;
    }
    return getenv(name) != NULL;
}

__attribute__((constructor)) static void library_comes(void)
{
    Dl_info info;
    late = libomp_has_started();
    if (dladdr((void *)late_for_libomp, &info))
        dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

bool late_for_libomp(void)
{
    return late;
}

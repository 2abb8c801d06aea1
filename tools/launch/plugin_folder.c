/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* plugin_folder.c: folders that make libomptarget load our plugin. See plugin_folder.h. */
#include "tools/launch/plugin_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/gpu_library.h"
#include "tools/launch/list.h"
#include "tools/launch/paths.h"

static const char plugin_name[] = "libomptarget.rtl.x86_64.so";
static const char plugin_nextgen[] = "libomptarget.rtl.x86_64.nextgen.so";

char *plugin_folder_built(int version)
{
    char *root = path_root();
    char *folder = text_make("%s/lib/omprma/llvm-%d", root, version);
    free(root);
    return folder;
}

bool plugin_folder_fits(const char *folder, int version, const char *name, const char *real)
{
    if (!path_holds(folder, version >= 16 ? plugin_nextgen : plugin_name))
        return false;
    char *path = text_make("%s/%s", folder, name), *link = path_real(path);
    /* Up to 14 the plugin is found by the loader, whichever folder libomptarget lies in. */
    bool fits = link ? strcmp(link, real) == 0 : version < 15;
    free(path);
    free(link);
    return fits;
}

static omprma_status_t link_make(const char *target, const char *folder, const char *name)
{
    char *path = text_make("%s/%s", folder, name);
    omprma_status_t status = OMPRMA_OK;
    if (symlink(target, path) && errno != EEXIST)
        status = error_set(OMPRMA_ERR_CONFIG, "cannot make the link %s: %s", path, strerror(errno));
    free(path);
    return status;
}

omprma_status_t plugin_folder_fill(const char *folder, const char *name, const char *real)
{
    char *root = path_root();
    char *plugin = text_make("%s/lib/omprma/libomprma-plugin.so", root);
    free(root);
    omprma_status_t status = OMPRMA_OK;
    if (access(plugin, R_OK))
        status = error_set(OMPRMA_ERR_CONFIG,
                           "omprma's plugin is missing: no %s; build or install omprma completely",
                           plugin);
    if (status == OMPRMA_OK)
        status = link_make(plugin, folder, plugin_name);
    if (status == OMPRMA_OK)
        status = link_make(plugin, folder, plugin_nextgen);
    if (status == OMPRMA_OK)
        status = link_make(real, folder, name);
    free(plugin);
    return status;
}

/* Under each of its names that `library` has. */
static omprma_status_t add_gpu(const char *folder, const char *library,
                               const struct gpu_library *gpu)
{
    static const char *const endings[] = {"so", "nextgen.so"};
    omprma_status_t status = OMPRMA_OK;
    int found = 0;
    for (size_t i = 0; status == OMPRMA_OK && i < sizeof(endings) / sizeof(endings[0]); i++) {
        char *name = text_make("libomptarget.rtl.%s.%s", gpu->llvm_plugin, endings[i]);
        char *target = text_make("%s/%s", library, name);
        if (path_holds(library, name)) {
            status = link_make(target, folder, name);
            found++;
        }
        free(target);
        free(name);
    }
    if (found)
        return status;
    return error_set(OMPRMA_ERR_CONFIG,
                     "the program has code for %s GPUs, but there is no %s/libomptarget.rtl.%s.so; "
                     "give the folder with LLVM's libraries by --llvm",
                     gpu->maker, library, gpu->llvm_plugin);
}

omprma_status_t plugin_folder_add_gpus(const char *folder, const char *real, int kinds)
{
    char *library = text_make("%.*s", (int)(strrchr(real, '/') - real), real);
    omprma_status_t status = OMPRMA_OK;
    for (int i = 0; i < GPU_LIBRARIES && status == OMPRMA_OK; i++)
        if (kinds & gpu_bit(&gpu_libraries[i]))
            status = add_gpu(folder, library, &gpu_libraries[i]);
    free(library);
    return status;
}

bool plugin_folder_present(const char *folder)
{
    return path_holds(folder, plugin_name);
}

char *plugin_folder_library(int version, const char *name)
{
    char *ours = plugin_folder_built(version), *link = text_make("%s/%s", ours, name);
    char *folder = text_make("/usr/lib/llvm-%d/lib", version);
    char *real = path_holds(folder, name) ? NULL : path_real(link);
    if (real) {
        *strrchr(real, '/') = 0;
        free(folder);
        folder = real;
    }
    free(link);
    free(ours);
    return folder;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu_folder.c: The folders lie beside the tool's own. A path variable is copied without the
 * entries that lead to one of them, under whatever name.
 */
#include "tools/launch/gpu_folder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/launch/list.h"
#include "tools/launch/paths.h"

static char *folder_path(const struct gpu_library *library)
{
    char *root = path_root();
    char *folder = text_make("%s/lib/omprma/%s", root, library->kind);
    free(root);
    return folder;
}

omprma_status_t gpu_folder(const struct gpu_library *library, char **folder)
{
    char *path = folder_path(library);

    if (path_holds(path, library->soname)) {
        *folder = path;
        return OMPRMA_OK;
    }
    omprma_status_t status = error_set(
        OMPRMA_ERR_CONFIG, "omprma's %s is missing: no %s/%s; build or install omprma completely",
        library->title, path, library->soname);
    free(path);
    return status;
}

static bool is_ours(const char *entry)
{
    char *real = path_real(entry);
    bool same = false;
    for (int i = 0; i < GPU_LIBRARIES && real && !same; i++) {
        char *folder = folder_path(&gpu_libraries[i]), *ours = path_real(folder);
        same = ours && strcmp(real, ours) == 0;
        free(folder);
        free(ours);
    }
    free(real);
    return same;
}

char *gpu_folder_without(const char *path)
{
    char *kept = text_make("%s", "");

    for (const char *at = path ? path : ""; *at;) {
        size_t length = strcspn(at, ":");
        char *entry = text_make("%.*s", (int)length, at);
        if (!is_ours(entry)) {
            char *longer = path_join(kept, entry);
            free(kept);
            kept = longer;
        }
        free(entry);
        at += length + (at[length] == ':');
    }
    return kept;
}

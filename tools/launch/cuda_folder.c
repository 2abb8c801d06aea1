/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cuda_folder.c: The folder lies beside the tool's own. A path variable is copied without the
 * entries that lead to the same folder, under whatever name.
 */
#include "tools/launch/cuda_folder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/launch/list.h"
#include "tools/launch/llvm.h"
#include "tools/launch/paths.h"

static const char library[] = "libcuda.so.1";

static char *folder_path(void)
{
    char *root = path_root();
    char *folder = text_make("%s/lib/omprma/cuda", root);
    free(root);
    return folder;
}

omprma_status_t cuda_folder(char **folder)
{
    char *path = folder_path();

    if (path_holds(path, library)) {
        *folder = path;
        return OMPRMA_OK;
    }
    omprma_status_t status =
        error_set(OMPRMA_ERR_CONFIG,
                  "omprma's CUDA driver library is missing: no %s/%s; build or install omprma "
                  "completely",
                  path, library);
    free(path);
    return status;
}

/* Under whatever name. */
static bool is_ours(const char *entry, const char *ours)
{
    char *real = path_real(entry);
    bool same = real && strcmp(real, ours) == 0;
    free(real);
    return same;
}

char *cuda_folder_without(const char *path)
{
    char *folder = folder_path(), *ours = path_real(folder), *kept = text_make("%s", "");

    for (const char *at = path ? path : ""; *at;) {
        size_t length = strcspn(at, ":");
        char *entry = text_make("%.*s", (int)length, at);
        if (!ours || !is_ours(entry, ours)) {
            char *longer = path_join(kept, entry);
            free(kept);
            kept = longer;
        }
        free(entry);
        at += length + (at[length] == ':');
    }
    free(folder);
    free(ours);
    return kept;
}

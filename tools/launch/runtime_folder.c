/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * runtime_folder.c: The two folders were made by the build, and lie beside the tool's own. For a
 * name that they lack, or where their own path has a space, a folder under /tmp gets one link,
 * which is removed at the end of the run.
 */
#include "tools/launch/runtime_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "openmp/preload/preload.h"
#include "tools/launch/list.h"
#include "tools/launch/paths.h"

/* A path below the installed tree, malloced. */
static char *tree_path(const char *below)
{
    char *root = path_root();
    char *path = text_make("%s/%s", root, below);
    free(root);
    return path;
}

char *runtime_folder_program(void)
{
    return tree_path("lib/omprma/runtime");
}

char *runtime_folder_worker(void)
{
    return tree_path("lib/omprma/images");
}

char *runtime_preload(void)
{
    return tree_path("lib/omprma/preload/" PRELOAD_NAME);
}

/* own/kind/name -> the library. */
static omprma_status_t link_make(const char *own, const char *kind, const char *name,
                                 const char *library, char **folder)
{
    char *target = tree_path(library), *made = text_make("%s/%s", own, kind);
    char *link = text_make("%s/%s", made, name);
    omprma_status_t status = OMPRMA_OK;
    if ((mkdir(made, 0700) && errno != EEXIST) || (symlink(target, link) && errno != EEXIST))
        status = error_set(OMPRMA_ERR_CONFIG, "cannot make the link %s: %s", link, strerror(errno));
    free(target);
    free(link);
    *folder = made;
    return status;
}

omprma_status_t runtime_folders_make(struct runtime_folders *folders, const char *name,
                                     const char *own)
{
    *folders = (struct runtime_folders){runtime_folder_program(), runtime_folder_worker()};
    bool spaced = strchr(folders->program, ' ') != NULL; /* ends a name in LD_PRELOAD */
    if (!spaced && path_holds(folders->program, name) && path_holds(folders->worker, name))
        return OMPRMA_OK;
    char *library = tree_path("lib/omprma/libomprma-runtime.so"), *made[2] = {NULL, NULL};
    bool there = access(library, R_OK) == 0;
    omprma_status_t status = OMPRMA_OK;
    if (!there)
        status = error_set(OMPRMA_ERR_CONFIG,
                           "omprma's OpenMP runtime is missing: no %s; build or install omprma "
                           "completely",
                           library);
    free(library);
    if (status == OMPRMA_OK)
        status = link_make(own, "runtime", name, "lib/omprma/libomprma-runtime.so", &made[0]);
    if (status == OMPRMA_OK)
        status = link_make(own, "images", name, "lib/omprma/libomprma-stub.so", &made[1]);
    runtime_folders_clear(folders);
    if (made[0]) { /* found through this folder, the library needs to be told of libomprma.so */
        char *libraries = tree_path("lib");
        folders->program = text_make("%s:%s", made[0], libraries);
        free(libraries);
        free(made[0]);
    }
    folders->worker = made[1];
    return status;
}

void runtime_folders_clear(struct runtime_folders *folders)
{
    free(folders->program);
    free(folders->worker);
    *folders = (struct runtime_folders){0};
}

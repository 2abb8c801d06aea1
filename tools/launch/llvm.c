/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* llvm.c: makes libomptarget find our plugin. Knows nothing of MPI. */
#include "tools/launch/llvm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "openmp/preload/preload.h"
#include "tools/launch/gpu_folder.h"
#include "tools/launch/images.h"
#include "tools/launch/needs.h"
#include "tools/launch/paths.h"
#include "tools/launch/plugin_folder.h"
#include "tools/launch/runtime_folder.h"
#include "tools/launch/starter.h"

extern char **environ;

static const char library_prefix[] = "libomptarget.so";

/* Runtimes of sanitizers end a program in which another library comes before them. */
static bool comes_first(const char *path)
{
    static const char *const prefixes[] = {"libasan.", "libhwasan.", "liblsan.",
                                           "libtsan.", "libubsan.",  "libclang_rt."};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool found = false;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        found = found || strncmp(name, prefixes[i], strlen(prefixes[i])) == 0;
    return found;
}

static void join_one(char **text, const char *path)
{
    char *longer = path_join(*text, path);
    free(*text);
    *text = longer;
}

char *preload_join(const char *ours, const char *users)
{
    char *copy = text_make("%s", users ? users : ""), *rest = copy, *path;
    char *first = text_make("%s", ""), *last = text_make("%s", "");
    while ((path = strsep(&rest, ": ")))
        join_one(comes_first(path) ? &first : &last, path);
    join_one(&first, ours);
    join_one(&first, last);
    free(copy);
    free(last);
    return first;
}

/* The value of a variable without the library that programs of a script have. */
static void preload_take_out(const char *variable)
{
    const char *value = getenv(variable);
    if (!value || !strstr(value, PRELOAD_NAME))
        return;
    char *copy = text_make("%s", value), *rest = copy, *path, *left = text_make("%s", "");
    while ((path = strsep(&rest, ": ")))
        if (!strstr(path, PRELOAD_NAME))
            join_one(&left, path);
    if (*left)
        setenv(variable, left, 1);
    else
        unsetenv(variable);
    free(left);
    free(copy);
}

void llvm_forget_outer(void)
{
    preload_take_out("LD_PRELOAD");
    preload_take_out("OMP_TOOL_LIBRARIES");
    unsetenv("OMPRMA_INTERNAL_LD_LIBRARY_PATH");
    unsetenv("OMPRMA_INTERNAL_LD_PRELOAD");
}

int llvm_soname_version(const char *name)
{
    size_t length = sizeof(library_prefix) - 1;
    if (strncmp(name, library_prefix, length) != 0 || name[length] != '.')
        return 0;
    return atoi(name + length + 1);
}

/* The NN of the last "/llvm-NN" in a path; 0: none. */
static int version_in_path(const char *path)
{
    int version = 0;
    for (const char *at = path; (at = strstr(at, "/llvm-")); at++)
        version = atoi(at + 6);
    return version;
}

/* ---- what the user wants ------------------------------------------------------------------- */

/* The library folder that --llvm names, malloced; NULL for auto. */
static omprma_status_t wanted_folder(const char *wanted, char **folder)
{
    *folder = NULL;
    if (strcmp(wanted, "auto") == 0 || !*wanted)
        return OMPRMA_OK;
    char *end;
    long version = strtol(wanted, &end, 10);
    bool number = end != wanted && !*end;
    if (number && (version < LLVM_OLDEST || version > LLVM_FUTURE))
        return error_set(OMPRMA_ERR_CONFIG, "--llvm %s: no such LLVM is known, only %d to %d",
                         wanted, LLVM_OLDEST, LLVM_FUTURE);
    char *path = number ? text_make("/usr/lib/llvm-%ld/lib", version) : path_real(wanted);
    if (!path || access(path, F_OK)) {
        free(path);
        if (number)
            return error_set(OMPRMA_ERR_CONFIG,
                             "--llvm %s: there is no folder /usr/lib/llvm-%ld/lib; install LLVM "
                             "%ld's OpenMP, or give the folder with its libraries",
                             wanted, version, version);
        return error_set(OMPRMA_ERR_CONFIG,
                         "--llvm %s: neither auto, nor a version (%d to %d), nor a folder", wanted,
                         LLVM_OLDEST, LLVM_FUTURE);
    }
    *folder = path;
    return OMPRMA_OK;
}

/* ---- workers ------------------------------------------------------------------------------- */

void llvm_folders(struct list *folders)
{
    for (int version = LLVM_FUTURE; version >= LLVM_OLDEST; version--) {
        char *folder = text_make("/usr/lib/llvm-%d/lib", version);
        const char *needed = version > LLVM_NEWEST ? "libomp.so.5" : library_prefix;
        if (!path_holds(folder, needed)) {
            free(folder); /* LLVM elsewhere that the build knew about */
            char *ours = plugin_folder_built(version);
            char *link = text_make("%s/%s.%d", ours, library_prefix, version);
            folder = path_real(link);
            if (folder)
                *strrchr(folder, '/') = 0;
            free(link);
            free(ours);
        }
        if (folder && !list_contains(folders, folder))
            list_add(folders, folder);
        free(folder);
    }
}

static omprma_status_t plan_workers(struct llvm_plan *plan, const char *wanted)
{
    omprma_status_t status = wanted_folder(wanted, &plan->worker_path);
    if (status != OMPRMA_OK || plan->worker_path)
        return status;
    struct list folders = {0};
    llvm_folders(&folders);
    plan->worker_path = text_make("%s", "");
    for (size_t i = 0; i < folders.count; i++) {
        char *longer = path_join(plan->worker_path, folders.items[i]);
        free(plan->worker_path);
        plan->worker_path = longer;
    }
    list_clear(&folders);
    return OMPRMA_OK;
}

/* ---- one program --------------------------------------------------------------------------- */

struct choice {
    const char *name; /* libomptarget as the program names it */
    int version;
    char *real;    /* the libomptarget that the program shall use */
    char *library; /* its folder */
    bool own;      /* omprma's runtime stands in for it; then real and library may be NULL */
    int gpus;      /* kinds that it has code for, which takes LLVM's own plugin */
};

static omprma_status_t choice_missing(const char *program, const char *name, int version,
                                      const char *folder)
{
    return error_set(OMPRMA_ERR_CONFIG,
                     "%s needs %s (LLVM %d), which is not found%s%s; install the package "
                     "libomp-%d-dev, or give the folder that holds it with --llvm",
                     program, name, version, folder ? " in " : "", folder ? folder : "", version);
}

static omprma_status_t choice_version(struct choice *choice, const struct needs *needs,
                                      const char *program, const char *hint, int runtime)
{
    choice->version = llvm_soname_version(choice->name);
    if (!choice->version)
        choice->version = version_in_path(hint);
    if (!choice->version)
        choice->version = needs->clang;
    if (!choice->version)
        choice->version = 14; /* the newest whose libomptarget has no number in its name */
    choice->own = runtime == RUNTIME_OMPRMA || (runtime == RUNTIME_AUTO && !choice->gpus);
    if (choice->version < LLVM_OLDEST)
        return error_set(OMPRMA_ERR_CONFIG,
                         "%s needs %s, LLVM %d: this is too old; compile it with clang %d or newer",
                         program, choice->name, choice->version, LLVM_OLDEST);
    if (choice->version > LLVM_NEWEST && !choice->own && !choice->gpus)
        return error_set(OMPRMA_ERR_CONFIG,
                         "%s needs %s, LLVM %d: from 19 on libomptarget cannot load plugins from "
                         "outside; leave out --runtime llvm, or compile it with clang %d to %d",
                         program, choice->name, choice->version, LLVM_OLDEST, LLVM_NEWEST);
    return OMPRMA_OK;
}

static omprma_status_t choice_make(struct choice *choice, const struct needs *needs,
                                   const char *program, const char *wanted, int runtime)
{
    int index = needs_find(needs, library_prefix);
    choice->name = needs->libraries.items[index];
    char *folder = NULL, *found = path_real(needs->paths.items[index]);
    omprma_status_t status = choice_version(choice, needs, program, found ? found : "", runtime);
    if (status == OMPRMA_OK)
        status = wanted_folder(wanted, &folder);
    if (status != OMPRMA_OK)
        goto free_found;
    int named = folder ? version_in_path(folder) : 0;
    if (named && llvm_soname_version(choice->name) && named != choice->version) {
        status = error_set(OMPRMA_ERR_CONFIG,
                           "%s needs LLVM %d (%s), but --llvm says %s; leave it out or correct it",
                           program, choice->version, choice->name, wanted);
        goto free_found;
    }
    if (named)
        choice->version = named;
    if (!folder && !found)
        folder = plugin_folder_library(choice->version, choice->name);
    if (folder) {
        char *path = text_make("%s/%s", folder, choice->name);
        free(found);
        found = path_real(path);
        free(path);
    }
    if (!found && choice->own) { /* libomp is all that is needed of LLVM */
        choice->library = folder;
        folder = NULL;
        goto free_found;
    }
    if (!found) {
        status = choice_missing(program, choice->name, choice->version, folder);
        goto free_found;
    }
    choice->real = found;
    choice->library = text_make("%s", found);
    *strrchr(choice->library, '/') = 0;
    found = NULL;
free_found:
    free(found);
    free(folder);
    return status;
}

/* libomp.so.5 lies beside libomptarget, or the loader finds it elsewhere and workers need that
 * folder too. */
static omprma_status_t plan_worker_path(struct llvm_plan *plan, const struct choice *choice,
                                        const struct needs *needs, const char *program)
{
    int index = needs_find(needs, "libomp.so");
    const char *omp = index >= 0 ? needs->paths.items[index] : "";
    if (choice->library && (path_holds(choice->library, "libomp.so.5") || (index < 0 && !*omp))) {
        plan->worker_path = text_make("%s", choice->library);
        return OMPRMA_OK;
    }
    if (!*omp)
        return error_set(OMPRMA_ERR_CONFIG,
                         "%s needs %s, which is found neither in %s nor by the loader; install "
                         "LLVM %d's OpenMP (libomp5-%d)",
                         program, needs->libraries.items[index],
                         choice->library ? choice->library : "LLVM's folders", choice->version,
                         choice->version);
    char *real = path_real(omp);
    char *folder = text_make("%s", real ? real : omp);
    *strrchr(folder, '/') = 0;
    plan->worker_path = path_join(choice->own ? NULL : choice->library, folder);
    free(folder);
    free(real);
    return OMPRMA_OK;
}

/* Is this the folder of a library that the loader gives the program, but for one with an MPI, which
 * workers have of their own? */
static bool folder_is_taken(const struct needs *needs, const char *folder)
{
    char *wanted = path_real(folder);
    bool taken = false, mpi = false;
    for (size_t i = 0; wanted && i < needs->paths.count; i++) {
        const char *path = needs->paths.items[i], *slash = strrchr(path, '/');
        char *there = slash ? text_make("%.*s", (int)(slash - path), path) : NULL;
        char *real = there ? path_real(there) : NULL;
        bool same = real && strcmp(real, wanted) == 0;
        taken |= same;
        mpi |= same && strncmp(slash + 1, "libmpi", 6) == 0;
        free(real);
        free(there);
    }
    free(wanted);
    return taken && !mpi;
}

/* A library with $ORIGIN in its path is found beside the program, but an image lies elsewhere. */
static void plan_origins(struct llvm_plan *plan, const struct needs *needs)
{
    for (size_t i = 0; i < needs->origins.count; i++)
        if (folder_is_taken(needs, needs->origins.items[i])) {
            char *longer = path_join(plan->worker_path, needs->origins.items[i]);
            free(plan->worker_path);
            plan->worker_path = longer;
        }
}

/* Asks the loader again, now with what the program will be given. */
static omprma_status_t plan_confirm(const struct llvm_plan *plan, const char *program,
                                    const char *name, const char *expected, bool *right)
{
    struct list environment = {0};
    for (char **variable = environ; *variable; variable++)
        list_add(&environment, *variable);
    char *path = path_join(plan->program_path, getenv("LD_LIBRARY_PATH"));
    list_set(&environment, "LD_LIBRARY_PATH", path);
    char *preload = preload_join(plan->preload, getenv("LD_PRELOAD"));
    list_set(&environment, "LD_PRELOAD", *preload ? preload : NULL);
    struct needs needs;
    omprma_status_t status = needs_read(&needs, program, &environment);
    if (status == OMPRMA_OK) {
        int index = needs_find(&needs, name);
        *right = index >= 0 && strcmp(needs.paths.items[index], expected) == 0;
        needs_clear(&needs);
    }
    list_clear(&environment);
    free(path);
    free(preload);
    return status;
}

/* A program with DT_RPATH does not care for LD_LIBRARY_PATH; a preloaded library of the right name
 * comes before both. Our runtime always is one: tasks come to it before they come to libomp. */
static omprma_status_t plan_enforce(struct llvm_plan *plan, const char *program,
                                    const struct choice *choice, const char *folder)
{
    char *expected = text_make("%s/%s", folder, choice->name);
    bool right = false;
    omprma_status_t status = OMPRMA_OK;
    if (access(expected, F_OK)) { /* 13 and 14 need no link */
        free(expected);
        expected = text_make("%s/%s", choice->library, choice->name);
    }
    if (choice->own)
        plan->preload = text_make("%s", expected);
    status = plan_confirm(plan, program, choice->name, expected, &right);
    if (status == OMPRMA_OK && !right && !plan->preload) {
        plan->preload = text_make("%s", expected);
        status = plan_confirm(plan, program, choice->name, expected, &right);
    }
    if (status == OMPRMA_OK && !right)
        status =
            error_set(OMPRMA_ERR_CONFIG,
                      "cannot make %s load %s; was it linked with an rpath or with a full path "
                      "to libomptarget?",
                      program, expected);
    free(expected);
    return status;
}

/* The loader preloads nothing then, and takes no path from the environment. */
static omprma_status_t check_privileges(const char *program)
{
    struct stat about;
    if (stat(program, &about))
        return OMPRMA_OK; /* who starts it says so */
    bool user = about.st_mode & S_ISUID && about.st_uid != getuid();
    bool group = about.st_mode & S_ISGID && about.st_mode & S_IXGRP && about.st_gid != getgid();
    bool more = getuid() != 0 && getxattr(program, "security.capability", NULL, 0) > 0;
    if (!user && !group && !more)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG,
                     "%s has %s, so the loader does not let omprma's runtime take libomptarget's "
                     "place: %s, or start a copy",
                     program,
                     user    ? "a set-user-ID bit"
                     : group ? "a set-group-ID bit"
                             : "capabilities",
                     user || group ? "take it away (chmod ug-s)" : "take them away (setcap -r)");
}

/* What is started by a program, a script or make finds our runtime by the library path, and
 * by a library that is preloaded into it (src/openmp/preload) where it does not care for that path.
 * Libomp opens that library, too, which then says so where it was not preloaded. */
static void plan_passed(struct llvm_plan *plan)
{
    char *preload = runtime_preload();
    bool spaced = strchr(preload, ' ') || strchr(preload, ':'); /* would end the name */
    plan->passed_path = runtime_folder_program();
    plan->passed_preload = spaced ? NULL : preload;
    if (spaced)
        free(preload);
}

/* Our runtime instead of libomptarget. */
static omprma_status_t plan_own(struct llvm_plan *plan, const char *program,
                                const struct choice *choice, const char *folder)
{
    struct runtime_folders folders;
    omprma_status_t status = runtime_folders_make(&folders, choice->name, folder);
    if (status == OMPRMA_OK) {
        char *libomp = plan->worker_path;
        plan->worker_path = path_join(folders.worker, libomp);
        plan->program_path = path_join(folders.program, libomp);
        plan_passed(plan);
        free(libomp);
        char *first = text_make("%.*s", (int)strcspn(folders.program, ":"), folders.program);
        status = plan_enforce(plan, program, choice, first);
        free(first);
    }
    runtime_folders_clear(&folders);
    return status;
}

/* Each kind of code needs its runtime. */
static omprma_status_t images_fit(const struct choice *choice, const struct images *images,
                                  const char *program)
{
    char words[GPU_WORDS_BYTES];
    gpu_kinds_words(images->gpus, words);
    if (choice->own && images->gpus && !images->native)
        return error_set(OMPRMA_ERR_CONFIG,
                         "%s has code for %s only, which omprma's own OpenMP runtime does not run; "
                         "leave out --runtime omprma",
                         program, words);
    if (choice->own && images->gpus)
        log_write(LOG_WARNING,
                  "%s has code for this kind of machine and for %s: omprma's own OpenMP runtime "
                  "runs the first on workers, and cannot run the other; LLVM's can, leave out "
                  "--runtime omprma",
                  program, words);
    if (!choice->own && choice->version > LLVM_NEWEST && images->native)
        log_write(LOG_WARNING,
                  "%s has code for this kind of machine and for %s: LLVM %d's runtime takes the "
                  "GPUs of workers, and for the other code this machine; --runtime omprma takes "
                  "workers for the other code, and no GPUs",
                  program, words, choice->version);
    return OMPRMA_OK;
}

/* From 19 on libomptarget has the plugins for GPUs in it, and none of ours. */
static omprma_status_t plan_stock(struct llvm_plan *plan, const char *program,
                                  const struct choice *choice)
{
    plan->program_path = text_make("%s", plan->worker_path);
    return plan_enforce(plan, program, choice, choice->library);
}

static omprma_status_t plan_program(struct llvm_plan *plan, const struct needs *needs,
                                    const struct images *images, const char *program,
                                    const char *wanted, int runtime, const char *folder)
{
    struct choice choice = {.gpus = images->gpus};
    char *ours = NULL;
    omprma_status_t status = check_privileges(program);
    if (status == OMPRMA_OK)
        status = choice_make(&choice, needs, program, wanted, runtime);
    if (status != OMPRMA_OK)
        return status;
    plan->version = choice.version;
    plan->llvm = !choice.own;
    status = plan_worker_path(plan, &choice, needs, program);
    if (status != OMPRMA_OK)
        goto free_choice;
    status = images_fit(&choice, images, program);
    if (status != OMPRMA_OK)
        goto free_choice;
    bool stock = !choice.own && choice.version > LLVM_NEWEST;
    log_write(LOG_CHOICE, "%s was made by LLVM %d and uses %s", program, choice.version,
              choice.own ? "omprma's OpenMP runtime"
              : stock    ? "LLVM's libomptarget"
                         : "LLVM's libomptarget with omprma's plugin");
    if (choice.own || stock) {
        status = choice.own ? plan_own(plan, program, &choice, folder)
                            : plan_stock(plan, program, &choice);
        if (status == OMPRMA_OK)
            plan_origins(plan, needs);
        goto free_choice;
    }
    ours = plugin_folder_built(choice.version);
    char *extra = NULL;
    bool beside = choice.gpus && choice.version >= 15; /* LLVM's plugin has to lie there */
    if (beside || !plugin_folder_fits(ours, choice.version, choice.name, choice.real)) {
        free(ours);
        ours = text_make("%s", folder);
        status = plugin_folder_fill(ours, choice.name, choice.real);
        if (status == OMPRMA_OK && beside)
            status = plugin_folder_add_gpus(ours, choice.real, choice.gpus);
        char *root = path_root(); /* the plugin, found through this folder, needs libomprma.so */
        extra = text_make(":%s/lib", root);
        free(root);
    }
    plan->program_path = text_make("%s:%s%s", ours, plan->worker_path, extra ? extra : "");
    free(extra);
    if (status == OMPRMA_OK)
        status = plan_enforce(plan, program, &choice, ours);
    if (status == OMPRMA_OK)
        plan_origins(plan, needs);
    log_write(LOG_DETAIL, "%s uses LLVM %d, %s; plugin folder %s", program, choice.version,
              choice.real, ours);
free_choice:
    free(ours);
    free(choice.real);
    free(choice.library);
    return status;
}

/* ---- programs that nothing is known about --------------------------------------------------- */

/* A script may start a program of any version. The folders do not disturb each other: each holds
 * the same plugin and a libomptarget of another name. */
static omprma_status_t plan_script(struct llvm_plan *plan, const char *wanted, const char *folder)
{
    char *library = NULL;
    omprma_status_t status = wanted_folder(wanted, &library);
    if (status != OMPRMA_OK)
        return status;
    int only = library ? version_in_path(library) : 0;
    plan->program_path = text_make("%s", "");
    if (library && !only) { /* a folder of the user's: offer whatever libomptarget is in it */
        for (int version = LLVM_OLDEST; status == OMPRMA_OK && version <= LLVM_NEWEST; version++) {
            char *name = version < 15 ? text_make("%s", library_prefix)
                                      : text_make("%s.%d", library_prefix, version);
            char *path = text_make("%s/%s", library, name), *real = path_real(path);
            if (real)
                status = plugin_folder_fill(folder, name, real);
            free(real);
            free(path);
            free(name);
        }
        free(plan->program_path);
        char *root = path_root();
        plan->program_path = text_make("%s:%s/lib", folder, root);
        free(root);
    }
    for (int version = LLVM_NEWEST; version >= LLVM_OLDEST && !(library && !only); version--) {
        char *ours = plugin_folder_built(version);
        if ((!only || only == version) && plugin_folder_present(ours)) {
            char *longer = path_join(plan->program_path, ours);
            free(plan->program_path);
            plan->program_path = longer;
        }
        free(ours);
    }
    if (status == OMPRMA_OK && !*plan->program_path)
        status = error_set(OMPRMA_ERR_CONFIG, "omprma's plugin is missing: no lib/omprma/llvm-NN "
                                              "beside omprma-run's folder; build or install it");
    free(library);
    return status;
}

/* Our runtime, under all names. */
static void plan_script_own(struct llvm_plan *plan)
{
    char *stub = runtime_folder_worker(), *worker = path_join(plan->worker_path, stub);
    free(plan->worker_path);
    plan->program_path = runtime_folder_program();
    plan->worker_path = worker;
    plan_passed(plan);
    plan->preload = path_join(plan->passed_preload, NULL);
    free(stub);
}

static omprma_status_t not_for_offloading(const char *program, bool gcc)
{
    return error_set(
        OMPRMA_ERR_CONFIG,
        "%s is not compiled for offloading (no libomptarget among its libraries%s), and "
        "no program among its arguments is: compile and link with clang -fopenmp "
        "-fopenmp-targets=x86_64-pc-linux-gnu, or give --llvm VERSION or --gpus KIND if "
        "it starts such a program or loads such code later",
        program, gcc ? ", but gcc's libgomp" : "");
}

/* Its folder goes first: before the real library, where there is one. */
static omprma_status_t plan_gpu(struct llvm_plan *plan, const struct gpu_library *library)
{
    char *folder = NULL;
    omprma_status_t status = gpu_folder(library, &folder);
    if (status == OMPRMA_OK) {
        char *path = path_join(folder, plan->program_path);
        free(plan->program_path);
        plan->program_path = path;
    }
    free(folder);
    return status;
}

/* What a script starts may have code for GPUs, which only LLVM's runtime brings there. */
static omprma_status_t plan_unknown(struct llvm_plan *plan, const char *wanted, int runtime,
                                    const char *folder)
{
    omprma_status_t status = plan_workers(plan, wanted);
    plan->llvm = runtime == RUNTIME_LLVM || (runtime == RUNTIME_AUTO && plan->gpus);
    if (status == OMPRMA_OK && plan->llvm)
        status = plan_script(plan, wanted, folder);
    else if (status == OMPRMA_OK)
        plan_script_own(plan);
    return status;
}

static bool is_runtimes(const struct needs *needs)
{
    return needs_find(needs, library_prefix) >= 0;
}

static bool calls_us(const struct needs *needs) /* the C interface, itself */
{
    return needs_find(needs, "libomprma.so") >= 0;
}

/* One that was linked without an rpath finds its library all the same. */
static void plan_interface(struct llvm_plan *plan, const struct needs *needs)
{
    int index = needs_find(needs, "libomprma.so");
    if (index < 0 || *needs->paths.items[index])
        return;
    char *root = path_root();
    plan->program_path = text_make("%s/lib", root);
    free(root);
}

static omprma_status_t plan_any(struct llvm_plan *plan, const struct needs *needs,
                                const struct images *images, const char *program,
                                const char *wanted, int runtime, bool starts, const char *folder)
{
    /* Libraries that it opens may have target regions. */
    bool later = needs->loads_later || (*wanted && strcmp(wanted, "auto") != 0);
    bool elf = needs->kind != PROGRAM_OTHER;
    if (is_runtimes(needs))
        return plan_program(plan, needs, images, program, wanted, runtime, folder);
    plan->llvm = !calls_us(needs) && plan->gpus; /* or a program that this one starts */
    if (calls_us(needs) || (plan->gpus && elf)) {
        omprma_status_t status = plan_workers(plan, wanted);
        if (status == OMPRMA_OK)
            plan_interface(plan, needs);
        return status;
    }
    if (elf && !(later && needs->kind == PROGRAM_DYNAMIC) && !(starts && needs->starts_others))
        return not_for_offloading(program, needs_find(needs, "libgomp.so") >= 0);
    return plan_unknown(plan, wanted, runtime, folder);
}

/* What the program has shown of one kind of GPU. */
static const char *why_gpu(const struct images *images, bool asked,
                           const struct gpu_library *library)
{
    int bit = gpu_bit(library);
    return images->gpus & bit       ? "it has code for them, by clang"
           : images->gcc_gpus & bit ? "it has code for them, by gcc"
           : asked                  ? "omprma-run was told so"
                                    : "it needs that library";
}

static omprma_status_t plan_gpus_too(struct llvm_plan *plan, const struct images *images,
                                     const char *program, int asked)
{
    omprma_status_t status = OMPRMA_OK;
    for (int i = 0; i < GPU_LIBRARIES && status == OMPRMA_OK; i++) {
        const struct gpu_library *library = &gpu_libraries[i];
        if (!(plan->gpus & gpu_bit(library)))
            continue;
        status = plan_gpu(plan, library);
        if (status == OMPRMA_OK)
            log_write(LOG_CHOICE, "%s gets omprma's %s for %s GPUs: %s", program, library->title,
                      library->maker, why_gpu(images, asked & gpu_bit(library), library));
    }
    if (status != OMPRMA_OK)
        llvm_plan_clear(plan);
    return status;
}

static bool needs_one(const struct needs *needs, const char *file)
{
    char *name = text_make("%s.so", file);
    bool found = needs_find(needs, name) >= 0;
    free(name);
    return found;
}

/* Kinds of GPU whose library it needs itself, or one that calls that. */
static int needed_gpus(const struct needs *needs)
{
    int kinds = 0;
    for (int i = 0; i < GPU_LIBRARIES; i++) {
        const struct gpu_library *library = &gpu_libraries[i];
        if (needs_one(needs, library->file) || (library->above && needs_one(needs, library->above)))
            kinds |= gpu_bit(library);
    }
    return kinds;
}

static bool may_offload(const struct needs *needs)
{
    return is_runtimes(needs) || calls_us(needs);
}

static bool may_start_one(const struct needs *needs)
{
    return needs->kind == PROGRAM_OTHER || needs->loads_later;
}

static bool is_elf(const struct needs *needs)
{
    return needs->kind != PROGRAM_OTHER;
}

/* Does it name a program, and none that could offload? A word that is only somewhere in PATH may
 * as well be something else, as in "make test". */
static bool names_wrong_one(char **argv)
{
    struct needs behind;
    char *path;
    int at = starter_find(argv, is_elf, &path, &behind);
    if (!at)
        return false;
    needs_clear(&behind);
    free(path);
    return strchr(argv[at], '/') != NULL;
}

/* Looks through a command that starts another one. `*needs` is then of the program behind, whose
 * path is returned, malloced. */
static char *look_through(struct llvm_plan *plan, char **argv, const char *command,
                          struct needs *needs)
{
    struct needs behind;
    char *path = NULL;
    if (may_offload(needs) || needs->kind == PROGRAM_OTHER)
        return text_make("%s", command);
    plan->at = starter_find(argv, may_offload, &path, &behind);
    if (!plan->at && !needs->loads_later)
        plan->at = starter_find(argv, may_start_one, &path, &behind);
    if (!plan->at) {
        needs->starts_others &= !names_wrong_one(argv);
        return text_make("%s", command);
    }
    plan->several =
        !starter_is_launcher(command) && (needs->loads_later || starter_of_several(command));
    log_write(LOG_CHOICE, "%s starts %s, so what that needs is prepared", command, path);
    needs_clear(needs);
    *needs = behind;
    return path;
}

omprma_status_t llvm_plan_make(struct llvm_plan *plan, const char *command, char **argv,
                               const char *wanted, int runtime, int gpus, bool starts,
                               const char *folder)
{
    *plan = (struct llvm_plan){0};
    struct needs needs;
    omprma_status_t status = needs_read(&needs, command, NULL);
    if (status != OMPRMA_OK)
        return status;
    char *program = look_through(plan, argv, command, &needs);
    struct images images = images_find(program, &needs);
    int needed = needed_gpus(&needs);
    images.gpus = is_runtimes(&needs) ? images.gpus : 0;
    images.gcc_gpus = needs_find(&needs, "libgomp.so") >= 0 ? images.gcc_gpus : 0;
    plan->keeps_sources = images.gpus || images.gcc_gpus;
    plan->gpus = gpus | images.gpus | images.gcc_gpus | needed;
    plan->offloads = is_runtimes(&needs) || calls_us(&needs) || plan->keeps_sources || needed;
    plan->uses_mpi = needs.uses_mpi;
    plan->starts_mpi = needs.starts_mpi && is_runtimes(&needs);
    status = plan_any(plan, &needs, &images, program, wanted, runtime, starts, folder);
    needs_clear(&needs);
    if (status == OMPRMA_OK)
        status = plan_gpus_too(plan, &images, program, gpus);
    else
        llvm_plan_clear(plan);
    free(program);
    return status;
}

int llvm_find_program(char **argv)
{
    struct needs needs;
    char *path;
    int at = starter_find(argv, may_offload, &path, &needs);
    if (!at)
        return 0;
    needs_clear(&needs);
    free(path);
    return at;
}

omprma_status_t llvm_plan_workers(struct llvm_plan *plan, const char *wanted)
{
    *plan = (struct llvm_plan){0};
    return plan_workers(plan, wanted);
}

void llvm_plan_clear(struct llvm_plan *plan)
{
    free(plan->program_path);
    free(plan->worker_path);
    free(plan->preload);
    free(plan->passed_path);
    free(plan->passed_preload);
    *plan = (struct llvm_plan){0};
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* doctor.c: see doctor.h. Each check is a function that tells what it has found. */
#define _GNU_SOURCE
#include "tools/info/doctor.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <omprma/omprma.h>

#include "base/config.h"
#include "base/error.h"
#include "base/gpu_library.h"
#include "control/module.h"
#include "control/shm/room.h"
#include "control/shm/single_copy.h"
#include "control/world.h"
#include "tools/info/compiler.h"
#include "tools/launch/command.h"
#include "tools/launch/launcher.h"
#include "tools/launch/llvm.h"
#include "tools/launch/paths.h"

enum verdict_of { FINE, WARNING, FAILURE };
enum { WAIT_S = 10 };

struct doctor {
    const struct launch *launch;
    cJSON *json; /* NULL: text */
    int failures, warnings;
};

static void tell(struct doctor *doctor, enum verdict_of verdict, const char *what,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
static void tell(struct doctor *doctor, enum verdict_of verdict, const char *what,
                 const char *format, ...)
{
    static const char *const words[] = {"ok", "warning", "failure"};
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    doctor->failures += verdict == FAILURE;
    doctor->warnings += verdict == WARNING;
    if (!doctor->json) {
        printf("%-8s %-14s %s\n", words[verdict], what, text);
        fflush(stdout);
        return;
    }
    cJSON *one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "verdict", words[verdict]);
    cJSON_AddStringToObject(one, "what", what);
    cJSON_AddStringToObject(one, "text", text);
    cJSON_AddItemToArray(doctor->json, one);
}

/* ---- this host ------------------------------------------------------------------------------ */

/* Without MPI there are runs with --transport direct on this host. */
static void check_launcher(struct doctor *doctor)
{
    static const char without[] =
        "; so programs are not connected by MPI, and there are no workers on other hosts; "
        "--transport direct needs none on this host";
    bool needed = doctor->launch->transport == TRANSPORT_MPI || doctor->launch->hosts.total > 0;
    enum verdict_of bad = needed ? FAILURE : WARNING;
    const struct launcher *launcher;
    char name[LAUNCHER_NAME_BYTES], library[ERROR_TEXT_BYTES], *path = NULL;
    bool loads = module_mpi_library(library, sizeof(library)) == OMPRMA_OK;
    tell(doctor, loads ? FINE : bad, "MPI library", "%s%s", loads ? library : error_text(),
         loads ? "" : without);
    if (launcher_find(&launcher, &path, name) == OMPRMA_OK)
        tell(doctor, FINE, "mpirun", "%s, %s", name, path);
    else
        tell(doctor, bad, "mpirun", "%s%s", error_text(), without);
    free(path);
    if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE"))
        tell(doctor, WARNING, "mpirun",
             "this is itself a process of an MPI job; with --transport mpi omprma-run starts MPI "
             "and is to be called without mpirun; with --transport direct it may be called here");
}

/* What a command prints first; "" if nothing. Returns its status, as from waitpid(). */
static int first_line(const char *command, char *line, size_t room)
{
    FILE *stream = popen(command, "re");
    *line = 0;
    if (!stream)
        return -1;
    if (!fgets(line, (int)room, stream))
        *line = 0;
    line[strcspn(line, "\n")] = 0;
    for (char more[256]; fgets(more, sizeof(more), stream);)
        ;
    return pclose(stream);
}

static void check_worker(struct doctor *doctor)
{
    char *worker = NULL, line[256];
    if (path_worker(&worker) != OMPRMA_OK) {
        tell(doctor, FAILURE, "omprma-worker", "%s", error_text());
        return;
    }
    char *command = text_make("'%s' --version </dev/null 2>&1", worker);
    int status = first_line(command, line, sizeof(line));
    if (status == 0 && strcmp(line, "omprma-worker " OMPRMA_VERSION_STRING) == 0)
        tell(doctor, FINE, "omprma-worker", "%s, %s", OMPRMA_VERSION_STRING, worker);
    else
        tell(doctor, FAILURE, "omprma-worker",
             "%s says \"%s\", and this is %s: install one version", worker, line,
             OMPRMA_VERSION_STRING);
    free(command);
    free(worker);
}

static void check_llvm(struct doctor *doctor)
{
    struct list folders = {0};
    llvm_folders(&folders);
    if (folders.count == 0)
        tell(doctor, WARNING, "LLVM",
             "no OpenMP library of LLVM found: install libomp5 of your clang, or give its folder "
             "with --llvm");
    for (size_t i = 0; i < folders.count; i++)
        tell(doctor, FINE, "LLVM", "%s", folders.items[i]);
    list_clear(&folders);
}

static void check_compiler(struct doctor *doctor, const char *compiler)
{
    char text[1024];
    bool works = compiler_try(compiler, text, sizeof(text));
    tell(doctor, works ? FINE : FAILURE, "compiler", "%s", text);
}

static void check_copies(struct doctor *doctor)
{
    if (single_copy_is_allowed())
        tell(doctor, FINE, "single copy", "processes may copy each other's memory");
    else
        tell(doctor, WARNING, "single copy",
             "processes may not copy each other's memory: %s; large transfers within this host are "
             "slower. In a container allow process_vm_readv and process_vm_writev (Docker: "
             "--cap-add SYS_PTRACE)",
             strerror(errno));
}

static void check_limits(struct doctor *doctor)
{
    struct rlimit files, memory;
    rlim_t wanted = 64 + 8 * (rlim_t)command_workers(doctor->launch);
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_MEMLOCK, &memory);
    if (files.rlim_max < wanted)
        tell(doctor, FAILURE, "open files",
             "at most %llu, and %d workers take up to %llu; raise the limit (ulimit -n)",
             (unsigned long long)files.rlim_max, command_workers(doctor->launch),
             (unsigned long long)wanted);
    else
        tell(doctor, FINE, "open files", "at most %llu", (unsigned long long)files.rlim_max);
    if (access("/sys/class/infiniband", F_OK) == 0 && memory.rlim_cur != RLIM_INFINITY)
        tell(doctor, WARNING, "locked memory",
             "at most %llu KiB, and RDMA needs it without limit (ulimit -l unlimited, on every "
             "host, in batch jobs too)",
             (unsigned long long)memory.rlim_cur >> 10);
}

static void check_memory(struct doctor *doctor)
{
    const char *folder = getenv("TMPDIR");
    uint64_t left;
    if (!shm_room(&left))
        tell(doctor, FAILURE, "shared memory", "/dev/shm cannot be used: %s", strerror(errno));
    else if (left >> 20 < SHM_ROOM_ENOUGH_MIB)
        tell(doctor, WARNING, "shared memory",
             "/dev/shm has %llu MiB left: there may be no one-sided transfers; %d MiB are enough "
             "(Docker: --shm-size)",
             (unsigned long long)(left >> 20), SHM_ROOM_ENOUGH_MIB);
    else
        tell(doctor, FINE, "shared memory", "/dev/shm has %llu MiB left",
             (unsigned long long)(left >> 20));
    folder = folder && *folder == '/' ? folder : "/tmp";
    if (access(folder, W_OK | X_OK))
        tell(doctor, FAILURE, "TMPDIR", "%s cannot be written to: %s; set TMPDIR", folder,
             strerror(errno));
    else
        tell(doctor, FINE, "TMPDIR", "%s", folder);
}

/* ---- networks and GPUs ---------------------------------------------------------------------- */

static void check_networks(struct doctor *doctor)
{
    DIR *folder = opendir("/sys/class/infiniband");
    char *devices = text_make("%s", "");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        char *longer = text_make("%s %s", devices, entry->d_name);
        free(devices);
        devices = longer;
    }
    if (folder)
        closedir(folder);
    void *ucx = dlopen("libucp.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (*devices && !ucx)
        tell(doctor, WARNING, "RDMA",
             "devices%s, but no UCX (libucp.so.0): install UCX, and an Open MPI that has it",
             devices);
    else
        tell(doctor, FINE, "RDMA", "InfiniBand devices:%s; UCX %s", *devices ? devices : " none",
             ucx ? "is there" : "is not installed");
    if (ucx)
        dlclose(ucx);
    free(devices);
}

/* True if there is something to say of this kind. */
static bool check_gpu(struct doctor *doctor, const struct gpu_library *library, int wished)
{
    bool device = access(library->node, F_OK) == 0, wanted = wished & gpu_bit(library);
    void *driver = dlopen(library->soname, RTLD_LAZY | RTLD_LOCAL);
    if (device && access(library->node, R_OK | W_OK))
        tell(doctor, wanted ? FAILURE : WARNING, "GPUs",
             "there is an %s GPU, but %s may not be opened: %s; join the group that it belongs to",
             library->maker, library->node, strerror(errno));
    else if (device && driver)
        tell(doctor, FINE, "GPUs", "%s's driver is there", library->maker);
    else if (device)
        tell(doctor, wanted ? FAILURE : WARNING, "GPUs",
             "there is an %s GPU, but no %s: install the driver's library", library->maker,
             library->soname);
    else if (wanted)
        tell(doctor, FAILURE, "GPUs",
             "no %s GPU on this host (there is no %s), and --gpus or --backends asks for one",
             library->maker, library->node);
    if (driver)
        dlclose(driver);
    return device || wanted;
}

static void check_gpus(struct doctor *doctor)
{
    struct config config;
    bool any = false;
    int wished = doctor->launch->gpus;
    if (config_load(&config) == OMPRMA_OK)
        wished |= config.backends;
    for (int i = 0; i < GPU_LIBRARIES; i++)
        any |= check_gpu(doctor, &gpu_libraries[i], wished);
    if (!any)
        tell(doctor, FINE, "GPUs", "none on this host");
}

/* ---- other hosts ---------------------------------------------------------------------------- */

static const char *shell_of(const struct launch *launch)
{
    const struct launcher *launcher;
    char name[LAUNCHER_NAME_BYTES], *path = NULL;
    const char *users = NULL;
    if (launcher_find(&launcher, &path, name) == OMPRMA_OK)
        users = launcher->users_shell(launch);
    free(path);
    return users ? users : "ssh -o BatchMode=yes -o ConnectTimeout=10";
}

/* Both names become words of two shells, so a quote in one of them cannot be passed on. */
static void check_host(struct doctor *doctor, const char *shell, const char *worker,
                       const char *host)
{
    char line[512];
    if (strpbrk(host, "' ;&|$`\"") || strchr(worker, '\'')) {
        tell(doctor, FAILURE, host,
             "cannot be asked: there is a quote or blank in its name or in %s", worker);
        return;
    }
    char *command = text_make("timeout %d %s '%s' \"echo omprma; '%s' --version\" </dev/null 2>&1",
                              2 * WAIT_S, shell, host, worker);
    FILE *stream = popen(command, "re");
    char said[512] = "", last[512] = "";
    bool reached = false;
    while (stream && fgets(line, sizeof(line), stream)) {
        line[strcspn(line, "\r\n")] = 0;
        snprintf(reached ? last : said, sizeof(said), "%s", line);
        reached = reached || strcmp(line, "omprma") == 0;
    }
    if (stream)
        pclose(stream);
    free(command);
    if (!reached)
        tell(doctor, FAILURE, host,
             "cannot be reached: %s; \"%s %s true\" must work without a "
             "password",
             *said ? said : "no answer", shell, host);
    else if (strcmp(last, "omprma-worker " OMPRMA_VERSION_STRING) == 0)
        tell(doctor, FINE, host, "reached, and has %s there too", last);
    else
        tell(doctor, FAILURE, host,
             "reached, but %s says \"%s\": omprma %s must be in the same folder there", worker,
             last, OMPRMA_VERSION_STRING);
}

static void check_hosts(struct doctor *doctor)
{
    const struct hosts *hosts = &doctor->launch->hosts;
    char *worker = NULL;
    if (hosts->names.count == 0 || path_worker(&worker) != OMPRMA_OK)
        return;
    const char *shell = shell_of(doctor->launch);
    for (size_t i = 0; i < hosts->names.count; i++) {
        const char *host = hosts->names.items[i];
        if (hosts_is_here(host))
            tell(doctor, FINE, host, "is this host");
        else if (doctor->launch->slurm)
            tell(doctor, FINE, host, "is reached by srun");
        else
            check_host(doctor, shell, worker, host);
    }
    free(worker);
}

int doctor_run(const struct launch *launch, const char *compiler, bool json)
{
    cJSON *root = json ? cJSON_CreateObject() : NULL;
    struct doctor doctor = {.launch = launch,
                            .json = json ? cJSON_AddArrayToObject(root, "checks") : NULL};
    check_launcher(&doctor);
    check_worker(&doctor);
    check_llvm(&doctor);
    if (compiler)
        check_compiler(&doctor, compiler);
    check_copies(&doctor);
    check_limits(&doctor);
    check_memory(&doctor);
    check_networks(&doctor);
    check_gpus(&doctor);
    check_hosts(&doctor);
    if (json) {
        cJSON_AddNumberToObject(root, "failures", doctor.failures);
        cJSON_AddNumberToObject(root, "warnings", doctor.warnings);
        char *text = cJSON_Print(root);
        if (text)
            puts(text);
        cJSON_free(text);
        cJSON_Delete(root);
    } else {
        printf("%s\n", doctor.failures   ? "omprma cannot run so; see the failures"
                       : doctor.warnings ? "omprma can run; see the warnings"
                                         : "omprma can run");
    }
    return doctor.failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* program.c: starts the program. Knows nothing of mpirun. */
#include "tools/launch/program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/coming.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/gpu_library.h"
#include "control/agent/join.h"
#include "control/library/quick.h"
#include "control/library/quirks.h"
#include "tools/launch/inherited.h"
#include "tools/launch/launcher.h"
#include "tools/launch/paths.h"

extern char **environ;

/* Scripts use low descriptors for themselves. */
enum { REPORT_FD = 300 };

/* Set for a program that is no user's, but the tool that launches itself. */
static const char self_variable[] = "OMPRMA_INTERNAL_SELF";

bool program_inside(void)
{
    return getenv("OMPRMA_INTERNAL_FD") || (getenv(DIRECT_JOIN_VARIABLE) && getenv(self_variable));
}

/* `passed`: what goes in front in programs that this one starts; the variable `kept` has their
 * value. */
static void set_front(struct list *environment, const char *name, const char *kept,
                      const char *front, const char *passed,
                      char *(*join)(const char *front, const char *old))
{
    if (!front || !*front)
        return;
    const char *old = list_get(environment, name);
    char *value = join(front, old), *saved = join(passed ? passed : "", old);
    list_set(environment, kept, saved);
    list_set(environment, name, value);
    free(value);
    free(saved);
}

static const char *environment_get(void *list, const char *name)
{
    return list_get(list, name);
}

static void environment_set(void *list, const char *name, const char *value)
{
    list_set(list, name, value);
}

static void set_mpi(const struct program *program, struct list *environment)
{
    const struct quick_environment changes = {environment_get, environment_set, environment};
    quick_rank(&changes);
    quirks_single_copy(&changes);
    program->launcher->program(&changes);
}

/* What libraries for GPUs need to be told before they load, unless the user has said something. */
static void set_gpus(int kinds, struct list *environment)
{
    for (int i = 0; i < GPU_LIBRARIES; i++) {
        const struct gpu_library *library = &gpu_libraries[i];
        if (kinds & gpu_bit(library) && library->variable &&
            !list_get(environment, library->variable))
            list_set(environment, library->variable, library->value);
    }
}

void program_environment(const struct program *program, struct list *environment)
{
    char *workers = text_make("%d", program->workers);
    list_set(environment, "OMPRMA_WORKERS", workers);
    free(workers);
    if (program->launcher)
        set_mpi(program, environment);
    if (program->outer_job)
        launcher_forget(environment);
    if (program->join)
        list_set(environment, DIRECT_JOIN_VARIABLE, program->join);
    if (!program->offloading) {
        list_set(environment, self_variable, "1");
        return;
    }
    /* Running on the host instead, silently, is not what the user asked for, but where the host is
     * to do what a lost device cannot. */
    const char *offload = list_get(environment, "OMP_TARGET_OFFLOAD");
    if ((!offload || !*offload) && !program->continues)
        list_set(environment, "OMP_TARGET_OFFLOAD", "MANDATORY");
    char *root = path_root(), *fault = text_make("%s/libexec/omprma-fault", root);
    list_set(environment, "OMPRMA_INTERNAL_FAULT", fault);
    free(fault);
    free(root);
    set_gpus(program->plan->gpus, environment);
    if (program->plan->keeps_sources)
        list_set(environment, "OMPRMA_INTERNAL_SOURCES_KEPT", "1");
    set_front(environment, "LD_LIBRARY_PATH", "OMPRMA_INTERNAL_LD_LIBRARY_PATH",
              program->plan->program_path, program->plan->passed_path, path_join);
    set_front(environment, "LD_PRELOAD", "OMPRMA_INTERNAL_LD_PRELOAD", program->plan->preload,
              program->plan->passed_preload, preload_join);
    if (program->plan->passed_preload) {
        char *tools =
            path_join(program->plan->passed_preload, list_get(environment, "OMP_TOOL_LIBRARIES"));
        list_set(environment, "OMP_TOOL_LIBRARIES", tools);
        free(tools);
    }
}

static void add_mpi(struct list *environment, const char *mpi, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const char *variable = mpi + at;
        size_t length = strnlen(variable, bytes - at);
        const char *equals = memchr(variable, '=', length);
        if (equals && at + length < bytes) {
            char *name = text_make("%.*s", (int)(equals - variable), variable);
            list_set(environment, name, equals + 1);
            free(name);
        }
        at += length + 1;
    }
}

/* In the child. Tells `failed` why when it cannot become the program. */
static void program_exec(const struct program *program, const struct list *environment,
                         pid_t parent, int failed)
{
    prctl(PR_SET_PDEATHSIG, program->with_us);
    if (getppid() != parent)
        _exit(1);
    inherited_give_back();
    execvpe(program->path, program->argv, environment->items);
    int code = errno;
    if (write(failed, &code, sizeof(code)) < 0)
        _exit(126);
    _exit(127);
}

/* A pipe whose writing end survives the exec of the program, far above the descriptors that scripts
 * use; only there, since its flag is cleared in the child. */
struct inlet {
    int reading, writing;
};

static bool inlet_open(struct inlet *inlet)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return false;
    inlet->reading = ends[0];
    inlet->writing = fcntl(ends[1], F_DUPFD_CLOEXEC, REPORT_FD);
    if (inlet->writing < 0) /* a low limit on open files */
        inlet->writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
    close(ends[1]);
    fcntl(inlet->reading, F_SETFL, O_NONBLOCK);
    return inlet->writing >= 0;
}

static void inlet_name(const struct inlet *inlet, struct list *environment, const char *name)
{
    char *number = text_make("%d", inlet->writing);
    list_set(environment, name, number);
    free(number);
}

/* The reading end's owner from here on is `*kept`, or nobody. */
static void inlet_close(const struct inlet *inlet, int *kept)
{
    if (inlet->writing >= 0)
        close(inlet->writing);
    if (kept)
        *kept = inlet->reading;
    else if (inlet->reading >= 0)
        close(inlet->reading);
}

/* The file is there, and what is to run it is not: what that is, in words for the end of a line. */
static void word_interpreter(const char *path, char *words, size_t room)
{
    char line[256] = "";
    FILE *file = fopen(path, "re");
    if (file && !fgets(line, sizeof(line), file))
        *line = 0;
    if (file)
        fclose(file);
    const char *name = line + strspn(line, "#! \t");
    int length = (int)strcspn(name, " \t\r\n");
    if (strncmp(line, "#!", 2) != 0)
        snprintf(words, room, "; the file is there, and the loader that it asks for is not");
    else if (strchr(line, '\r'))
        snprintf(words, room,
                 "; its first line ends with a carriage return: save it with the ends of lines of "
                 "Unix");
    else
        snprintf(words, room, "; its first line asks for %.*s", length, name);
}

/* execvpe() takes argv[0] from argv but the file from `path`, which has a slash in it. */
static omprma_status_t program_fork(const struct program *program, const struct list *environment,
                                    const struct inlet *report, const struct inlet *words,
                                    pid_t *pid)
{
    int failed[2], coming = program->coming;
    if (pipe2(failed, O_CLOEXEC))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a pipe: %s", strerror(errno));
    pid_t parent = getpid(), made = fork();
    if (made == 0) {
        if (report->writing >= 0)
            fcntl(report->writing, F_SETFD, 0);
        if (words->writing >= 0)
            fcntl(words->writing, F_SETFD, 0);
        if (coming >= 0)
            fcntl(coming, F_SETFD, 0);
        program_exec(program, environment, parent, failed[1]);
    }
    close(failed[1]);
    int code = made < 0 ? errno : 0;
    if (made > 0 && read(failed[0], &code, sizeof(code)) != (ssize_t)sizeof(code))
        code = 0;
    close(failed[0]);
    char why[400] = "";
    if (code == ENOENT)
        word_interpreter(program->path, why, sizeof(why));
    if (code)
        return error_note_code(
            error_set(OMPRMA_ERR_CONFIG, "cannot run %s: %s%s", program->path, strerror(code), why),
            code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
    *pid = made;
    return OMPRMA_OK;
}

omprma_status_t program_start(const struct program *program, const char *mpi, size_t bytes,
                              pid_t *pid, int *report, int *words)
{
    const char *words_fd = program->launcher ? program->launcher->words_variable : NULL;
    bool keeps_words = words_fd && !getenv(words_fd);
    struct inlet reports = {-1, -1}, speech = {-1, -1};
    if ((program->launcher && !inlet_open(&reports)) || (keeps_words && !inlet_open(&speech))) {
        int code = errno;
        inlet_close(&reports, NULL);
        inlet_close(&speech, NULL);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a pipe: %s", strerror(code));
    }
    struct list environment = {0};
    for (char **variable = environ; *variable; variable++)
        list_add(&environment, *variable);
    add_mpi(&environment, mpi, bytes);
    program_environment(program, &environment);
    char *times = text_make("%" PRId64 ",%" PRId64, program->launch_ns, clock_ns());
    list_set(&environment, "OMPRMA_INTERNAL_TIMES", times);
    free(times);
    if (program->launcher)
        list_set(&environment, LIBRARY_LAUNCHER, program->launcher_name);
    if (reports.writing >= 0)
        inlet_name(&reports, &environment, "OMPRMA_INTERNAL_FD");
    if (speech.writing >= 0) {
        inlet_name(&speech, &environment, "OMPRMA_INTERNAL_WORDS_FD");
        inlet_name(&speech, &environment, words_fd);
    }
    if (program->coming >= 0) {
        char *number = text_make("%d", program->coming);
        list_set(&environment, COMING_FD_VARIABLE, number);
        free(number);
    }
    omprma_status_t status = program_fork(program, &environment, &reports, &speech, pid);
    list_clear(&environment);
    inlet_close(&reports, status == OMPRMA_OK ? report : NULL);
    inlet_close(&speech, status == OMPRMA_OK ? words : NULL);
    return status;
}

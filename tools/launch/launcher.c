/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launcher.c: A launcher is asked for its version. That takes a tenth of the time of a start, so
 * orterun, which only Open MPI before 5 has, is known by its name; PRTE's, of which mpirun is one
 * from 5 on, tell another version.
 */
#include "tools/launch/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "control/module.h"
#include "tools/launch/inherited.h"
#include "tools/launch/paths.h"

static const struct launcher *const launchers[] = {&launcher_openmpi4, &launcher_openmpi5,
                                                   &launcher_hydra};
static const int64_t ASK_NS = 5000000000;
enum { ASK_STEP_MS = 20 };
enum { LAUNCHERS = sizeof(launchers) / sizeof(launchers[0]) };

bool launcher_gives(const char *variable)
{
    for (size_t i = 0; i < LAUNCHERS; i++)
        for (const char *const *prefix = launchers[i]->variables; *prefix; prefix++)
            if (strncmp(variable, *prefix, strlen(*prefix)) == 0)
                return true;
    return false;
}

/* OMPI_ and PRTE_ALLOW_RUN_AS_ROOT, with or without _CONFIRM: the user's own. */
static bool is_permission(const char *variable)
{
    return strncmp(variable + 4, "_ALLOW_RUN_AS_ROOT", 18) == 0;
}

void launcher_forget(struct list *environment)
{
    struct list rest = {0};
    for (size_t i = 0; i < environment->count; i++)
        if (!launcher_gives(environment->items[i]) || is_permission(environment->items[i]))
            list_add(&rest, environment->items[i]);
    list_clear(environment);
    *environment = rest;
}

/* ---- which one it is ------------------------------------------------------------------------ */

static bool read_version(const struct launcher *launcher, const char *said, int *version)
{
    int major = 0, minor = 0, patch = 0;
    const char *sign = strstr(said, launcher->sign);
    const char *number = sign ? strpbrk(sign + strlen(launcher->sign), "0123456789") : NULL;
    if (!number || sscanf(number, "%d.%d.%d", &major, &minor, &patch) < 2)
        return false;
    *version = major * 10000 + minor * 100 + patch;
    return true;
}

const struct launcher *launcher_by_words(const char *said, int *version, char *name)
{
    const struct launcher *found = NULL;
    *version = 0;
    *name = 0;
    for (size_t i = 0; i < LAUNCHERS && !found; i++) {
        if (!read_version(launchers[i], said, version))
            continue;
        snprintf(name, LAUNCHER_NAME_BYTES, "%s %d.%d.%d", library_name(launchers[i]->library),
                 *version / 10000, *version / 100 % 100, *version % 100);
        if (*version >= launchers[i]->first && *version < launchers[i]->end)
            found = launchers[i];
    }
    return found;
}

/* In the child. Ctrl-C is for omprma-run; if that is killed, this one ends as well. */
static void answer_version(const char *path, int out)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    inherited_clear_signals();
    setenv("HOME", "/", 0); /* without one, Open MPI 5 fails */
    execl(path, path, "--version", (char *)NULL);
    _exit(127);
}

/* Reads until the child has ended, though others may hold its output, or for ASK_NS at most. */
static size_t launcher_hear(pid_t child, int from, char *said, size_t room)
{
    int64_t until = clock_ns() + ASK_NS;
    size_t used = 0;
    bool ended = false;
    while (used < room) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        ssize_t bytes = poll(&ready, 1, ended ? 0 : ASK_STEP_MS) == 1
                            ? read(from, said + used, room - used)
                            : -1;
        if (bytes == 0 || (bytes < 0 && (ended || clock_ns() > until)))
            break;
        used += bytes > 0 ? (size_t)bytes : 0;
        ended = ended || waitpid(child, NULL, WNOHANG) == child;
    }
    if (!ended) {
        kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    return used;
}

struct question {
    pid_t child;
    int from; /* -1: nothing is asked */
};

/* Starts a child that writes its answer to `out`. */
static struct question launcher_ask(void (*answer)(const char *path, int out), const char *path)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return (struct question){-1, -1};
    pid_t child = fork();
    if (child == 0)
        answer(path, ends[1]);
    close(ends[1]);
    return (struct question){child, ends[0]};
}

static void launcher_take_answer(struct question asked, char *said, size_t room)
{
    said[asked.child > 0 ? launcher_hear(asked.child, asked.from, said, room - 1) : 0] = 0;
    if (asked.from >= 0)
        close(asked.from);
}

static const struct launcher *launcher_recognise(const char *path, char *name)
{
    static const struct {
        const char *program, *words;
        const struct launcher *launcher;
    } known[] = {{"orterun", "Open MPI 4", &launcher_openmpi4},
                 {"prterun", "Open MPI 5", &launcher_openmpi5},
                 {"prun", "Open MPI 5", &launcher_openmpi5}};
    char said[4096], *real = path_real(path);
    const char *slash = real ? strrchr(real, '/') : NULL;
    const struct launcher *found = NULL;
    int version;
    for (size_t i = 0; slash && !found && i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(slash + 1, known[i].program) != 0)
            continue;
        snprintf(name, LAUNCHER_NAME_BYTES, "%s", known[i].words);
        found = known[i].launcher;
    }
    free(real);
    if (found)
        return found;
    launcher_take_answer(launcher_ask(answer_version, path), said, sizeof(said));
    return launcher_by_words(said, &version, name);
}

const struct launcher *launcher_of(const char *path)
{
    char name[LAUNCHER_NAME_BYTES];
    return launcher_recognise(path, name);
}

/* ---- where it is ---------------------------------------------------------------------------- */

/* `wanted` is not LIBRARY_OTHER where there is a launcher. */
static omprma_status_t launcher_fail(const char *path, const struct launcher *launcher,
                                     const char *name, enum library_kind wanted)
{
    bool standard = library_built() == LIBRARY_OTHER;
    if (!path)
        return error_set(OMPRMA_ERR_CONFIG, "cannot find mpirun in PATH; install %s (Debian: %s)",
                         library_name(wanted == LIBRARY_MPICH ? wanted : LIBRARY_OPENMPI),
                         wanted == LIBRARY_MPICH ? "mpich" : "openmpi-bin");
    if (launcher)
        return error_set(OMPRMA_ERR_CONFIG,
                         "%s is of %s, but %s %s; put the mpirun of that first in PATH, or %s",
                         path, name, standard ? "the MPI library is" : "omprma was built for",
                         library_name(wanted),
                         standard ? "let LD_LIBRARY_PATH lead to the library of this one"
                                  : "build omprma with -DMPI_C_COMPILER=MPICC, the mpicc of this "
                                    "one");
    const char *folder = getenv("OPAL_PREFIX");
    return error_set(OMPRMA_ERR_CONFIG,
                     "%s is of %s, and omprma knows Open MPI 4.1 to 6 and MPICH; put one of these "
                     "first in PATH%s%s",
                     path, *name ? name : "no MPI library that says its version",
                     folder ? ", with its files in OPAL_PREFIX, which is " : "",
                     folder ? folder : "");
}

/* Where packages of several are installed, each has names of its own, too. */
static const char *const programs[] = {"mpirun", "mpirun.openmpi", "mpiexec.hydra"};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

/* Which library the processes will have. A child loads it, because this process needs none, while
 * a launcher is asked. */
static void answer_library(const char *path, int out)
{
    char text[256];
    (void)path;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool said =
        module_mpi_library(text, sizeof(text)) == OMPRMA_OK && write(out, text, strlen(text)) > 0;
    _exit(said ? 0 : 1);
}

/* LIBRARY_OTHER where it is not known; the processes say more then. */
static enum library_kind launcher_hear_library(struct question *question)
{
    char text[256];
    launcher_take_answer(*question, text, sizeof(text));
    question->from = -1;
    return library_of(text).kind;
}

/* A build for the standard interface goes with any launcher, and so with that of the library that
 * is here. */
omprma_status_t launcher_find(const struct launcher **launcher, char **path, char *name)
{
    enum library_kind wanted = library_built();
    struct question question = {-1, -1};
    if (wanted == LIBRARY_OTHER)
        question = launcher_ask(answer_library, NULL);
    const struct launcher *first = NULL;
    char *first_path = NULL, first_name[LAUNCHER_NAME_BYTES] = "";
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (path_program(programs[i], path) != OMPRMA_OK)
            continue;
        *launcher = launcher_recognise(*path, name);
        if (question.from >= 0)
            wanted = launcher_hear_library(&question);
        if (*launcher && (wanted == LIBRARY_OTHER || (*launcher)->library == wanted)) {
            log_write(LOG_CHOICE, "processes are started by %s of %s", *path, name);
            free(first_path);
            return OMPRMA_OK;
        }
        if (first_path) {
            free(*path);
            continue;
        }
        first = *launcher;
        first_path = *path;
        memcpy(first_name, name, sizeof(first_name));
    }
    if (question.from >= 0)
        wanted = launcher_hear_library(&question);
    *path = NULL;
    omprma_status_t status = launcher_fail(first_path, first, first_name, wanted);
    free(first_path);
    return status;
}

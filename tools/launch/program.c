/* program.c: starts the program. Knows nothing of mpirun. */
#include "tools/launch/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/error.h"

extern char **environ;

/* Scripts use low descriptors for themselves. */
enum { REPORT_FD = 300 };

static void set_front(struct list *environment, const char *name, const char *kept,
                      const char *front)
{
    if (!front || !*front)
        return;
    const char *old = list_get(environment, name);
    char *value = path_join(front, old), *saved = text_make("%s", old ? old : "");
    list_set(environment, kept, saved);
    list_set(environment, name, value);
    free(value);
    free(saved);
}

void program_environment(const struct program *program, struct list *environment)
{
    char *workers = text_make("%d", program->workers);
    list_set(environment, "OMPRMA_WORKERS", workers);
    free(workers);
    if (!program->offloading)
        return;
    /* Running on the host instead, silently, is not what the user asked for. */
    const char *offload = list_get(environment, "OMP_TARGET_OFFLOAD");
    if (!offload || !*offload)
        list_set(environment, "OMP_TARGET_OFFLOAD", "MANDATORY");
    set_front(environment, "LD_LIBRARY_PATH", "OMPRMA_INTERNAL_LD_LIBRARY_PATH",
              program->plan->program_path);
    set_front(environment, "LD_PRELOAD", "OMPRMA_INTERNAL_LD_PRELOAD", program->plan->preload);
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
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    sigaction(SIGPIPE, program->old_pipe, NULL);
    sigprocmask(SIG_SETMASK, program->mask, NULL);
    execvpe(program->path, program->argv, environment->items);
    int code = errno;
    if (write(failed, &code, sizeof(code)) < 0)
        _exit(126);
    _exit(127);
}

/* A descriptor that survives exec, far above those that scripts use. */
static int report_descriptor(int fd)
{
    int high = fcntl(fd, F_DUPFD, REPORT_FD);
    return high >= 0 ? high : fcntl(fd, F_DUPFD, 3); /* a low limit on open files */
}

/* execvpe() takes argv[0] from argv but the file from `path`, which has a slash in it. */
static omprma_status_t program_fork(const struct program *program, const struct list *environment,
                                    int keep, pid_t *pid)
{
    int failed[2];
    if (pipe2(failed, O_CLOEXEC))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a pipe: %s", strerror(errno));
    pid_t parent = getpid(), made = fork();
    if (made == 0) {
        fcntl(keep, F_SETFD, 0);
        program_exec(program, environment, parent, failed[1]);
    }
    close(failed[1]);
    int code = made < 0 ? errno : 0;
    if (made > 0 && read(failed[0], &code, sizeof(code)) != (ssize_t)sizeof(code))
        code = 0;
    close(failed[0]);
    if (code)
        return error_set(OMPRMA_ERR_CONFIG, "cannot run %s: %s", program->path, strerror(code));
    *pid = made;
    return OMPRMA_OK;
}

omprma_status_t program_start(const struct program *program, const char *mpi, size_t bytes,
                              pid_t *pid, int *report)
{
    int ends[2], keep;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) || (keep = report_descriptor(ends[1])) < 0)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a pipe: %s", strerror(errno));
    fcntl(keep, F_SETFD, FD_CLOEXEC); /* cleared in the child only */
    struct list environment = {0};
    for (char **variable = environ; *variable; variable++)
        list_add(&environment, *variable);
    add_mpi(&environment, mpi, bytes);
    program_environment(program, &environment);
    char *number = text_make("%d", keep);
    list_set(&environment, "OMPRMA_INTERNAL_FD", number);
    free(number);
    omprma_status_t status = program_fork(program, &environment, keep, pid);
    list_clear(&environment);
    close(keep);
    close(ends[1]);
    if (status == OMPRMA_OK)
        *report = ends[0];
    else
        close(ends[0]);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fault.c: runs omprma-fault in a process of its own, and a thread that reads what it says. What
 * has crashed may hold locks and have broken the heap, so this thread asks for no memory, and reads
 * no debug information itself.
 */
#define _GNU_SOURCE
#include "worker/native/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "worker/native/image.h"

enum {
    FAULT_LIMIT_MS = 10000,
    STACK_BYTES_MOST = 16 << 20,
    ANSWER_BYTES = 16 << 10,
    TRACE_BYTES = ANSWER_BYTES + 2048
};

enum { FAULT_NONE, FAULT_ASKED, FAULT_KNOWN };

extern char **environ;

/* ---- the question --------------------------------------------------------------------------- */

/* write() stops, without a fault, where the stack ends. By number: sanitizers look at what is
 * written, and a stack has places that are nobody's. */
static uint64_t stack_write(int fd, uint64_t from)
{
    uint64_t done = 0;

    while (done < STACK_BYTES_MOST) {
        ssize_t bytes =
            syscall(SYS_write, fd, (uintptr_t)(from + done), STACK_BYTES_MOST - (size_t)done);
        if (bytes <= 0)
            break;
        done += (uint64_t)bytes;
    }
    return done;
}

static int question_make(const struct crash *crash)
{
    struct fault_question question = {.pid = getpid()};
    int fd = memfd_create("omprma-fault", MFD_CLOEXEC);

    if (fd < 0)
        return -1;
    memcpy(question.registers, crash->scene.registers, sizeof(question.registers));
    snprintf(question.kernel, sizeof(question.kernel), "%s", crash->scene.kernel);
    image_list(&question);
    if (lseek(fd, sizeof(question), SEEK_SET) < 0)
        goto fail;
    if (crash->scene.registers[CRASH_STACK_POINTER])
        question.stack_bytes = stack_write(fd, crash->scene.registers[CRASH_STACK_POINTER]);
    if (pwrite(fd, &question, sizeof(question), 0) == (ssize_t)sizeof(question) &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
fail:
    close(fd);
    return -1;
}

/* ---- the answer ----------------------------------------------------------------------------- */

static bool program_path(char *path, size_t bytes)
{
    static const char name[] = "../libexec/omprma-fault";
    ssize_t length = readlink("/proc/self/exe", path, bytes - 1);
    char *slash;

    if (length <= 0)
        return false;
    path[length] = 0;
    slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + sizeof(name) > bytes)
        return false;
    memcpy(slash + 1, name, sizeof(name));
    return true;
}

static pid_t program_start(int question, int answer)
{
    char path[4096], *arguments[] = {path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;

    if (!program_path(path, sizeof(path)) || posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    posix_spawn_file_actions_adddup2(&actions, question, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, answer, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    errno = posix_spawn(&pid, path, &actions, NULL, arguments, environ);
    if (errno)
        log_write(LOG_CHOICE, "no names and lines of the crash below: %s: %s", path,
                  strerror(errno));
    posix_spawn_file_actions_destroy(&actions);
    return errno ? -1 : pid;
}

/* All that it says, or nothing if it takes too long. */
static size_t answer_read(int fd, char *answer, size_t room)
{
    int64_t until = clock_ns() + INT64_C(1000000) * FAULT_LIMIT_MS;
    size_t used = 0;

    while (used < room - 1) {
        struct pollfd end = {.fd = fd, .events = POLLIN};
        int64_t left_ms = (until - clock_ns()) / 1000000;
        ssize_t bytes;

        if (left_ms <= 0 || poll(&end, 1, (int)left_ms) == 0)
            return 0;
        bytes = read(fd, answer + used, room - 1 - used);
        if (bytes == 0)
            break;
        if (bytes > 0)
            used += (size_t)bytes;
        else if (errno != EINTR)
            return 0;
    }
    answer[used] = 0;
    return used;
}

static bool ask(const struct crash *crash, char *answer, size_t room)
{
    int question = question_make(crash), ends[2] = {-1, -1};
    pid_t pid = -1;
    bool answered = false;

    if (question >= 0 && pipe2(ends, O_CLOEXEC) == 0) {
        pid = program_start(question, ends[1]);
        close(ends[1]);
    }
    if (pid > 0) {
        answered = answer_read(ends[0], answer, room) > 0;
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (ends[0] >= 0)
        close(ends[0]);
    if (question >= 0)
        close(question);
    return answered;
}

/* ---- the report ----------------------------------------------------------------------------- */

/* Takes a line off. */
static char *line_take(char **rest)
{
    char *line = *rest, *end = line + strcspn(line, "\n");

    *rest = *end ? end + 1 : end;
    *end = 0;
    return line;
}

static void registers_log(const struct crash *crash)
{
    static const char *const names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                        "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                        "r12", "r13", "r14", "r15", "rip"};
    char line[1024];
    size_t used = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        used += (size_t)snprintf(line + used, sizeof(line) - used, " %s=0x%llx", names[i],
                                 (unsigned long long)crash->scene.registers[i]);
    log_write(LOG_DETAIL, "registers where it crashed:%s", line);
}

/* One frame alone says no more than the line does. Through the descriptor: whoever crashed may hold
 * the stream. */
static void trace_print(const char *kernel, char *frames)
{
    char text[TRACE_BYTES];
    size_t used, lines = 0;

    used = (size_t)snprintf(text, sizeof(text), "omprma: note: kernel %s, the functions called:\n",
                            kernel);
    while (*frames && used < sizeof(text)) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "omprma: note:   %s\n",
                                 line_take(&frames));
        lines++;
    }
    if (used >= sizeof(text))
        used = sizeof(text) - 1;
    if (lines > 1 && write(STDERR_FILENO, text, used) < 0)
        log_write(LOG_DETAIL, "the backtrace cannot be printed: %s", strerror(errno));
}

/* Some functions are called only after a certain mistake. */
static const char *advice(const char *frames)
{
    static const char lock[] = ": a lock that was initialized outside of the region is none there: "
                               "use critical or atomic, or omp_init_lock() in the region";
    static const struct {
        const char *called, *words;
    } known[] = {
        {" std::terminate() in ", ", by std::terminate(): did an exception leave the region? Catch "
                                  "it inside"},
        {"_set_lock in libomp", lock},
        {"_set_nest_lock in libomp", lock},
        {"_test_lock in libomp", lock},
        {"_unset_lock in libomp", lock},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strstr(frames, known[i].called))
            return known[i].words;
    return "";
}

static void compose(struct fault *fault, char *answer)
{
    const struct crash *crash = fault->crash;
    char *rest = answer;
    const char *kernel = line_take(&rest), *place = line_take(&rest);

    snprintf(fault->text, sizeof(fault->text), "kernel %.250s%.*s%s%.200s%s%s", kernel,
             (int)(crash->scene.verb_end - crash->scene.name_end),
             crash->text + crash->scene.name_end, *place ? " at " : "", place,
             crash->text + crash->scene.verb_end, advice(rest));
    trace_print(kernel, rest);
}

static void *fault_thread(void *data)
{
    struct fault *fault = data;
    char answer[ANSWER_BYTES];

    if (log_level() >= LOG_DETAIL)
        registers_log(fault->crash);
    if (ask(fault->crash, answer, sizeof(answer)))
        compose(fault, answer);
    atomic_store(&fault->state, FAULT_KNOWN);
    crash_wake();
    return NULL;
}

/* Signals are for others. */
static bool thread_start(struct fault *fault)
{
    sigset_t all, before;
    pthread_t thread;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, fault_thread, fault);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 && pthread_detach(thread) == 0;
}

const char *fault_look(struct fault *fault, const struct crash *crash)
{
    const char *text;
    int none = FAULT_NONE;

    if (!crash_happened(crash, &text))
        return NULL;
    if (atomic_load(&fault->state) == FAULT_NONE &&
        atomic_compare_exchange_strong(&fault->state, &none, FAULT_ASKED)) {
        fault->crash = crash;
        memcpy(fault->text, text, sizeof(fault->text));
        if (!thread_start(fault))
            atomic_store(&fault->state, FAULT_KNOWN);
    }
    return atomic_load(&fault->state) == FAULT_KNOWN ? fault->text : NULL;
}

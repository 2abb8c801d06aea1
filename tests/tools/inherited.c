/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * inherited.c: what processes hand on to those that they become or start.
 *   inherited STATE... -- COMMAND...   gets into these states and becomes COMMAND
 * - inherited show FILE: writes to FILE what it has inherited
 * - inherited use IMAGE FILE: the same of itself, and of a kernel of device 0
 * - inherited wait IMAGE FILE: likewise, and then waits until it is ended
 * - inherited crash IMAGE FILE: likewise, and then has a kernel crash
 * With INHERITED_IMAGE it is the image with that kernel. A state is one word: ignore=SIGNAL,
 * block=SIGNAL (0: all), close=DESCRIPTOR, open=COUNT, umask=OCTAL, nice=N, policy=NUMBER,
 * user=NUMBER, environment=BYTES (0: empty), alarm=SECONDS, session, group, refuse=CALL (a system
 * call), privileges (no new ones), or the name of a limit with its value.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <omprma/omprma.h>

extern char **environ;

enum { ROOM = 8192 };

/* ---- what is inherited ---- */

/* It is open, for what it is for. Reading nothing would count as a read of a region. */
static bool has_stream(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != (fd == 0 ? O_WRONLY : O_RDONLY);
}

/* Lines of /proc that tell of it. */
static void tell_status(FILE *out)
{
    static const char *const names[] = {"Umask", "SigBlk", "SigIgn", "NoNewPrivs", "Seccomp"};
    FILE *file = fopen("/proc/thread-self/status", "re");
    char line[4096];

    while (file && fgets(line, sizeof(line), file))
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0 && line[strlen(names[i])] == ':')
                fputs(line, out);
    if (file)
        fclose(file);
}

static void tell_limits(FILE *out)
{
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        struct rlimit limit;

        getrlimit((__rlimit_resource_t)which, &limit);
        fprintf(out, "limit %d: %lld %lld\n", which, (long long)limit.rlim_cur,
                (long long)limit.rlim_max);
    }
}

/* Without what is set for the job. */
static void tell_environment(FILE *out)
{
    static const char *const others[] = {"OM",
                                         "PMIX",
                                         "ORTE",
                                         "LD_",
                                         "OPAL",
                                         "HWLOC",
                                         "TMPDIR",
                                         "_=",
                                         "PRTE",
                                         "PMI_",
                                         "HYDI_",
                                         "MPIR_CVAR_",
                                         "UCX_HANDLE_ERRORS=",
                                         "UCX_DEBUG_SIGNO=",
                                         "UCX_LOG_FILE=",
                                         "HOME="};
    size_t count = 0, bytes = 0;

    for (char **variable = environ; *variable; variable++) {
        bool counts = true;

        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
            counts = counts && strncmp(*variable, others[i], strlen(others[i])) != 0;
        count += counts;
        bytes += counts ? strlen(*variable) : 0;
    }
    fprintf(out, "environment: %zu %zu\n", count, bytes);
}

static void tell_descriptors(FILE *out)
{
    int found = 0;

    for (int fd = 10; fd < 290; fd++)
        found += fcntl(fd, F_GETFD) >= 0;
    fprintf(out, "descriptors: %d\n", found);
}

static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

OMPRMA_API void crash(void);
OMPRMA_API void crash(void)
{
    *(volatile int *)16 = 1;
}

OMPRMA_API void tell(char *text);
OMPRMA_API void tell(char *text)
{
    FILE *out = fmemopen(text, ROOM, "w");
    char folder[4096];

    if (!out)
        return;
    for (int fd = 0; fd < 3; fd++)
        fprintf(out, "stream %d: %s\n", fd, has_stream(fd) ? "open" : "closed");
    tell_status(out);
    tell_limits(out);
    tell_environment(out);
    tell_descriptors(out);
    fprintf(out, "nice: %d\npolicy: %d\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
    fprintf(out, "folder: %s\n", getcwd(folder, sizeof(folder)) ? folder : strerror(errno));
    fprintf(out, "terminal: %s\n", has_terminal() ? "yes" : "no");
    fclose(out);
    puts("printed");
}

#ifndef INHERITED_IMAGE
/* ---- a program ---- */

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "inherited: %s: %s\n", what, why);
    exit(99);
}

static void keep(const char *path, const char *text)
{
    FILE *file = fopen(path, "ae");

    if (!file || fputs(text, file) < 0 || fclose(file))
        fail(path, strerror(errno));
}

static void must(omprma_status_t status)
{
    if (status != OMPRMA_OK)
        fail("omprma", omprma_error());
}

static bool is_taken(int fd)
{
    char link[32], path[64];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t bytes = readlink(link, path, sizeof(path));
    return bytes >= 0 && strncmp(path, "/dev/null", (size_t)bytes) != 0;
}

/* What was closed must not be MPI's now: whatever is printed would go there. */
static void check_streams(const bool had[3])
{
    for (int fd = 0; fd < 3; fd++)
        if (!had[fd] && is_taken(fd))
            fail("a standard stream that was closed", "MPI has it");
}

static void use(const char *how, const char *path, const char *kept, char *text)
{
    static char image[1 << 20];
    FILE *file = fopen(path, "re");
    size_t bytes = file ? fread(image, 1, sizeof(image), file) : 0;
    omprma_symbol_t symbols[] = {{.name = "tell"}, {.name = "crash"}};
    omprma_queue_t *queue;
    omprma_addr_t address;
    bool had[3] = {has_stream(0), has_stream(1), has_stream(2)};

    if (file)
        fclose(file);
    must(omprma_init());
    must(omprma_image_load(0, image, bytes, symbols, 2));
    must(omprma_queue_create(0, &queue));
    must(omprma_alloc(0, ROOM, &address));
    must(omprma_launch(queue, symbols[0].address, NULL, &address, 1));
    must(omprma_retrieve(queue, text, address, ROOM));
    must(omprma_queue_synchronize(queue));
    check_streams(had);
    keep(kept, text);
    while (strcmp(how, "wait") == 0)
        pause();
    if (strcmp(how, "crash") == 0)
        must(omprma_launch(queue, symbols[1].address, NULL, NULL, 0));
    must(omprma_queue_synchronize(queue));
    omprma_finalize();
}

/* ---- states ---- */

static void ignore(long number)
{
    for (int i = 1; i < 65; i++)
        if (i == number || number == 0)
            signal(i, SIG_IGN);
}

static void block(long number)
{
    sigset_t set;

    sigemptyset(&set);
    if (number)
        sigaddset(&set, (int)number);
    else
        sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void open_many(long count)
{
    while (count-- > 0)
        if (open("/dev/null", O_RDONLY) < 0)
            fail("open", strerror(errno));
}

/* Variables of many sizes, none longer than what exec allows. */
static void fill_environment(long bytes)
{
    enum { MOST = 100000 };
    char name[32];
    char *value;

    if (bytes == 0)
        clearenv();
    for (int i = 0; bytes > 0; i++) {
        long size = i % 8 ? 100 : MOST;

        size = size < bytes ? size : bytes;
        value = calloc(1, (size_t)size + 1);
        memset(value, 'x', (size_t)size);
        snprintf(name, sizeof(name), "VARIABLE_%d", i);
        setenv(name, value, 1);
        bytes -= size + (long)sizeof(char *) + 20;
    }
}

static void set_policy(long number)
{
    struct sched_param priority = {.sched_priority = number == SCHED_FIFO || number == SCHED_RR};

    if (sched_setscheduler(0, (int)number, &priority))
        fail("policy", strerror(errno));
}

static void become_user(long number)
{
    if (setgid((gid_t)number) || setuid((uid_t)number))
        fail("user", strerror(errno));
}

/* A system call that a filter refuses, as those of containers and services do. */
static void refuse(long call)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
        fail("refuse", strerror(errno));
}

static bool limit(const char *name, long value)
{
    static const struct {
        const char *name;
        int which;
    } limits[] = {{"core", RLIMIT_CORE},
                  {"files", RLIMIT_NOFILE},
                  {"pending", RLIMIT_SIGPENDING},
                  {"stack", RLIMIT_STACK},
                  {"queues", RLIMIT_MSGQUEUE}};

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct rlimit both = {(rlim_t)value, (rlim_t)value};

        if (strcmp(name, limits[i].name) != 0)
            continue;
        if (setrlimit((__rlimit_resource_t)limits[i].which, &both))
            fail(name, strerror(errno));
        return true;
    }
    return false;
}

static void enter(char *state)
{
    char *text = strchr(state, '=');
    long value = 0;

    if (text) {
        *text++ = 0;
        value = strtol(text, NULL, strcmp(state, "umask") == 0 ? 8 : 10);
    }
    if (strcmp(state, "ignore") == 0)
        ignore(value);
    else if (strcmp(state, "block") == 0)
        block(value);
    else if (strcmp(state, "close") == 0)
        close((int)value);
    else if (strcmp(state, "open") == 0)
        open_many(value);
    else if (strcmp(state, "umask") == 0)
        umask((mode_t)value);
    else if (strcmp(state, "nice") == 0)
        setpriority(PRIO_PROCESS, 0, (int)value);
    else if (strcmp(state, "policy") == 0)
        set_policy(value);
    else if (strcmp(state, "user") == 0)
        become_user(value);
    else if (strcmp(state, "environment") == 0)
        fill_environment(value);
    else if (strcmp(state, "session") == 0)
        setsid();
    else if (strcmp(state, "group") == 0)
        setpgid(0, 0);
    else if (strcmp(state, "privileges") == 0)
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    else if (strcmp(state, "alarm") == 0)
        alarm((unsigned)value);
    else if (strcmp(state, "refuse") == 0)
        refuse(value);
    else if (!limit(state, value))
        fail(state, "no such state");
}

int main(int count, char **words)
{
    int at = 1;

    static char text[ROOM];

    if (count > 2 && strcmp(words[1], "show") == 0)
        return tell(text), keep(words[2], text), 0;
    if (count > 3 && !strchr(words[1], '=') && strcmp(words[2], "--") != 0 &&
        strstr("use wait crash", words[1])) {
        tell(text);
        keep(words[3], text);
        use(words[1], words[2], words[3], text);
        return 0;
    }
    while (at < count && strcmp(words[at], "--") != 0)
        enter(words[at++]);
    if (at + 1 >= count)
        return 99;
    execvp(words[at + 1], words + at + 1);
    fail(words[at + 1], strerror(errno));
}
#endif

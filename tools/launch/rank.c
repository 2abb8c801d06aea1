/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rank.c: rank 0's stand-in and the remote shell's wrapper. See rank.h. */
#include "tools/launch/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "tools/launch/allocation.h"
#include "tools/launch/hosts.h"
#include "tools/launch/launcher.h"
#include "control/direct/packet.h"
#include "tools/launch/list.h"
#include "tools/launch/loop.h"

extern char **environ;

enum { REPORT_TRIES = 5 };

int rank_accept(int listener, char *packet, size_t room, size_t *bytes)
{
    int fd = packet_accept(listener);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    bool ours = fd >= 0 && packet_same_user(fd, NULL);
    ssize_t came = ours && poll(&ready, 1, 1000) == 1 ? packet_receive(fd, packet, room) : 0;
    *bytes = came > 1 && packet[came - 1] == 0 ? (size_t)came : 0;
    return fd;
}

/* ---- rank 0 -------------------------------------------------------------------------------- */

int rank_main(const char *socket_name)
{
    static char packet[PACKET_BYTES_MOST];
    size_t used = 0;
    packet[used++] = RANK_ENVIRONMENT;
    for (char **variable = environ; *variable; variable++) {
        size_t bytes = strlen(*variable) + 1;
        if (!launcher_gives(*variable))
            continue;
        if (bytes > sizeof(packet) - used) {
            log_write(LOG_ERROR, "MPI's environment variables are too long together");
            return 1;
        }
        memcpy(packet + used, *variable, bytes);
        used += bytes;
    }
    int fd = packet_connect(socket_name);
    if (fd < 0 || packet_send(fd, packet, used) != (ssize_t)used)
        return 1; /* omprma-run is gone, and with it whoever could be told */
    packet_receive(fd, packet, sizeof(packet));
    return 0;
}

/* ---- the remote shell ---------------------------------------------------------------------- */

/* False when the connection was given up meanwhile, see rank_accept(). */
static bool shell_send(const char *name, const char *packet, size_t bytes)
{
    int fd = packet_connect(name);
    bool goes = fd < 0 || packet_send(fd, packet, bytes) == (ssize_t)bytes;
    if (fd >= 0)
        close(fd);
    return goes;
}

static void shell_report(char what, const char *host, const char *why)
{
    const char *name = getenv(SHELL_SOCKET);
    char packet[1024];
    int length = snprintf(packet, sizeof(packet), "%c%s%s%s", what, host, *why ? ": " : "", why);
    if (length >= (int)sizeof(packet))
        length = sizeof(packet) - 1;
    for (int tries = 0; name && tries < REPORT_TRIES; tries++)
        if (shell_send(name, packet, (size_t)length + 1))
            break;
}

/* What the host says before it starts anything: the shell may stay until the job's end. */
static const char reached_line[] = "omprma-reached";

/* The real remote shell with options that keep it from waiting for ever or asking questions. */
static void shell_command(struct list *command, int argc, char **argv)
{
    const char *words = getenv(SHELL_COMMAND);
    char *copy = text_make("%s", words && *words ? words : "ssh"), *rest = copy, *word;
    while ((word = strsep(&rest, " ")) && strcmp(word, ":") != 0) { /* "ssh : rsh": the first */
        if (*word)
            list_add(command, word);
    }
    free(copy);
    const char *slash = command->count ? strrchr(command->items[0], '/') : NULL;
    if (command->count && strcmp(slash ? slash + 1 : command->items[0], "ssh") == 0) {
        list_add(command, "-x");
        list_add(command, "-oBatchMode=yes");
        list_add(command, "-oConnectTimeout=10");
    }
    for (int i = 1; i < argc; i++) {
        list_add(command, argv[i]);
        if (i > 1)
            continue;
        list_add(command, "echo"); /* any shell knows it */
        list_addf(command, "%s;", reached_line);
    }
}

/* srun is no shell. */
static void shell_command_slurm(struct list *command, int argc, char **argv)
{
    char *text = text_make("%s", "");
    for (int i = 2; i < argc; i++) {
        char *longer = text_make("%s %s", text, argv[i]);
        free(text);
        text = longer;
    }
    allocation_srun(command, argc > 1 ? argv[1] : "", text);
    free(text);
}

/* What comes from the remote shell, by line. */
struct heard {
    struct loop_source source;
    const char *host;
    bool complains; /* it is its stderr */
    bool reached;   /* the host has said so */
    size_t used;
    char line[512], last[512]; /* the last line */
};

/* Complaints are kept, for who asks why it failed; all else is passed on. */
static void shell_line(struct heard *heard)
{
    if (heard->complains && heard->line[strspn(heard->line, "\r\n")]) {
        heard->line[strcspn(heard->line, "\r\n")] = 0;
        memcpy(heard->last, heard->line, sizeof(heard->last));
    } else if (!heard->complains && !heard->reached && strstr(heard->line, reached_line)) {
        heard->reached = true;
        shell_report(RANK_REACHED, heard->host, "");
    } else if (!heard->complains && write(STDOUT_FILENO, heard->line, heard->used) < 0) {
        return; /* nobody reads it */
    }
}

static bool shell_take(struct loop_source *source, const char *bytes, size_t count)
{
    struct heard *heard = source->owner;
    for (size_t i = 0; i < count; i++) {
        heard->line[heard->used++] = bytes[i];
        heard->line[heard->used] = 0;
        if (bytes[i] != '\n' && heard->used < sizeof(heard->line) - 1)
            continue;
        shell_line(heard);
        heard->used = 0;
    }
    return true;
}

static void shell_on_input(struct loop_source *source)
{
    struct heard *heard = source->owner;
    loop_read(source, shell_take);
    if (source->fd < 0 && heard->used)
        shell_line(heard);
}

/* The launcher may have cut it at the first dot, and the rest may be what a name service needs. */
static void shell_name_host(struct hosts *hosts, char **name)
{
    const char *names = getenv(SHELL_HOSTS);
    if (names && hosts_parse(hosts, names) == OMPRMA_OK)
        *name = (char *)(uintptr_t)hosts_full_name(hosts, *name);
}

int shell_main(int argc, char **argv)
{
    struct list command = {0};
    struct hosts hosts = {0};
    int outs[2], errs[2];
    const char *shell = getenv(SHELL_COMMAND);
    bool slurm = shell && strcmp(shell, ALLOCATION_SLURM_SHELL) == 0;
    if (argc > 1 && !slurm)
        shell_name_host(&hosts, &argv[1]);
    if (slurm)
        shell_command_slurm(&command, argc, argv);
    else
        shell_command(&command, argc, argv);
    if (argc < 2 || !command.count || pipe2(outs, O_CLOEXEC) || pipe2(errs, O_CLOEXEC))
        return 1;
    if (!slurm)
        shell_report(RANK_ASKED, argv[1], "");
    pid_t child = fork();
    if (child == 0) {
        dup2(outs[1], STDOUT_FILENO);
        dup2(errs[1], STDERR_FILENO);
        execvp(command.items[0], command.items);
        dprintf(STDERR_FILENO, "cannot run %s: %s\n", command.items[0], strerror(errno));
        _exit(127);
    }
    close(outs[1]);
    close(errs[1]);
    struct heard out = {.source = {outs[0], shell_on_input, &out}, .host = argv[1]};
    struct heard err = {
        .source = {errs[0], shell_on_input, &err}, .host = argv[1], .complains = true};
    struct loop loop = {.signals = -1, .sources = {&out.source, &err.source}};
    fcntl(outs[0], F_SETFL, O_NONBLOCK);
    fcntl(errs[0], F_SETFL, O_NONBLOCK);
    while ((out.source.fd >= 0 || err.source.fd >= 0) && loop_wait(&loop, -1))
        loop_call(&loop);
    int status = 1 << 8;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code != 0) {
        if (!*err.last)
            snprintf(err.last, sizeof(err.last), "%s ended with status %d", command.items[0], code);
        shell_report(RANK_HOST, argv[1], err.last);
    }
    list_clear(&command);
    hosts_clear(&hosts);
    return code;
}

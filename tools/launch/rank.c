/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rank.c: rank 0's stand-in and the remote shell's wrapper. See rank.h. */
#include "tools/launch/rank.h"

#include <errno.h>
#include <fcntl.h>
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
#include "tools/launch/local.h"
#include "tools/launch/list.h"

extern char **environ;

/* ---- rank 0 -------------------------------------------------------------------------------- */

int rank_main(const char *socket_name)
{
    static char packet[LOCAL_PACKET_BYTES];
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
    int fd = local_connect(socket_name);
    if (fd < 0 || local_send(fd, packet, used) != (ssize_t)used)
        return 1; /* the launcher is gone, and with it whoever could be told */
    local_receive(fd, packet, sizeof(packet));
    return 0;
}

/* ---- the remote shell ---------------------------------------------------------------------- */

static void agent_report(char what, const char *host, const char *why)
{
    const char *name = getenv(AGENT_SOCKET);
    int fd = name ? local_connect(name) : -1;
    if (fd < 0)
        return;
    char packet[1024];
    int length = snprintf(packet, sizeof(packet), "%c%s%s%s", what, host, *why ? ": " : "", why);
    if (length >= (int)sizeof(packet))
        length = sizeof(packet) - 1;
    local_send(fd, packet, (size_t)length + 1);
    close(fd);
}

/* The real remote shell with options that keep it from waiting for ever or asking questions. */
static void agent_command(struct list *command, int argc, char **argv)
{
    const char *words = getenv(AGENT_COMMAND);
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
    for (int i = 1; i < argc; i++)
        list_add(command, argv[i]);
}

/* srun is no shell. */
static void agent_command_slurm(struct list *command, int argc, char **argv)
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

/* Passes the remote shell's complaints on only if it succeeds; keeps the last line. */
static void agent_listen(int fd, char *last, size_t room)
{
    FILE *stream = fdopen(fd, "r");
    char *line = NULL;
    size_t line_room = 0;
    while (stream && getline(&line, &line_room, stream) > 0) {
        line[strcspn(line, "\r\n")] = 0;
        if (*line)
            snprintf(last, room, "%s", line);
    }
    free(line);
    if (stream)
        fclose(stream);
}

/* The launcher may have cut it at the first dot, and the rest may be what a name service needs. */
static void agent_name_host(struct hosts *hosts, char **name)
{
    const char *names = getenv(AGENT_HOSTS);
    if (names && hosts_parse(hosts, names) == OMPRMA_OK)
        *name = (char *)(uintptr_t)hosts_full_name(hosts, *name);
}

int agent_main(int argc, char **argv)
{
    struct list command = {0};
    struct hosts hosts = {0};
    int ends[2];
    const char *shell = getenv(AGENT_COMMAND);
    bool slurm = shell && strcmp(shell, ALLOCATION_SLURM_SHELL) == 0;
    bool stays = getenv(AGENT_STAYS) != NULL;
    if (argc > 1 && !slurm)
        agent_name_host(&hosts, &argv[1]);
    if (slurm)
        agent_command_slurm(&command, argc, argv);
    else
        agent_command(&command, argc, argv);
    if (argc < 2 || !command.count || pipe2(ends, O_CLOEXEC))
        return 1;
    if (!stays)
        agent_report(RANK_ASKED, argv[1], "");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        execvp(command.items[0], command.items);
        dprintf(STDERR_FILENO, "cannot run %s: %s\n", command.items[0], strerror(errno));
        _exit(127);
    }
    close(ends[1]);
    char why[512] = "";
    agent_listen(ends[0], why, sizeof(why));
    int status = 1 << 8;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code != 0) {
        if (!*why)
            snprintf(why, sizeof(why), "%s ended with status %d", command.items[0], code);
        agent_report(RANK_HOST, argv[1], why);
    } else if (!stays) {
        agent_report(RANK_REACHED, argv[1], "");
    }
    list_clear(&command);
    hosts_clear(&hosts);
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* far.c: the launcher's end is the end of what it has started: see keeper.h. */
#include "tools/launch/far.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "control/direct/packet.h"
#include "tools/launch/keeper.h"
#include "tools/launch/launcher.h"
#include "tools/launch/rank.h"
#include "worker/far.h"
#include "worker/prove.h"

enum { AT_CONTROL, AT_LISTENER, AT_RANK, AT_WORDS };

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static omprma_status_t set_secret(void)
{
    uint8_t secret[PROVE_SECRET_BYTES];
    char text[PROVE_SECRET_TEXT + 1];

    if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no random numbers for a secret: %s",
                         strerror(errno));
    for (size_t i = 0; i < sizeof(secret); i++)
        snprintf(text + 2 * i, 3, "%02x", secret[i]);
    setenv(FAR_SECRET_VARIABLE, text, 1);
    return OMPRMA_OK;
}

/* At the address from which the other hosts are reached, and no other. */
static omprma_status_t listen_at(struct far *far)
{
    char *own = hosts_own_address(far->plan->hosts);
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t bytes = sizeof(at);
    omprma_status_t status = OMPRMA_OK;
    if (!own || inet_pton(AF_INET, own, &at.sin_addr) != 1) {
        free(own);
        return error_set(OMPRMA_ERR_CONFIG,
                         "no network is known that leads to host %s; name hosts by names or "
                         "addresses that can be looked up here",
                         far->plan->hosts->names.items[0]);
    }
    far->network = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (far->network < 0 || bind(far->network, (struct sockaddr *)&at, sizeof(at)) ||
        listen(far->network, SOMAXCONN) ||
        getsockname(far->network, (struct sockaddr *)&at, &bytes)) {
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "cannot listen at %s: %s", own, strerror(errno));
    } else {
        char *home = text_make("%s:%d", own, ntohs(at.sin_port));
        setenv(FAR_HOME_VARIABLE, home, 1);
        log_write(LOG_CHOICE, "agents of other hosts are to call %s", home);
        free(home);
    }
    free(own);
    return status;
}

omprma_status_t far_open(struct far *far, const struct far_plan *plan, const char *digits)
{
    *far = (struct far){.plan = plan,
                        .network = -1,
                        .control = -1,
                        .listener = -1,
                        .rank = -1,
                        .words = -1,
                        .stream = {.out = STDERR_FILENO,
                                   .from_mpirun = true,
                                   .verbose = log_level() >= LOG_DETAIL}};
    if (!plan)
        return OMPRMA_OK;
    far->verdict.dialect = plan->launcher->dialect;
    far->verdict.worker = plan->worker;
    far->listener = plan->listener;
    setenv(FAR_JOIN_VARIABLE, digits, 1);
    omprma_status_t status = set_secret();
    return status == OMPRMA_OK ? listen_at(far) : status;
}

omprma_status_t far_start(struct far *far)
{
    int words[2];
    if (!far->plan)
        return OMPRMA_OK;
    close_one(&far->network);
    if (pipe2(words, O_CLOEXEC))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a pipe: %s", strerror(errno));
    /* What regions write comes from the agents. On stdout are the launcher's words alone, too. */
    struct keeper_job job = {.launcher = far->plan->launcher,
                             .command = far->plan->command,
                             .folder = far->plan->folder,
                             .out = words[1],
                             .err = words[1],
                             .listener = far->listener};
    omprma_status_t status = keeper_start(&job, &far->keeper, &far->control);
    close(words[1]);
    far->words = words[0];
    fcntl(far->words, F_SETFL, O_NONBLOCK);
    return status;
}

void far_forget(void)
{
    unsetenv(FAR_SECRET_VARIABLE);
    unsetenv(FAR_HOME_VARIABLE);
    unsetenv(FAR_JOIN_VARIABLE);
}

void far_sources(const struct far *far, struct pollfd sources[FAR_SOURCES])
{
    const int fds[FAR_SOURCES] = {far->control, far->listener, far->rank, far->words};
    for (int i = 0; i < FAR_SOURCES; i++)
        sources[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
}

static void take_report(struct far *far)
{
    static char packet[PACKET_BYTES_MOST];
    size_t bytes;
    int fd = rank_accept(far->listener, packet, sizeof(packet), &bytes);
    if (fd < 0)
        return;
    if (bytes > 0 && packet[0] == RANK_ENVIRONMENT && far->rank < 0) {
        far->rank = fd;
        return;
    }
    if (bytes > 0 && packet[0] == RANK_HOST)
        verdict_host(&far->verdict, packet + 1);
    close(fd);
}

static void take_words(struct far *far)
{
    char bytes[4096];
    ssize_t count;
    while ((count = read(far->words, bytes, sizeof(bytes))) > 0)
        if (!far->given_up || far->stream.verbose)
            stream_feed(&far->stream, bytes, (size_t)count, &far->verdict);
    if (count == 0)
        close_one(&far->words);
}

static void take_control(struct far *far)
{
    struct keeper_packet packet;
    if (!keeper_hear(far->control, &packet))
        return;
    if (packet.what == KEEPER_ENDED) {
        far->ended = true;
        far->status = (int)packet.value;
    } else if (packet.what == KEEPER_GONE) {
        far->ended = true;
        close_one(&far->control);
    }
}

void far_take(struct far *far, const struct pollfd sources[FAR_SOURCES])
{
    if (sources[AT_LISTENER].revents && far->listener >= 0)
        take_report(far);
    if (sources[AT_WORDS].revents && far->words >= 0)
        take_words(far);
    if (sources[AT_RANK].revents)
        close_one(&far->rank); /* the launcher ends it when it gives up */
    if (sources[AT_CONTROL].revents && far->control >= 0)
        take_control(far);
}

void far_word(const struct far *far, char *line, size_t room)
{
    verdict_word(&far->verdict, far->status, line, room);
}

void far_stop(struct far *far)
{
    close_one(&far->rank);
}

void far_close(struct far *far)
{
    const struct keeper_packet stop = {.what = KEEPER_STOP};
    if (far->control >= 0)
        packet_send(far->control, &stop, sizeof(stop));
    while (far->control >= 0)
        take_control(far);
    if (far->keeper > 0)
        waitpid(far->keeper, NULL, 0);
    if (far->words >= 0)
        take_words(far);
    if (far->plan)
        stream_end(&far->stream);
    close_one(&far->rank);
    close_one(&far->words);
    close_one(&far->network);
}

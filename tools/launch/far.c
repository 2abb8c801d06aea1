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
#include "control/agent/far.h"
#include "control/agent/prove.h"
#include "control/direct/packet.h"
#include "tools/launch/keeper.h"
#include "tools/launch/launcher.h"
#include "tools/launch/rank.h"

static omprma_status_t far_make_secret(void)
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
static omprma_status_t far_listen(struct far *far)
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

/* ---- what is heard of them ------------------------------------------------------------------- */

static void far_on_report(struct loop_source *listener)
{
    static char packet[PACKET_BYTES_MOST];
    struct far *far = listener->owner;
    size_t bytes;
    int fd = rank_accept(listener->fd, packet, sizeof(packet), &bytes);
    if (fd < 0)
        return;
    if (bytes > 0 && packet[0] == RANK_ENVIRONMENT && far->rank.fd < 0) {
        far->rank.fd = fd;
        return;
    }
    if (bytes > 0 && packet[0] == RANK_HOST)
        verdict_host(&far->verdict, packet + 1);
    close(fd);
}

static bool far_take_words(struct loop_source *words, const char *bytes, size_t count)
{
    struct far *far = words->owner;
    if (!far->given_up || far->stream.verbose)
        stream_feed(&far->stream, bytes, count, &far->verdict);
    return true;
}

static void far_on_words(struct loop_source *words)
{
    const struct far *far = words->owner;
    loop_read(words, far_take_words);
    far->on_change(far->owner);
}

static void far_hear_keeper(struct far *far)
{
    struct keeper_packet packet;
    if (!keeper_hear(far->control.fd, &packet))
        return;
    if (packet.what == KEEPER_ENDED) {
        far->ended = true;
        far->status = (int)packet.value;
    } else if (packet.what == KEEPER_GONE) {
        far->ended = true;
        loop_close(&far->control);
    }
}

static void far_on_keeper(struct loop_source *control)
{
    struct far *far = control->owner;
    far_hear_keeper(far);
    far->on_change(far->owner);
}

/* ---- start and end --------------------------------------------------------------------------- */

omprma_status_t far_open(struct far *far, const struct far_plan *plan, const char *digits,
                         void (*on_change)(void *owner), void *owner)
{
    *far = (struct far){
        .plan = plan,
        .network = -1,
        .listener = {plan ? plan->listener : -1, far_on_report, far},
        .words = {-1, far_on_words, far},
        .rank = {-1, loop_close, far}, /* the launcher ends it when it gives up */
        .control = {-1, far_on_keeper, far},
        .stream = {.out = STDERR_FILENO, .from_mpirun = true, .verbose = log_level() >= LOG_DETAIL},
        .on_change = on_change,
        .owner = owner};
    if (!plan)
        return OMPRMA_OK;
    far->verdict.dialect = plan->launcher->dialect;
    far->verdict.worker = plan->worker;
    setenv(FAR_JOIN_VARIABLE, digits, 1);
    omprma_status_t status = far_make_secret();
    return status == OMPRMA_OK ? far_listen(far) : status;
}

omprma_status_t far_start(struct far *far)
{
    int words[2];
    if (!far->plan)
        return OMPRMA_OK;
    close(far->network);
    far->network = -1;
    if (pipe2(words, O_CLOEXEC))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a pipe: %s", strerror(errno));
    /* What regions write comes from the agents. On stdout are the launcher's words alone, too. */
    struct keeper_job job = {.launcher = far->plan->launcher,
                             .command = far->plan->command,
                             .folder = far->plan->folder,
                             .out = words[1],
                             .err = words[1],
                             .listener = far->listener.fd};
    omprma_status_t status = keeper_start(&job, &far->keeper, &far->control.fd);
    close(words[1]);
    far->words.fd = words[0];
    fcntl(words[0], F_SETFL, O_NONBLOCK);
    return status;
}

void far_forget(void)
{
    unsetenv(FAR_SECRET_VARIABLE);
    unsetenv(FAR_HOME_VARIABLE);
    unsetenv(FAR_JOIN_VARIABLE);
}

void far_word(const struct far *far, char *line, size_t room)
{
    verdict_word(&far->verdict, far->status, line, room);
}

void far_stop(struct far *far)
{
    if (far->plan)
        loop_close(&far->rank);
}

void far_close(struct far *far)
{
    const struct keeper_packet stop = {.what = KEEPER_STOP};
    if (!far->plan)
        return;
    if (far->control.fd >= 0)
        packet_send(far->control.fd, &stop, sizeof(stop));
    while (far->control.fd >= 0)
        far_hear_keeper(far);
    if (far->keeper > 0)
        waitpid(far->keeper, NULL, 0);
    loop_read(&far->words, far_take_words);
    stream_end(&far->stream);
    loop_close(&far->rank);
    loop_close(&far->words);
    if (far->network >= 0)
        close(far->network);
}

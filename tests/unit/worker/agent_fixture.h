/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* agent_fixture.h: an agent in a process of its own, as omprma-run starts one. */
#ifndef OMPRMA_TESTS_AGENT_FIXTURE_H
#define OMPRMA_TESTS_AGENT_FIXTURE_H

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/direct/packet.h"
#include "worker/agent.h"

/* `network`: where other hosts call, -1: nowhere; `files`: as many may be open, 0: as here. -1: it
 * failed. */
static inline pid_t agent_begin(const char *slots, int network, rlim_t files,
                                char name[PACKET_NAME_BYTES], int *control)
{
    int listener, ends[2];
    char texts[3][16];
    pid_t agent;

    if (packet_listen(DIRECT_NAME, name, &listener) != OMPRMA_OK ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -1;
    agent = fork();
    if (agent == 0) {
        const int given[] = {listener, ends[1], network};

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        if (files)
            setrlimit(RLIMIT_NOFILE, &(struct rlimit){files, files});
        for (int i = 0; i < 3; i++)
            snprintf(texts[i], sizeof(texts[i]), "%d", given[i]);
        _exit(agent_run(texts[0], texts[1], slots, network < 0 ? NULL : texts[2],
                        network < 0 ? NULL : "100"));
    }
    close(listener);
    close(ends[1]);
    *control = ends[0];
    return agent;
}

#endif

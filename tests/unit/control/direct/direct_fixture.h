/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* direct_fixture.h: the worlds of a program and its workers in one process, connected by sockets.
 */
#ifndef OMPRMA_TESTS_DIRECT_FIXTURE_H
#define OMPRMA_TESTS_DIRECT_FIXTURE_H

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/direct/packet.h"
#include "control/direct/world.h"

enum { DIRECT_RANKS = 4 };

static struct direct_place {
    struct world world;
    struct world_direct direct;
    struct link messages[DIRECT_RANKS], data[DIRECT_RANKS];
    pid_t pids[DIRECT_RANKS];
    struct direct_end ended[DIRECT_RANKS];
    char names[DIRECT_RANKS][PACKET_NAME_BYTES];
    struct direct_agent agents[DIRECT_RANKS]; /* all are of one host */
} places[DIRECT_RANKS];

static inline void direct_connect_links(struct link *here, struct link *there)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    *here = (struct link){.fd = ends[0]};
    *there = (struct link){.fd = ends[1]};
}

static inline int direct_begin_places(void **state)
{
    char names[DIRECT_RANKS][PACKET_NAME_BYTES] = {""};

    (void)state;
    memset(places, 0, sizeof(places));
    for (int rank = 0; rank < DIRECT_RANKS; rank++) {
        struct direct_place *place = &places[rank];

        place->world.direct = &place->direct;
        place->world.rank = rank;
        place->world.size = DIRECT_RANKS;
        place->world.settings.piece_bytes = 100000;
        place->direct.messages = place->messages;
        place->direct.data = place->data;
        place->direct.pids = place->pids;
        place->direct.ended = place->ended;
        place->direct.names = place->names;
        place->direct.agents = place->agents;
        place->direct.agent = place->direct.listener = place->direct.ucx_events = -1;
        for (int other = 0; other < DIRECT_RANKS; other++)
            place->messages[other].fd = place->data[other].fd = -1;
        if (rank > 0 &&
            packet_listen("omprma-data-", names[rank], &place->direct.listener) != OMPRMA_OK)
            return 1;
    }
    for (int rank = 0; rank < DIRECT_RANKS; rank++)
        memcpy(places[rank].names, names, sizeof(names));
    for (int rank = 1; rank < DIRECT_RANKS; rank++) {
        direct_connect_links(&places[0].messages[rank], &places[rank].messages[0]);
        direct_connect_links(&places[0].data[rank], &places[rank].data[0]);
    }
    return 0;
}

static inline int direct_end_places(void **state)
{
    (void)state;
    for (int rank = 0; rank < DIRECT_RANKS; rank++) {
        for (int other = 0; other < DIRECT_RANKS; other++) {
            link_close(&places[rank].messages[other]);
            link_close(&places[rank].data[other]);
        }
        if (places[rank].direct.listener >= 0)
            close(places[rank].direct.listener);
    }
    return 0;
}

#endif

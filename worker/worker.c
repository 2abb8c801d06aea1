/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * worker.c: the end of a connection, which any part of the worker may find out: it is noted here,
 * and the loop (server.c) ends by it.
 */
#include "worker/worker.h"

#include <stdio.h>

void server_break(struct server *server, omprma_status_t status, const char *text)
{
    if (server->broken != OMPRMA_OK)
        return;
    server->broken = status;
    snprintf(server->broken_text, sizeof(server->broken_text), "%s", text);
}

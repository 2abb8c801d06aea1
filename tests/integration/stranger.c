/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stranger.c: a worker of another version, as far as it gets: compiled with a changed omprma.h. It
 * is linked with MPI, because a module of its version is not there. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "control/module.h"
#include "control/mpi/transport.h"
#include "control/world.h"

const struct transport *transport_mpi_open(void)
{
    return &transport_mpi;
}

int main(int count, char **words)
{
    struct world world;
    omprma_status_t status;

    if (count > 1 && strcmp(words[1], "--version") == 0) {
        printf("omprma-worker %s\n", OMPRMA_VERSION_STRING);
        return 0;
    }
    status = world_join(&world, WORLD_WORKER, false);
    world_leave(&world);
    return status == OMPRMA_OK ? 0 : 1;
}

/*
 * transport.c: the ways of MPI as a transport. The only file here that knows the data paths,
 * because it hands them out.
 */
#include "control/mpi/channel.h"
#include "control/transport.h"
#include "rma/mpi.h"
#include "twosided/mpi.h"

const struct transport transport_mpi = {
    .open_channel = mpi_channel_create,
    .share = mpi_channel_share,
    .shared_bytes = MPI_CHANNEL_SHARED_BYTES,
    .open_one_sided = rma_create,
    .open_two_sided = twosided_create,
};

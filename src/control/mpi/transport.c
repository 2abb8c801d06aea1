/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * transport.c: MPI as a transport: start-up and end are in world.c, and each way has its file. The
 * only file here that knows the data paths, because it hands them out.
 */
#include "control/mpi/transport.h"

#include "control/mpi/bench.h"
#include "control/mpi/channel.h"
#include "control/mpi/world.h"
#include "rma/mpi.h"
#include "twosided/mpi.h"

const struct transport transport_mpi = {
    .name = "MPI",
    .library = mpi_library,
    .prepare = mpi_prepare,
    .print_quirks = mpi_print_quirks,
    .start = mpi_start,
    .connect = mpi_connect,
    .begin = mpi_begin,
    .started = mpi_started,
    .leave = mpi_leave,
    .abort = mpi_abort,
    .open_channel = mpi_channel_create,
    .open_one_sided = rma_create,
    .open_two_sided = twosided_create,
    .bench = &mpi_bench,
};

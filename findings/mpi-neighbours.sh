#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12. One process in a periodic dimension of 1 is its own neighbour on both
# sides. It sends 1 to the left and 2 to the right by each collective for neighbours. (With a dimension of 2 both
# neighbours are one process, too.)
# Guess: what is sent to the right comes from the left, so 2 comes first, then 1, as MPI 4.0 says, and whichever call it
# is: one for varying counts, or one that does not block, brings what the plain one brings.
# Seen: in Open MPI the calls that block bring 2 and 1, and the same calls that do not block bring 1 and 2: as if one
# had sent to the left, and got it from the left. In MPICH that depends on "v" and "w" instead: MPI_Neighbor_alltoall
# and MPI_Ineighbor_alltoall bring 2 and 1, the others 1 and 2. All return success. So borders of a grid that is one or
# two processes wide are exchanged for each other.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

/* Evaluates CALL, which may begin REQUEST, and says what has come from the left and from the right. */
#define TRY(NAME, CALL) \
    do { \
        MPI_Request request = MPI_REQUEST_NULL; \
        int status, got[2] = {-1, -1}; \
        status = CALL; \
        MPI_Wait(&request, MPI_STATUS_IGNORE); \
        printf("%s: %d from the left, %d from the right%s\n", NAME, got[0], got[1], status ? ", failed" : ""); \
    } while (0)

int main(int argc, char **argv)
{
    int size = 1, periodic = 1, to[2] = {1, 2}, counts[2] = {1, 1}, places[2] = {0, 1};
    MPI_Aint bytes[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm ring;

    MPI_Init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_SELF, 1, &size, &periodic, 0, &ring);
    TRY("alltoall", MPI_Neighbor_alltoall(to, 1, MPI_INT, got, 1, MPI_INT, ring));
    TRY("alltoallv", MPI_Neighbor_alltoallv(to, counts, places, MPI_INT, got, counts, places, MPI_INT, ring));
    TRY("alltoallw", MPI_Neighbor_alltoallw(to, counts, bytes, types, got, counts, bytes, types, ring));
    TRY("ialltoall", MPI_Ineighbor_alltoall(to, 1, MPI_INT, got, 1, MPI_INT, ring, &request));
    TRY("ialltoallv",
        MPI_Ineighbor_alltoallv(to, counts, places, MPI_INT, got, counts, places, MPI_INT, ring, &request));
    TRY("ialltoallw",
        MPI_Ineighbor_alltoallw(to, counts, bytes, types, got, counts, bytes, types, ring, &request));
    MPI_Finalize();
    return 0;
}
C
right='2 from the left, 1 from the right$'
wrong='1 from the left, 2 from the right$'
saw_mpi openmpi "$folder/try.c"
expect "^alltoall: $right"
expect "^alltoallv: $right"
expect "^alltoallw: $right"
expect "^ialltoall: $wrong"
expect "^ialltoallv: $wrong"
expect "^ialltoallw: $wrong"
saw_mpi mpich "$folder/try.c"
expect "^alltoall: $right"
expect "^alltoallv: $wrong"
expect "^alltoallw: $wrong"
expect "^ialltoall: $right"
expect "^ialltoallv: $wrong"
expect "^ialltoallw: $wrong"
exit "$changed"

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * own_mpi.c: own_mpi LEVEL: a program that starts MPI itself. Its error handlers stay, and its
 * messages are its own.
 * - multiple: omprma works beside it
 * - serialized, single: omprma refuses, with a line, and everybody ends in order
 */
#include <mpi.h>

#include "check.h"

enum { BYTES = 1 << 20 };

static int errors;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    errors++;
}

/* An error on the communicator comes to the program's own handler. */
static void check_handler(MPI_Comm comm)
{
    int before = errors;

    MPI_Send(NULL, 0, MPI_BYTE, 1000000, 0, comm);
    check(errors == before + 1);
}

static void check_self(void)
{
    int out = 4711, in = 0;

    MPI_Sendrecv(&out, 1, MPI_INT, 0, 32766, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(in == out);
}

static void use_devices(void)
{
    static unsigned char data[BYTES], back[BYTES];

    for (int i = 0; i < omprma_device_count(); i++) {
        omprma_queue_t *queue = queue_on(i);
        omprma_addr_t there = memory_on(i, BYTES);

        fill(data, BYTES, (uint64_t)i);
        check_ok(omprma_submit(queue, there, data, BYTES));
        check_ok(omprma_retrieve(queue, back, there, BYTES));
        check_self(); /* while they are under way */
        check_ok(omprma_queue_synchronize(queue));
        check(memcmp(data, back, BYTES) == 0);
    }
}

int main(int count, char **words)
{
    const char *wanted = count > 1 ? words[1] : "multiple";
    int level = strcmp(wanted, "multiple") == 0     ? MPI_THREAD_MULTIPLE
                : strcmp(wanted, "serialized") == 0 ? MPI_THREAD_SERIALIZED
                                                    : MPI_THREAD_SINGLE,
        got = 0;
    omprma_status_t status;
    MPI_Errhandler handler;

    MPI_Init_thread(NULL, NULL, level, &got);
    check(got == level);
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    status = omprma_init();
    if (level == MPI_THREAD_MULTIPLE) {
        check_ok(status);
        check_handler(MPI_COMM_WORLD);
        use_devices();
        omprma_finalize();
    } else {
        check(status == OMPRMA_ERR_MPI);
        fprintf(stderr, "%s\n", omprma_error());
        check(strstr(omprma_error(), "MPI_THREAD_MULTIPLE"));
    }
    check_handler(MPI_COMM_WORLD);
    check_handler(MPI_COMM_SELF);
    check(errors >= 2);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * receives.h: functions of MPI that stand in a test of its channel instead of the library's: those
 * that look at receives, which end in any order. The test has MPI_Irecv() and MPI_Isend(), and says
 * what has come. A request, which some libraries have as a pointer and some as an int, is the
 * number of a receive; 0 is a send, which is over at once.
 */
#ifndef OMPRMA_TESTS_RECEIVES_H
#define OMPRMA_TESTS_RECEIVES_H

#include <mpi.h>
#include <stdint.h>

struct receive {
    void *memory;
    int source, bytes;
    bool over;
};

/* The one of a number, from 1 on, after a look whether it is over. */
static struct receive *receive_of(uintptr_t number);

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    static struct receive sent = {.over = true};
    uintptr_t number = (uintptr_t)*request;
    const struct receive *receive = number ? receive_of(number) : &sent;

    *flag = receive->over;
    if (!receive->over)
        return MPI_SUCCESS;
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = receive->source;
        status->MPI_TAG = receive->bytes; /* for MPI_Get_count() */
    }
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    *flag = 0;
    *index = MPI_UNDEFINED;
    for (int i = count - 1; i >= 0 && !*flag; i--) { /* in any order */
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        MPI_Test(&requests[i], flag, status);
        *index = i;
    }
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    (void)type;
    *count = status->MPI_TAG;
    return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request *request)
{
    (void)request;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    (void)status;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

#endif

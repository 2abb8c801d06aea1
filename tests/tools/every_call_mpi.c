/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* every_call_mpi.c: put before MPI by LD_PRELOAD, over its profiling interface: counts the calls
 * that omprma makes and has one of them fail, come late, or end the process. For every_call.sh. It
 * is not linked with MPI, because it is loaded into processes without MPI, too.
 *   EVERY_CALL=RANK,N,WHAT[,FUNCTION]  the N-th call of the process of that rank (0: the
 * application), or of that function, with WHAT: error, abort, or milliseconds EVERY_CALL_LOG=FOLDER
 * each call is a line in FOLDER/RANK; the one that was chosen, in FOLDER/chosen A call that fails
 * has not been made, so peers may wait for what it was to bring. MPI_Test and MPI_Testany count
 * when they find something, which is then what has failed: how often they look is chance. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *rank_text(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_ID"};
    const char *rank = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !rank; i++)
        rank = getenv(names[i]); /* which of them there are is the launcher's */
    return rank ? rank : "none";
}

static void log_line(const char *file, const char *line)
{
    const char *folder = getenv("EVERY_CALL_LOG");
    char text[256], path[4096];
    int length = snprintf(text, sizeof(text), "%s\n", line), fd;

    if (!folder)
        return;
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, text, (size_t)length) != length)
        abort();
    if (fd >= 0)
        close(fd);
}

/* The N-th of the plan? `what` is what to do then. */
static bool is_chosen(const char *function, char what[16])
{
    static atomic_uint count;
    const char *plan = getenv("EVERY_CALL");
    char rank[16] = "", only[64] = "";
    unsigned n = 0;

    if (!plan || sscanf(plan, "%15[^,],%u,%15[^,],%63s", rank, &n, what, only) < 3)
        return false;
    if (strcmp(rank, rank_text()) != 0 || (only[0] && strcmp(only, function) != 0))
        return false;
    return atomic_fetch_add(&count, 1) + 1 == n;
}

/* True: this call is to fail. */
static bool step(const char *function)
{
    char what[16] = "";
    long ms;

    if (!getenv("EVERY_CALL"))
        log_line(rank_text(), function);
    if (!is_chosen(function, what))
        return false;
    log_line("chosen", function);
    if (strcmp(what, "error") == 0)
        return true;
    if (strcmp(what, "abort") == 0) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    ms = strtol(what, NULL, 10);
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
    return false;
}

#define CALL(name, parameters, arguments)                                                          \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        return step("MPI_" #name) ? MPI_ERR_OTHER : PMPI_##name arguments;                         \
    }

#define SEND_PARAMETERS                                                                            \
    const void *at, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm
#define DATA_PARAMETERS                                                                            \
    int count, MPI_Datatype type, int peer, MPI_Aint to, int to_count, MPI_Datatype to_type,       \
        MPI_Win window
#define DATA at, count, type, peer, to, to_count, to_type, window

/* Start and end. */
CALL(Initialized, (int *yes), (yes))
CALL(Finalized, (int *yes), (yes))
CALL(Init_thread, (int *count, char ***words, int asked, int *level), (count, words, asked, level))
CALL(Query_thread, (int *level), (level))
CALL(Finalize, (void), ())
CALL(Abort, (MPI_Comm comm, int code), (comm, code))
CALL(Get_library_version, (char *text, int *length), (text, length))
CALL(Error_string, (int code, char *text, int *length), (code, text, length))
CALL(Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
CALL(Comm_size, (MPI_Comm comm, int *size), (comm, size))
CALL(Comm_dup, (MPI_Comm comm, MPI_Comm *copy), (comm, copy))
CALL(Comm_free, (MPI_Comm * comm), (comm))
CALL(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler), (comm, handler))
CALL(Allreduce,
     (const void *mine, void *all, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
     (mine, all, count, type, operation, comm))

/* Messages. */
CALL(Send, (SEND_PARAMETERS), (at, count, type, peer, tag, comm))
CALL(Recv,
     (void *at, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status *status),
     (at, count, type, peer, tag, comm, status))
CALL(Isend, (SEND_PARAMETERS, MPI_Request *request), (at, count, type, peer, tag, comm, request))
CALL(Irecv,
     (void *at, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
      MPI_Request *request),
     (at, count, type, peer, tag, comm, request))
CALL(Get_count, (const MPI_Status *status, MPI_Datatype type, int *count), (status, type, count))
CALL(Cancel, (MPI_Request * request), (request))
CALL(Wait, (MPI_Request * request, MPI_Status *status), (request, status))
CALL(Request_free, (MPI_Request * request), (request))

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    int code = PMPI_Test(request, done, status);

    return code == MPI_SUCCESS && *done && step("MPI_Test") ? MPI_ERR_OTHER : code;
}

int MPI_Testany(int count, MPI_Request requests[], int *which, int *done, MPI_Status *status)
{
    int code = PMPI_Testany(count, requests, which, done, status);
    bool found = code == MPI_SUCCESS && *done && *which != MPI_UNDEFINED;

    return found && step("MPI_Testany") ? MPI_ERR_OTHER : code;
}

/* One-sided. */
CALL(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *window), (info, comm, window))
CALL(Win_set_errhandler, (MPI_Win window, MPI_Errhandler handler), (window, handler))
CALL(Win_lock_all, (int assert, MPI_Win window), (assert, window))
CALL(Win_unlock_all, (MPI_Win window), (window))
CALL(Win_free, (MPI_Win * window), (window))
CALL(Win_attach, (MPI_Win window, void *base, MPI_Aint bytes), (window, base, bytes))
CALL(Win_detach, (MPI_Win window, const void *base), (window, base))
CALL(Win_flush, (int peer, MPI_Win window), (peer, window))
CALL(Win_flush_local, (int peer, MPI_Win window), (peer, window))
CALL(Put, (const void *at, DATA_PARAMETERS), (DATA))
CALL(Get, (void *at, DATA_PARAMETERS), (DATA))
CALL(Rput, (const void *at, DATA_PARAMETERS, MPI_Request *request), (DATA, request))
CALL(Rget, (void *at, DATA_PARAMETERS, MPI_Request *request), (DATA, request))

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * verdict.h: what mpirun says, turned into one line for the user. Separates mpirun's framed
 * messages from the workers' own lines. Knows nothing of processes.
 */
#ifndef OMPRMA_LAUNCH_VERDICT_H
#define OMPRMA_LAUNCH_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

enum verdict_kind {
    VERDICT_NONE,
    VERDICT_SIGNAL,   /* a rank was ended by a signal: rank, host, code */
    VERDICT_STATUS,   /* a rank ended with a status other than 0: rank, code */
    VERDICT_GIVEN_UP, /* a rank has ended all, and has said why: rank */
    VERDICT_PROGRAM,  /* an executable is missing: host, detail */
    VERDICT_HOST,     /* nothing can be started on a host: host, detail */
    VERDICT_TWICE,    /* the program has called MPI_Init after omprma had */
    VERDICT_NETWORK,  /* a process cannot reach one of another host: host, detail */
    VERDICT_OTHER     /* some other message: detail */
};

struct verdict {
    enum verdict_kind kind;
    int rank; /* in MPI_COMM_WORLD; 0 is the program, -1 not known */
    int code; /* signal or status */
    char host[256];
    char detail[512];
    int up;              /* workers that have said that they are, see coming.h */
    const char *strange; /* path of an mpirun that has started nothing; NULL: it has, or it may */
};

/* Reads one framed message; a better verdict replaces a lesser one. */
void verdict_read(struct verdict *verdict, const char *message);

/* Reads a line without a frame. True if it is understood, and so nothing for the user. */
bool verdict_read_line(struct verdict *verdict, const char *line);

/* "HOST: WHY" from the process that tried to reach a host. */
void verdict_host(struct verdict *verdict, const char *report);

/* One line about it, without the prefix. `status` is mpirun's wait status, used when it said
 * nothing. */
void verdict_word(const struct verdict *verdict, int status, char *line, size_t room);

/* A stream of bytes from mpirun or from the program's MPI, cut into lines. */
struct stream {
    int out;          /* where lines go that are for the user */
    bool from_mpirun; /* framed messages are for the verdict, not for the user */
    bool framed;      /* inside such a message */
    bool verbose;     /* pass on what is not for the user as well */
    size_t used;      /* bytes of the unfinished line */
    char line[4096];
    size_t message_bytes;
    char message[8192];
};

void stream_feed(struct stream *stream, const char *bytes, size_t count, struct verdict *verdict);

/* Writes what is left: a message without its second frame, a line without a newline. */
void stream_end(struct stream *stream);

#endif

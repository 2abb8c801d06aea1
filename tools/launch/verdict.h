/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * verdict.h: what a launcher says, turned into one line for the user. Separates its framed messages
 * from the workers' own lines. How each launcher says things is its own table (struct dialect).
 * Knows nothing of processes.
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

enum { MESSAGE_BYTES = 8192 };

struct verdict;

/* Whose a line on stdout is. */
enum own_line {
    OWN_NOT,      /* it passes, after those that are held */
    OWN_MAYBE,    /* it is held until the next one tells */
    OWN_ALONE,    /* it is the launcher's, unlike those that are held */
    OWN_WITH_HELD /* it is, and so are those */
};

/* How a launcher, and the MPI library that belongs to it, say things. */
struct dialect {
    const char *name;            /* of both, for users */
    const char *folder_variable; /* says where the launcher's files are; NULL: none does */
    bool on_stdout;              /* messages come there, too */
    /* Of stdout, where kernels' words are as well: can a line that begins like this be the
     * launcher's own, and is this whole one? `place` is the dialect's own, at first 0, and 0 again
     * after a line that is not. NULL: none is. */
    bool (*may_be_own)(const char *begin, size_t bytes, int place);
    enum own_line (*own)(const char *line, int *place);
    char frame; /* what the lines around a message are made of */
    /* Understands what stood in a frame, and the same as one line, for it may be broken anywhere.
     * `found` is empty; when it stays so, the message says nothing. False: not understood. */
    bool (*message)(struct verdict *found, const char *message, const char *flat);
    /* The same for a line without a frame; `verdict` is what is known by then. */
    bool (*line)(struct verdict *found, struct verdict *verdict, const char *line);
    /* Is it a line that says nothing to users? */
    bool (*noise)(const char *line);
};

struct verdict {
    const struct dialect *dialect; /* of whom it is about */
    const char *worker;            /* path of what workers are; NULL: they are nothing of ours */
    enum verdict_kind kind;
    int rank; /* in MPI_COMM_WORLD; 0 is the program, -1 not known */
    int code; /* signal or status */
    char host[256];
    char detail[768];
    bool aside;     /* the library's lines are about what is told otherwise */
    bool told;      /* what was wrong with a process of ours was said */
    bool connected; /* the program's process has started MPI */
    struct statuses {
        bool coming;      /* the next line may have more of them */
        int ranks;        /* so many came */
        int killed;       /* ended by SIGKILL, by which the launcher ends those that are left */
        int rank, status; /* of the first that is not 0, or not such an end; as from wait() */
        char host[256];
    } statuses;          /* how processes ended, where the launcher lists that */
    int up;              /* workers that have said that they are, see coming.h */
    const char *strange; /* path of an mpirun that has started nothing; NULL: it has, or it may */
};

/* Reads one framed message; a better verdict replaces a lesser one. */
void verdict_read(struct verdict *verdict, const char *message);

/* Reads a line without a frame. True if it is understood, and so nothing for the user. */
bool verdict_read_line(struct verdict *verdict, const char *line);

/* The next rank in such a list. */
void verdict_add_status(struct verdict *verdict, int status, const char *host);

/* With the rank that the list tells, where nothing else did: the launcher kills the others, so
 * whoever was not killed is the cause, and else the only one that was. */
struct verdict verdict_settled(const struct verdict *verdict);

/* "HOST: WHY" from the process that tried to reach a host. */
void verdict_host(struct verdict *verdict, const char *report);

/* One line about it, without the prefix. `status` is mpirun's wait status, used when it said
 * nothing. */
void verdict_word(const struct verdict *verdict, int status, char *line, size_t room);

/* Passes stdout on as it comes, which is kernels' as well, but for the launcher's own lines. */
enum { SIEVE_LINE = 1024 };
struct sieve {
    int out;
    bool passes; /* the rest of this line is not the launcher's */
    int place;   /* of the dialect */
    size_t used;
    char line[SIEVE_LINE + 1]; /* which may be the launcher's */
    size_t held_bytes;
    char held[SIEVE_LINE]; /* whole lines before it, which may be, too */
};

/* False when nobody reads it any more. */
bool sieve_feed(struct sieve *sieve, const struct dialect *dialect, const char *bytes,
                size_t count);
bool sieve_end(struct sieve *sieve);

/* A stream of bytes from mpirun or from the program's MPI, cut into lines. */
struct stream {
    int out;          /* where lines go that are for the user */
    bool from_mpirun; /* framed messages are for the verdict, not for the user */
    bool framed;      /* inside such a message */
    bool verbose;     /* pass on what is not for the user as well */
    size_t used;      /* bytes of the unfinished line */
    char line[4096];
    size_t message_bytes;
    char message[MESSAGE_BYTES];
};

void stream_feed(struct stream *stream, const char *bytes, size_t count, struct verdict *verdict);

/* Writes what is left: a message without its second frame, a line without a newline. */
void stream_end(struct stream *stream);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * join.h: the first words between the processes of a job: each tells rank 0 what it is and where,
 * and hears whether they go together, who is the head, and its place on its host. Sends nothing and
 * knows nothing of MPI.
 */
#ifndef OMPRMA_CONTROL_JOIN_H
#define OMPRMA_CONTROL_JOIN_H

#include <stdint.h>

/* The layouts of both never change, so that processes of different versions can say so. */
struct join_role {
    uint32_t version;
    int32_t is_head;
    int32_t star;  /* the head's wish: no two workers exchange a message */
    char host[64]; /* the same text for all of one host */
};

enum join_verdict { JOIN_GOES, JOIN_VERSION, JOIN_HEADS, JOIN_ALONE, JOIN_STAR_RANK };

struct join_answer {
    int32_t verdict;         /* enum join_verdict, the same for all */
    int32_t heads, head;     /* how many there are; the rank of the last one */
    int32_t star;            /* the wish, where it makes a difference */
    int32_t first;           /* lowest rank of the same host */
    int32_t local_processes; /* of the same host */
    int32_t local_workers;
    int32_t local_index; /* among them */
};

/* From `size` roles, by rank, as many answers. A star makes a difference where workers run on more
 * than one host besides the head's: those on the head's host reach whomever the head reaches. Its
 * head must be rank 0, whom all have told their roles. */
void join_decide(const struct join_role *roles, int size, struct join_answer *answers);

/* The processors that a process may run on, a bit each. */
struct join_cpus {
    int32_t first; /* of its answer */
    int32_t is_head;
    uint64_t words[16];
};

/* Of a worker among those of its host that may run on the very same processors. */
struct join_place {
    int32_t group; /* the lowest rank of them */
    int32_t index, count;
    int32_t overlaps; /* another worker may run on some of these processors, but not on all */
};

/* From what each may run on, by rank, the places of workers. */
void join_places(const struct join_cpus *cpus, int size, struct join_place *places);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * coming.h: what omprma-run and programs that it has started share: how many workers have come up,
 * which process they serve, and room for what that has to leave behind. Each worker says that it is
 * up on its stderr as soon as it runs, which mpirun brings from any host; omprma-run counts the
 * lines. Only where it has asked for them, because a progress line may be drawn.
 *
 * Thread: any, but for coming_say(). Blocks: no.
 */
#ifndef OMPRMA_BASE_COMING_H
#define OMPRMA_BASE_COMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set for workers that are to say that they are up; set for the program: a descriptor. */
#define COMING_VARIABLE "OMPRMA_INTERNAL_COMING"
#define COMING_FD_VARIABLE "OMPRMA_INTERNAL_COMING_FD"

struct coming {
    uint64_t magic;
    uint64_t bytes; /* of all, with the room */
    _Atomic int32_t up;
    int32_t workers;        /* 0: they are not counted */
    _Atomic int32_t served; /* process that they serve, or have; 0: none so far */
    _Atomic int32_t said;   /* 1: it has printed an error */
};

/* A worker is up. The variable is gone then. */
void coming_say(void);

/* True for the line that it has written. */
bool coming_is(const char *line);

/* The memory, with room for so many bytes more, its descriptor, which is closed by exec, and its
 * size: the program can write to all that is in it. NULL: there is none. */
struct coming *coming_make(int workers, size_t room, int *fd, size_t *mapped);

/* The same, with a descriptor above those that scripts use. */
struct coming *coming_share(int workers, size_t room, int *fd, size_t *mapped);

/* That room: zero at first. NULL: there is none. Who has made it asks before the program runs. */
void *coming_room(struct coming *coming);

/* The same memory in another process. NULL: that is none. */
struct coming *coming_open(int fd);
void coming_close(struct coming *coming, size_t mapped); /* NULL is allowed */

/* The process that they serve has said what has gone wrong. NULL: nobody can tell. */
bool coming_has_said(const struct coming *coming);

/* The process that they serve has become another program, by exec: it runs without this memory, but
 * with its descriptor `fd`. */
bool coming_was_left(const struct coming *coming, int fd);

#endif

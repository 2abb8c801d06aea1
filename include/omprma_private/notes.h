/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * notes.h: what statistics (--stats) say that only a face knows. It belongs to libomprma.so of the
 * same version and is not installed.
 *
 * Thread: any. Blocks: no. Nothing happens while omprma is not there.
 */
#ifndef OMPRMA_PRIVATE_NOTES_H
#define OMPRMA_PRIVATE_NOTES_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* So many regions are done again because devices were lost. */
OMPRMA_API void omprma_note_repeated(uint64_t regions);

/* Of the regions that were placed so far: how many there are; how many the longest chain of them
 * has, in which each uses what the one before has written, or writes what that has used; how many
 * bytes had to move between devices if each range stayed where a region wrote it first. */
OMPRMA_API void omprma_note_graph(uint64_t regions, uint64_t longest, uint64_t least_bytes);

/* The calling thread waits from now on for what is under way, by asking again and again; or, not
 * `begins`, no more. */
OMPRMA_API void omprma_note_wait(bool begins);

#ifdef __cplusplus
}
#endif
#endif

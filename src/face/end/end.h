/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * end.h: libomprma-end.so, a library that nobody needs, so that the loader ends it at a time that
 * can be relied on: after all libraries that were open before it, and before all that were opened
 * after it, but for those that one of the former needs. See face/ending.h.
 *
 * Thread: one at a time. Blocks: no.
 */
#ifndef OMPRMA_FACE_END_END_H
#define OMPRMA_FACE_END_END_H

struct ending {
    void (*call)(void);
    struct ending *next; /* the library's */
};

/* `ending->call` is called, last one first, when the library ends. `ending` stays where it is. */
__attribute__((visibility("default"))) void omprma_end_add(struct ending *ending);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * check.h: what omprma's own faces (the OpenMP runtime, the plugin) say under OMPRMA_CHECK=full of
 * what the program does, so that findings have the program's words. It belongs to libomprma.so of
 * the same version and is not installed. Without OMPRMA_CHECK=full only omprma_check_wanted()
 * matters.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_PRIVATE_CHECK_H
#define OMPRMA_PRIVATE_CHECK_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether OMPRMA_CHECK=full. False before omprma_init(). */
OMPRMA_API bool omprma_check_wanted(void);

/* A finding of the face's own, unless there was one about `what` and `which` before. `text` is the
 * line, without an end. */
OMPRMA_API void omprma_check_found(uint64_t what, uint64_t which, const char *text);

/*
 * Where in the program's source the calling thread's next omprma_alloc() or omprma_free() comes
 * from, "a.c:12", and for which variable (each may be NULL: not known). Without it, findings name
 * the function that calls. The texts are copied.
 */
OMPRMA_API void omprma_check_place(const char *where, const char *variable);

/*
 * Where the program goes on after the call of a face that the calling thread is in; NULL: it is in
 * none any more. Findings then name the function of that address. Otherwise it is looked for on the
 * stack, which takes longer than a small region.
 */
OMPRMA_API void omprma_check_caller(const void *code);

/*
 * For the calling thread's next omprma_launch(): begins[i] is where the memory begins that argument
 * i stands for, though the argument may point beside it, as pointers to sections of arrays do; 0:
 * the argument itself is looked at. `begins` is used until the launch returns, and so is names[i],
 * the name of the variable, plain or as compilers write it (";name;file;line;column;;"); either may
 * be NULL.
 */
OMPRMA_API void omprma_check_begins(const omprma_addr_t *begins, const char *const *names,
                                    size_t count);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * compiler.h: can this compiler make programs with target regions, and what lacks it? Knows the
 * names of Debian's packages.
 */
#ifndef OMPRMA_INFO_COMPILER_H
#define OMPRMA_INFO_COMPILER_H

#include <stdbool.h>
#include <stddef.h>

/* Compiles and links a small program by `command`, words for the shell such as "clang-23", in a
 * folder of its own. True: that is possible. `text`: its version, or what it said and what to
 * install. Blocks: up to a minute. */
bool compiler_try(const char *command, char *text, size_t room);

#endif

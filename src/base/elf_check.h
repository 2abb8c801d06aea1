/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * elf_check.h: is this memory a complete shared object (or program) for this machine? Used on the
 * application's side before an image is sent and on the worker before it is loaded. Uses libelf.
 */
#ifndef OMPRMA_BASE_ELF_CHECK_H
#define OMPRMA_BASE_ELF_CHECK_H

#include <omprma/omprma.h>

/* Checks magic, class (64), byte order, machine (x86-64), type (ET_DYN), and that the header
 * tables, all sections and all segments lie inside [image, image + bytes). Errors: ARGUMENT,
 * IMAGE; the text says what is wrong, where, and what to do. */
omprma_status_t elf_check(const void *image, size_t bytes);

#endif

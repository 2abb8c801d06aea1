/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * owner.h: addresses of devices that somebody else uses: the program itself, a library of its, or a
 * region on another device. Whose they are is said in words, and a fault of the program that comes
 * from one is told before it takes its course.
 */
#ifndef OMPRMA_OPENMP_DEVICE_OWNER_H
#define OMPRMA_OPENMP_DEVICE_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OWNER_WORDS = 512 };

/* "memory of device 0 (node7), inside "a" (800 bytes ...)" for an address that is a device's; its
 * number, or -1: it is none of ours. Thread: any. Blocks: no, also in a handler for a fault. */
int owner_words(uintptr_t address, char words[OWNER_WORDS]);

/* The same for an address that only a device can mean: the program has been given addresses of
 * devices, and can read nothing there itself. Blocks: for about a system call. */
bool owner_alone_words(uintptr_t address, char words[OWNER_WORDS]);

/* The program is being given an address of a device: from now on a fault that comes from one is
 * told in a line. Faults go on to the handler that was there before. */
void owner_watch(void);

#endif

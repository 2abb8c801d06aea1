/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stand_in.c: jumps to functions of images. The pages around a function's address in the program
 * are mostly free in the worker, because both are loaded at random places. Where they are, they are
 * taken, and a jump is written to the address. They stay until the process ends, as images do.
 */
#define _GNU_SOURCE
#include "worker/native/stand_in.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PAGE_BYTES = 4096, JUMP_BYTES = 14 };

static struct taken {
    pthread_mutex_t lock;
    uint64_t *pages;
    size_t count;
} taken = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_taken(uint64_t page)
{
    for (size_t i = 0; i < taken.count; i++)
        if (taken.pages[i] == page)
            return true;
    return false;
}

/* 0, or a number as in errno. */
static int page_take(uint64_t page)
{
    void *wanted = (void *)(uintptr_t)page;
    if (is_taken(page))
        return 0;
    uint64_t *longer = reallocarray(taken.pages, taken.count + 1, sizeof(*longer));
    if (!longer)
        return ENOMEM;
    taken.pages = longer;
    void *got = mmap(wanted, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED)
        return errno;
    if (got != wanted) { /* a kernel that does not know the flag */
        munmap(got, PAGE_BYTES);
        return EEXIST;
    }
    taken.pages[taken.count++] = page;
    return 0;
}

/* jmp *0(%rip), and the address behind it. */
static int jump_write(uint64_t address, uint64_t function)
{
    unsigned char jump[JUMP_BYTES] = {0xff, 0x25}, none[JUMP_BYTES] = {0};
    void *there = (void *)(uintptr_t)address;
    memcpy(jump + JUMP_BYTES - sizeof(function), &function, sizeof(function));
    if (memcmp(there, jump, JUMP_BYTES) == 0)
        return 0;
    if (memcmp(there, none, JUMP_BYTES) != 0) /* another device's, or a function this near */
        return EEXIST;
    memcpy(there, jump, JUMP_BYTES);
    return 0;
}

void stand_in_place(uint64_t result, uint64_t address, uint64_t function)
{
    const uint64_t page = ~(uint64_t)(PAGE_BYTES - 1);
    pthread_mutex_lock(&taken.lock);
    int error = page_take(address & page);
    if (!error)
        error = page_take((address + JUMP_BYTES - 1) & page);
    if (!error)
        error = jump_write(address, function);
    pthread_mutex_unlock(&taken.lock);
    *(uint64_t *)(uintptr_t)result = (uint64_t)error;
}

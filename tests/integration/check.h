/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * check.h: what the programs of this folder share: they end with a line and status 1 at the first
 * thing that is wrong.
 */
#ifndef OMPRMA_TESTS_INTEGRATION_CHECK_H
#define OMPRMA_TESTS_INTEGRATION_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <omprma/omprma.h>

/* _exit(): other threads, and the end of MPI, may be in any state. */
#define check(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fflush(stdout);                                                                        \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, omprma_error());   \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define check_ok(call) check((call) == OMPRMA_OK)

/* The same sum as the kernel "sum" makes. */
static inline uint64_t sum_of(const void *data, uint64_t bytes)
{
    const unsigned char *at = data;
    uint64_t sum = UINT64_C(14695981039346656037);

    for (uint64_t i = 0; i < bytes; i++)
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
    return sum;
}

static inline uint64_t random_word(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(2685821657736338717);
}

static inline void fill(void *data, uint64_t bytes, uint64_t seed)
{
    unsigned char *at = data;

    seed = seed * 2 + 1;
    for (uint64_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(random_word(&seed) >> 32);
}

/* Reads a whole file. */
static inline void *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    void *data;
    long length;

    check(file && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0);
    rewind(file);
    data = malloc((size_t)length);
    check(data && fread(data, 1, (size_t)length, file) == (size_t)length);
    fclose(file);
    *bytes = (size_t)length;
    return data;
}

/* The address on a device of a symbol of the kernels' image; bytes 0: a kernel. */
static inline omprma_addr_t symbol_at(int device, const char *name, uint64_t bytes)
{
    static void *image;
    static size_t image_bytes;
    omprma_symbol_t symbol = {.name = name, .bytes = bytes};

    if (!image)
        image = read_file(KERNELS, &image_bytes);
    check_ok(omprma_image_load(device, image, image_bytes, &symbol, 1));
    return symbol.address;
}

static inline omprma_queue_t *queue_on(int device)
{
    omprma_queue_t *queue;

    check_ok(omprma_queue_create(device, &queue));
    return queue;
}

static inline omprma_addr_t memory_on(int device, uint64_t bytes)
{
    omprma_addr_t address;

    check_ok(omprma_alloc(device, bytes, &address));
    return address;
}

static inline void launch(omprma_queue_t *queue, omprma_addr_t kernel, uint64_t a, uint64_t b,
                          uint64_t c)
{
    const uint64_t arguments[] = {a, b, c};

    check_ok(omprma_launch(queue, kernel, NULL, arguments, 3));
}

#endif

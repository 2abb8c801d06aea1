/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels.c: the image that the programs of this folder load on their devices. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL __attribute__((visibility("default")))

KERNEL void sum(uint64_t from, uint64_t bytes, uint64_t to);
KERNEL void add(uint64_t at, uint64_t bytes, uint64_t value);
KERNEL void put_value(uint64_t at, uint64_t bytes, uint64_t value);
KERNEL void put_value_context(uint64_t **context);
KERNEL void copy(uint64_t to, uint64_t from, uint64_t bytes);
KERNEL void count(uint64_t at);
KERNEL void nap(uint64_t us);
KERNEL void forever(void);
KERNEL void hold(uint64_t until);
KERNEL void heap(uint64_t to);
KERNEL void take(uint64_t bytes, uint64_t to);
KERNEL void give(uint64_t address);
KERNEL void add_to_global(uint64_t value);
KERNEL void print(uint64_t number, uint64_t stream);
KERNEL void read_null(void);
KERNEL void call_abort(void);
KERNEL void call_exit(void);
KERNEL void divide(uint64_t by, uint64_t to);
KERNEL void read_null_in_thread(void);

KERNEL unsigned char global[300000];

void sum(uint64_t from, uint64_t bytes, uint64_t to)
{
    const unsigned char *at = (const unsigned char *)from;
    uint64_t result = UINT64_C(14695981039346656037);

    for (uint64_t i = 0; i < bytes; i++)
        result = (result ^ at[i]) * UINT64_C(1099511628211);
    *(uint64_t *)to = result;
}

void add(uint64_t at, uint64_t bytes, uint64_t value)
{
    for (uint64_t i = 0; i < bytes; i++)
        ((unsigned char *)at)[i] += (unsigned char)value;
}

void put_value(uint64_t at, uint64_t bytes, uint64_t value)
{
    memset((void *)at, (unsigned char)value, bytes);
}

void put_value_context(uint64_t **context)
{
    put_value(*context[0], *context[1], *context[2]);
}

void copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    memmove((void *)to, (const void *)from, bytes);
}

void count(uint64_t at)
{
    ++*(uint64_t *)at;
}

void nap(uint64_t us)
{
    usleep((useconds_t)us);
}

void forever(void)
{
    for (;;)
        pause();
}

/* Until somebody writes to `until`. */
void hold(uint64_t until)
{
    while (*(volatile uint64_t *)until == 0)
        usleep(100);
}

/* What the worker's process has allocated. */
void heap(uint64_t to)
{
    struct mallinfo2 info = mallinfo2();

    *(uint64_t *)to = info.uordblks + info.hblkhd;
}

/* Memory that only the device knows. */
void take(uint64_t bytes, uint64_t to)
{
    *(void **)to = calloc(1, bytes);
}

void give(uint64_t address)
{
    free((void *)address);
}

void add_to_global(uint64_t value)
{
    add((uint64_t)(uintptr_t)global, sizeof(global), value);
}

void print(uint64_t number, uint64_t stream)
{
    fprintf(stream == 2 ? stderr : stdout, "kernel %d\n", (int)number);
}

void read_null(void)
{
    (void)*(volatile int *)16;
}

void call_abort(void)
{
    abort();
}

void call_exit(void)
{
    exit(3);
}

void divide(uint64_t by, uint64_t to)
{
    *(volatile uint64_t *)to = 1000 / by;
}

static void *fault(void *unused)
{
    read_null();
    return unused;
}

void read_null_in_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, fault, NULL) == 0)
        pthread_join(thread, NULL);
}

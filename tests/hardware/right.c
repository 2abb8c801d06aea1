/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * right.c: whether GPU 0 computes the right thing, by the interface of its kind (gpu.h).
 *
 * - right KERNELS name: prints what the GPU is called and how many there are, at most 2
 * - right KERNELS all: prints a line for each case: RESULT CASE right, or wrong
 * - right KERNELS fault: a kernel that writes where there is no memory; must end with a line and a
 *   status that is not 0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

enum { COUNT = 1 << 20, SIDE = 200, GROUPS = 240, LARGE = 33 << 20 };

static void say(const char *name, bool is_right)
{
    printf("RESULT %s %s\n", name, is_right ? "right" : "wrong");
    fflush(stdout);
}

static void launch(const char *name, const uint64_t *words, unsigned count)
{
    gpu_launch(gpu_kernel(name), GROUPS, words, count, GPU_LAST);
}

/* There and back, of sizes that go different ways. */
static void copies(void)
{
    static const size_t sizes[] = {1, 8, 1000, 4096, 100000, 1 << 20, LARGE};
    unsigned char *out = gpu_host(LARGE), *back = gpu_host(LARGE);
    uint64_t there = gpu_allocate(0, LARGE);
    bool is_right = true;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (size_t at = 0; at < sizes[i]; at++)
            out[at] = (unsigned char)(at * 7 + at / 4096 + i);
        gpu_submit(there, out, sizes[i]);
        gpu_retrieve(back, there, sizes[i]);
        gpu_wait();
        is_right &= memcmp(out, back, sizes[i]) == 0;
    }
    say("copies", is_right);
}

static void saxpy(void)
{
    const size_t bytes = COUNT * sizeof(float);
    float *x = gpu_host(bytes), *y = gpu_host(bytes);
    uint64_t words[] = {gpu_allocate(0, bytes), gpu_allocate(0, bytes), COUNT, 3};
    bool is_right = true;

    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i % 1000);
        y[i] = (float)(i % 77);
    }
    gpu_submit(words[0], y, bytes);
    gpu_submit(words[1], x, bytes);
    launch("saxpy", words, 4);
    gpu_retrieve(y, words[0], bytes);
    gpu_wait();
    for (int i = 0; i < COUNT; i++)
        is_right &= y[i] == (float)(i % 77 + 3 * (i % 1000));
    say("saxpy", is_right);
}

/* Small whole numbers, so that sums are exact. */
static void matrix(void)
{
    const size_t bytes = SIDE * SIDE * sizeof(float);
    float *a = gpu_host(bytes), *b = gpu_host(bytes), *c = gpu_host(bytes);
    uint64_t words[] = {gpu_allocate(0, bytes), gpu_allocate(0, bytes), gpu_allocate(0, bytes),
                        SIDE};
    bool is_right = true;

    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = (float)(i % 13);
        b[i] = (float)(i % 7);
    }
    gpu_submit(words[1], a, bytes);
    gpu_submit(words[2], b, bytes);
    launch("matrix", words, 4);
    gpu_retrieve(c, words[0], bytes);
    gpu_wait();
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            float sum = 0;

            for (int k = 0; k < SIDE; k++)
                sum += a[row * SIDE + k] * b[k * SIDE + column];
            is_right &= c[row * SIDE + column] == sum;
        }
    say("matrix", is_right);
}

/* Twice, because the total stays on the GPU. */
static void sum(void)
{
    const size_t bytes = COUNT * sizeof(uint64_t);
    uint64_t *numbers = gpu_host(bytes), *total = gpu_host(8), wanted = 0;
    uint64_t words[] = {gpu_allocate(0, 8), gpu_allocate(0, bytes), COUNT};

    for (int i = 0; i < COUNT; i++)
        wanted += numbers[i] = (uint64_t)i * i;
    gpu_submit(words[0], total, 8);
    gpu_submit(words[1], numbers, bytes);
    launch("sum", words, 3);
    launch("sum", words, 3);
    gpu_retrieve(total, words[0], 8);
    gpu_wait();
    say("sum", *total == 2 * wanted);
}

/* Of launches that nobody waits for one by one the later ones see what the earlier ones wrote. */
static void chain(void)
{
    const struct gpu_kernel *add = gpu_kernel("add");
    unsigned char *bytes = gpu_host(4096);
    uint64_t words[] = {gpu_allocate(0, 4096), 4096, 1};
    bool is_right = true;

    gpu_submit(words[0], bytes, 4096);
    for (int i = 0; i < 200; i++)
        gpu_launch(add, 1, words, 3, i % 20 == 19 ? GPU_LAST : GPU_MORE);
    gpu_retrieve(bytes, words[0], 4096);
    gpu_wait();
    for (int i = 0; i < 4096; i++)
        is_right &= bytes[i] == 200;
    say("chain", is_right);
}

static void exchange(void)
{
    unsigned char *out = gpu_host(COUNT), *back = gpu_host(COUNT);
    uint64_t here = gpu_allocate(0, COUNT), there = gpu_allocate(1, COUNT);

    for (int i = 0; i < COUNT; i++)
        out[i] = (unsigned char)(i * 3);
    gpu_submit(here, out, COUNT);
    gpu_exchange(there, here, COUNT);
    gpu_retrieve(back, there, COUNT);
    gpu_wait();
    say("exchange", memcmp(out, back, COUNT) == 0);
}

static void fault(void)
{
    const uint64_t words[] = {0x1000};

    launch("fault", words, 1);
    gpu_wait();
    puts("a kernel that writes where there is no memory has ended as others do");
}

static void say_name(int gpus)
{
    for (const char *at = gpu_name(); *at; at++)
        putchar(*at == ' ' ? '_' : *at);
    printf(" %d\n", gpus);
}

int main(int count, char **words)
{
    int gpus;

    if (count != 3) {
        fputs("usage: right KERNELS name|all|fault\n", stderr);
        return 2;
    }
    gpus = gpu_begin(words[1]);
    if (strcmp(words[2], "name") == 0) {
        say_name(gpus);
    } else if (strcmp(words[2], "fault") == 0) {
        fault();
    } else {
        copies();
        saxpy();
        matrix();
        sum();
        chain();
        if (gpus > 1)
            exchange();
    }
    return 0;
}

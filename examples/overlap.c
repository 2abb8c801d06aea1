/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * overlap.c: double buffering on one device. A long vector is worked through block by block: bring
 * a block in, compute, take it back. First with one buffer, one step after the other; then with
 * two, so that one block travels while the other is computed. The amount of computing is tuned to
 * take about as long as the transfers; then half the time is the best that two buffers can reach.
 * Prints both timelines, one line per buffer.
 *
 * Build: clang -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu overlap.c -o overlap -lm
 * Run:   omprma-run -n 1 ./overlap [MIB_PER_BLOCK [BLOCKS]]
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICE = 0, MAX_BLOCKS = 64, CHUNK = 1024, WIDTH = 72, MAX_ROUNDS = 100000 };

typedef struct job {
    float *x; /* on the host */
    size_t n; /* elements of one block */
    int blocks;
    int rounds;
    float *buffers[2];  /* on the device */
    double seconds;     /* that the last run took */
    struct step_times { /* of each block, seconds after the run's start */
        double in, loaded, kernel, out, end;
    } times[MAX_BLOCKS];
} job_t;

#pragma omp declare target
/* `rounds` passes over the block, in pieces that stay in cache. */
static void compute(float *x, size_t n, int rounds)
{
    for (size_t first = 0; first < n; first += CHUNK) {
        int count = n - first < CHUNK ? (int)(n - first) : CHUNK;
        float *chunk = x + first;
        for (int r = 0; r < rounds; r++)
            for (int i = 0; i < count; i++)
                chunk[i] = 0.999f * chunk[i] + 0.5f;
    }
}
#pragma omp end declare target

static void copy(void *to, int to_device, const void *from, int from_device, size_t n)
{
    if (omp_target_memcpy(to, from, n * sizeof(float), 0, 0, to_device, from_device)) {
        fprintf(stderr, "overlap: cannot copy from device %d to %d\n", from_device, to_device);
        exit(1);
    }
}

/*
 * One host thread per buffer. Each waits for its own steps; `ordered` keeps the kernels one after
 * another and in the order of the blocks, so what is gained is gained from the transfers alone.
 */
static void run(job_t *job, int buffers)
{
    int host = omp_get_initial_device(), rounds = job->rounds;
    size_t n = job->n;
    double start = omp_get_wtime();
#pragma omp parallel for ordered schedule(static, 1) num_threads(buffers)
    for (int b = 0; b < job->blocks; b++) {
        float *block = job->x + (size_t)b * n, *buffer = job->buffers[b % buffers];
        struct step_times *t = &job->times[b];
        t->in = omp_get_wtime() - start;
        copy(buffer, DEVICE, block, host, n);
        t->loaded = omp_get_wtime() - start;
#pragma omp ordered
        {
            t->kernel = omp_get_wtime() - start;
#pragma omp target device(DEVICE) is_device_ptr(buffer)
            compute(buffer, n, rounds);
            t->out = omp_get_wtime() - start;
        }
        copy(block, host, buffer, DEVICE, n);
        t->end = omp_get_wtime() - start;
    }
    job->seconds = omp_get_wtime() - start;
}

/* Rounds of computing that take as long as the transfers of the same block. */
static int tune(job_t *job)
{
    job->rounds = 32;
    run(job, 2); /* warms everything up */
    run(job, 1);
    double transfers = 0.0, kernels = 0.0;
    for (int b = 0; b < job->blocks; b++) {
        const struct step_times *t = &job->times[b];
        transfers += t->loaded - t->in + t->end - t->out;
        kernels += t->out - t->kernel;
    }
    return (int)fmax(1.0, fmin(job->rounds * transfers / kernels, MAX_ROUNDS));
}

/* '<' a block comes in, '#' it is computed, '>' it goes back, '.' the buffer waits. */
static void print_timeline(const job_t *job, int buffers, double full)
{
    for (int k = 0; k < buffers; k++) {
        char line[WIDTH + 1];
        memset(line, '.', WIDTH);
        line[WIDTH] = '\0';
        for (int i = 0; i < WIDTH; i++) {
            double now = (i + 0.5) * full / WIDTH;
            if (now > job->seconds)
                line[i] = ' ';
            for (int b = k; b < job->blocks; b += buffers) {
                const struct step_times *t = &job->times[b];
                if (now >= t->in && now < t->loaded)
                    line[i] = '<';
                else if (now >= t->kernel && now < t->end)
                    line[i] = now < t->out ? '#' : '>';
            }
        }
        printf("  buffer %d |%s|\n", k, line);
    }
}

/* Every value must be its start value after as many rounds as both runs did together. */
static size_t count_wrong(const job_t *job)
{
    size_t wrong = 0;
    for (size_t i = 0; i < job->n * (size_t)job->blocks; i += 9973) {
        float value = (float)(i % 100);
        compute(&value, 1, 2 * job->rounds);
        wrong += !(fabsf(job->x[i] - value) <= 1e-5f * value);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int mib = argc > 1 ? atoi(argv[1]) : 16, blocks = argc > 2 ? atoi(argv[2]) : 8;
    if (mib < 1 || mib > 4096 || blocks < 1 || blocks > MAX_BLOCKS || omp_get_num_devices() < 1) {
        fprintf(stderr, "usage: overlap [MIB_PER_BLOCK [BLOCKS]], up to %d blocks; devices: %d\n",
                MAX_BLOCKS, omp_get_num_devices());
        return 1;
    }
    job_t job = {.n = (size_t)mib << 18, .blocks = blocks};
    size_t count = job.n * (size_t)blocks;
    job.x = calloc(count, sizeof *job.x);
    for (int k = 0; k < 2; k++)
        job.buffers[k] = omp_target_alloc(job.n * sizeof(float), DEVICE);
    if (!job.x || !job.buffers[0] || !job.buffers[1]) {
        fprintf(stderr, "overlap: no memory for %d blocks of %d MiB\n", blocks, mib);
        exit(1);
    }

    job.rounds = tune(&job);
    for (size_t i = 0; i < count; i++)
        job.x[i] = (float)(i % 100);
    run(&job, 1);
    double serial = job.seconds;
    printf("one step after the other: %.2f ms\n", 1e3 * serial);
    print_timeline(&job, 1, serial);
    run(&job, 2);
    printf("two buffers: %.2f ms\n", 1e3 * job.seconds);
    print_timeline(&job, 2, fmax(serial, job.seconds));
    size_t wrong = count_wrong(&job);
    printf("overlap: %d blocks of %d MiB, %d rounds each, %.2f times as fast with two buffers\n",
           blocks, mib, job.rounds, serial / job.seconds);
    printf("overlap: %zu sampled values wrong: %s\n", wrong, wrong ? "FAILED" : "ok");
    for (int k = 0; k < 2; k++)
        omp_target_free(job.buffers[k], DEVICE);
    free(job.x);
    return wrong != 0;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_random.c: random programs over the null channel and paths; see tests/random/random.h. Each
 * group of programs runs in a child, on a core of its own kind, so that one that fails or hangs is
 * made shorter by running parts of it.
 *
 * - test_random: what ctest runs
 * - test_random FIRST COUNT: the programs of these seeds
 * - test_random SEED 1 OPERATIONS: a part of a program, for example 0-3,7
 * Covers: append.c issue.c order.c order_verify.c queue/queue.c submit.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include "tests/unit/cmocka_both.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/core_fixture.h"
#include "tests/unit/far_fixture.h"
#include "tests/random/random.h"

enum {
    GROUP = 25,      /* programs to a core */
    TRIES = 10,      /* of a program that failed, before a part of it is taken to be well */
    PATIENCE_S = 20, /* until a program hangs */
    SHRINKING_S = 2, /* the same while it is made shorter */
    EXPLAINING_S = 40,
    USUAL_COUNT = 1500,
    USUAL_S = 25, /* with sanitizers fewer are done */
    GLOBAL_BYTES = 100000,
};

static unsigned char globals[RANDOM_DEVICES][GLOBAL_BYTES] __attribute__((aligned(64)));

static void kernel_fill(uint64_t at, uint64_t bytes, uint64_t value)
{
    memset((void *)(uintptr_t)at, (int)(unsigned char)value, bytes);
}

static void kernel_fill_context(uint64_t **context)
{
    kernel_fill(*context[0], *context[1], *context[2]);
}

static void kernel_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
}

/* Which devices cannot be touched. */
static enum { FAR_NONE, FAR_FIRST, FAR_THREADED, FAR_ALL, FAR_ORDERED, FAR_MIXES } mix;

static bool make_other(struct worker_device *device, int worker)
{
    if (far_count == FAR_DEVICES || (mix == FAR_FIRST && worker > 0) ||
        (mix != FAR_ALL && device->index > 0))
        return false;
    far_open(device, mix == FAR_ORDERED                                       ? FAR_IS_ORDERED
                     : mix == FAR_THREADED || (mix == FAR_ALL && worker == 1) ? FAR_IS_THREADED
                     : mix == FAR_ALL && worker == 2                          ? FAR_IS_ORDERED
                                                                              : FAR_IS_POLLED);
    return true;
}

/* So small that each is reached, and passed by one message, again and again. */
static struct limits tiny;

static void choose_limits(struct core_options *options, uint64_t seed)
{
    struct draw from = {(seed / GROUP + 1) * UINT64_C(0xd1342543de82ef95)};

    for (int i = 0; i < 8; i++)
        draw(&from);
    if (draw_below(&from, 2))
        return;
    tiny = (struct limits){
        .entries = 1 + (uint32_t)draw_below(&from, 6),
        .sent = 1 + (uint32_t)draw_below(&from, 6),
        .unknown = 1 + (uint32_t)draw_below(&from, 8),
        .mark_messages = 1 + (uint32_t)draw_below(&from, 3),
        .mark_commands = 1 + (uint32_t)draw_below(&from, 3),
        .transfers = 1 + (uint32_t)draw_below(&from, 3),
        .window = 2 + (uint32_t)draw_below(&from, 3),
        .ask_each = 1 + (uint32_t)draw_below(&from, 2),
        .memory = (1 + (uint32_t)draw_below(&from, 2)) * SLOT_BYTES,
    };
    options->limits = &tiny;
    options->staging = (1 + draw_below(&from, 2)) * SLOT_BYTES;
}

/* How the core of a group is, and what its programs may use. */
static struct core_options choose(uint64_t seed, struct random_limits *limits, struct draw *from)
{
    struct core_options options = {0};

    from->state = (seed / GROUP + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 8; i++)
        draw(from);
    options.workers = 1 + (int)draw_below(from, 3);
    options.lanes = draw_below(from, 3) ? 1 : 3;
    options.delay = draw_below(from, 3) ? 3 : draw_below(from, 2) ? 40 : CORE_NO_DELAY;
    options.no_window = draw_below(from, 6) == 0;
    options.progress_thread = draw_below(from, 6) == 0;
    options.shared = seed / GROUP % 2;
    options.arena = options.shared ? 3 << 20 : 1 << 20; /* of a huge page at least */
    options.adapt = options.wrong_choice = draw_below(from, 3) == 0;
    mix = draw_below(from, 2) ? FAR_NONE : (int)draw_below(from, FAR_MIXES);
    options.make_other = mix == FAR_NONE ? NULL : make_other;
    choose_limits(&options, seed);
    *limits = (struct random_limits){
        .devices = options.workers,
        .threads = draw_below(from, 2) ? 1 : 1 + (int)draw_below(from, RANDOM_THREADS),
        .operations = 20 + (int)draw_below(from, 150),
        .most = UINT64_C(3) * CORE_PIECE,
        .failures = draw_below(from, 2) && random_may_fail(),
        .global_bytes = GLOBAL_BYTES,
    };
    if (options.workers <= RANDOM_DEVICES / 2) {
        options.devices = 1 + (int)draw_below(from, 2);
        limits->devices = options.workers * options.devices;
    }
    return options;
}

static void start(uint64_t seed, struct random_limits *limits)
{
    struct draw from;
    struct core_options options = choose(seed, limits, &from);

    core_make_hole();
    limits->hole = core_hole;
    far_count = 0;
    core_start(&options);
    for (int i = 0; i < limits->devices; i++) {
        limits->symbols[i] = (struct random_symbols){
            .fill = KERNEL(kernel_fill),
            .fill_context = KERNEL(kernel_fill_context),
            .add = KERNEL(kernel_add),
            .copy = KERNEL(kernel_copy),
            .sum = KERNEL(kernel_sum),
            .nap = KERNEL(kernel_nap),
            .global = (omprma_addr_t)(uintptr_t)globals[i],
        };
        if (device_is_staged(core_device(i)))
            limits->symbols[i] = (struct random_symbols){
                .fill = FAR_SET,
                .add = FAR_ADD,
                .copy = FAR_MOVE,
                .sum = FAR_SUM,
                .nap = FAR_NAP,
                .global = core_device(i)->about.arena - FAR_GLOBALS,
            };
        if (!options.adapt)
            core_choose_any(i, &from);
    }
    if (options.adapt)
        return;
    do
        core_exchange_by((enum config_exchange)(EXCHANGE_PUT + draw_below(&from, 4)));
    while (options.no_window && runtime_get()->exchange[0].way != EXCHANGE_SEND &&
           runtime_get()->exchange[0].way != EXCHANGE_APPLICATION);
}

/* In a child: how it has ended; 0 is well. */
static int in_child(void (*work)(void *data), void *data, bool quiet)
{
    pid_t pid = fork();
    int status = 0;

    if (pid < 0)
        return -1;
    if (pid == 0) {
        if (quiet && !freopen("/dev/null", "w", stderr))
            _exit(9);
        work(data);
        exit(0);
    }
    waitpid(pid, &status, 0);
    return status;
}

/* ---- groups ---- */

struct group {
    uint64_t first, end;
};

static void run_group(void *data)
{
    const struct group *group = data;
    struct random_program *program = malloc(sizeof(*program));
    struct random_limits limits;

    if (!program)
        abort();
    start(group->first, &limits);
    for (uint64_t seed = group->first; seed < group->end; seed++) {
        random_generate(program, &limits, seed);
        random_execute(program, &limits, PATIENCE_S);
    }
    core_stop();
    free(program);
}

/* ---- one that failed ---- */

struct part {
    const struct random_program *program;
    int patience_s;
};

static void run_part(void *data)
{
    const struct part *part = data;
    struct random_limits limits;

    start(part->program->seed, &limits);
    random_execute(part->program, &limits, part->patience_s);
    core_stop();
}

static bool part_fails(const struct random_program *program, void *data)
{
    struct part part = {program, SHRINKING_S};
    const int64_t *until = data;

    for (int i = 0; i < TRIES && clock_ns() < *until; i++)
        if (in_child(run_part, &part, true))
            return true;
    return false;
}

/* Finds which program of the group fails by itself, and what of it is needed. */
static void explain(const struct group *group)
{
    struct random_program *program = malloc(sizeof(*program));
    struct random_limits limits;
    struct draw from;
    int status = 0;
    int64_t until = clock_ns() + EXPLAINING_S * INT64_C(1000000000);

    if (!program)
        abort();
    choose(group->first, &limits, &from);
    for (uint64_t seed = group->first; seed < group->end; seed++) {
        struct part part = {program, SHRINKING_S};

        random_generate(program, &limits, seed);
        if (!part_fails(program, &until))
            continue;
        random_shrink(program, part_fails, &until);
        fprintf(stderr, "the same, as short as it fails:\n");
        for (int i = 0; i < TRIES && status == 0; i++)
            status = in_child(run_part, &part, false);
        if (WIFSIGNALED(status)) /* an internal check, a sanitizer: they know no program */
            random_print(program);
        fprintf(stderr, "again: test_random SEED 1 OPERATIONS\n");
        break;
    }
    free(program);
}

/* ---- start ---- */

static int run_kept(uint64_t seed, const char *kept)
{
    struct random_program *program = malloc(sizeof(*program));
    struct part part = {program, SHRINKING_S};
    struct random_limits limits;
    struct draw from;
    int failed = 0;

    if (!program)
        abort();
    choose(seed, &limits, &from);
    random_generate(program, &limits, seed);
    if (!random_keep(program, kept)) {
        fprintf(stderr, "'%s' is no list of operations\n", kept);
        return 2;
    }
    for (int i = 0; i < 100; i++)
        failed += in_child(run_part, &part, failed > 0) != 0;
    fprintf(stderr, "%d of 100 runs failed\n", failed);
    free(program);
    return failed > 0;
}

int main(int count, char **words)
{
    uint64_t first = count > 1 ? strtoull(words[1], NULL, 10) : 1;
    uint64_t end = first + (count > 2 ? strtoull(words[2], NULL, 10) : USUAL_COUNT);
    int64_t until = count > 2 ? INT64_MAX : clock_ns() + USUAL_S * INT64_C(1000000000);
    int failed = 0;

    if (count > 3)
        return run_kept(first, words[3]);
    for (struct group group = {first, first}; group.end < end && failed < 2 && clock_ns() < until;
         group.first = group.end) {
        uint64_t next = (group.first / GROUP + 1) * GROUP;
        int status;

        group.end = next < end ? next : end;
        status = in_child(run_group, &group, false);
        if (status == 0)
            continue;
        fprintf(stderr, "FAILED: a program of the seeds %llu to %llu (status 0x%x)\n",
                (unsigned long long)group.first, (unsigned long long)group.end - 1,
                (unsigned)status);
        explain(&group);
        failed++;
    }
    return failed > 0;
}

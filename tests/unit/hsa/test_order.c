/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_order.c: random programs: copies, kernels and barriers on two GPUs, each of which depends on
 * signals of those before it that use the same memory, on handlers, or on the program; GPUs do what
 * they may in random order. A model does the same one after another.
 * Covers: attendant.c src/hsa/copy.c handler.c lanes.c packets.c hsa/queue.c src/hsa/ring.c
 * hsa/signal.c
 */
#include "tests/unit/test.h"
#include "program.h"

enum { BUFFERS = 4, WORDS = 3000, STEPS = 60, PROGRAMS = 150, PLACES = 3 * BUFFERS };

TEST_GROUP(program_start, program_end)

/* Places 0 to 3 are in the host's memory, then come those of each GPU. */
static uint64_t *memory[PLACES], model[PLACES][WORDS];

static int gpu_of_place(int place)
{
    return place / BUFFERS - 1;
}

/* What was done: its signal, and what it used. */
static struct step {
    hsa_signal_t done;
    int writes, reads;   /* places, -1: none */
    bool opens;          /* its signal is moved on by the program, later */
    hsa_signal_t before; /* of what a handler waits for, which then moves the signal on */
} steps[STEPS];
static int count;
static struct draw chance;
static uint64_t *arguments; /* three words for each step */

static bool bridge(hsa_signal_value_t value, void *data)
{
    struct step *step = data;

    assert_int_equal(value, 0);
    hsa_signal_store_screlease(step->done, 0);
    return false;
}

/* Signals of steps that have to be over before one that uses these places. Those that are 0 are
 * left out, as programs do. */
static uint32_t needed(int writes, int reads, hsa_signal_t *signals)
{
    uint32_t found = 0;

    for (int i = 0; i < count; i++) {
        const struct step *step = &steps[i];
        bool matters = (step->writes >= 0 && (step->writes == writes || step->writes == reads)) ||
                       (step->reads >= 0 && step->reads == writes);
        if (matters && hsa_signal_load_relaxed(step->done) != 0)
            signals[found++] = step->done;
    }
    return found;
}

static struct step *step_add(int writes, int reads)
{
    steps[count] = (struct step){.done = program_signal(1), .writes = writes, .reads = reads};
    return &steps[count++];
}

static void step_copy(int to, int from)
{
    hsa_signal_t signals[STEPS];
    uint32_t found = needed(to, from, signals);
    size_t words = draw_below(&chance, 4) ? WORDS : 1 + draw_below(&chance, 100);
    struct step *step = step_add(to, from);

    program_copy(0, memory[to], memory[from], 8 * words, signals, found, step->done);
    memmove(model[to], model[from], 8 * words);
}

/* A kernel behind barriers; its signal is its own, or that of a barrier behind it. */
static void step_kernel(int place, int from)
{
    hsa_signal_t signals[STEPS];
    uint32_t found = needed(place, from, signals);
    int gpu = gpu_of_place(place);
    uint64_t *words = arguments + 3 * count, value = draw(&chance);
    struct step *step = step_add(place, from);
    bool behind = draw_below(&chance, 3) == 0;
    hsa_signal_t none = {0};

    for (uint32_t i = 0; i < found; i += 5)
        program_barrier(gpu, signals + i, found - i < 5 ? (int)(found - i) : 5, none);
    words[0] = (uintptr_t)memory[place];
    words[1] = from < 0 ? WORDS : (uintptr_t)memory[from];
    words[2] = from < 0 ? value : WORDS;
    program_launch(gpu, from < 0 ? "add.kd" : "copy.kd", words, behind ? none : step->done);
    if (behind)
        program_barrier(gpu, NULL, 0, step->done);
    for (int i = 0; i < WORDS; i++)
        model[place][i] = from < 0 ? model[place][i] + value : model[from][i];
}

/* What waits for the step waits for a handler behind it. */
static void step_bridge(void)
{
    struct step *step = &steps[count - 1];

    step->before = step->done;
    step->done = program_signal(1);
    OK(hsa_amd_signal_async_handler(step->before, HSA_SIGNAL_CONDITION_EQ, 0, bridge, step));
}

/* The host changes one of its buffers, which it has waited for. */
static void step_host(int place)
{
    hsa_signal_t signals[STEPS];
    uint32_t found = needed(place, -1, signals);
    uint64_t value = draw(&chance);

    for (uint32_t i = 0; i < found; i++)
        program_wait(signals[i]);
    for (int i = 0; i < WORDS; i++)
        memory[place][i] = model[place][i] = value + (uint64_t)i;
}

/* Something that all that uses the place waits for, until the program opens it. */
static void step_gate(int place)
{
    hsa_signal_t signals[STEPS];
    uint32_t found = needed(place, -1, signals);
    struct step *step = step_add(place, -1);

    for (uint32_t i = 0; i < found; i++)
        program_wait(signals[i]);
    step->opens = true;
}

static void open_gates(void)
{
    for (int i = 0; i < count; i++) {
        if (steps[i].opens)
            hsa_signal_store_screlease(steps[i].done, 0);
        steps[i].opens = false;
    }
}

static void step_any(void)
{
    int place = (int)draw_below(&chance, PLACES), other = (int)draw_below(&chance, PLACES);
    int beside = BUFFERS * (1 + gpu_of_place(place)) + (int)draw_below(&chance, BUFFERS);

    switch (draw_below(&chance, 8)) {
    case 0:
        open_gates();
        step_host(place % BUFFERS);
        break;
    case 1:
        open_gates();
        step_gate(place);
        break;
    case 2:
    case 3:
        if (place >= BUFFERS)
            step_kernel(place, draw_below(&chance, 2) && beside != place ? beside : -1);
        break;
    default:
        if (place != other)
            step_copy(place, other);
    }
    if (count > 0 && !steps[count - 1].opens && !steps[count - 1].before.handle &&
        draw_below(&chance, 5) == 0)
        step_bridge();
}

static void compare(uint64_t seed)
{
    static uint64_t got[WORDS];

    open_gates();
    for (int i = 0; i < count; i++)
        program_wait(steps[i].done);
    for (int place = 0; place < PLACES; place++) {
        OK(hsa_memory_copy(got, memory[place], sizeof(got)));
        for (int i = 0; i < WORDS; i++) {
            if (got[i] != model[place][i])
                fail_msg("program %llu: place %d, word %d", (unsigned long long)seed, place, i);
        }
    }
    for (int i = 0; i < count; i++) {
        OK(hsa_signal_destroy(steps[i].done));
        if (steps[i].before.handle)
            OK(hsa_signal_destroy(steps[i].before));
    }
    count = 0;
}

TEST(random_programs_compute_what_the_model_does)
{
    for (int place = 0; place < PLACES; place++) {
        int gpu = gpu_of_place(place);
        memory[place] =
            gpu < 0 ? calloc(WORDS, 8) : program_allocate(program.memory[gpu], sizeof(model[0]));
        OK(hsa_memory_copy(memory[place], model[place], sizeof(model[0])));
    }
    arguments = program_allocate(program.arguments, STEPS * 24);
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        chance.state = seed * 77777;
        late_draw(seed);
        while (count < STEPS)
            step_any();
        compare(seed);
    }
    late_draw(0);
    for (int place = 0; place < PLACES; place++) {
        if (place < BUFFERS)
            free(memory[place]);
        else
            OK(hsa_amd_memory_pool_free(memory[place]));
    }
}

/* More packets than the queue has places, one with a value to wait for, one that waits for any. */
TEST(packets_are_taken_at_once)
{
    enum { MANY = 1000 };
    hsa_signal_t gate = program_signal(1), other = program_signal(1), done = program_signal(1);
    hsa_amd_barrier_value_packet_t value = {
        .header = {.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
        .signal = gate,
        .value = 6,
        .mask = 6,
        .cond = HSA_SIGNAL_CONDITION_EQ};
    hsa_barrier_or_packet_t any = {.dep_signal = {other, gate}};
    uint64_t *at = program_allocate(program.memory[0], 8), got = 1;
    uint64_t *words = program_allocate(program.arguments, 24);

    OK(hsa_memory_copy(at, &got, 8));
    words[0] = (uintptr_t)at, words[1] = 1, words[2] = 3;
    program_packet(0, &value, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
    program_packet(0, &any, HSA_PACKET_TYPE_BARRIER_OR);
    for (int i = 0; i < MANY; i++)
        program_launch(0, "add.kd", words, (hsa_signal_t){0});
    program_barrier(0, NULL, 0, done);
    OK(hsa_memory_copy(&got, at, 8));
    assert_int_equal(got, 1);
    hsa_signal_store_relaxed(gate, 7);
    OK(hsa_memory_copy(&got, at, 8));
    assert_int_equal(hsa_signal_load_relaxed(done), 1);
    hsa_signal_store_relaxed(other, 0);
    program_wait(done);
    OK(hsa_memory_copy(&got, at, 8));
    assert_int_equal(got, 1 + 3 * MANY);
    OK(hsa_signal_destroy(gate));
    OK(hsa_signal_destroy(other));
    OK(hsa_signal_destroy(done));
    OK(hsa_amd_memory_pool_free(at));
    OK(hsa_amd_memory_pool_free(words));
}

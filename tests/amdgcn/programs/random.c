/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * random.c: random SEED COUNT: so many random programs for the HSA interface: copies, kernels and
 * fills on all GPUs, which depend on each other by signals in every way that the interface has, and
 * on signals that the program itself lets go later. Beside it the program does the same at once, to
 * blocks of its own; both must come to the same. Says "right" when they do.
 */
#include "hsa_program.h"

enum { BLOCKS = 12, BLOCK_MOST = 200000, STEPS = 40, SIGNALS_MOST = 4 * STEPS, READERS_MOST = 24 };

/* Memory of a GPU, or of the host, locked. */
struct block {
    int gpu; /* -1: of the host */
    unsigned char *memory, *model;
    size_t bytes;
    hsa_signal_t writer; /* handle 0: nobody writes it any more */
    hsa_signal_t readers[READERS_MOST];
    int reader_count;
};

static struct block blocks[BLOCKS];
static hsa_signal_t signals[SIGNALS_MOST]; /* of this program's operations */
static hsa_signal_t gates[SIGNALS_MOST];   /* that are closed */
static int signal_count, gate_count, block_count;
static uint64_t *words; /* arguments of kernels, from the start of `signals` on */
static unsigned seed, program;

static unsigned below(unsigned most)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 8) % most;
}

static hsa_signal_t new_signal(void)
{
    CHECK(signal_count < SIGNALS_MOST);
    return signals[signal_count++] = signal_at(1);
}

/* ---- dependencies ---- */

struct needs {
    hsa_signal_t signals[2 * READERS_MOST + 4];
    uint32_t count;
};

static void need(struct needs *needs, hsa_signal_t signal)
{
    if (signal.handle)
        needs->signals[needs->count++] = signal;
}

static void open_gates(void)
{
    while (gate_count > 0)
        hsa_signal_store_screlease(gates[--gate_count], 0);
}

/* Who waits has opened all gates. */
static void settle(struct block *block)
{
    open_gates();
    if (block->writer.handle)
        wait_for(block->writer);
    for (int i = 0; i < block->reader_count; i++)
        wait_for(block->readers[i]);
    block->writer.handle = 0;
    block->reader_count = 0;
}

static void reads(struct block *block, struct needs *needs, hsa_signal_t done)
{
    if (block->reader_count == READERS_MOST)
        settle(block);
    need(needs, block->writer);
    block->readers[block->reader_count++] = done;
}

static void writes(struct block *block, struct needs *needs, hsa_signal_t done)
{
    need(needs, block->writer);
    for (int i = 0; i < block->reader_count; i++)
        need(needs, block->readers[i]);
    block->writer = done;
    block->reader_count = 0;
}

/* Sometimes an operation waits for the program, too. */
static void maybe_gate(struct needs *needs)
{
    if (below(6) != 0)
        return;
    gates[gate_count] = new_signal();
    need(needs, gates[gate_count++]);
}

/* ---- operations ---- */

struct range {
    struct block *block;
    size_t offset;
};

static struct range some_range(struct block *block, size_t *bytes)
{
    struct range range = {block, below((unsigned)block->bytes)};

    if (*bytes > block->bytes - range.offset)
        *bytes = block->bytes - range.offset;
    return range;
}

static hsa_agent_t agent_at(const struct block *block)
{
    return block->gpu < 0 ? host : gpus[block->gpu].agent;
}

static void copy(void)
{
    struct block *to = &blocks[below((unsigned)block_count)], *from;
    size_t bytes = 1 + below(below(4) ? 5000 : BLOCK_MOST);
    struct needs needs = {.count = 0};
    struct range there, here;
    hsa_signal_t done;
    hsa_agent_t agents[2];

    do
        from = &blocks[below((unsigned)block_count)];
    while (from == to || (from->gpu < 0 && to->gpu < 0));
    there = some_range(to, &bytes);
    here = some_range(from, &bytes);
    done = new_signal();
    reads(from, &needs, done);
    writes(to, &needs, done);
    maybe_gate(&needs);
    agents[0] = agent_at(to);
    agents[1] = agent_at(from);
    if (below(2)) /* as LLVM's runtime does */
        agents[0] = agents[1] = to->gpu < 0 ? agents[1] : agents[0];
    OK(hsa_amd_memory_async_copy(to->memory + there.offset, agents[0], from->memory + here.offset,
                                 agents[1], bytes, needs.count, needs.count ? needs.signals : NULL,
                                 done));
    memcpy(to->model + there.offset, from->model + here.offset, bytes);
}

static void wait_in_queue(const struct gpu *gpu, const struct needs *needs)
{
    for (uint32_t at = 0; at < needs->count; at += 5) {
        hsa_barrier_and_packet_t packet = {.header = 0};

        for (uint32_t i = 0; i < 5 && at + i < needs->count; i++)
            packet.dep_signal[i] = needs->signals[at + i];
        submit(gpu, &packet, HSA_PACKET_TYPE_BARRIER_AND, below(2));
    }
}

static struct block *some_block(bool of_gpu)
{
    struct block *block;

    do
        block = &blocks[below((unsigned)block_count)];
    while ((block->gpu >= 0) != of_gpu);
    return block;
}

/* Kernels of one queue without signals of their own are ordered by the barrier bit. */
static void kernel(void)
{
    struct block *block = some_block(true);
    const struct gpu *gpu = &gpus[block->gpu];
    size_t bytes = 1 + below(10000);
    struct range range = some_range(block, &bytes);
    struct needs needs = {.count = 0};
    hsa_signal_t done = new_signal(), none = {0};
    int times = below(3) ? 1 : 3;

    writes(block, &needs, done);
    maybe_gate(&needs);
    wait_in_queue(gpu, &needs);
    for (int i = 0; i < times; i++) {
        uint64_t *its = words + (size_t)(signal_count * 4 + i) * 4;

        its[0] = (uint64_t)(uintptr_t)(block->memory + range.offset);
        its[1] = bytes;
        its[2] = below(256);
        for (size_t k = 0; k < bytes; k++)
            block->model[range.offset + k] += (unsigned char)its[2];
        launch(gpu, "standin_add.kd", its, i > 0 || below(2), i == times - 1 ? done : none);
    }
}

static void fill(void)
{
    struct block *block = some_block(true);
    size_t count = 1 + below((unsigned)(block->bytes / 4)), offset = block->bytes / 4 - count;
    uint32_t value = below(1 << 24);

    settle(block);
    OK(hsa_amd_memory_fill(block->memory + offset * 4, value, count));
    for (size_t i = 0; i < count; i++)
        memcpy(block->model + (offset + i) * 4, &value, 4);
}

static void compare(const struct block *block)
{
    static unsigned char now[BLOCK_MOST];

    if (block->gpu >= 0)
        OK(hsa_memory_copy(now, block->memory, block->bytes));
    else
        memcpy(now, block->memory, block->bytes);
    for (size_t i = 0; i < block->bytes; i++) {
        if (now[i] == block->model[i])
            continue;
        printf("random.c: program %u: byte %zu of %zu of block %d of GPU %d is %#x, not %#x\n",
               program, i, block->bytes, (int)(block - blocks), block->gpu, now[i],
               block->model[i]);
        exit(1);
    }
}

/* The program itself reads and writes memory of the host. */
static void host_step(void)
{
    struct block *block = some_block(false);

    settle(block);
    compare(block);
    for (size_t i = 0; i < block->bytes; i++)
        block->memory[i] = block->model[i] = (unsigned char)below(256);
}

static void step(void)
{
    switch (below(12)) {
    case 0:
        host_step();
        break;
    case 1:
        fill();
        break;
    case 2:
        open_gates();
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        kernel();
        break;
    default:
        copy();
    }
}

/* ---- programs ---- */

static hsa_agent_t every[GPUS_MOST];

static void make_block(int gpu)
{
    struct block *block = &blocks[block_count++];
    void *locked;

    *block = (struct block){.gpu = gpu, .bytes = 64 + below(below(3) ? 6000 : BLOCK_MOST - 64)};
    block->model = malloc(block->bytes);
    CHECK(block->model);
    memset(block->model, block_count, block->bytes);
    if (gpu >= 0) {
        block->memory = allocate(gpus[gpu].memory, block->bytes);
        OK(hsa_amd_agents_allow_access((uint32_t)count, every, NULL, block->memory));
        OK(hsa_memory_copy(block->memory, block->model, block->bytes));
        return;
    }
    block->memory = malloc(block->bytes);
    CHECK(block->memory);
    memcpy(block->memory, block->model, block->bytes);
    OK(hsa_amd_memory_lock(block->memory, block->bytes, every, count, &locked));
    CHECK(locked == block->memory);
}

static void end_block(struct block *block)
{
    settle(block);
    compare(block);
    free(block->model);
    if (block->gpu >= 0) {
        OK(hsa_amd_memory_pool_free(block->memory));
        return;
    }
    OK(hsa_amd_memory_unlock(block->memory));
    free(block->memory);
}

static void run_program(void)
{
    block_count = signal_count = gate_count = 0;
    for (int i = 0; i < 3; i++)
        make_block(-1);
    for (int i = 0; i < BLOCKS - 3; i++)
        make_block(i % count);
    for (int i = 0; i < STEPS; i++)
        step();
    open_gates();
    for (int i = 0; i < block_count; i++)
        settle(&blocks[i]);
    for (int i = 0; i < block_count; i++)
        end_block(&blocks[i]);
    for (int i = 0; i < signal_count; i++)
        OK(hsa_signal_destroy(signals[i]));
}

int main(int arguments_count, char **argument)
{
    unsigned first = arguments_count > 1 ? (unsigned)atoi(argument[1]) : 1;
    unsigned programs = arguments_count > 2 ? (unsigned)atoi(argument[2]) : 10;

    start();
    CHECK(count > 0);
    for (int i = 0; i < count; i++)
        every[i] = gpus[i].agent;
    words = allocate(arguments, (SIGNALS_MOST + 1) * 16 * sizeof(*words));
    OK(hsa_amd_agents_allow_access((uint32_t)count, every, NULL, words));
    for (program = first; program < first + programs; program++) {
        seed = program * 2654435761u;
        run_program();
    }
    OK(hsa_amd_memory_pool_free(words));
    end();
    puts("right");
    return 0;
}

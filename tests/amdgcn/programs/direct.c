/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * direct.c: direct WHAT: a plain program for the HSA interface, compiled with the real runtime's
 * headers, for kernels that the stand-in has itself. WHAT is "data": on every GPU copies, kernels
 * and signals that depend on each other, and symbols; "owners": addresses tell whose memory is;
 * "crowded": the same where this process has most addresses; "handler": a handler that waits;
 * "touch": touches memory of a GPU, and must not live; "stray": a copy to memory that is not
 * locked; "fault": a kernel that faults, with a handler, and "abort": without. Says "right" when
 * all is.
 */
#include "hsa_program.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>

enum { BYTES = 300000 };

/* ---- data ---- */

static unsigned char out[BYTES], back[BYTES];

/* Copy there, two kernels behind each other, copy back: nobody waits in between. */
static void chain(const struct gpu *gpu)
{
    hsa_signal_t there = signal_at(1), ran = signal_at(1), here = signal_at(1), none = {0};
    hsa_barrier_and_packet_t barrier = {.dep_signal = {there}};
    void *memory = allocate(gpu->memory, BYTES), *locked_out, *locked_back;
    uint64_t *words = allocate(arguments, 4096);

    for (int i = 0; i < BYTES; i++)
        out[i] = (unsigned char)(i * 7);
    OK(hsa_amd_agents_allow_access(1, &gpu->agent, NULL, words));
    words[0] = words[8] = (uint64_t)(uintptr_t)memory;
    words[1] = words[9] = BYTES;
    words[2] = 3;
    words[10] = 40;
    OK(hsa_amd_memory_lock(out, BYTES, (hsa_agent_t *)&gpu->agent, 1, &locked_out));
    OK(hsa_amd_memory_lock(back, BYTES, (hsa_agent_t *)&gpu->agent, 1, &locked_back));
    OK(hsa_amd_memory_async_copy(locked_back, gpu->agent, memory, gpu->agent, BYTES, 1, &ran,
                                 here));
    submit(gpu, &barrier, HSA_PACKET_TYPE_BARRIER_AND, false);
    launch(gpu, "standin_add.kd", words, false, none);
    launch(gpu, "standin_add.kd", words + 8, true, ran);
    OK(hsa_amd_memory_async_copy(memory, gpu->agent, locked_out, host, BYTES, 0, NULL, there));
    wait_for(here);
    for (int i = 0; i < BYTES; i++)
        CHECK(back[i] == (unsigned char)(i * 7 + 43));
    OK(hsa_amd_memory_unlock(out));
    OK(hsa_amd_memory_unlock(back));
    OK(hsa_signal_destroy(there));
    OK(hsa_signal_destroy(ran));
    OK(hsa_signal_destroy(here));
    OK(hsa_amd_memory_pool_free(memory));
    OK(hsa_amd_memory_pool_free(words));
}

static void *variable_of(const struct gpu *gpu)
{
    hsa_executable_symbol_t symbol = symbol_of(gpu, "standin_number");
    uint64_t address, number = 0;
    uint32_t bytes;

    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS,
                                      &address));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &bytes));
    CHECK(bytes == 8);
    OK(hsa_memory_copy(&number, (void *)(uintptr_t)address, 8));
    CHECK(number == 7);
    return (void *)(uintptr_t)address;
}

static void fill_and_variable(const struct gpu *gpu)
{
    void *memory = allocate(gpu->memory, 4096);
    uint32_t word = 0;

    OK(hsa_amd_memory_fill(memory, 0x12345678, 1024));
    OK(hsa_memory_copy(&word, (char *)memory + 4092, 4));
    CHECK(word == 0x12345678);
    variable_of(gpu);
    OK(hsa_amd_memory_pool_free(memory));
}

static bool count_down(hsa_signal_value_t value, void *data)
{
    hsa_signal_t *both = data;
    bool again = hsa_signal_load_scacquire(both[1]) > 1; /* both may be destroyed at the end */

    hsa_signal_store_relaxed(both[0], value == 0 ? 10 : 0);
    hsa_signal_subtract_screlease(both[1], 1);
    return again;
}

/* A handler that is called twice. */
static void handlers(void)
{
    hsa_signal_t both[2] = {signal_at(5), signal_at(2)};

    OK(hsa_amd_signal_async_handler(both[0], HSA_SIGNAL_CONDITION_LT, 7, count_down, both));
    wait_for(both[1]);
    CHECK(hsa_signal_load_relaxed(both[0]) == 10);
    OK(hsa_signal_destroy(both[0]));
    OK(hsa_signal_destroy(both[1]));
}

static bool wait_for_more(hsa_signal_value_t value, void *data)
{
    const hsa_signal_t *signals = data;

    CHECK(value == 0);
    hsa_signal_store_screlease(signals[1], 0);
    wait_for(signals[3]);
    wait_for(signals[4]);
    hsa_signal_store_screlease(signals[5], 0); /* all may be destroyed from here on */
    return false;
}

/* A handler that waits for a packet and a copy, which wait for the program. */
static void handler_waits(const struct gpu *gpu)
{
    hsa_signal_t signals[6];
    char *memory = allocate(gpu->memory, 4096), *from = allocate(arguments, 4096);

    for (int i = 0; i < 6; i++)
        signals[i] = signal_at(1);
    OK(hsa_amd_agents_allow_access(1, &gpu->agent, NULL, from));
    OK(hsa_amd_signal_async_handler(signals[0], HSA_SIGNAL_CONDITION_EQ, 0, wait_for_more,
                                    signals));
    hsa_signal_store_screlease(signals[0], 0);
    wait_for(signals[1]);
    const hsa_barrier_and_packet_t barrier = {.dep_signal = {signals[2]},
                                              .completion_signal = signals[3]};
    submit(gpu, &barrier, HSA_PACKET_TYPE_BARRIER_AND, false);
    OK(hsa_amd_memory_async_copy(memory, gpu->agent, from, host, 4096, 1, &signals[2], signals[4]));
    hsa_signal_store_screlease(signals[2], 0);
    wait_for(signals[5]);
    for (int i = 0; i < 6; i++)
        OK(hsa_signal_destroy(signals[i]));
    OK(hsa_amd_memory_pool_free(memory));
    OK(hsa_amd_memory_pool_free(from));
}

/* For a signal that nobody moves on: for less time than a thread stays awake, and for more. */
static void times_out(void)
{
    static const uint64_t times[] = {0, 1000, 50000, 1000000, 5000000};
    hsa_signal_t signal = signal_at(3);
    hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
    hsa_signal_value_t wanted = 0, value;

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        CHECK(hsa_signal_wait_scacquire(signal, condition, wanted, times[i],
                                        HSA_WAIT_STATE_ACTIVE) == 3);
        CHECK(hsa_amd_signal_wait_any(1, &signal, &condition, &wanted, times[i],
                                      HSA_WAIT_STATE_BLOCKED, &value) == UINT32_MAX);
    }
    OK(hsa_signal_destroy(signal));
}

/* From each GPU to the next one, which must be allowed. */
static void between(void)
{
    for (int i = 0; i < count; i++) {
        const struct gpu *from = &gpus[i], *to = &gpus[(i + 1) % count];
        char *here = allocate(from->memory, 4096), *there = allocate(to->memory, 4096);
        hsa_signal_t done = signal_at(1);

        memset(out, i + 1, 4096);
        OK(hsa_memory_copy(here, out, 4096));
        OK(hsa_amd_agents_allow_access(1, &to->agent, NULL, here));
        OK(hsa_amd_memory_async_copy(there, to->agent, here, from->agent, 4096, 0, NULL, done));
        wait_for(done);
        OK(hsa_memory_copy(back, there, 4096));
        CHECK(memcmp(out, back, 4096) == 0);
        OK(hsa_signal_destroy(done));
        OK(hsa_amd_memory_pool_free(here));
        OK(hsa_amd_memory_pool_free(there));
    }
}

/* ---- whose an address is ---- */

enum { BLOCKS = 24, BLOCK_BYTES = 5 << 20 };

static hsa_agent_t owner_of(const void *address, const void *begin)
{
    hsa_amd_pointer_info_t info = {.size = sizeof(info)};

    OK(hsa_amd_pointer_info(address, &info, NULL, NULL, NULL));
    CHECK(info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentBaseAddress == begin);
    return info.agentOwner;
}

/* More than the first arenas; copies name no GPU. */
static void owners(void)
{
    static char *blocks[GPUS_MOST][BLOCKS];

    for (int k = 0; k < BLOCKS; k++)
        for (int i = 0; i < count; i++) {
            uint32_t number = (uint32_t)(k * GPUS_MOST + i);

            blocks[i][k] = allocate(gpus[i].memory, BLOCK_BYTES);
            OK(hsa_amd_memory_fill(blocks[i][k], number, BLOCK_BYTES / 4));
        }
    for (int i = 0; i < count; i++)
        variable_of(&gpus[i]);
    for (int k = 0; k < BLOCKS; k++)
        for (int i = 0; i < count; i++) {
            uint32_t number = 0;

            CHECK(owner_of(blocks[i][k] + 77, blocks[i][k]).handle == gpus[i].agent.handle);
            OK(hsa_memory_copy(&number, blocks[i][k] + BLOCK_BYTES - 4, 4));
            CHECK(number == (uint32_t)(k * GPUS_MOST + i));
            OK(hsa_amd_memory_pool_free(blocks[i][k]));
        }
}

/* ---- few addresses ---- */

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static const uintptr_t CROWDED_FROM = 0x7e0000000000, CROWDED_MOST = 0x800000000000,
                       LEFT = 32 << 20;

static void take_addresses(uintptr_t from, uintptr_t to)
{
    from = (from > CROWDED_FROM ? from : CROWDED_FROM) + LEFT;
    if (to > LEFT && to - LEFT > from)
        mmap((void *)from, to - LEFT - from, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

/* All that Linux would give to processes first, but what is in use and a little around that: what a
 * worker's driver is given, too, is then used in this process. */
static void crowd(void)
{
    static char lines[1 << 20];
    FILE *maps = fopen("/proc/self/maps", "re");
    size_t bytes = fread(lines, 1, sizeof(lines) - 1, maps);
    uintptr_t before = 0, begin, end;

    CHECK(bytes > 0 && bytes < sizeof(lines) - 1);
    fclose(maps);
    for (const char *line = lines; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2 || begin > CROWDED_MOST)
            break;
        take_addresses(before, begin);
        before = end;
    }
}

/* Nothing comes where a variable is. */
static void check_kept(void)
{
    for (int i = 0; i < count; i++) {
        void *page = (void *)((uintptr_t)variable_of(&gpus[i]) & ~(uintptr_t)4095);

        CHECK(mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                   0) == MAP_FAILED &&
              errno == EEXIST);
    }
}

/* ---- faults ---- */

static hsa_status_t on_event(const hsa_amd_event_t *event, void *data)
{
    (void)data;
    CHECK(event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT);
    CHECK(event->memory_fault.agent.handle == gpus[0].agent.handle);
    puts("right");
    fflush(stdout);
    _exit(0);
}

static void stray(void)
{
    void *memory = allocate(gpus[0].memory, BYTES);

    OK(hsa_amd_register_system_event_handler(on_event, NULL));
    OK(hsa_amd_memory_async_copy(memory, gpus[0].agent, out, host, BYTES, 0, NULL, signal_at(1)));
    sleep(20);
}

static void fault(bool handled)
{
    uint64_t *words = allocate(arguments, 4096);
    hsa_signal_t done = signal_at(1);

    OK(hsa_amd_agents_allow_access(1, &gpus[0].agent, NULL, words));
    words[0] = HSA_STATUS_ERROR_MEMORY_FAULT;
    if (handled)
        OK(hsa_amd_register_system_event_handler(on_event, NULL));
    launch(&gpus[0], "standin_fault.kd", words, false, done);
    sleep(20);
}

/* The kernel needs 16 bytes of group memory. */
static void bad_packet(void)
{
    hsa_kernel_dispatch_packet_t packet = {.setup = 1,
                                           .workgroup_size_x = 64,
                                           .workgroup_size_y = 1,
                                           .workgroup_size_z = 1,
                                           .grid_size_x = 64,
                                           .grid_size_y = 1,
                                           .grid_size_z = 1,
                                           .private_segment_size = 8};

    OK(hsa_executable_symbol_get_info(symbol_of(&gpus[0], "standin_add.kd"),
                                      HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                      &packet.kernel_object));
    expected = HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    submit(&gpus[0], &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, false);
    sleep(20);
}

/* As where there is no driver: quiet, and again. */
static void none(void)
{
    const char *text;

    OK(hsa_status_string(HSA_STATUS_ERROR_OUT_OF_RESOURCES, &text));
    for (int i = 0; i < 2; i++) {
        CHECK(hsa_init() == HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        CHECK(hsa_iterate_agents(note_agent, NULL) == HSA_STATUS_ERROR_NOT_INITIALIZED);
        CHECK(hsa_shut_down() == HSA_STATUS_ERROR_NOT_INITIALIZED);
    }
    puts("right");
    exit(0);
}

int main(int words, char **word)
{
    const char *what = words > 1 ? word[1] : "data";

    if (strcmp(what, "none") == 0)
        none();
    if (strcmp(what, "crowded") == 0)
        crowd();
    start();
    CHECK((count == 0) == (strcmp(what, "empty") == 0));
    if (strcmp(what, "touch") == 0)
        *(volatile char *)allocate(gpus[0].memory, 4096) = 1;
    else if (strcmp(what, "stray") == 0)
        stray();
    else if (strcmp(what, "packet") == 0)
        bad_packet();
    else if (strcmp(what, "fault") == 0 || strcmp(what, "abort") == 0)
        fault(what[0] == 'f');
    if (strcmp(what, "crowded") == 0)
        check_kept();
    for (int i = 0; i < count && strcmp(what, "handler") == 0; i++)
        handler_waits(&gpus[i]);
    if (strcmp(what, "owners") == 0 || strcmp(what, "crowded") == 0)
        owners();
    for (int i = 0; i < count; i++) {
        for (int round = 0; round < 20; round++)
            chain(&gpus[i]);
        fill_and_variable(&gpus[i]);
    }
    if (count > 0)
        between();
    handlers();
    times_out();
    end();
    puts("right");
    return 0;
}

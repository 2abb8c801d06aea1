/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_work.c: a program of the HSA interface with GPUs that do everything late: one thing after
 * another, as plugins of LLVM, gcc and HIP use it; how many round trips a region needs.
 * Covers: hsa/argument.c hsa/code.c code_loaded.c copy_rect.c hsa/executable.c hsa/kernel.c
 * hsa/lock.c hsa/memory.c hsa/symbol.c signal_create.c signal_wait.c sleeper.c
 * signal_times.c
 */
#include "tests/unit/test.h"
#include "program.h"

enum { WORDS = 1000, BYTES = 8 * WORDS, LARGE = 3 << 20 };

static uint64_t out[WORDS], back[WORDS];
static char large[LARGE], large_back[LARGE];

TEST_GROUP(program_start, program_end)

/* As LLVM 16 and later: two copies in, of which nobody waits for the end, a kernel, a copy back, a
 * handler behind it, and a wait for what that stores. */
static bool after_region(hsa_signal_value_t value, void *data)
{
    assert_int_equal(value, 0);
    hsa_signal_store_screlease(*(hsa_signal_t *)data, 0);
    return false;
}

static void region(uint64_t *words, void *a, void *b, uint64_t step)
{
    hsa_signal_t in = program_signal(1), also = program_signal(1), done = program_signal(1),
                 fetched = program_signal(1), all = program_signal(1);

    for (int i = 0; i < WORDS; i++)
        out[i] = step + (uint64_t)i;
    program_copy(0, a, out, BYTES, NULL, 0, in);
    program_copy(0, b, large, 20000, &in, 1, also);
    assert_int_equal(hsa_signal_load_relaxed(in), 0);
    assert_int_equal(hsa_signal_load_relaxed(also), 0);
    memset(out, 0, sizeof(out)); /* the sources may be overwritten */
    words[0] = (uintptr_t)a, words[1] = WORDS, words[2] = 5;
    program_launch(0, "add.kd", words, done);
    program_copy(0, back, a, BYTES, &done, 1, fetched);
    OK(hsa_amd_signal_async_handler(fetched, HSA_SIGNAL_CONDITION_EQ, 0, after_region, &all));
    program_wait(all);
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(back[i], step + (uint64_t)i + 5);
    hsa_signal_t ended[] = {in, also, done, fetched, all};
    for (int i = 0; i < 5; i++)
        OK(hsa_signal_destroy(ended[i]));
}

/* As LLVM 14 and 15: each thing is waited for before the next one. */
static void waiting_region(uint64_t *words, void *a, uint64_t step)
{
    hsa_signal_t in = program_signal(1), done = program_signal(1), fetched = program_signal(1);

    for (int i = 0; i < WORDS; i++)
        out[i] = step + (uint64_t)i;
    program_copy(0, a, out, BYTES, NULL, 0, in);
    program_wait(in);
    memset(out, 0, sizeof(out));
    words[0] = (uintptr_t)a, words[1] = WORDS, words[2] = 5;
    program_launch(0, "add.kd", words, done);
    program_wait(done);
    program_copy(0, back, a, BYTES, NULL, 0, fetched);
    program_wait(fetched);
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(back[i], step + (uint64_t)i + 5);
    OK(hsa_signal_destroy(in));
    OK(hsa_signal_destroy(done));
    OK(hsa_signal_destroy(fetched));
}

/* Not one for the copy to the GPU. */
TEST(a_warm_region_that_waits_is_two_round_trips)
{
    uint64_t *words = program_allocate(program.arguments, 4096);
    void *a = program_allocate(program.memory[0], BYTES);

    waiting_region(words, a, 0);
    for (uint64_t step = 1; step < 20; step++) {
        int before = late.round_trips;
        waiting_region(words, a, step);
        assert_int_equal(late.round_trips - before, 2);
    }
    OK(hsa_amd_memory_pool_free(words));
    OK(hsa_amd_memory_pool_free(a));
}

TEST(a_warm_region_is_one_round_trip)
{
    uint64_t *words = program_allocate(program.arguments, 4096);
    void *a = program_allocate(program.memory[0], BYTES),
         *b = program_allocate(program.memory[0], LARGE);

    region(words, a, b, 0);
    for (uint64_t step = 1; step < 20; step++) {
        int before = late.round_trips;
        region(words, a, b, step);
        assert_int_equal(late.round_trips - before, 1);
    }
    assert_int_equal(late.geometry.teams[0], 4);
    assert_int_equal(late.geometry.threads[0], 64);
    assert_int_equal(late.geometry.shared_bytes, 16);
    assert_int_equal(late.geometry.private_bytes, 32);
    OK(hsa_amd_memory_pool_free(words));
    OK(hsa_amd_memory_pool_free(a));
    OK(hsa_amd_memory_pool_free(b));
}

static bool has_time(hsa_signal_t signal)
{
    hsa_amd_profiling_dispatch_time_t time = {0, 0};
    hsa_status_t status = hsa_amd_profiling_get_dispatch_time(program.gpu[0], signal, &time);

    assert_true(status == HSA_STATUS_ERROR || (time.start > 0 && time.end >= time.start));
    return status == HSA_STATUS_SUCCESS;
}

TEST(times_are_kept_when_they_are_asked_for)
{
    uint64_t *words = program_allocate(program.arguments, 4096);
    void *a = program_allocate(program.memory[0], BYTES);
    hsa_signal_t done = program_signal(1);

    words[0] = (uintptr_t)a, words[1] = 1, words[2] = 1;
    program_launch(0, "add.kd", words, done);
    program_wait(done);
    assert_false(has_time(done));
    OK(hsa_amd_profiling_set_profiler_enabled(program.queue[0], 0));
    OK(hsa_amd_profiling_async_copy_enable(false));
    for (int step = 0; step < 3; step++) {
        hsa_signal_store_relaxed(done, 1);
        program_launch(0, "add.kd", words, done);
        program_wait(done);
        assert_int_equal(has_time(done), step > 0);
        OK(hsa_amd_profiling_set_profiler_enabled(program.queue[0], 1));
    }
    OK(hsa_signal_destroy(done));
    OK(hsa_amd_memory_pool_free(words));
    OK(hsa_amd_memory_pool_free(a));
}

TEST(copies_of_all_kinds)
{
    char *a = program_allocate(program.memory[0], LARGE),
         *b = program_allocate(program.memory[1], LARGE);
    hsa_signal_t done = program_signal(1), next = program_signal(1);

    for (int i = 0; i < LARGE; i++)
        large[i] = (char)(i * 7);
    OK(hsa_memory_copy(a, large, LARGE));
    program_copy(1, b, a, LARGE, NULL, 0, done);
    program_copy(1, large_back, b, LARGE, &done, 1, next);
    program_wait(next);
    assert_memory_equal(large, large_back, LARGE);
    OK(hsa_amd_memory_fill(b + 4, 0x01020304, 3));
    OK(hsa_memory_copy(large_back, b, 20));
    assert_memory_equal(large_back, large, 4);
    assert_memory_equal(large_back + 4, "\4\3\2\1\4\3\2\1\4\3\2\1", 12);
    assert_memory_equal(large_back + 16, large + 16, 4);
    OK(hsa_memory_copy(large_back, large, LARGE)); /* within the host */
    assert_memory_equal(large, large_back, LARGE);
    /* beyond a block, and of memory that is freed */
    assert_int_equal(hsa_memory_copy(a + LARGE - 1, large, 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(late.line, "runs past its block"));
    OK(hsa_amd_memory_pool_free(b));
    assert_int_equal(hsa_memory_copy(b, large, 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(late.line, "not allocated"));
    OK(hsa_amd_memory_pool_free(a));
    OK(hsa_signal_destroy(done));
    OK(hsa_signal_destroy(next));
}

TEST(rows_are_copied)
{
    enum { PITCH = 100, SLICE = 1000 };
    char *a = program_allocate(program.memory[0], 3 * SLICE);
    hsa_pitched_ptr_t there = {a, PITCH, SLICE}, here = {large, PITCH, SLICE},
                      again = {large_back, PITCH, SLICE};
    hsa_dim3_t offset = {3, 2, 1}, range = {10, 4, 2}, none = {0, 0, 0};
    hsa_signal_t in = program_signal(1), done = program_signal(1);

    memset(large_back, 0, 3 * SLICE);
    OK(hsa_amd_memory_async_copy_rect(&there, &none, &here, &offset, &range, program.gpu[0],
                                      hsaHostToDevice, 0, NULL, in));
    OK(hsa_amd_memory_async_copy_rect(&again, &offset, &there, &none, &range, program.gpu[0],
                                      hsaDeviceToHost, 1, &in, done));
    program_wait(done);
    for (int i = 0; i < 3 * SLICE; i++) {
        int x = i % PITCH, y = i % SLICE / PITCH, z = i / SLICE;
        bool inside = x >= 3 && x < 13 && y >= 2 && y < 6 && z >= 1;
        assert_int_equal(large_back[i], inside ? large[i] : 0);
    }
    OK(hsa_amd_memory_pool_free(a));
    OK(hsa_signal_destroy(in));
    OK(hsa_signal_destroy(done));
}

/* gcc's: a head of arguments, whose second word points to the output behind it. */
TEST(what_arguments_point_to_is_shipped_and_comes_back)
{
    uint64_t *block = program_allocate(program.arguments, 270408);
    uint32_t *output = (uint32_t *)(void *)(block + 2);
    uint64_t *pinned = calloc(WORDS, 8), *words = program_allocate(program.arguments, 4096);
    hsa_signal_t done = program_signal(1);
    void *same = NULL;
    int blocks = late.blocks;

    block[0] = 11, block[1] = (uintptr_t)output, *output = 4;
    program_launch(0, "gcc.kd", block, done);
    output[2] = 77; /* the program's, meanwhile */
    program_wait(done);
    assert_int_equal(*output, 15);
    assert_int_equal(output[2], 77);
    assert_int_equal(block[1], (uintptr_t)output);

    OK(hsa_amd_memory_lock(pinned, WORDS * 8, NULL, 0, &same));
    assert_ptr_equal(same, pinned);
    words[0] = (uintptr_t)(pinned + 10), words[1] = 20, words[2] = 3;
    hsa_signal_store_relaxed(done, 1);
    program_launch(1, "add.kd", words, done);
    program_wait(done);
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(pinned[i], i >= 10 && i < 30 ? 3 : 0);
    OK(hsa_amd_memory_unlock(pinned));
    assert_int_equal(late.blocks, blocks);
    free(pinned);
    OK(hsa_amd_memory_pool_free(block));
    OK(hsa_amd_memory_pool_free(words));
    OK(hsa_signal_destroy(done));
}

TEST(an_address_tells_what_it_is)
{
    char *a = program_allocate(program.memory[1], 100);
    struct {
        hsa_amd_pointer_info_t info;
        char behind[8];
    } told;

    for (uint32_t size = 32; size <= 56; size += 8) {
        memset(&told, 0x55, sizeof(told));
        told.info.size = size;
        OK(hsa_amd_pointer_info(a + 10, &told.info, NULL, NULL, NULL));
        assert_int_equal(told.info.type, HSA_EXT_POINTER_TYPE_HSA);
        assert_ptr_equal(told.info.agentBaseAddress, a);
        assert_int_equal(told.info.sizeInBytes, 4096);
        for (size_t i = size; i < sizeof(told); i++)
            assert_int_equal(((char *)&told)[i], 0x55);
    }
    assert_int_equal(told.info.agentOwner.handle, program.gpu[1].handle);
    OK(hsa_amd_pointer_info(&told, &told.info, NULL, NULL, NULL));
    assert_int_equal(told.info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
    OK(hsa_amd_memory_pool_free(a));
    assert_int_equal(hsa_amd_memory_pool_free(a), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static hsa_status_t count_symbol(hsa_executable_t executable, hsa_executable_symbol_t symbol,
                                 void *data)
{
    uint32_t length;
    char name[64] = "";

    assert_int_equal(executable.handle, program.executable[0].handle);
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name));
    assert_int_equal(strlen(name), length);
    ++*(int *)data;
    return HSA_STATUS_SUCCESS;
}

TEST(code_and_its_symbols)
{
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    hsa_code_object_t object;
    char code[4] = "????";
    uint64_t address, value = 9, got = 0;
    uint32_t bytes;
    int count = 0;

    OK(hsa_executable_iterate_symbols(program.executable[0], count_symbol, &count));
    assert_int_equal(count, 5);
    OK(hsa_executable_get_symbol(program.executable[1], NULL, "counter", program.gpu[1], 0,
                                 &symbol));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS,
                                      &address));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &bytes));
    assert_int_equal(bytes, 8);
    OK(hsa_memory_copy((void *)(uintptr_t)address, &value, 8));
    OK(hsa_memory_copy(&got, (void *)(uintptr_t)address, 8));
    assert_int_equal(got, 9);
    /* a copy of the image, which the plugin writes to before it is loaded */
    OK(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, "", &executable));
    OK(hsa_code_object_deserialize(code, 4, NULL, &object));
    assert_int_equal(hsa_executable_load_code_object(executable, program.gpu[0], object, ""),
                     HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    memcpy((void *)(uintptr_t)object.handle, "code", 4);
    late.rpc = true;
    assert_int_equal(hsa_executable_load_code_object(executable, program.gpu[0], object, ""),
                     HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    assert_non_null(strstr(late.line, "__llvm_rpc_client"));
    late.rpc = false;
    OK(hsa_code_object_destroy(object));
    OK(hsa_executable_destroy(executable));
    late.unloaded = 0;
}

static uint64_t address_of(hsa_executable_t executable, int gpu, const char *name)
{
    hsa_executable_symbol_t symbol;
    uint64_t address = 0;

    OK(hsa_executable_get_symbol_by_name(executable, name, &program.gpu[gpu], &symbol));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS,
                                      &address));
    return address;
}

static hsa_status_t load_on(int gpu, hsa_executable_t *executable)
{
    hsa_code_object_reader_t reader;
    hsa_status_t status;

    OK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                 executable));
    OK(hsa_code_object_reader_create_from_memory("code", 4, &reader));
    status =
        hsa_executable_load_agent_code_object(*executable, program.gpu[gpu], reader, NULL, NULL);
    OK(hsa_code_object_reader_destroy(reader));
    return status;
}

/* Two workers may load code at the same address: another place is found. */
TEST(variables_of_two_gpus_are_apart)
{
    uint64_t first = address_of(program.executable[0], 0, "counter");
    hsa_executable_t executable;

    late.unloaded = 0;
    late.clashes = 2;
    OK(load_on(1, &executable));
    assert_int_equal(late.clashes, 0);
    assert_int_equal(late.unloaded, 2);
    assert_true(address_of(executable, 1, "counter") != first);
    OK(hsa_executable_destroy(executable));
    assert_int_equal(late.unloaded, 3);
    late.clashes = 100;
    assert_int_equal(load_on(1, &executable), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_non_null(strstr(late.line, "variable counter of code for GPU 1 is at an address"));
    OK(hsa_executable_destroy(executable));
    late.clashes = late.unloaded = 0;
}

TEST(a_wait_ends_when_its_time_is_over)
{
    hsa_signal_t signal = program_signal(3), other = program_signal(4);
    hsa_signal_t both[] = {signal, other};
    hsa_signal_condition_t conditions[] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_GTE};
    hsa_signal_value_t values[] = {0, 4}, value;

    assert_int_equal(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, 4000000,
                                               HSA_WAIT_STATE_ACTIVE),
                     3);
    assert_int_equal(hsa_amd_signal_wait_any(2, both, conditions, values, UINT64_MAX,
                                             HSA_WAIT_STATE_BLOCKED, &value),
                     1);
    assert_int_equal(value, 4);
    hsa_signal_subtract_relaxed(other, 1);
    assert_int_equal(hsa_amd_signal_wait_any(2, both, conditions, values, 1000000,
                                             HSA_WAIT_STATE_BLOCKED, &value),
                     UINT32_MAX);
    OK(hsa_signal_destroy(signal));
    OK(hsa_signal_destroy(other));
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_hsa.c: AMD GPUs of a worker, with the stand-in for the HSA runtime (tests/hsa): data,
 * images, modules, questions, faults, and each call of the runtime failing. That the real runtime
 * and real GPUs do the same is not shown here.
 *
 * Covers: worker/hsa/hsa.c worker/hsa/runtime.c worker/hsa/module.c worker/hsa/question.c
 * worker/hsa/facts.c worker/hsa/range.c worker/hsa/isa.c
 */
#include "tests/unit/test.h"
#include "base/hsa_questions.h"
#include "tests/unit/worker/hsa/hsa_fixture.h"

/* ---- data ---- */

TEST(data_and_kernels_are_right)
{
    static const uint64_t sizes[] = {1, 8, 500, 4096, 20000, 100000, 5 << 20, BIG};
    omprma_device_info_t info;

    start_all();
    for (int device = GPU; device <= GPU_TOO; device++) {
        omprma_addr_t add = look_up(device, "standin_add");

        assert_ok(omprma_device_info(device, &info));
        assert_string_equal(info.backend, "hsa");
        assert_string_equal(info.model, device == GPU ? "Stand-in 0" : "Stand-in 1");
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            there_and_back(device, sizes[i], i % 2 ? add : 0);
    }
    stop_all();
}

static void check_fill(omprma_queue_t *queue, omprma_addr_t there, size_t all, size_t width,
                       size_t count)
{
    static const unsigned char pattern[8] = {1, 22, 3, 44, 5, 66, 7, 88};
    unsigned char *back = malloc(all);

    assert_non_null(back);
    assert_ok(omprma_fill(queue, there, "\x77", 1, all));
    assert_ok(omprma_fill(queue, there + 8, pattern, width, count));
    assert_ok(omprma_retrieve(queue, back, there, all));
    assert_ok(omprma_queue_synchronize(queue));
    for (size_t i = 0; i < all; i++)
        if (back[i] != (i >= 8 && i < 8 + count * width ? pattern[(i - 8) % width] : 0x77))
            fail_msg("width %zu, count %zu: byte %zu", width, count, i);
    free(back);
}

/* Also where the beginning is copied behind itself, a last time in part. */
TEST(fills_are_right)
{
    omprma_queue_t *queue;
    omprma_addr_t there;

    start_all();
    queue = core_queue(GPU);
    there = core_alloc(GPU, 2 << 20);
    for (size_t width = 1; width <= 8; width *= 2) {
        check_fill(queue, there, 4096, width, 100);
        check_fill(queue, there, 200000, width, (64 << 10) / width);
        check_fill(queue, there, 2 << 20, width, ((64 << 10) + 8) / width);
        check_fill(queue, there, 2 << 20, width, 1000008 / width);
    }
    assert_ok(omprma_queue_destroy(queue));
    stop_all();
}

TEST(devices_exchange)
{
    start_all();
    for (int from = GPU; from <= NATIVE; from++)
        for (int to = GPU; to <= NATIVE; to++)
            exchange(from, to, 70000, 0);
    exchange(GPU, GPU_TOO, 5 << 20, 0);
    exchange(GPU, NATIVE, 5 << 20, 0);
    exchange(GPU, GPU, 70000, 100); /* they overlap */
    stop_all();
}

static omprma_addr_t variable_on(int device)
{
    omprma_symbol_t symbol = {.name = "standin_number", .bytes = 8};
    size_t bytes;
    const void *image = gpu_image(&bytes);

    assert_ok(omprma_image_load(device, image, bytes, &symbol, 1));
    return symbol.address;
}

/* Other GPUs do not reach a variable of an image: it goes by way of the host. */
TEST(variables_are_exchanged)
{
    omprma_queue_t *queue;
    omprma_addr_t from, to;
    uint64_t number = 0;

    start_all();
    queue = core_queue(GPU);
    from = variable_on(GPU);
    to = core_alloc(GPU_TOO, 8);
    assert_ok(omprma_exchange(queue, from, GPU_TOO, to, 8));
    assert_ok(omprma_queue_destroy(queue));
    queue = core_queue(GPU_TOO);
    assert_ok(omprma_retrieve(queue, &number, to, 8));
    assert_ok(omprma_queue_destroy(queue));
    assert_int_equal(number, 7);
    stop_all();
}

/* A kernel that lasts, and what other queues of the GPU do meanwhile. */
TEST(queues_work_side_by_side)
{
    struct gate gate;
    omprma_queue_t *queue;
    omprma_addr_t add;
    bool done;

    start_all();
    add = look_up(GPU_TOO, "standin_add");
    queue = core_queue(GPU);
    gpu_keep_busy(queue, look_up(GPU, "standin_gate"), &gate);
    assert_ok(omprma_queue_flush(queue));
    there_and_back(GPU, 1000, 0);
    there_and_back(GPU_TOO, 50000, add);
    there_and_back(NATIVE, 50000, 0);
    assert_ok(omprma_queue_query(queue, &done));
    assert_false(done);
    core_open(&gate);
    assert_ok(omprma_queue_destroy(queue));
    stop_all();
}

/* ---- launches ---- */

static void launch_refused(omprma_queue_t *queue, omprma_addr_t kernel,
                           const omprma_geometry_t *geometry, uint64_t word)
{
    assert_ok(omprma_launch(queue, kernel, geometry, &word, 1));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_error_code(), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST(launches_have_geometry_and_memory)
{
    const omprma_geometry_t geometry = {
        .teams = {4, 3, 2}, .threads = {128, 2, 1}, .shared_bytes = 4096, .private_bytes = 64};
    const omprma_geometry_t wide = {.threads = {1025}},
                            long_ = {.teams = {1u << 31}, .threads = {2}};
    const omprma_geometry_t much = {.shared_bytes = 1 << 20};
    uint32_t seen[8];
    omprma_queue_t *queue;
    omprma_addr_t there, kernel, add;

    start_all();
    queue = core_queue(GPU);
    there = core_alloc(GPU, sizeof(seen));
    kernel = look_up(GPU, "standin_geometry");
    assert_ok(omprma_launch(queue, kernel, &geometry, &there, 1));
    assert_ok(omprma_retrieve(queue, seen, there, sizeof(seen)));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(seen, ((uint32_t[]){512, 6, 2, 128, 2, 1, 4096, 64}), sizeof(seen));
    assert_ok(omprma_launch_packed(queue, kernel, NULL, &there, sizeof(there)));
    assert_ok(omprma_retrieve(queue, seen, there, sizeof(seen)));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(seen, ((uint32_t[]){1, 1, 1, 1, 1, 1, 0, 0}), sizeof(seen));

    /* What the kernel has of its own is not forgotten: else the stand-in's GPU is lost. */
    add = look_up(GPU, "standin_add");
    assert_ok(launch(queue, add, there, sizeof(seen), 1));
    assert_ok(omprma_queue_synchronize(queue));

    launch_refused(queue, kernel, &wide, there);
    assert_non_null(strstr(omprma_error(), "1025 x 1 x 1 threads: HSA_STATUS_ERROR_INVALID_ARG"));
    launch_refused(queue, kernel, &long_, there);
    launch_refused(queue, kernel, &much, there);
    assert_ok(omprma_launch_context(queue, kernel, NULL, &there, 1));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_UNSUPPORTED);
    assert_ok(omprma_launch(queue, kernel + 1, NULL, &there, 1));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    assert_ok(omprma_queue_destroy(queue));
    stop_all();
}

/* ---- images and modules ---- */

static void refused(const void *image, size_t bytes, const char *words)
{
    uint64_t module;

    assert_int_equal(omprma_image_load(GPU, image, bytes, NULL, 0), OMPRMA_ERR_IMAGE);
    assert_non_null(strstr(omprma_error(), words));
    assert_int_equal(omprma_module_load(GPU, image, bytes, &module), OMPRMA_ERR_IMAGE);
}

static void refused_symbol(const char *name, size_t bytes, const char *words)
{
    omprma_symbol_t symbol = {.name = name, .bytes = bytes};
    size_t image_bytes;
    const void *image = gpu_image(&image_bytes);

    assert_int_equal(omprma_image_load(GPU, image, image_bytes, &symbol, 1), OMPRMA_ERR_SYMBOL);
    assert_non_null(strstr(omprma_error(), words));
}

TEST(images_that_are_none)
{
    const struct code_object_part part = {.name = "standin_nap", .words = 1};
    size_t bytes, other_bytes;
    const void *image = gpu_image(&bytes);
    void *other = code_object_make(&part, 1, CODE_OBJECT_GFX1100, &other_bytes);
    Elf64_Ehdr header;

    start_all();
    refused("nonsense", 8, "that is cut off");
    for (size_t cut = 1; cut < bytes; cut += 1 + bytes / 37)
        refused(image, cut, "that is cut off");
    refused(
        other, other_bytes,
        "on Stand-in 0, because it is made for gfx1100, and this GPU is gfx90a:sramecc+:xnack-");
    memcpy(&header, other, sizeof(header));
    header.e_machine = 190;
    memcpy(other, &header, sizeof(header));
    refused(other, other_bytes, "for another kind of machine");
    memset(other, 'x', 4);
    refused(other, other_bytes, "that is no ELF file");
    refused_symbol("nobody", 0, "the image has no kernel nobody");
    refused_symbol("standin_number", 0, "the image has no kernel standin_number");
    refused_symbol("standin_number", 4, "has 8 bytes there, 4 in the program");
    free(other);
    stop_all();
}

/* Reads *at, writes `then`. */
static uint64_t change(omprma_addr_t at, uint64_t then)
{
    omprma_queue_t *queue = core_queue(GPU);
    uint64_t was = 0;

    assert_ok(omprma_retrieve(queue, &was, at, 8));
    assert_ok(omprma_submit(queue, at, &then, 8));
    assert_ok(omprma_queue_destroy(queue));
    return was;
}

/* All symbols of a module, `*count` of them. */
static const struct hsa_symbols *symbols_of(uint64_t module, uint32_t first)
{
    static uint64_t room[OMPRMA_QUESTION / 8];
    const struct hsa_symbols_question question = {.module = module, .first = first};

    assert_ok(omprma_device_ask(GPU, HSA_ASK_SYMBOLS, &question, sizeof(question), room,
                                sizeof(room), NULL));
    return (const void *)room;
}

static struct hsa_symbol symbol_of(uint64_t module, const char *name)
{
    const struct hsa_symbols *symbols = symbols_of(module, 0);
    const char *at = (const char *)symbols->symbols;
    struct hsa_symbol symbol = {0};

    for (uint32_t i = 0; i < symbols->count; i++) {
        memcpy(&symbol, at, sizeof(symbol));
        if (symbol.name_bytes == strlen(name) &&
            memcmp(at + sizeof(symbol), name, strlen(name)) == 0)
            return symbol;
        at += (sizeof(symbol) + symbol.name_bytes + 7) & ~(size_t)7;
    }
    fail_msg("no symbol %s", name);
    return symbol;
}

/* The same bytes: an image is loaded once, each module has variables of its own. */
TEST(modules_are_their_own)
{
    omprma_addr_t image, first, second;
    uint64_t modules[2];
    struct hsa_symbol add;
    omprma_queue_t *queue;
    size_t bytes;
    const void *object = gpu_image(&bytes);

    start_all();
    image = variable_on(GPU);
    assert_true(image == variable_on(GPU));
    for (int i = 0; i < 2; i++)
        assert_ok(omprma_module_load(GPU, object, bytes, &modules[i]));
    first = symbol_of(modules[0], "standin_number").address;
    second = symbol_of(modules[1], "standin_number").address;
    assert_true(first != second && first != image && second != image);
    assert_int_equal(change(first, 8), 7);
    assert_int_equal(change(second, 9), 7);
    assert_int_equal(change(image, 10), 7);
    assert_int_equal(change(first, 8), 8);
    add = symbol_of(modules[0], "standin_add.kd");
    assert_int_equal(add.kind, 1);
    assert_int_equal(add.argument_bytes, 24);
    assert_int_equal(add.group_bytes, 16);
    assert_int_equal(add.private_bytes, 8);
    there_and_back(GPU, 5000, add.address);
    assert_int_equal(symbols_of(modules[0], 0)->total, 9);
    assert_int_equal(symbols_of(modules[0], 3)->count, 6);
    assert_int_equal(symbols_of(modules[0], 100)->count, 0);

    assert_ok(omprma_device_ask(GPU, HSA_ASK_UNLOAD, &modules[0], 8, NULL, 0, NULL));
    assert_int_equal(omprma_device_ask(GPU, HSA_ASK_UNLOAD, &modules[0], 8, NULL, 0, NULL),
                     OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_error_code(), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    queue = core_queue(GPU);
    assert_ok(omprma_submit(queue, first, object, 8));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(omprma_error(), "submit of 8 bytes at device address"));
    assert_ok(omprma_launch(queue, add.address, NULL, modules, 2));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    assert_ok(omprma_queue_destroy(queue));
    assert_int_equal(change(second, 0), 9);
    stop_all();
}

/* gcc's table of variables: it reaches to the end of its section, of which here it has 64 bytes. */
TEST(variables_without_a_size_can_be_read)
{
    const struct code_object_part parts[] = {{.name = "standin_nap", .words = 1},
                                             {.name = "table", .variable_bytes = 8}};
    const struct code_object_place place = code_object_plan(parts, 2);
    size_t bytes;
    char *object = code_object_make(parts, 2, CODE_OBJECT_GFX90A, &bytes);
    char *size = object + place.symbols + 2 * sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_size);
    struct hsa_symbol table;
    uint64_t module;

    memset(size, 0, sizeof(Elf64_Xword));
    start_all();
    assert_ok(omprma_module_load(GPU, object, bytes, &module));
    table = symbol_of(module, "table");
    assert_int_equal(table.bytes, 64);
    assert_int_equal(change(table.address + 56, 5), 0);
    assert_int_equal(change(table.address + 56, 5), 5);
    free(object);
    stop_all();
}

/* ---- questions ---- */

/* Copies the value of a fact of GPU_TOO; how many bytes it has, 0: there is none. */
static size_t fact(enum hsa_subject subject, unsigned index, uint32_t attribute, void *value,
                   size_t room)
{
    static uint64_t answer[OMPRMA_QUESTION / 8];
    const struct hsa_facts *facts = (const void *)answer;
    uint32_t first = 0;

    do {
        const char *at = (const char *)facts->facts;

        assert_ok(omprma_device_ask(GPU_TOO, HSA_ASK_FACTS, &first, sizeof(first), answer,
                                    sizeof(answer), NULL));
        assert_int_equal(facts->first, first);
        for (uint32_t i = 0; i < facts->count; i++) {
            struct hsa_fact one;

            memcpy(&one, at, sizeof(one));
            if (one.subject == subject && one.index == index && one.attribute == attribute) {
                assert_true(one.bytes <= room);
                memcpy(value, at + sizeof(one), one.bytes);
                return one.bytes;
            }
            at += sizeof(one) + ((one.bytes + 7) & ~UINT32_C(7));
        }
        first += facts->count;
    } while (facts->count && first < facts->total);
    return 0;
}

TEST(the_gpu_describes_itself)
{
    char name[256] = "";
    uint32_t number = 0;
    uint64_t bytes = 0;

    start_all();
    assert_int_equal(fact(HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_PRODUCT_NAME, name, sizeof(name)),
                     64);
    assert_string_equal(name, "Stand-in 1");
    assert_int_equal(fact(HSA_OF_AGENT, 0, HSA_AGENT_INFO_WAVEFRONT_SIZE, &number, 4), 4);
    assert_int_equal(number, 64);
    memset(name, 0, sizeof(name));
    fact(HSA_OF_ISA, 0, HSA_ISA_INFO_NAME, name, sizeof(name));
    assert_string_equal(name, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
    assert_int_equal(fact(HSA_OF_POOL, 0, HSA_AMD_MEMORY_POOL_INFO_SIZE, &bytes, 8), 8);
    assert_int_equal(fact(HSA_OF_SYSTEM, 0, HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &bytes, 8), 8);
    memset(name, 0, sizeof(name));
    assert_int_equal(fact(HSA_OF_SYSTEM, 0, HSA_AMD_SYSTEM_INFO_BUILD_VERSION, name, sizeof(name)),
                     strlen("stand-in"));
    assert_string_equal(name, "stand-in");
    assert_int_equal(fact(HSA_OF_AGENT, 0, 0xdead, name, sizeof(name)), 0);
    assert_ok(omprma_device_ask(GPU, HSA_ASK_FREE, NULL, 0, &bytes, sizeof(bytes), NULL));
    assert_true(bytes > 0 && bytes <= (UINT64_C(4096) << 20) - (8 << 20));
    assert_int_equal(omprma_device_ask(GPU, HSA_ASK_FACTS, NULL, 0, NULL, 0, NULL),
                     OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_device_ask(GPU, 1000, NULL, 0, NULL, 0, NULL), OMPRMA_ERR_UNSUPPORTED);
    stop_all();
}

/* Older runtimes, or others, do not know all of it. */
TEST(facts_that_are_refused_are_left_out)
{
    char uuid[32];
    uint64_t bytes = 0;

    setenv("STANDIN_REFUSE", "agent:a011,agent:a015,agent:a009", 1);
    start_all();
    assert_int_equal(fact(HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_UUID, uuid, sizeof(uuid)), 0);
    assert_ok(omprma_device_ask(GPU, HSA_ASK_FREE, NULL, 0, &bytes, sizeof(bytes), NULL));
    assert_int_equal(bytes, (UINT64_C(4096) << 20) - (8 << 20));
    stop_all();
    unsetenv("STANDIN_REFUSE");
}

/* ---- errors ---- */

TEST(memory_ends)
{
    omprma_addr_t address;

    setenv("STANDIN_MEMORY", "64", 1);
    start_all();
    assert_int_equal(omprma_alloc(GPU, 80 << 20, &address), OMPRMA_ERR_DEVICE_MEMORY);
    assert_int_equal(omprma_error_code(), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_non_null(strstr(omprma_error(), "80 MiB more would pass the 57 MiB of Stand-in 0"));
    there_and_back(GPU, 30 << 20, 0);
    there_and_back(GPU_TOO, 1 << 20, 0);
    stop_all();
    unsetenv("STANDIN_MEMORY");
}

TEST(runtimes_that_cannot_be_used)
{
    int count;

    setenv("STANDIN_DEVICES", "0", 1);
    assert_int_equal(hsa_kind.open(&count), OMPRMA_ERR_UNSUPPORTED);
    assert_int_equal(error_code(), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_non_null(strstr(error_text(), "no GPU can be used: HSA_STATUS_ERROR_OUT_OF_RESOURCES"));
    assert_int_equal(count, 0);
    setenv("STANDIN_DEVICES", "2", 1);
    setenv("STANDIN_FAIL", "hsa_amd_register_system_event_handler:1", 1);
    assert_int_equal(hsa_kind.open(&count), OMPRMA_ERR_UNSUPPORTED);
    assert_non_null(strstr(error_text(), "the HSA runtime does not tell of faults"));
    unsetenv("STANDIN_FAIL");
}

/* ---- each call fails once ---- */

TEST(opening_fails_at_each_call)
{
    bool well = false;

    for (int n = 1; n < 60; n++) {
        int before;

        open_driver();
        before = count_left(); /* of earlier rounds */
        fail_call(n, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        well = gpu_open_and_close();
        /* What cannot be given back stays, that is all. */
        if (count_left() > before + 1)
            fail_msg("call %d, %s: %d things are left", n, count_things().failed,
                     count_left() - before);
        fail_call(0, 0);
        close_driver();
    }
    assert_true(well);
}

/* One of each; what comes after an error is not of interest, but that it comes. */
static bool do_everything(void)
{
    const struct code_object_part parts[] = {{.name = "standin_add", .words = 3},
                                             {.name = "number", .variable_bytes = 8}};
    omprma_symbol_t symbol = {.name = "standin_add"};
    size_t bytes;
    void *image = code_object_make(parts, 2, CODE_OBJECT_GFX90A, &bytes);
    unsigned char data[20000] = {1}, back[20000] = {0};
    omprma_queue_t *queue;
    omprma_addr_t there = 0, other = 0;
    uint64_t module = 0, free_bytes;
    bool well = true;

    assert_ok(omprma_queue_create(GPU, &queue));
    well &= omprma_alloc(GPU, 20 << 20, &there) == OMPRMA_OK; /* another arena */
    well &= omprma_alloc(GPU_TOO, 20000, &other) == OMPRMA_OK;
    well &= omprma_image_load(GPU, image, bytes, &symbol, 1) == OMPRMA_OK;
    well &= omprma_module_load(GPU, image, bytes, &module) == OMPRMA_OK;
    if (there && other && symbol.address) {
        const uint64_t words[] = {there, sizeof(data), 1};

        well &= omprma_submit(queue, there, data, sizeof(data)) == OMPRMA_OK;
        well &= omprma_fill(queue, there + 8, data, 1, 64) == OMPRMA_OK;
        well &= omprma_launch(queue, symbol.address, NULL, words, 3) == OMPRMA_OK;
        well &= omprma_exchange(queue, there, GPU_TOO, other, sizeof(data)) == OMPRMA_OK;
        well &= omprma_exchange(queue, there, GPU, there + 64, sizeof(data)) == OMPRMA_OK;
        well &= omprma_retrieve(queue, back, there, 100) == OMPRMA_OK;
        well &= omprma_queue_synchronize(queue) == OMPRMA_OK;
        if (well)
            assert_int_equal(back[0], 2);
    }
    well &= omprma_device_ask(GPU, HSA_ASK_FREE, NULL, 0, &free_bytes, 8, NULL) == OMPRMA_OK;
    if (module)
        well &= omprma_device_ask(GPU, HSA_ASK_UNLOAD, &module, 8, NULL, 0, NULL) == OMPRMA_OK;
    omprma_queue_destroy(queue);
    omprma_free(GPU, there);
    omprma_free(GPU_TOO, other);
    free(image);
    return well;
}

TEST(everything_fails_at_each_call)
{
    static const int codes[] = {HSA_STATUS_ERROR, HSA_STATUS_ERROR_OUT_OF_RESOURCES,
                                HSA_STATUS_ERROR_INVALID_ARGUMENT};

    gpu_fail_at_each_call(124, codes, 3, do_everything);
}

/* The GPU is lost with the runtime's code for everything that follows; the others go on. */
static int lose_one(int code)
{
    const uint64_t word = (uint64_t)code;
    bool known = rocr_is_fatal(code);
    int wanted = known ? code : HSA_STATUS_ERROR_EXCEPTION;
    unsigned char data[64] = {0};
    omprma_addr_t fault, block, address = 0;
    omprma_queue_t *queue, *later;

    start_all();
    fault = look_up(GPU, "standin_fault");
    queue = core_queue(GPU);
    later = core_queue(GPU);
    block = core_alloc(GPU, sizeof(data));
    assert_ok(omprma_launch(queue, fault, NULL, &word, 1));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_KERNEL);
    assert_int_equal(omprma_error_code(), wanted);
    assert_non_null(strstr(omprma_error(), "device 0 (here)"));
    assert_non_null(strstr(omprma_error(), known ? "Stand-in 0: kernel standin_fault: HSA_STATUS_"
                                                 : "kernel standin_fault: its queue has stopped"));
    if (code == HSA_STATUS_ERROR_MEMORY_FAULT) {
        assert_non_null(strstr(omprma_error(), "at address 0x1000, where there is no memory"));
        assert_ok(omprma_fault_address(GPU, &address));
        assert_int_equal(address, 0x1000);
    }
    assert_ok(omprma_retrieve(later, data, block, sizeof(data)));
    assert_int_equal(omprma_queue_synchronize(later), OMPRMA_ERR_DEVICE_LOST);
    assert_int_equal(omprma_error_code(), wanted);
    assert_int_equal(omprma_device_ask(GPU, HSA_ASK_FREE, NULL, 0, NULL, 0, NULL),
                     OMPRMA_ERR_DEVICE_LOST);
    omprma_queue_destroy(queue);
    omprma_queue_destroy(later);
    there_and_back(NATIVE, 100000, 0);
    there_and_back(GPU_TOO, 100000, look_up(GPU_TOO, "standin_add"));
    exchange(GPU_TOO, NATIVE, 70000, 0);
    core_stop();
    return EXIT_SUCCESS;
}

TEST(a_fault_takes_one_gpu)
{
    static const int codes[] = {HSA_STATUS_ERROR_MEMORY_FAULT, HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION,
                                HSA_STATUS_ERROR_EXCEPTION, HSA_STATUS_ERROR_OUT_OF_RESOURCES};

    for (int i = 0; i < 4; i++)
        assert_int_equal(in_a_process(lose_one, codes[i], 30), 0);
}

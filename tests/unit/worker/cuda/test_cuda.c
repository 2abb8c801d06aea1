/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_cuda.c: CUDA devices of a worker, with the stand-in for the driver (tests/cuda): data,
 * order, images, modules, questions, faults, and each call of the driver failing. That the real
 * driver and real GPUs do the same is not shown here.
 * Covers: worker/cuda/cuda.c worker/cuda/driver.c worker/cuda/module.c cuda/question.c ask.c
 *   gpu/question.c
 */
#include <elf.h>
#include <stdio.h>

#include "tests/unit/test.h"
#include "base/cuda_questions.h"
#include "tests/unit/worker/cuda/cuda_fixture.h"

/* ---- data ---- */

TEST(data_and_kernels_are_right)
{
    static const uint64_t sizes[] = {1, 8, 500, 4096, 20000, 100000, 5 << 20, BIG};
    omprma_device_info_t info;

    start_all();
    for (int device = GPU; device <= GPU_TOO; device++) {
        omprma_addr_t add = look_up(device, "standin_add");

        assert_ok(omprma_device_info(device, &info));
        assert_string_equal(info.backend, "cuda");
        assert_string_equal(info.model, device == GPU ? "Stand-in 0" : "Stand-in 1");
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            there_and_back(device, sizes[i], i % 2 ? add : 0);
    }
    stop_all();
}

TEST(fills_are_right)
{
    static const unsigned char pattern[8] = {1, 22, 3, 44, 5, 66, 7, 88};
    unsigned char back[4096];
    omprma_queue_t *queue;
    omprma_addr_t there;

    start_all();
    queue = core_queue(GPU);
    there = core_alloc(GPU, sizeof(back));
    for (size_t bytes = 1; bytes <= 16; bytes *= 2) { /* 16: 8 with equal halves */
        const void *from = bytes == 16 ? (const void *)"abcdabcd" : pattern;
        size_t width = bytes == 16 ? 8 : bytes;

        assert_ok(omprma_fill(queue, there, "\x77", 1, sizeof(back)));
        assert_ok(omprma_fill(queue, there + 8, from, width, 100));
        assert_ok(omprma_retrieve(queue, back, there, sizeof(back)));
        assert_ok(omprma_queue_synchronize(queue));
        for (size_t i = 0; i < sizeof(back); i++)
            assert_int_equal(back[i], i >= 8 && i < 8 + 100 * width
                                          ? ((const unsigned char *)from)[(i - 8) % width]
                                          : 0x77);
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

TEST(launches_have_geometry_and_parameters)
{
    const omprma_geometry_t geometry = {
        .teams = {4, 3, 2}, .threads = {128, 2, 1}, .shared_bytes = 4096};
    const omprma_geometry_t large = {.threads = {1025}};
    struct __attribute__((packed, aligned(8))) {
        uint8_t a, gap;
        uint16_t b;
        uint32_t more_gap;
        uint64_t s[3];
        uint32_t c, last_gap;
        uint64_t at;
    } block = {.a = 200, .b = 60000, .s = {11, 22, 33}, .c = 4000000000};
    unsigned seen[7];
    uint64_t words[6];
    omprma_queue_t *queue;
    omprma_addr_t there, kernel, mixed;

    start_all();
    queue = core_queue(GPU);
    there = core_alloc(GPU, sizeof(words));
    kernel = look_up(GPU, "standin_geometry");
    mixed = look_up(GPU, "standin_mixed");
    assert_ok(omprma_launch(queue, kernel, &geometry, &there, 1));
    assert_ok(omprma_retrieve(queue, seen, there, sizeof(seen)));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(seen, ((unsigned[]){4, 3, 2, 128, 2, 1, 4096}), sizeof(seen));
    assert_ok(omprma_launch_packed(queue, kernel, NULL, &there, sizeof(there)));
    assert_ok(omprma_retrieve(queue, seen, there, sizeof(seen)));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(seen, ((unsigned[]){1, 1, 1, 1, 1, 1, 0}), sizeof(seen));

    block.at = there;
    assert_ok(omprma_launch_packed(queue, mixed, NULL, &block, sizeof(block)));
    assert_ok(omprma_retrieve(queue, words, there, sizeof(words)));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(words, ((uint64_t[]){200, 60000, 11, 22, 33, 4000000000}), sizeof(words));

    assert_ok(omprma_launch_packed(queue, mixed, NULL, &block, 8));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_error_code(), INVALID_VALUE);
    assert_ok(omprma_launch(queue, mixed, NULL, words, 6));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ARGUMENT);
    assert_non_null(strstr(omprma_error(), "more than 8 bytes"));
    assert_ok(omprma_launch(queue, kernel, NULL, NULL, 0));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ARGUMENT);
    assert_non_null(strstr(omprma_error(), "standin_geometry with 0 arguments; it has 1"));
    assert_ok(omprma_launch(queue, kernel, &large, &there, 1));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ARGUMENT);
    assert_non_null(strstr(omprma_error(), "1025 x 1 x 1 threads: CUDA_ERROR_INVALID_VALUE (1)"));
    assert_ok(omprma_launch_context(queue, kernel, NULL, &there, 1));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_UNSUPPORTED);
    assert_non_null(strstr(omprma_error(), "GPUs take each as a parameter"));
    assert_ok(omprma_launch(queue, kernel + 1, NULL, &there, 1));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    assert_ok(omprma_queue_destroy(queue));
    stop_all();
}

/* ---- images and modules ---- */

static void refused(const void *image, size_t bytes, int code)
{
    uint64_t module;

    assert_int_equal(omprma_image_load(GPU, image, bytes, NULL, 0), OMPRMA_ERR_IMAGE);
    assert_int_equal(omprma_error_code(), code);
    assert_int_equal(omprma_module_load(GPU, image, bytes, &module), OMPRMA_ERR_IMAGE);
    assert_int_equal(omprma_error_code(), code);
}

TEST(images_that_are_none)
{
    omprma_symbol_t symbol = {.name = "nobody"}, counter = {.name = "counter", .bytes = 4};
    Elf64_Ehdr elf = {.e_ident = ELFMAG, .e_machine = EM_X86_64};
    struct {
        uint32_t magic;
        uint16_t version, header;
        uint64_t bytes;
        char rest[48];
    } fat = {0xba55ed50, 1, 16, 1000, ""};

    start_all();
    refused("nonsense", 8, INVALID_PTX);
    assert_non_null(strstr(omprma_error(), "ptxas fatal: no .version and .target"));
    assert_null(strstr(omprma_error(), "stopped"));
    refused("\x01\x02\x03", 3, INVALID_IMAGE);
    refused("\177ELF", 4, INVALID_IMAGE);
    elf.e_ident[EI_CLASS] = ELFCLASS64;
    refused(&elf, sizeof(elf), INVALID_IMAGE);
    elf.e_machine = 190;
    elf.e_shentsize = sizeof(Elf64_Shdr);
    elf.e_shnum = 3;
    elf.e_shoff = 64;
    refused(&elf, sizeof(elf), INVALID_IMAGE);
    elf.e_shnum = 0;
    elf.e_flags = 100; /* of another architecture */
    refused(&elf, sizeof(elf), NO_BINARY);
    refused(&fat, sizeof(fat), INVALID_IMAGE);
    fat.bytes = 48;
    refused(&fat, sizeof(fat), NO_BINARY);
    assert_int_equal(omprma_image_load(GPU, kernels, sizeof(kernels), &symbol, 1),
                     OMPRMA_ERR_SYMBOL);
    assert_int_equal(omprma_error_code(), NOT_FOUND);
    assert_int_equal(omprma_image_load(GPU, kernels, sizeof(kernels), &counter, 1),
                     OMPRMA_ERR_SYMBOL);
    assert_non_null(strstr(omprma_error(), "has 8 bytes there, 4 in the program"));
    assert_int_equal(omprma_image_load(GPU, NULL, 5, NULL, 0), OMPRMA_ERR_ARGUMENT);
    stop_all();
}

static omprma_status_t ask_name(uint32_t what, uint64_t module, const char *name, void *answer,
                                size_t room)
{
    char question[64];
    size_t bytes = 0;

    memcpy(question, &module, sizeof(module));
    memcpy(question + sizeof(module), name, strlen(name));
    return omprma_device_ask(GPU, what, question, sizeof(module) + strlen(name), answer, room,
                             &bytes);
}

static void check_global(uint64_t module, uint64_t was, uint64_t then, omprma_addr_t *address)
{
    omprma_queue_t *queue = core_queue(GPU);
    struct cuda_global global;
    uint64_t value = 0;

    assert_ok(ask_name(CUDA_ASK_GLOBAL, module, "counter", &global, sizeof(global)));
    assert_int_equal(global.bytes, 8);
    assert_ok(omprma_retrieve(queue, &value, global.address, 8));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(value, was);
    assert_ok(omprma_submit(queue, global.address, &then, 8));
    assert_ok(omprma_queue_destroy(queue));
    *address = global.address;
}

/* The same bytes: an image is loaded once, each module has globals of its own. */
TEST(modules_are_their_own)
{
    omprma_symbol_t symbols[] = {{.name = "counter", .bytes = 8}, {.name = "table", .bytes = 12}};
    omprma_addr_t image, image_again, first, second, gone;
    uint64_t modules[2];
    float table[3];
    omprma_queue_t *queue;

    start_all();
    assert_ok(omprma_image_load(GPU, kernels, sizeof(kernels), symbols, 2));
    for (int i = 0; i < 2; i++)
        assert_ok(omprma_module_load(GPU, kernels, sizeof(kernels), &modules[i]));
    check_global(0, 42, 1, &image);
    check_global(0, 1, 2, &image_again);
    check_global(modules[0], 42, 3, &first);
    check_global(modules[1], 42, 4, &second);
    assert_true(image == image_again && image == symbols[0].address);
    assert_true(first != second && first != image && second != image);
    queue = core_queue(GPU);
    assert_ok(omprma_retrieve(queue, table, symbols[1].address, sizeof(table)));
    assert_ok(omprma_queue_synchronize(queue));
    assert_true(table[0] == 1 && table[1] == 2 && table[2] == 3);
    assert_ok(omprma_device_ask(GPU, CUDA_ASK_UNLOAD, &modules[0], 8, NULL, 0, NULL));
    assert_int_equal(omprma_device_ask(GPU, CUDA_ASK_UNLOAD, &modules[0], 8, NULL, 0, NULL),
                     OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_error_code(), INVALID_HANDLE);
    assert_int_equal(ask_name(CUDA_ASK_GLOBAL, modules[0], "counter", &gone, sizeof(gone)),
                     OMPRMA_ERR_ARGUMENT);
    assert_ok(omprma_submit(queue, first, table, 8));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_error_code(), INVALID_VALUE);
    assert_non_null(strstr(omprma_error(), "submit of 8 bytes at device address"));
    check_global(modules[1], 4, 5, &second);
    assert_ok(omprma_queue_destroy(queue));
    stop_all();
}

TEST(inputs_are_linked)
{
    static const char more[] =
        ".version 7.0\n.target sm_70\n.visible .global .align 4 .u32 extra = 7;\n";
    struct {
        struct cuda_link head;
        struct cuda_input first;
        char kernels[(sizeof(kernels) + 7) & ~7ull];
        struct cuda_input second;
        char more[(sizeof(more) + 7) & ~7ull];
    } link = {.head = {CUDA_LINK_MAGIC, 2},
              .first = {.bytes = sizeof(kernels), .type = 1},
              .second = {.bytes = sizeof(more), .type = 1}};
    struct cuda_function function;
    struct cuda_global global;
    uint64_t module;

    start_all();
    memcpy(link.kernels, kernels, sizeof(kernels));
    memcpy(link.more, more, sizeof(more));
    assert_ok(omprma_module_load(GPU, &link, sizeof(link), &module));
    assert_ok(ask_name(CUDA_ASK_GLOBAL, module, "extra", &global, sizeof(global)));
    assert_int_equal(global.bytes, 4);
    assert_ok(ask_name(CUDA_ASK_FUNCTION, module, "standin_add", &function, sizeof(function)));
    there_and_back(GPU, 5000, function.function);
    link.second.bytes = sizeof(more) + 100;
    assert_int_equal(omprma_module_load(GPU, &link, sizeof(link), &module), OMPRMA_ERR_IMAGE);
    link.second = (struct cuda_input){.bytes = sizeof(more), .type = 3};
    assert_int_equal(omprma_module_load(GPU, &link, sizeof(link), &module), OMPRMA_ERR_IMAGE);
    assert_int_equal(omprma_error_code(), INVALID_PTX);
    stop_all();
}

/* What the stand-in for CUDA's assembler makes of the same text (tests/cuda/ptxas.c). */
TEST(cubins_are_loaded)
{
    const char *build = getenv("BUILD_DIR");
    char folder[] = "/tmp/omprma-test-XXXXXX", command[512], image[65536];
    omprma_symbol_t symbols[] = {
        {.name = "standin_add"}, {.name = "table", .bytes = 12}, {.name = "room", .bytes = 100}};
    static char room[OMPRMA_QUESTION];
    const struct cuda_function *function = (const void *)room;
    float table[3];
    omprma_queue_t *queue;
    size_t bytes;
    FILE *file;

    if (!build) {
        print_message("BUILD_DIR is not set\n");
        skip();
    }
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof(command), "%s/in.ptx", folder);
    file = fopen(command, "we");
    assert_non_null(file);
    fputs(kernels, file);
    fclose(file);
    snprintf(command, sizeof(command),
             "cd %s && %s/tests/cuda/toolkit/bin/ptxas -m64 -O2 --gpu-name sm_80 --output-file "
             "one.o in.ptx -c && %s/tests/cuda/toolkit/bin/nvlink -arch sm_80 one.o -o out",
             folder, build, build);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof(command), "%s/out", folder);
    file = fopen(command, "re");
    assert_non_null(file);
    bytes = fread(image, 1, sizeof(image), file);
    fclose(file);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);

    start_all();
    assert_ok(omprma_image_load(GPU, image, bytes, symbols, 3));
    there_and_back(GPU, 5000, symbols[0].address);
    queue = core_queue(GPU);
    assert_ok(omprma_retrieve(queue, table, symbols[1].address, sizeof(table)));
    assert_ok(omprma_queue_destroy(queue));
    assert_true(table[0] == 1 && table[1] == 2 && table[2] == 3);
    assert_ok(ask_name(CUDA_ASK_FUNCTION, 0, "standin_mixed", room, sizeof(room)));
    assert_int_equal(function->parameter_count, 5);
    assert_int_equal(function->parameters[4].offset, 40);
    for (size_t cut = 0; cut < bytes; cut += 1 + bytes / 37)
        assert_int_equal(omprma_image_load(GPU, image, cut, NULL, 0),
                         cut ? OMPRMA_ERR_IMAGE : OMPRMA_ERR_ARGUMENT);
    stop_all();
}

/* ---- questions ---- */

TEST(the_gpu_describes_itself)
{
    struct cuda_device about;
    struct cuda_memory memory;
    uint32_t peer = GPU_TOO, can = 0;
    size_t answered = 0;

    start_all();
    assert_ok(
        omprma_device_ask(GPU_TOO, CUDA_ASK_DEVICE, NULL, 0, &about, sizeof(about), &answered));
    assert_int_equal(answered, sizeof(about));
    assert_string_equal(about.name, "Stand-in 1");
    assert_string_equal(about.bus_id, "0000:A1:00.0");
    assert_int_equal(about.uuid[15], 0x51);
    assert_int_equal(about.total_bytes, UINT64_C(1) << 30);
    assert_int_equal(about.driver_version, 12040);
    assert_int_equal(about.attributes[75], 9);
    assert_int_equal(about.attributes[10], 32);
    assert_int_equal(about.attributes[150], CUDA_UNKNOWN);
    assert_ok(omprma_device_ask(GPU, CUDA_ASK_MEMORY, NULL, 0, &memory, sizeof(memory), NULL));
    assert_int_equal(memory.total_bytes - memory.free_bytes, 8 << 20);
    assert_ok(omprma_device_ask(GPU, CUDA_ASK_PEER, &peer, 4, &can, 4, NULL));
    assert_int_equal(can, 1);
    peer = NATIVE;
    assert_int_equal(omprma_device_ask(GPU, CUDA_ASK_PEER, &peer, 4, &can, 4, NULL),
                     OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_device_ask(GPU, CUDA_ASK_PEER, &peer, 3, &can, 4, NULL),
                     OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_device_ask(GPU, 1000, NULL, 0, NULL, 0, NULL), OMPRMA_ERR_UNSUPPORTED);
    stop_all();
}

static int64_t setting(uint32_t what, uint64_t object, int which, int64_t value)
{
    const struct cuda_setting question = {.object = object, .which = which, .value = value};
    int64_t answer = -1;

    assert_ok(
        omprma_device_ask(GPU, what, &question, sizeof(question), &answer, sizeof(answer), NULL));
    return answer;
}

TEST(kernels_describe_themselves)
{
    static char room[OMPRMA_QUESTION];
    const struct cuda_function *function = (const void *)room;
    struct cuda_occupancy_question question = {.block_threads = 256};
    struct cuda_occupancy occupancy;
    struct cuda_setting bad = {.object = 8};

    start_all();
    look_up(GPU, "standin_add");
    assert_ok(ask_name(CUDA_ASK_FUNCTION, 0, "standin_mixed", room, sizeof(room)));
    assert_int_equal(function->parameter_count, 5);
    assert_int_equal(function->parameters[1].offset, 2);
    assert_int_equal(function->parameters[2].offset, 8);
    assert_int_equal(function->parameters[2].bytes, 24);
    assert_int_equal(function->parameters[4].offset, 40);
    assert_int_equal(function->attributes[0], 1024);
    assert_int_equal(function->attributes[12], CUDA_UNKNOWN);
    setting(CUDA_SET_FUNCTION_ATTRIBUTE, function->function, 8, 100000);
    assert_int_equal(setting(CUDA_ASK_FUNCTION_ATTRIBUTE, function->function, 8, 0), 100000);
    setting(CUDA_SET_LIMIT, 0, 0, 8192);
    assert_int_equal(setting(CUDA_ASK_LIMIT, 0, 0, 0), 8192);
    question.function = function->function;
    assert_ok(omprma_device_ask(GPU, CUDA_ASK_OCCUPANCY, &question, sizeof(question), &occupancy,
                                sizeof(occupancy), NULL));
    assert_int_equal(occupancy.blocks, 8);
    question.block_threads = 0;
    question.block_limit = 300;
    assert_ok(omprma_device_ask(GPU, CUDA_ASK_OCCUPANCY, &question, sizeof(question), &occupancy,
                                sizeof(occupancy), NULL));
    assert_int_equal(occupancy.block_threads, 300);
    assert_int_equal(
        omprma_device_ask(GPU, CUDA_ASK_FUNCTION_ATTRIBUTE, &bad, sizeof(bad), NULL, 0, NULL),
        OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_error_code(), INVALID_HANDLE);
    assert_int_equal(ask_name(CUDA_ASK_FUNCTION, 0, "nobody", room, sizeof(room)),
                     OMPRMA_ERR_SYMBOL);
    stop_all();
}

/* ---- errors ---- */

TEST(memory_ends)
{
    omprma_addr_t address;

    setenv("STANDIN_MEMORY", "64", 1);
    start_all();
    assert_int_equal(omprma_alloc(GPU, 80 << 20, &address), OMPRMA_ERR_DEVICE_MEMORY);
    assert_int_equal(omprma_error_code(), OUT_OF_MEMORY);
    assert_non_null(strstr(omprma_error(), "80 MiB more would pass the 57 MiB of Stand-in 0"));
    there_and_back(GPU, 30 << 20, 0);
    there_and_back(GPU_TOO, 1 << 20, 0);
    stop_all();
    unsetenv("STANDIN_MEMORY");
}

TEST(drivers_that_cannot_be_used)
{
    int count;

    setenv("STANDIN_DEVICES", "0", 1);
    assert_int_equal(cuda_kind.open(&count), OMPRMA_ERR_UNSUPPORTED);
    assert_int_equal(error_code(), NO_DEVICE);
    assert_non_null(strstr(error_text(), "no GPU can be used: CUDA_ERROR_NO_DEVICE"));
    assert_int_equal(count, 0);
    assert_null(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD));
    setenv("STANDIN_DEVICES", "2", 1);
    setenv("STANDIN_VERSION", "10020", 1);
    assert_int_equal(cuda_kind.open(&count), OMPRMA_ERR_UNSUPPORTED);
    assert_non_null(strstr(error_text(), "of version 10.2; it has to be 11.0 or newer"));
    unsetenv("STANDIN_VERSION");
}

/* ---- each call fails once ---- */

TEST(opening_fails_at_each_call)
{
    bool well = false;

    for (int n = 1; n < 100; n++) {
        open_driver();
        fail_call(n, OUT_OF_MEMORY);
        well = gpu_open_and_close();
        /* What cannot be given back stays, that is all. */
        assert_true(count_left() <= 1);
        fail_call(0, 0);
        close_driver();
    }
    assert_true(well);
    open_driver();
    fail_call(10, ILLEGAL_ADDRESS); /* even then */
    gpu_open_and_close();
    ((void (*)(void))standin("standin_forget_contexts"))();
}

/* One of each; what comes after an error is not of interest, but that it comes. */
static bool do_everything(void)
{
    omprma_symbol_t symbol = {.name = "standin_add"};
    struct cuda_memory memory;
    unsigned char data[20000] = {1}, back[20000] = {0};
    omprma_queue_t *queue;
    omprma_addr_t there = 0, other = 0;
    uint64_t module = 0;
    bool well = true;

    assert_ok(omprma_queue_create(GPU, &queue));
    well &= omprma_alloc(GPU, 20 << 20, &there) == OMPRMA_OK; /* another arena */
    well &= omprma_alloc(GPU_TOO, 20000, &other) == OMPRMA_OK;
    well &= omprma_image_load(GPU, kernels, sizeof(kernels), &symbol, 1) == OMPRMA_OK;
    well &= omprma_module_load(GPU, kernels, sizeof(kernels), &module) == OMPRMA_OK;
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
    well &= omprma_device_ask(GPU, CUDA_ASK_MEMORY, NULL, 0, &memory, sizeof(memory), NULL) ==
            OMPRMA_OK;
    if (module)
        well &= omprma_device_ask(GPU, CUDA_ASK_UNLOAD, &module, 8, NULL, 0, NULL) == OMPRMA_OK;
    omprma_queue_destroy(queue);
    omprma_free(GPU, there);
    omprma_free(GPU_TOO, other);
    return well;
}

TEST(everything_fails_at_each_call)
{
    static const int codes[] = {NOT_SUPPORTED, OUT_OF_MEMORY};

    gpu_fail_at_each_call(90, codes, 2, do_everything);
}

/* The GPU is lost with the driver's code for everything that follows; the others go on. Its thread
 * may be in the driver still when that is over, so the driver is opened once. */
TEST(a_fault_takes_one_gpu)
{
    static const int codes[] = {ILLEGAL_ADDRESS, ASSERT, LAUNCH_FAILED};
    unsigned char data[64] = {0};

    open_driver();
    for (int i = 0; i < 3; i++) {
        const uint64_t code = (uint64_t)codes[i];
        omprma_addr_t fault, block;
        omprma_queue_t *queue, *later;

        start_core();
        fault = look_up(GPU, "standin_fault");
        queue = core_queue(GPU);
        later = core_queue(GPU);
        block = core_alloc(GPU, sizeof(data));
        assert_ok(omprma_launch(queue, fault, NULL, &code, 1));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_KERNEL);
        assert_int_equal(omprma_error_code(), codes[i]);
        assert_non_null(strstr(omprma_error(), "device 0 (here)"));
        assert_non_null(strstr(omprma_error(), "Stand-in 0: kernel standin_fault: CUDA_ERROR_"));
        assert_ok(omprma_retrieve(later, data, block, sizeof(data)));
        assert_int_equal(omprma_queue_synchronize(later), OMPRMA_ERR_DEVICE_LOST);
        assert_int_equal(omprma_error_code(), codes[i]);
        assert_int_equal(omprma_device_ask(GPU, CUDA_ASK_MEMORY, NULL, 0, NULL, 0, NULL),
                         OMPRMA_ERR_DEVICE_LOST);
        assert_int_equal(omprma_error_code(), codes[i]);
        omprma_queue_destroy(queue);
        omprma_queue_destroy(later);
        there_and_back(NATIVE, 100000, 0);
        there_and_back(GPU_TOO, 100000, look_up(GPU_TOO, "standin_add"));
        exchange(GPU_TOO, NATIVE, 70000, 0);
        core_stop();
        ((void (*)(void))standin("standin_forget_contexts"))();
    }
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpus.c: gpus WHAT: a native device and two GPUs of each worker, with the stand-in for the CUDA
 * driver (tests/cuda), through real workers. WHAT is "data": contents and order, on all ways and
 * between all devices; "fault": a kernel faults, and its GPU alone is lost; "natives": there are no
 * GPUs.
 */
#include "check.h"

static const char kernels[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry standin_add(.param .u64 at, .param .u64 bytes, .param .u64 value) { ret; }\n"
    ".visible .entry standin_fault(.param .u32 code) { ret; }\n";

static bool is_gpu(int device)
{
    omprma_device_info_t info;

    check_ok(omprma_device_info(device, &info));
    check(info.model[0] && info.memory_bytes >= info.arena_bytes && info.arena_bytes > 0);
    return strcmp(info.backend, "cuda") == 0;
}

static omprma_addr_t kernel_on(int device, const char *name)
{
    omprma_symbol_t symbol = {.name = name};

    check_ok(omprma_image_load(device, kernels, sizeof(kernels), &symbol, 1));
    return symbol.address;
}

/* Submit, fill, launch on GPUs, retrieve. */
static void there_and_back(int device, size_t bytes)
{
    omprma_queue_t *queue = queue_on(device);
    omprma_addr_t there = memory_on(device, bytes);
    unsigned char *out = malloc(bytes), *back = calloc(1, bytes);
    bool gpu = is_gpu(device);

    check(out && back);
    fill(out, bytes, bytes + (size_t)device);
    check_ok(omprma_submit(queue, there, out, bytes));
    check_ok(omprma_fill(queue, there, "\x99", 1, bytes / 3));
    if (gpu)
        launch(queue, kernel_on(device, "standin_add"), there, bytes, 5);
    check_ok(omprma_retrieve(queue, back, there, bytes));
    check_ok(omprma_queue_synchronize(queue));
    for (size_t i = 0; i < bytes; i++)
        check(back[i] == (unsigned char)((i < bytes / 3 ? 0x99 : out[i]) + (gpu ? 5 : 0)));
    check_ok(omprma_queue_destroy(queue));
    check_ok(omprma_free(device, there));
    free(out);
    free(back);
}

static void exchange(int from, int to, size_t bytes)
{
    omprma_queue_t *queue = queue_on(from);
    omprma_addr_t here = memory_on(from, bytes), there = memory_on(to, bytes);
    unsigned char *out = malloc(bytes), *back = calloc(1, bytes);
    omprma_queue_t *end = queue_on(to);
    omprma_event_t *event;

    check(out && back);
    fill(out, bytes, bytes + (size_t)(from * 100 + to));
    check_ok(omprma_event_create(&event));
    check_ok(omprma_submit(queue, here, out, bytes));
    check_ok(omprma_exchange(queue, here, to, there, bytes));
    check_ok(omprma_event_record(event, queue));
    check_ok(omprma_event_wait(event, end));
    check_ok(omprma_retrieve(end, back, there, bytes));
    check_ok(omprma_queue_synchronize(end));
    check(memcmp(out, back, bytes) == 0);
    omprma_event_destroy(event);
    check_ok(omprma_queue_destroy(queue));
    check_ok(omprma_queue_destroy(end));
    check_ok(omprma_free(from, here));
    check_ok(omprma_free(to, there));
    free(out);
    free(back);
}

static void check_data(void)
{
    static const size_t sizes[] = {1, 100, 5000, 70000, 3 << 20, 20 << 20};
    int devices = omprma_device_count();

    for (int device = 0; device < devices; device++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            there_and_back(device, sizes[i]);
    for (int from = 0; from < devices; from++)
        for (int to = 0; to < devices; to++)
            exchange(from, to, 300000);
}

/* Device 1 is the first GPU. */
static void check_fault(void)
{
    const uint64_t illegal_address = 700;
    omprma_queue_t *queue = queue_on(1);
    omprma_addr_t block;

    check_ok(omprma_launch(queue, kernel_on(1, "standin_fault"), NULL, &illegal_address, 1));
    check(omprma_queue_synchronize(queue) == OMPRMA_ERR_KERNEL);
    check(omprma_error_code() == 700);
    puts(omprma_error());
    check(omprma_alloc(1, 1 << 30, &block) == OMPRMA_ERR_DEVICE_LOST);
    check(omprma_error_code() == 700);
    omprma_queue_destroy(queue);
    there_and_back(0, 100000);
    there_and_back(2, 100000);
    exchange(0, 2, 300000);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "data";
    int workers = argc > 2 ? atoi(argv[2]) : 1;
    bool natives = strcmp(what, "natives") == 0;

    check_ok(omprma_init());
    check(omprma_device_count() == (natives ? workers : workers + 2));
    if (natives)
        check(!is_gpu(0));
    else if (strcmp(what, "fault") == 0)
        check_fault();
    else
        check_data();
    omprma_finalize();
    puts("right");
    return 0;
}

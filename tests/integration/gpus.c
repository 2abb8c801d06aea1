/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpus.c: gpus WHAT: a native device and two GPUs of each worker, with the stand-in for their
 * driver (tests/cuda, tests/hsa), through real workers. WHAT is "data": contents and order, on all
 * ways and between all devices; "fault": a kernel faults, and its GPU alone is lost; "natives":
 * there are no GPUs. With drivers that all begin at one address (STANDIN_PLACE), and GPUs only:
 * "places": each address is one device's; "scarce": there is not so much memory elsewhere. With one
 * GPU, "crowded": the program has all addresses that its driver would take next.
 */
#define _GNU_SOURCE
#include "check.h"

#include <inttypes.h>
#include <sys/mman.h>

#include "tests/hsa/code_object.h"

static const char kernels[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry standin_add(.param .u64 at, .param .u64 bytes, .param .u64 value) { ret; }\n"
    ".visible .entry standin_fault(.param .u32 code) { ret; }\n";

/* "native", "cuda", "hsa". */
static const char *backend_of(int device)
{
    static omprma_device_info_t info;

    check_ok(omprma_device_info(device, &info));
    check(info.model[0] && info.memory_bytes >= info.arena_bytes && info.arena_bytes > 0);
    return info.backend;
}

static bool is_gpu(int device)
{
    return strcmp(backend_of(device), "native") != 0;
}

static omprma_addr_t kernel_on(int device, const char *name)
{
    omprma_symbol_t symbol = {.name = name};
    bool amd = strcmp(backend_of(device), "hsa") == 0;
    size_t bytes = sizeof(kernels);
    void *object = amd ? code_object_of_standin(&bytes) : NULL;

    check_ok(omprma_image_load(device, amd ? object : kernels, bytes, &symbol, 1));
    free(object);
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
    /* CUDA's illegal address; a fault of memory. */
    const uint64_t code = strcmp(backend_of(1), "hsa") == 0 ? 43 : 700;
    omprma_queue_t *queue = queue_on(1);
    omprma_addr_t block;

    check_ok(omprma_launch(queue, kernel_on(1, "standin_fault"), NULL, &code, 1));
    check(omprma_queue_synchronize(queue) == OMPRMA_ERR_KERNEL);
    check((uint64_t)omprma_error_code() == code);
    puts(omprma_error());
    check(omprma_alloc(1, 1 << 30, &block) == OMPRMA_ERR_DEVICE_LOST);
    check((uint64_t)omprma_error_code() == code);
    omprma_queue_destroy(queue);
    there_and_back(0, 100000);
    there_and_back(2, 100000);
    exchange(0, 2, 300000);
}

/* ---- drivers that hand out the same addresses ---- */

enum { ROUNDS = 3, BLOCK = 40 << 20 };

struct place {
    int device;
    omprma_addr_t block;
};

static bool is_mine(omprma_addr_t block)
{
    void *wish = (void *)(uintptr_t)block;
    void *start = mmap(wish, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    check(start != MAP_FAILED);
    munmap(start, 4096);
    return start == wish;
}

static void check_place(const struct place *all, int count, int one)
{
    const uint64_t number = (uint64_t)one * 77 + 1;
    omprma_queue_t *queue = queue_on(all[one].device);
    uint64_t back = 0;

    check(!is_mine(all[one].block));
    for (int i = 0; i < one; i++)
        check(all[i].block >= all[one].block + BLOCK || all[one].block >= all[i].block + BLOCK);
    check_ok(omprma_submit(queue, all[one].block, &number, 8));
    check_ok(omprma_queue_synchronize(queue));
    check_ok(omprma_queue_destroy(queue));
    if (one + 1 < count)
        check_place(all, count, one + 1);
    queue = queue_on(all[one].device);
    check_ok(omprma_retrieve(queue, &back, all[one].block, 8));
    check_ok(omprma_queue_synchronize(queue));
    check_ok(omprma_queue_destroy(queue));
    check(back == number);
}

/* Some memory of the program is there, too. */
static void check_places(const void *mine)
{
    int devices = omprma_device_count(), count = devices * ROUNDS;
    struct place *all = calloc((size_t)count, sizeof(*all));

    check(all && devices > 1);
    for (int i = 0; i < count; i++)
        all[i] = (struct place){i % devices, memory_on(i % devices, BLOCK)};
    check_place(all, count, 0);
    for (int i = 0; i < count; i++) {
        check(all[i].block > (uintptr_t)mine);
        check_ok(omprma_free(all[i].device, all[i].block));
    }
    free(all);
}

/* The program has all addresses there that nothing else has. */
static void take_free(uint64_t begin, uint64_t end)
{
    enum { STEP = 1 << 20 };

    for (uint64_t at = begin; at < end; at += STEP)
        mmap((void *)(uintptr_t)at, STEP, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

/* Where its drivers begin. */
static uint64_t place_of_drivers(void)
{
    const char *text = getenv("STANDIN_PLACE");

    return strtoull(text ? text : "0", NULL, 16);
}

/* What one GPU and the program have is all that the other's driver would give. */
static void check_scarce(void)
{
    enum { MOST = 16, PIECE = 10 << 20 };
    const uint64_t place = place_of_drivers(), span = UINT64_C(64) << 30;
    omprma_addr_t all[MOST], block;
    int count = 0;

    while (count < MOST && omprma_alloc(0, PIECE, &all[count]) == OMPRMA_OK)
        count++;
    check(count > 4 && count < MOST);
    take_free(place, place + span);
    check(omprma_alloc(1, BLOCK, &block) == OMPRMA_ERR_DEVICE_MEMORY);
    puts(omprma_error());
}

static void *take_place(void)
{
    void *wish = (void *)(uintptr_t)place_of_drivers();

    check(wish &&
          mmap(wish, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == wish);
    return wish;
}

/* Whatever is free here from 64 GiB below the worker's last mappings to 64 GiB above them. */
static void crowd(pid_t worker)
{
    const uint64_t margin = UINT64_C(64) << 30;
    uint64_t low, high, first = 0, last = 0;
    char path[64], line[512];
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)worker);
    maps = fopen(path, "r");
    check(maps);
    while (fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &low, &high) != 2 || strstr(line, "[stack]"))
            continue;
        if (low - last >= margin)
            first = low;
        last = high;
        if (strstr(line, "libc.so"))
            break;
    }
    fclose(maps);
    take_free(first - margin, last + margin);
}

static void check_crowded(void)
{
    enum { COUNT = 4, PIECE = 40 << 20 };
    omprma_addr_t all[COUNT];
    omprma_device_info_t info;

    check_ok(omprma_device_info(0, &info));
    crowd(info.pid);
    for (int i = 0; i < COUNT; i++)
        all[i] = memory_on(0, PIECE);
    there_and_back(0, PIECE);
    for (int i = 0; i < COUNT; i++)
        check_ok(omprma_free(0, all[i]));
}

static int gpus_only(const char *what)
{
    const void *mine = strcmp(what, "places") == 0 ? take_place() : NULL;

    check_ok(omprma_init());
    if (mine)
        check_places(mine);
    else if (strcmp(what, "scarce") == 0)
        check_scarce();
    else
        check_crowded();
    omprma_finalize();
    puts("right");
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "data";
    int workers = argc > 2 ? atoi(argv[2]) : 1;
    bool natives = strcmp(what, "natives") == 0;

    if (strcmp(what, "places") == 0 || strcmp(what, "scarce") == 0 || strcmp(what, "crowded") == 0)
        return gpus_only(what);
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

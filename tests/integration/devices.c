/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* devices.c: devices DEVICES: as many as were started, each described and able to work. Loads
 * images that are damaged, and looks for symbols that are not there. */
#include "check.h"

#include <sys/mman.h>

static void check_info(int device)
{
    omprma_device_info_t info;

    check_ok(omprma_device_info(device, &info));
    check(info.host[0] && info.model[0]);
    check(info.pid > 1 && info.pid != getpid());
    check(info.cores >= 1 && info.lanes >= 1);
    check(info.memory_bytes >= info.arena_bytes && info.arena_bytes > 0);
    check(info.osc && info.osc[0]);
}

static void check_works(int device)
{
    omprma_queue_t *queue = queue_on(device);
    omprma_addr_t there = memory_on(device, 1000);
    unsigned char data[1000];
    uint64_t wanted;

    fill(data, sizeof(data), (uint64_t)device);
    wanted = sum_of(data, 900);
    check_ok(omprma_submit(queue, there, data, 900));
    launch(queue, symbol_at(device, "sum", 0), there, 900, there + 904);
    check_ok(omprma_retrieve(queue, data, there + 904, 8));
    check_ok(omprma_queue_synchronize(queue));
    check(memcmp(data, &wanted, 8) == 0);
    check_ok(omprma_queue_destroy(queue));
    check_ok(omprma_free(device, there));
}

static void check_images(int device)
{
    size_t bytes;
    unsigned char *image = read_file(KERNELS, &bytes);
    omprma_symbol_t symbol = {.name = "not_there"};

    for (size_t cut = 0; cut < bytes; cut += cut < 100 ? 1 : bytes / 37)
        check(omprma_image_load(device, image, cut, NULL, 0) == OMPRMA_ERR_IMAGE);
    check(omprma_image_load(device, image, bytes, &symbol, 1) == OMPRMA_ERR_SYMBOL);
    check(strstr(omprma_error(), "not_there"));
    symbol = (omprma_symbol_t){.name = "global", .bytes = 17};
    check(omprma_image_load(device, image, bytes, &symbol, 1) == OMPRMA_ERR_SYMBOL);
    image[18] = 40; /* made for another machine */
    check(omprma_image_load(device, image, bytes, NULL, 0) == OMPRMA_ERR_IMAGE);
    memset(image, 0x5a, bytes);
    check(omprma_image_load(device, image, bytes, NULL, 0) == OMPRMA_ERR_IMAGE);
    free(image);
    check_works(device); /* none of these has done harm */
}

/* Launches go to kernels only. */
static void check_launches(int device)
{
    omprma_queue_t *queue = queue_on(device);
    omprma_addr_t global = symbol_at(device, "global", 300000);

    check_ok(omprma_launch(queue, global, NULL, NULL, 0));
    check(omprma_queue_synchronize(queue) == OMPRMA_ERR_ADDRESS);
    check_ok(omprma_queue_destroy(queue));
    check_works(device);
}

/* Nothing of this process can come to lie where a device has memory, not even in arenas that are
 * made later: an address tells whose memory it is. */
static void check_apart(int devices)
{
    enum { BLOCKS = 4, BYTES = 20 << 20 };
    omprma_addr_t blocks[BLOCKS * 4];
    int count = 0;

    for (int device = 0; device < devices && device < 4; device++)
        for (int i = 0; i < BLOCKS; i++)
            check_ok(omprma_alloc(device, BYTES, &blocks[count++]));
    for (int i = 0; i < count; i++) {
        void *end = (void *)(uintptr_t)(blocks[i] + BYTES - 4096);
        void *here = mmap(end, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        check(here != MAP_FAILED && here != end);
        munmap(here, 4096);
        for (int j = 0; j < i; j++)
            check(blocks[i] >= blocks[j] + BYTES || blocks[j] >= blocks[i] + BYTES);
    }
    for (int i = 0; i < count; i++)
        check_ok(omprma_free(i / BLOCKS, blocks[i]));
}

int main(int count, char **words)
{
    int devices = count > 1 ? atoi(words[1]) : 1;

    check(omprma_device_count() == 0);
    check(omprma_alloc(0, 1, &(omprma_addr_t){0}) == OMPRMA_ERR_CLOSED);
    check_ok(omprma_init());
    check_ok(omprma_init()); /* a second user */
    check(omprma_device_count() == devices);
    for (int device = 0; device < devices; device++) {
        check_info(device);
        check_works(device);
        check_images(device);
        check_launches(device);
    }
    check_apart(devices);
    check(omprma_device_info(devices, &(omprma_device_info_t){0}) == OMPRMA_ERR_ARGUMENT);
    check(omprma_device_info(-1, &(omprma_device_info_t){0}) == OMPRMA_ERR_ARGUMENT);
    omprma_finalize();
    check_works(devices - 1);
    omprma_finalize();
    check(omprma_init() == OMPRMA_ERR_CLOSED);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * abi18.c: calls the plugin as libomptarget of LLVM 18 does, which Debian 12 does not have:
 * functions found by name, load_binary with a binary, addresses one by one, a leading launch
 * argument, a query for completion. Arguments: the plugin, an image made from abi18_image.c.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omprma/omprma.h>

#include "plugin/types.h"

static void *plugin;

static void *find(const char *name)
{
    char full[100];
    snprintf(full, sizeof(full), "__tgt_rtl_%s", name);
    void *function = dlsym(plugin, full);
    if (!function) {
        fprintf(stderr, "abi18: no %s\n", full);
        exit(1);
    }
    return function;
}

static void check(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "abi18: wrong: %s\n", what);
        exit(1);
    }
}

static struct tgt_image image_read(const char *path)
{
    static char content[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t bytes = file ? fread(content, 1, sizeof(content), file) : 0;
    static struct offload_entry entries[3] = {
        {.address = content, .name = (char *)"table", .bytes = 4 * sizeof(int)},
        {.address = content, .name = (char *)"kernel_add"},
        {.name = (char *)"", .flags = 16}, /* requires clauses */
    };
    return (struct tgt_image){content, content + bytes, entries, entries + 3};
}

int main(int argc, char **argv)
{
    plugin = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    check(plugin != NULL, "the plugin can be opened");
    int32_t (*init_plugin)(void) = find("init_plugin");
    int32_t (*number_of_devices)(void) = find("number_of_devices");
    int32_t (*is_valid_binary)(struct tgt_image *) = find("is_valid_binary");
    int32_t (*load_binary)(int32_t, struct tgt_image *, struct tgt_binary *) = find("load_binary");
    /* That this program holds the next name is what makes it a caller of the new kind. */
    int32_t (*get_global)(struct tgt_binary, uint64_t, const char *, void **) =
        dlsym(plugin, "__tgt_rtl_get_global");
    int32_t (*get_function)(struct tgt_binary, const char *, void **) = find("get_function");
    void *(*data_alloc)(int32_t, int64_t, void *, int32_t) = find("data_alloc");
    int32_t (*data_delete)(int32_t, void *, int32_t) = find("data_delete");
    int32_t (*launch_kernel)(int32_t, void *, void **, ptrdiff_t *, struct kernel_arguments *,
                             struct tgt_async *) = find("launch_kernel");
    int32_t (*data_retrieve_async)(int32_t, void *, void *, int64_t, struct tgt_async *) =
        find("data_retrieve_async");
    int32_t (*data_retrieve)(int32_t, void *, void *, int64_t) = find("data_retrieve");
    int32_t (*synchronize)(int32_t, struct tgt_async *) = find("synchronize");

    check(init_plugin() == 0 && number_of_devices() == 2, "two devices");
    struct tgt_image image = image_read(argv[2]), cut = image;
    cut.end = (char *)cut.start + 200;
    check(!is_valid_binary(&cut), "a truncated image is refused");
    check(is_valid_binary(&image) == 1, "the image is accepted");

    struct tgt_binary binary = {0};
    void *table = NULL, *kernel = NULL, *other = NULL;
    check(load_binary(1, &image, &binary) == 0 && binary.handle, "the image is loaded");
    check(get_global(binary, 4 * sizeof(int), "table", &table) == 0 && table, "the table");
    check(get_function(binary, "kernel_add", &kernel) == 0 && kernel, "the kernel");
    check(get_function(binary, "nothing", &other) != 0, "an unknown name is refused");

    int32_t copy[4], sum = 0;
    check(data_retrieve(1, copy, table, sizeof(copy)) == 0 && copy[3] == 40, "the table's content");
    char *memory = data_alloc(1, 64, NULL, TGT_DEVICE);
    check(memory != NULL, "device memory");
    void *arguments[2] = {memory, (void *)(uintptr_t)5};
    ptrdiff_t offsets[2] = {16, 0};
    struct kernel_arguments kernel_args = {
        .version = 3,
        .count = 2,
        .teams = {4, 2, 1},
        .thread_limit = {8, 1, 1},
        .dynamic_group_bytes = 64,
    };
    struct tgt_async async = {0};
    check(launch_kernel(1, kernel, arguments, offsets, &kernel_args, &async) == 0, "the launch");
    check(async.queue != NULL, "a queue was made");
    const omprma_geometry_t *geometry = dlsym(plugin, "local_omprma_geometry");
    check(geometry && geometry->teams[0] == 0 && geometry->threads[0] == 0,
          "code for hosts brings its own teams and threads");
    check(data_retrieve_async(1, &sum, memory + 16, sizeof(sum), &async) == 0, "the retrieve");
    check(synchronize(1, &async) == 0 && async.queue == NULL, "the end of the queue");
    check(sum == 25, "the kernel's result");
    check(data_delete(1, memory, TGT_DEVICE) == 0, "the memory is given back");

    void *host = data_alloc(0, 100, NULL, TGT_HOST);
    check(host != NULL && data_delete(0, host, TGT_HOST) == 0, "host memory");
    check(data_alloc(0, 100, NULL, TGT_SHARED) == NULL, "shared memory is refused");
    check(data_alloc(0, 0, NULL, TGT_DEVICE) == NULL, "no bytes, no address");
    puts("abi18: right");
    return 0;
}

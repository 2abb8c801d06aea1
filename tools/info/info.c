/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * info.c: omprma-info, what a user needs to tune a run or to report a bug: versions,
 * transports, devices, and what was measured and chosen at start-up. Starts itself beside workers,
 * as omprma-run would start a program. Measures nothing itself.
 */
#include <argp.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <omprma/omprma.h>

#include "base/config.h"
#include "base/cuda_questions.h"
#include "base/error.h"
#include "base/log.h"
#include "base/streams.h"
#include "control/world.h"
#include "host/report/describe.h"
#include "tools/launch/launch.h"
#include "tools/launch/llvm.h"
#include "tools/launch/options.h"
#include "tools/launch/paths.h"
#include "tools/launch/transport.h"

OMPRMA_API const char *argp_program_version = "omprma-info " OMPRMA_VERSION_STRING;

static const char description[] =
    "Starts workers as omprma-run would with the same options, and prints versions, the devices, "
    "what was measured at start-up and which data paths were chosen.";

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->input;
        return 0;
    case ARGP_KEY_ARG:
        option_fail("\"%s\": omprma-info takes options only; see --help", value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- versions ------------------------------------------------------------------------------ */

/* Only workers link hwloc, so it is asked without being linked here. */
static void print_hwloc(void)
{
    void *library = dlopen("libhwloc.so.15", RTLD_LAZY | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "hwloc_get_api_version") : NULL;
    unsigned (*ask)(void);
    memcpy(&ask, &symbol, sizeof(ask));
    if (ask)
        printf("hwloc    API %u.%u\n", ask() >> 16, (ask() >> 8) & 0xff);
    else
        printf("hwloc    not found on this host\n");
    if (library)
        dlclose(library);
}

static void print_versions(void)
{
    char text[256];
    world_mpi_library(text, sizeof(text));
    printf("omprma   %s\n", OMPRMA_VERSION_STRING);
    printf("MPI      %s\n", text);
    print_hwloc();
    struct config config;
    static const char *const runtimes[] = {
        [RUNTIME_AUTO] = "omprma's own runtime",
        [RUNTIME_OMPRMA] = "omprma's own runtime",
        [RUNTIME_LLVM] = "the plugin for LLVM's libomptarget",
    };
    if (config_load(&config) == OMPRMA_OK)
        printf("OpenMP   %s\n", runtimes[config.runtime]);
    const char *kinds = getenv("OMPRMA_BACKENDS"); /* --backends and --cuda set it */
    printf("devices  of kind %s\n", kinds && *kinds ? kinds : "native");
    struct list folders = {0};
    llvm_folders(&folders);
    for (size_t i = 0; i < folders.count; i++)
        printf("LLVM     %s\n", folders.items[i]);
    if (folders.count == 0)
        printf("LLVM     no libomptarget of LLVM %d to %d and no libomp of newer ones found\n",
               LLVM_OLDEST, LLVM_NEWEST);
    list_clear(&folders);
}

/* ---- devices ------------------------------------------------------------------------------- */

static void print_size(uint64_t bytes)
{
    static const char units[] = "BKMGTP";
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && units[unit + 1]) {
        value /= 1024;
        unit++;
    }
    printf(unit && value < 100 ? " %7.1f%c" : " %7.0f%c", value, units[unit]);
}

/* What only GPUs have, below their line of the table. */
static void print_gpu(int device)
{
    struct cuda_device gpu;
    size_t answered = 0;
    if (omprma_device_ask(device, CUDA_ASK_DEVICE, NULL, 0, &gpu, sizeof(gpu), &answered) !=
            OMPRMA_OK ||
        answered != sizeof(gpu)) {
        printf("       GPU: %s\n", omprma_error());
        return;
    }
    printf("       GPU: compute capability %d.%d, driver %d.%d, bus %.31s, %.1f GiB\n",
           gpu.attributes[CUDA_CAPABILITY_MAJOR], gpu.attributes[CUDA_CAPABILITY_MINOR],
           gpu.driver_version / 1000, gpu.driver_version % 1000 / 10, gpu.bus_id,
           (double)gpu.total_bytes / (1 << 30));
}

static int print_devices(void)
{
    printf("\n%-6s %-16s %8s %6s %-8s %5s %5s %5s %8s %8s %8s %8s  %-6s %s\n", "device", "host",
           "process", "worker", "kind", "cores", "NUMA", "lanes", "memory", "arenas", "inl.sub",
           "inl.ret", "osc", "processor");
    for (int device = 0; device < omprma_device_count(); device++) {
        omprma_device_info_t info;
        if (omprma_device_info(device, &info) != OMPRMA_OK) {
            log_write(LOG_ERROR, "device %d: %s", device, omprma_error());
            return 1;
        }
        char worker[24];
        snprintf(worker, sizeof(worker), "%d.%d", info.worker, info.index);
        printf("%-6d %-16s %8d %6s %-8s %5d", device, info.host, info.pid, worker, info.backend,
               info.cores);
        if (info.numa_node >= 0)
            printf(" %5d", info.numa_node);
        else
            printf(" %5s", "all");
        printf(" %5d", info.lanes);
        print_size(info.memory_bytes);
        print_size(info.arena_bytes);
        print_size(info.inline_submit_bytes);
        print_size(info.inline_retrieve_bytes);
        printf("  %-6s %s\n", info.osc, info.model);
        if (strcmp(info.backend, "cuda") == 0)
            print_gpu(device);
    }
    printf("\n");
    return 0;
}

/* As rank 0, beside the workers. */
static int show(void)
{
    struct config config;
    struct transport transport;
    transport_watch(&transport);
    omprma_status_t started = config_load(&config);
    if (started == OMPRMA_OK)
        started = omprma_init();
    transport_read(&transport);
    if (started != OMPRMA_OK) {
        log_write(LOG_ERROR, "%s", error_text());
        transport_clear(&transport);
        return 1;
    }
    print_versions();
    transport_print(&transport, stdout);
    transport_clear(&transport);
    int status = print_devices();
    if (status == 0)
        runtime_describe(stdout);
    omprma_finalize();
    return status;
}

int main(int argc, char **argv)
{
    int status;
    streams_begin();
    if (launch_internal(argc, argv, &status))
        return status;
    if (launch_inside()) {
        const char *verbose = getenv("OMPRMA_VERBOSE");
        log_open("omprma", verbose ? atoi(verbose) : 0);
        return show();
    }
    options_begin("omprma-info", argv);
    struct argp_child children[] = {{&launch_argp, 0, NULL, 0}, {0}};
    struct argp parser = {NULL, parse_option, NULL, description, children, NULL, NULL};
    struct launch launch = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &launch);
    char *self = path_self();
    launch.argv = (char *[]){self, NULL};
    status = launch_run(&launch);
    free(self);
    hosts_clear(&launch.hosts);
    list_clear(&launch.mpi_args);
    return status;
}

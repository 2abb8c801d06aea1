/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * info.c: omprma-info, what a user needs to tune a run or to report a bug: versions,
 * transports, devices, and what was measured and chosen at start-up; or a look at the machine
 * (doctor.h), or the settings (settings.h). Starts itself beside workers,
 * as omprma-run would start a program. Measures nothing itself.
 */
#include <argp.h>
#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <omprma/omprma.h>

#include "base/config.h"
#include "base/gpu_questions.h"
#include "base/error.h"
#include "base/log.h"
#include "base/streams.h"
#include "base/table.h"
#include "control/module.h"
#include "host/report/describe.h"
#include "tools/info/doctor.h"
#include "tools/info/placed.h"
#include "tools/info/settings.h"
#include "tools/launch/launch.h"
#include "tools/launch/llvm.h"
#include "tools/launch/options.h"
#include "tools/launch/paths.h"
#include "tools/launch/program.h"
#include "tools/launch/transport.h"

enum { KEY_DOCTOR = 1024, KEY_COMPILER, KEY_SETTINGS, KEY_JSON, KEY_TOPOLOGY };
/* What the process beside the workers is told to print. */
static const char json_word[] = "--json", topology_word[] = "--topology";

static const struct argp_option options[] = {
    {"check", KEY_DOCTOR, NULL, 0,
     "Look whether hosts have what a run needs. Start nothing; look at this host, and at those of "
     "--hosts, and say what to do; exit status 1 after a failure",
     HELP_OWN},
    {"compiler", KEY_COMPILER, "COMMAND", 0,
     "Try a compiler, too. With --check: compile a target region by COMMAND, as clang-23, and say "
     "which packages are missing",
     HELP_OWN},
    {"settings", KEY_SETTINGS, NULL, 0,
     "Print all settings. Start nothing; print them with value, default, and what has set them",
     HELP_OWN},
    {"json", KEY_JSON, NULL, 0,
     "Print JSON. It has devices, paths, costs and quirks, or with --check or --settings what "
     "those print",
     HELP_OWN},
    {"topology", KEY_TOPOLOGY, NULL, 0,
     "Draw hosts, workers and cores. '#' marks a worker's own cores", HELP_OWN},
    {0}};

struct info {
    struct launch launch;
    bool doctor, settings, json, topology;
    const char *compiler;
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct info *info = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &info->launch;
        return 0;
    case KEY_DOCTOR:
        info->doctor = true;
        return 0;
    case KEY_COMPILER:
        info->compiler = value;
        return 0;
    case KEY_SETTINGS:
        info->settings = true;
        return 0;
    case KEY_JSON:
        info->json = true;
        return 0;
    case KEY_TOPOLOGY:
        info->topology = true;
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

/* The library's words, or why there is none. */
static void name_mpi(char text[ERROR_TEXT_BYTES])
{
    if (module_mpi_library(text, ERROR_TEXT_BYTES) != OMPRMA_OK)
        snprintf(text, ERROR_TEXT_BYTES, "%s", error_text());
}

static void print_versions(void)
{
    char text[ERROR_TEXT_BYTES];
    name_mpi(text);
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
    const char *kinds = getenv("OMPRMA_BACKENDS"); /* --backends and --gpus set it */
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

enum { CELL_BYTES = 32 };

static void write_size(uint64_t bytes, char text[CELL_BYTES])
{
    static const char units[] = "BKMGTP";
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && units[unit + 1]) {
        value /= 1024;
        unit++;
    }
    snprintf(text, CELL_BYTES, unit && value < 100 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

/* What only GPUs have, below their line of the table. */
static void print_gpu(int device)
{
    char text[GPU_SUMMARY_BYTES];
    size_t bytes = 0;
    if (omprma_device_ask(device, GPU_ASK_SUMMARY, NULL, 0, text, sizeof(text), &bytes) ==
            OMPRMA_OK &&
        bytes <= sizeof(text))
        printf("       GPU: %.*s\n", (int)bytes, text);
    else
        printf("       GPU: %s\n", omprma_error());
}

static const struct table_column columns[] = {
    {"device", 6, true, 0},  {"host", 16, true, 0},      {"process", 8, false, 6},
    {"worker", 6, false, 5}, {"kind", 8, true, 1},       {"cores", 5, false, 0},
    {"NUMA", 5, false, 2},   {"lanes", 5, false, 8},     {"memory", 8, false, 0},
    {"arenas", 8, false, 7}, {"inl.sub", 8, false, 10},  {"inl.ret", 8, false, 9},
    {"osc", 6, true, 4},     {"processor", 24, true, 3},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* Processors fill up their name with blanks. */
static int model_length(const char *model)
{
    size_t length = strlen(model);
    while (length > 0 && model[length - 1] == ' ')
        length--;
    return (int)length;
}

/* `narrow`: what is wider than its column would take a second line. */
static void print_device(const struct table *table, int device, const omprma_device_info_t *info,
                         bool narrow)
{
    char model[sizeof(info->model)], cells[COLUMNS][CELL_BYTES] = {""};
    const char *row[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        row[i] = cells[i];
    snprintf(cells[0], CELL_BYTES, "%d", device);
    row[1] = info->host;
    snprintf(cells[2], CELL_BYTES, "%d", info->pid);
    snprintf(cells[3], CELL_BYTES, "%d.%d", info->worker, info->index);
    row[4] = info->backend;
    snprintf(cells[5], CELL_BYTES, "%d", info->cores);
    snprintf(cells[6], CELL_BYTES, "%d", info->numa_node);
    if (info->numa_node < 0)
        row[6] = "all";
    snprintf(cells[7], CELL_BYTES, "%d", info->lanes);
    write_size(info->memory_bytes, cells[8]);
    write_size(info->arena_bytes, cells[9]);
    write_size(info->inline_submit_bytes, cells[10]);
    write_size(info->inline_retrieve_bytes, cells[11]);
    row[12] = info->osc;
    int length = model_length(info->model), most = narrow ? columns[13].width : length;
    snprintf(model, sizeof(model), "%.*s", length < most ? length : most, info->model);
    row[13] = model;
    table_print_row(table, row, NULL);
}

/* What carries messages and data: what somebody who calls this wants to know first. */
static void print_paths(void)
{
    struct described described;
    runtime_described(&described);
    printf("control messages: %s\n", described.control);
    printf("data path: %s\n", described.data);
    if (*described.between_hosts)
        printf("data between hosts: %s\n", described.between_hosts);
}

static int print_devices(void)
{
    struct table table;
    int width = table_terminal_width(STDOUT_FILENO);
    table_open(&table, stdout, "", columns, COLUMNS, width);
    printf("\n");
    table_print_titles(&table);
    for (int device = 0; device < omprma_device_count(); device++) {
        omprma_device_info_t info;
        if (omprma_device_info(device, &info) != OMPRMA_OK) {
            log_write(LOG_ERROR, "device %d: %s", device, omprma_error());
            return 1;
        }
        print_device(&table, device, &info, width > 0);
        if (!info.native)
            print_gpu(device);
    }
    printf("\n");
    return 0;
}

static void add_cost(void *costs, const struct described_cost *cost)
{
    cJSON *one = cJSON_CreateObject();
    cJSON_AddNumberToObject(one, "device", cost->device);
    cJSON_AddStringToObject(one, "direction", cost->direction);
    cJSON_AddStringToObject(one, "path", cost->path);
    cJSON_AddNumberToObject(one, "us", cost->us);
    cJSON_AddNumberToObject(one, "us_per_kib", cost->us_per_kib);
    cJSON_AddNumberToObject(one, "samples", cost->samples);
    cJSON_AddNumberToObject(one, "spread", cost->spread);
    cJSON_AddItemToArray(costs, one);
}

/* A string for each line. */
static void add_quirks(cJSON *quirks)
{
    char *text = NULL, *line;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream)
        return;
    runtime_quirks(stream);
    fclose(stream);
    for (char *rest = text; (line = strsep(&rest, "\n"));)
        if (*line)
            cJSON_AddItemToArray(quirks, cJSON_CreateString(line + strspn(line, " ")));
    free(text);
}

static void add_paths(cJSON *root)
{
    struct described described;
    runtime_described(&described);
    cJSON_AddStringToObject(root, "control_path", described.control);
    cJSON_AddStringToObject(root, "data_path", described.data);
    cJSON_AddStringToObject(root, "data_between_hosts", described.between_hosts);
    cJSON_AddStringToObject(root, "one_sided", described.component);
    add_quirks(cJSON_AddArrayToObject(root, "quirks"));
    runtime_costs(add_cost, cJSON_AddArrayToObject(root, "costs"));
}

static int print_json(const struct config *config, const struct transport *transport)
{
    char mpi[ERROR_TEXT_BYTES];
    cJSON *root = cJSON_CreateObject(), *devices = cJSON_AddArrayToObject(root, "devices");
    name_mpi(mpi);
    cJSON_AddStringToObject(root, "version", OMPRMA_VERSION_STRING);
    cJSON_AddStringToObject(root, "mpi", mpi);
    add_paths(root);
    cJSON *layers = cJSON_AddArrayToObject(root, "messages");
    for (size_t i = 0; i < transport->layers.count; i++)
        cJSON_AddItemToArray(layers, cJSON_CreateString(transport->layers.items[i]));
    for (int device = 0; device < omprma_device_count(); device++) {
        omprma_device_info_t info;
        if (omprma_device_info(device, &info) != OMPRMA_OK)
            continue;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "device", device);
        cJSON_AddStringToObject(one, "host", info.host);
        cJSON_AddNumberToObject(one, "process", info.pid);
        cJSON_AddNumberToObject(one, "worker", info.worker);
        cJSON_AddNumberToObject(one, "index", info.index);
        cJSON_AddStringToObject(one, "kind", info.backend);
        cJSON_AddNumberToObject(one, "cores", info.cores);
        cJSON_AddNumberToObject(one, "numa_node", info.numa_node);
        cJSON_AddNumberToObject(one, "lanes", info.lanes);
        cJSON_AddNumberToObject(one, "memory_bytes", (double)info.memory_bytes);
        cJSON_AddNumberToObject(one, "inline_submit_bytes", (double)info.inline_submit_bytes);
        cJSON_AddNumberToObject(one, "inline_retrieve_bytes", (double)info.inline_retrieve_bytes);
        cJSON_AddStringToObject(one, "one_sided", info.osc);
        info.model[model_length(info.model)] = 0;
        cJSON_AddStringToObject(one, "model", info.model);
        cJSON_AddItemToArray(devices, one);
    }
    placed_add(config, root);
    char *text = cJSON_Print(root);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(root);
    return text ? 0 : 1;
}

/* As rank 0, beside the workers. */
static int show(const char *what)
{
    bool json = strcmp(what, json_word) == 0, topology = strcmp(what, topology_word) == 0;
    struct config config = {0};
    struct transport transport;
    transport_watch(&transport);
    omprma_status_t started = config_load(&config);
    if (started == OMPRMA_OK)
        started = omprma_init();
    transport_read(&transport);
    transport.without_mpi = config.transport == TRANSPORT_DIRECT;
    if (started != OMPRMA_OK) {
        log_write(LOG_ERROR, "%s", error_text());
        transport_clear(&transport);
        return 1;
    }
    int status = 0;
    if (topology) {
        runtime_draw(stdout);
    } else if (json) {
        status = print_json(&config, &transport);
    } else {
        print_paths();
        print_versions();
        transport_print(&transport, stdout);
        status = print_devices();
    }
    transport_clear(&transport);
    if (status == 0 && !json && !topology)
        runtime_describe(stdout);
    if (status == 0 && !json && !topology && !placed_print(&config))
        status = 1;
    omprma_finalize();
    return status;
}

static const struct tool tool = {
    .help = {.program = "omprma-info",
             .usage = "[OPTION...]",
             .about = "Starts workers as omprma-run would with the same options, and prints "
                      "versions, the devices, what was measured at start-up and which data paths "
                      "were chosen.",
             .examples = "  omprma-info --check\n"
                         "  omprma-info -n 2 --osc ucx\n",
             .status = "0 when all went well; 1 when --check has found a failure, or the devices "
                       "cannot be shown; 125 when an option is wrong or the run failed.",
             .options = {options, launch_options},
             .few = 1u << HELP_PROGRAM | 1u << HELP_DIAGNOSTICS | 1u << HELP_DATA},
    .parse = parse_option};

int main(int argc, char **argv)
{
    int status;
    streams_begin();
    if (launch_internal(argc, argv, &status))
        return status;
    if (program_inside()) {
        const char *verbose = getenv("OMPRMA_VERBOSE");
        log_open("", verbose ? atoi(verbose) : 0);
        return show(argc > 1 ? argv[1] : "");
    }
    options_begin();
    struct info info = {0};
    struct launch *launch = &info.launch;
    options_read(&tool, argv, &info);
    char *self = path_self();
    const char *what = info.json ? json_word : info.topology ? topology_word : NULL;
    launch->argv = (char *[]){self, (char *)(uintptr_t)what, NULL};
    table_hand_on_width();
    if (info.compiler && !info.doctor)
        option_fail("--compiler %s: write --check, too", info.compiler);
    if (info.settings)
        settings_print(info.json);
    if (info.doctor)
        status = doctor_run(launch, info.compiler, info.json);
    else
        status = info.settings ? EXIT_SUCCESS : launch_run(launch);
    free(self);
    launch_clear(launch);
    return status;
}

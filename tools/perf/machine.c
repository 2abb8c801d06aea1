/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* machine.c: describes this host for the record. Knows nothing of workers. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "control/module.h"
#include "tools/perf/results.h"

/* "model name : X" of /proc/cpuinfo; other machines call it otherwise, or not at all. */
static void read_cpu(char *text, size_t bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512];
    snprintf(text, bytes, "unknown");
    while (file && fgets(line, sizeof(line), file)) {
        char *value = strchr(line, ':');
        if (!value || (strncmp(line, "model name", 10) != 0 && strncmp(line, "Processor", 9) != 0))
            continue;
        value += strspn(value, ": \t");
        value[strcspn(value, "\n")] = 0;
        snprintf(text, bytes, "%s", value);
        break;
    }
    if (file)
        fclose(file);
}

void machine_describe(struct machine *machine)
{
    char text[128];
    struct utsname system;
    time_t now = time(NULL);
    struct tm utc;
    read_cpu(machine->cpu, sizeof(machine->cpu));
    machine->cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    uname(&system);
    snprintf(machine->kernel, sizeof(machine->kernel), "%s %s", system.sysname, system.release);
    if (module_mpi_library(text, sizeof(text)) != OMPRMA_OK)
        snprintf(text, sizeof(text), "none");
    text[strcspn(text, ",")] = 0;
    snprintf(machine->mpi, sizeof(machine->mpi), "%.120s", text);
    gmtime_r(&now, &utc);
    strftime(machine->date, sizeof(machine->date), "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* info.c: LIBOMPTARGET_INFO is read once, and may be changed while the program runs. */
#include "openmp/device/info.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "openmp/abi/location.h"
#include "openmp/device/mapping.h"

static pthread_once_t info_once = PTHREAD_ONCE_INIT;
atomic_uint info_flags = UINT_MAX;

static void info_read(void)
{
    const char *text = getenv("LIBOMPTARGET_INFO");
    atomic_store(&info_flags, text ? (unsigned)strtol(text, NULL, 0) : 0);
}

bool info_wants_after_reading(enum info kind)
{
    pthread_once(&info_once, info_read);
    return (atomic_load_explicit(&info_flags, memory_order_relaxed) & (unsigned)kind) != 0;
}

void info_set(uint32_t flags)
{
    pthread_once(&info_once, info_read);
    atomic_store(&info_flags, flags);
}

void info_print(int device, const char *format, ...)
{
    va_list arguments;
    flockfile(stderr);
    fprintf(stderr, "omptarget device %d info: ", device);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    funlockfile(stderr);
}

void info_launch(int device, const char *kernel, unsigned teams, unsigned threads)
{
    fprintf(stderr,
            "\"PluginInterface\" device %d info: Launching kernel %s with %u blocks and %u threads "
            "in Generic mode\n",
            device, kernel, teams, threads);
}

const char *count_text(uint64_t count, char text[24])
{
    if (count == COUNT_INFINITE)
        snprintf(text, 24, "INF");
    else
        snprintf(text, 24, "%llu", (unsigned long long)count);
    return text;
}

void info_table(const struct location *where, int device, const struct mapping *mapping)
{
    const struct name unknown = {"unknown", 7};
    bool known = location_known(where);
    struct name file = known ? name_base(location_file(where)) : unknown;
    if (!mapping_first(mapping)) {
        info_print(device, "OpenMP Host-Device pointer mappings table empty\n");
        return;
    }
    info_print(device, "OpenMP Host-Device pointer mappings after block at %.*s:%d:%d:\n",
               file.length, file.text, known ? location_number(where, 2) : 0,
               known ? location_number(where, 3) : 0);
    info_print(device, "%-18s %-18s %s %s %s %s\n", "Host Ptr", "Target Ptr", "Size (B)",
               "DynRefCount", "HoldRefCount", "Declaration");
    for (struct mapped *each = mapping_first(mapping); each; each = mapping_next(each)) {
        char references[24], holds[24];
        struct name name = name_of(each->name), made = name_base(name_field(each->name, 1));
        count_text(each->references, references);
        count_text(each->holds, holds);
        info_print(device, "0x%016llx 0x%016llx %-8llu %-11s %-12s %.*s at %.*s:%d:%d\n",
                   (unsigned long long)each->begin, (unsigned long long)each->device,
                   (unsigned long long)(each->end - each->begin), references, holds, name.length,
                   name.text, made.length, made.text, atoi(name_field(each->name, 2).text),
                   atoi(name_field(each->name, 3).text));
    }
}

static const char *type_text(int64_t type)
{
    if (type & MAP_PRIVATE)
        return type & MAP_TO ? "firstprivate" : "private";
    if (type & MAP_LITERAL)
        return "firstprivate";
    if (type & MAP_ATTACH)
        return "attach";
    switch (type & (MAP_TO | MAP_FROM)) {
    case MAP_TO | MAP_FROM:
        return "tofrom";
    case MAP_TO:
        return "to";
    case MAP_FROM:
        return "from";
    default:
        return type & MAP_RETURN_PARAM ? "use_address" : "alloc";
    }
}

void info_arguments(const struct location *where, int device, const char *construct, int count,
                    const int64_t *sizes, const int64_t *types, void *const *names)
{
    const struct name unknown = {"unknown", 7};
    bool known = location_known(where);
    struct name file = known ? name_base(location_file(where)) : unknown;
    info_print(device, "%s at %.*s:%d:%d with %d arguments:\n", construct, file.length, file.text,
               known ? location_number(where, 2) : 0, known ? location_number(where, 3) : 0, count);
    for (int i = 0; i < count; i++) {
        struct name name = name_of(names ? names[i] : NULL);
        const char *implicit = types[i] & MAP_IMPLICIT ? "(implicit)" : "";
        info_print(device, "%s(%.*s)[%lld] %s\n", type_text(types[i]), name.length, name.text,
                   (long long)sizes[i], implicit);
    }
}

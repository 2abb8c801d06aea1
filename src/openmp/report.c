/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * report.c: A location is clang's string ";file;function;line;column;;", which is taken apart
 * here. LIBOMPTARGET_INFO is read once, and may be changed while the program runs.
 */
#include "openmp/report.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omprma_private/say.h>

#include "openmp/device.h"
#include "openmp/mapping.h"

enum { LINE_BYTES = 2048 };

/* ---- locations ------------------------------------------------------------------------------ */

/* Field `index` of ";a;b;c;;". */
static struct name field_of(const char *text, int index)
{
    struct name field = {"unknown", 7};
    if (!text || *text != ';')
        return field;
    for (; index > 0; index--) {
        text = strchr(text + 1, ';');
        if (!text)
            return field;
    }
    int length = (int)strcspn(text + 1, ";");
    if (length > 0)
        field = (struct name){text + 1, length};
    return field;
}

struct name name_of(const void *map_name)
{
    enum { SHOWN = 200 }; /* of an expression that a macro has made */
    const char *text = map_name;
    struct name name = text && *text && *text != ';' /* a plain name */
                           ? (struct name){text, (int)strcspn(text, ";")}
                           : field_of(text, 0);
    name.length = name.length < SHOWN ? name.length : SHOWN;
    return name;
}

static bool location_known(const struct location *where)
{
    return where && where->where && strncmp(where->where, ";unknown;", 9) != 0 &&
           *where->where == ';';
}

static struct name location_file(const struct location *where)
{
    return field_of(where->where, 0);
}

/* Without folders, as LLVM's lines have it. */
static struct name base_of(struct name file)
{
    for (int i = file.length - 1; i >= 0; i--)
        if (file.text[i] == '/')
            return (struct name){file.text + i + 1, file.length - i - 1};
    return file;
}

static int location_number(const struct location *where, int index)
{
    return atoi(field_of(where->where, index).text);
}

bool location_words(const struct location *where, char *text, size_t room)
{
    if (!location_known(where))
        return false;
    struct name file = location_file(where);
    snprintf(text, room, "%.*s:%d", file.length, file.text, location_number(where, 2));
    return true;
}

/* ---- errors --------------------------------------------------------------------------------- */

static atomic_bool said; /* any error */

static void line_print(const struct location *where, const struct device *device, const char *text)
{
    char line[LINE_BYTES], place[512] = "", device_name[96] = "";
    if (location_known(where)) {
        struct name file = location_file(where);
        snprintf(place, sizeof(place), "%.*s:%d: ", file.length, file.text,
                 location_number(where, 2));
    }
    if (device)
        snprintf(device_name, sizeof(device_name), "device %d (%s): ", device->number,
                 device->site.host);
    snprintf(line, sizeof(line), "%s%s%s", place, device_name, text);
    fflush(stdout);
    atomic_store(&said, true);
    omprma_say(OMPRMA_SAY_ERROR, line);
}

bool report(const struct location *where, const struct device *device, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    line_print(where, device, text);
    return false;
}

bool report_status(const struct location *where, const struct device *device, int status)
{
    if (status == OMPRMA_OK)
        return true;
    /* omprma's own lines name the device already */
    (void)device;
    line_print(where, NULL, omprma_error());
    return false;
}

static void words_print(const char *prefix, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
static void words_print(const char *prefix, const char *format, va_list arguments)
{
    flockfile(stderr);
    fprintf(stderr, "%s: ", prefix);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
}

static bool is_verbose(void)
{
    const char *verbose = getenv("OMPRMA_VERBOSE");
    return verbose && atoi(verbose) >= 1;
}

/* LLVM's words say less than ours, which have been printed before them. They are for those who know
 * them, or look for them: who asks for LLVM's information, too. */
static bool llvm_words_wanted(void)
{
    return is_verbose() || getenv("LIBOMPTARGET_INFO") != NULL;
}

void report_choice(const char *format, ...)
{
    char text[LINE_BYTES];
    va_list arguments;
    if (!is_verbose())
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    omprma_say(OMPRMA_SAY_NOTE, text);
}

void message_print(const char *format, ...)
{
    va_list arguments;
    if (!llvm_words_wanted())
        return;
    va_start(arguments, format);
    words_print("omptarget message", format, arguments);
    va_end(arguments);
}

void echo_print(const char *format, ...)
{
    va_list arguments;
    if (!llvm_words_wanted())
        return;
    va_start(arguments, format);
    words_print("omptarget error", format, arguments);
    va_end(arguments);
}

const char *range_words(const struct mapped *mapped, char text[RANGE_WORDS])
{
    struct name name = name_of(mapped->name), file = base_of(field_of(mapped->name, 1));
    int line = atoi(field_of(mapped->name, 2).text), length;
    if (!mapped->name)
        length = snprintf(text, RANGE_WORDS, "memory");
    else
        length = snprintf(text, RANGE_WORDS, "\"%.*s\"", name.length, name.text);
    if (length < RANGE_WORDS)
        length += snprintf(text + length, RANGE_WORDS - (size_t)length, " (%zu bytes at %p",
                           (size_t)(mapped->end - mapped->begin), (void *)mapped->begin);
    if (length < RANGE_WORDS && line > 0)
        length += snprintf(text + length, RANGE_WORDS - (size_t)length, ", mapped at %.*s:%d",
                           file.length, file.text, line);
    if (length < RANGE_WORDS)
        snprintf(text + length, RANGE_WORDS - (size_t)length, ")");
    return text;
}

bool report_start(void)
{
    line_print(NULL, NULL, omprma_error());
    return false;
}

void report_fatal(const struct location *where)
{
    fflush(stdout);
    if (!atomic_load(&said))
        line_print(where, NULL, "a target construct has failed, and offloading is mandatory");
    omprma_say(OMPRMA_SAY_END, "");
    if (!llvm_words_wanted())
        abort();
    if (location_known(where)) {
        struct name file = location_file(where);
        fprintf(stderr, "%.*s:%d:%d: ", file.length, file.text, location_number(where, 2),
                location_number(where, 3));
    }
    fprintf(stderr, "omptarget fatal error 1: failure of target construct while offloading is "
                    "mandatory\n");
    abort();
}

void report_inconsistent(const char *clause)
{
    report(NULL, NULL, "not all parts of the program that offload have '#pragma omp requires %s'",
           clause);
    omprma_say(OMPRMA_SAY_END, "");
    if (llvm_words_wanted())
        fprintf(stderr,
                "omptarget fatal error 2: '#pragma omp requires %s' not used consistently!\n",
                clause);
    abort();
}

/* ---- information ---------------------------------------------------------------------------- */

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
    struct name file = known ? base_of(location_file(where)) : unknown;
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
        struct name name = name_of(each->name), made = base_of(field_of(each->name, 1));
        count_text(each->references, references);
        count_text(each->holds, holds);
        info_print(device, "0x%016llx 0x%016llx %-8llu %-11s %-12s %.*s at %.*s:%d:%d\n",
                   (unsigned long long)each->begin, (unsigned long long)each->device,
                   (unsigned long long)(each->end - each->begin), references, holds, name.length,
                   name.text, made.length, made.text, atoi(field_of(each->name, 2).text),
                   atoi(field_of(each->name, 3).text));
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
    struct name file = known ? base_of(location_file(where)) : unknown;
    info_print(device, "%s at %.*s:%d:%d with %d arguments:\n", construct, file.length, file.text,
               known ? location_number(where, 2) : 0, known ? location_number(where, 3) : 0, count);
    for (int i = 0; i < count; i++) {
        struct name name = name_of(names ? names[i] : NULL);
        const char *implicit = types[i] & MAP_IMPLICIT ? "(implicit)" : "";
        info_print(device, "%s(%.*s)[%lld] %s\n", type_text(types[i]), name.length, name.text,
                   (long long)sizes[i], implicit);
    }
}

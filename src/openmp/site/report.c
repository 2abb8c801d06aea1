/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * report.c: our own lines go by omprma_say(), which omprma-run may show elsewhere; LLVM's words go
 * to stderr.
 */
#include "openmp/site/report.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omprma_private/say.h>

#include "openmp/abi/location.h"
#include "openmp/site/site.h"

enum { LINE_BYTES = 2048 };

/* ---- errors --------------------------------------------------------------------------------- */

static atomic_bool said; /* any error */

static void line_print(const struct location *where, const struct site *site, const char *text)
{
    char line[LINE_BYTES], place[512] = "", device_name[96] = "";
    if (location_known(where)) {
        struct name file = location_file(where);
        snprintf(place, sizeof(place), "%.*s:%d: ", file.length, file.text,
                 location_number(where, 2));
    }
    if (site)
        snprintf(device_name, sizeof(device_name), "device %d (%s): ", site->number, site->host);
    snprintf(line, sizeof(line), "%s%s%s", place, device_name, text);
    fflush(stdout);
    atomic_store(&said, true);
    omprma_say(OMPRMA_SAY_ERROR, line);
}

bool report(const struct location *where, const struct site *site, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    line_print(where, site, text);
    return false;
}

bool report_status(const struct location *where, int status)
{
    if (status == OMPRMA_OK)
        return true;
    line_print(where, NULL, omprma_error()); /* which names the device already */
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

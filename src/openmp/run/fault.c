/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fault.c: The address that the kernel used comes from the core. It is looked up among what is
 * mapped on each device, this one last, as that is the better answer.
 */
#include "openmp/run/fault.h"

#include <stdio.h>
#include <string.h>

#include "openmp/abi/location.h"
#include "openmp/device/devices.h"
#include "openmp/device/owner.h"
#include "openmp/run/iostream.h"
#include "openmp/run/stray.h"
#include "openmp/site/report.h"

enum { WORDS_BYTES = OWNER_WORDS + 128 };

static bool found_on(struct device *device, uintptr_t address, const struct device *here,
                     char words[WORDS_BYTES])
{
    struct mapped *mapped;
    pthread_mutex_lock(&device->space->lock);
    bool found = mapping_find(&device->space->mapping, address, 1, &mapped) == OVERLAP_INSIDE;
    if (found) {
        char place[96];
        struct name name = name_of(mapped->name);
        snprintf(place, sizeof(place), "on device %d (%s), not here", device->number,
                 device->site.host);
        snprintf(words, WORDS_BYTES, ", inside \"%.*s\" (%zu bytes), which is mapped %s",
                 name.length, name.text, (size_t)(mapped->end - mapped->begin),
                 device == here ? "here, but the pointer that the region used was not translated: "
                                  "map what holds the pointer together with what it points to"
                                : place);
    }
    pthread_mutex_unlock(&device->space->lock);
    return found;
}

/* For an address of another device's memory. */
static void others_words(uintptr_t address, const struct device *here, char words[WORDS_BYTES])
{
    char owner[OWNER_WORDS];
    int number = owner_words(address, owner);
    if (number >= 0 && number != here->number)
        snprintf(words, WORDS_BYTES,
                 ": that is %s, not of this device: use it in a region with device(%d), or copy it "
                 "(omp_target_memcpy)",
                 owner, number);
}

/* For an address that no map covers. Whose it is has been said in front of this. */
static void unmapped_words(const struct crash *crash, const char *text, omprma_addr_t address,
                           char words[WORDS_BYTES])
{
    const char *stream = iostream_advice((uintptr_t)address);
    if (!strstr(text, ": that is a host pointer ("))
        return;
    if (stream)
        snprintf(words, WORDS_BYTES, ", of a stream of C++, which regions cannot use: %s", stream);
    else if (strstr(text, "(code of "))
        snprintf(words, WORDS_BYTES,
                 ": functions of the program are elsewhere on a device: put this one between "
                 "'declare target' and its end, and take its address in the region");
    else if (strstr(text, "(variables of lib"))
        snprintf(words, WORDS_BYTES, ", which regions do not have");
    else if (stray_words(crash, (uintptr_t)address, text, words, WORDS_BYTES))
        return;
    else if (stray_is_file((uintptr_t)address))
        snprintf(words, WORDS_BYTES,
                 ", a FILE, which regions cannot use: print to stdout or stderr there, or write "
                 "the file outside of the region");
    else
        snprintf(words, WORDS_BYTES,
                 ", which is not mapped: map what the pointer points to, as in map(tofrom: "
                 "p[0:n])");
}

/* For an address that nothing explains: behind what does it lie? */
static void beyond_words(struct device *device, omprma_addr_t address, const char *text,
                         char words[WORDS_BYTES])
{
    const struct mapped *below;
    if (strstr(text, ": that is ") || !strstr(text, "segmentation fault"))
        return;
    pthread_mutex_lock(&device->space->lock);
    below = mapping_below(&device->space->mapping, address);
    if (below) {
        size_t bytes = below->end - below->begin;
        struct name name = name_of(below->name);
        snprintf(
            words, WORDS_BYTES,
            ": that is %llu bytes behind the begin of \"%.*s\" (%zu bytes): is an index out of "
            "bounds? omprma-run --check finds those that stay near",
            (unsigned long long)(address - below->device), name.length, name.text, bytes);
    }
    pthread_mutex_unlock(&device->space->lock);
}

/* Where the statement is known, the verb is followed by " at FILE:LINE". */
static const char *line_advice(const char *text)
{
    static const char *const verbs[] = {" crashed", " called abort", " raised SIG", " got SIG"};

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        const char *verb = strstr(text, verbs[i]);
        if (!verb)
            continue;
        verb += strlen(verbs[i]);
        verb += strspn(verb, "ABCDEFGHIJKLMNOPQRSTUVWXYZ12");
        return strncmp(verb, " at ", 4) == 0 ? "" : "; compile with -g to see the line";
    }
    return "";
}

bool fault_report(const struct crash *crash, int status)
{
    const struct location *where = crash->where;
    const struct device *device = crash->device;
    omprma_addr_t address = 0;
    char words[WORDS_BYTES] = "";
    char text[1024];
    if (status == OMPRMA_OK)
        return true;
    snprintf(text, sizeof(text), "%s", omprma_error());
    if (omprma_fault_address(device->site.remote, &address) != OMPRMA_OK || !address)
        return report(where, NULL, "%s%s", text, line_advice(text));
    /* this one last: what is mapped here is the better answer */
    for (int i = 0; i < devices_started(); i++)
        if (i != device->number)
            found_on(device_at(i), (uintptr_t)address, device, words);
    found_on(device_at(device->number), (uintptr_t)address, device, words);
    if (!*words)
        others_words((uintptr_t)address, device, words);
    if (!*words)
        unmapped_words(crash, text, address, words);
    if (!*words)
        beyond_words(device_at(device->number), address, text, words);
    return report(where, NULL, "%s%s%s", text, words, line_advice(text));
}

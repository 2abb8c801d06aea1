/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * available.c: see available.h. An item is read once for each device, which fulfils it or not; so
 * nothing has to be kept of an expression, and what is wrong in it is found with any device.
 *
 *     list:  item, item ...
 *     item:  * or level, and behind it [index], or [first : length : stride]
 *     level: term, or term && term ..., or term || term ...
 *     term:  ! term, or ( level ), or name(argument)
 */
#include "openmp/device/available.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

static const char host_uid[] = "HOST";

struct reader {
    const char *at;
    const char *wrong; /* what is; NULL: nothing so far */
};

/* Of a device, or of the host. */
struct subject {
    const struct traits *device; /* NULL: the host */
};

static void blanks_skip(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
}

static bool takes(struct reader *reader, const char *sign)
{
    size_t length = strlen(sign);
    blanks_skip(reader);
    if (strncmp(reader->at, sign, length) != 0)
        return false;
    reader->at += length;
    blanks_skip(reader);
    return true;
}

static void go_wrong(struct reader *reader, const char *wrong)
{
    if (!reader->wrong)
        reader->wrong = wrong;
}

/* ---- traits --------------------------------------------------------------------------------- */

static bool is_kind(const struct subject *subject, const char *kind)
{
    if (strcasecmp(kind, subject->device ? "nohost" : "host") == 0)
        return true;
    return strcasecmp(kind, "any") == 0 || strcasecmp(kind, "cpu") == 0;
}

static bool is_arch(const struct subject *subject, const char *arch)
{
    struct utsname system;
    (void)subject;
    return uname(&system) == 0 && strcasecmp(arch, system.machine) == 0;
}

static bool is_vendor(const struct subject *subject, const char *vendor)
{
    return *vendor && subject->device && strcasestr(subject->device->model, vendor);
}

static bool is_uid(const struct subject *subject, const char *uid)
{
    return strcmp(uid, subject->device ? subject->device->uid : host_uid) == 0;
}

static const struct trait {
    const char *name;
    bool (*is)(const struct subject *subject, const char *argument);
} all_traits[] = {{"kind", is_kind}, {"arch", is_arch}, {"vendor", is_vendor}, {"uid", is_uid}};

static const struct trait *trait_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(all_traits) / sizeof(all_traits[0]); i++)
        if (strlen(all_traits[i].name) == length &&
            strncasecmp(all_traits[i].name, name, length) == 0)
            return &all_traits[i];
    return NULL;
}

enum { ARGUMENT_BYTES = 256 };

/* Up to the parenthesis that ends it. */
static bool argument_read(struct reader *reader, char argument[ARGUMENT_BYTES])
{
    const char *end = strchr(reader->at, ')');
    size_t length = end ? (size_t)(end - reader->at) : ARGUMENT_BYTES;
    if (length >= ARGUMENT_BYTES)
        return false;
    memcpy(argument, reader->at, length);
    while (length > 0 && isspace((unsigned char)argument[length - 1]))
        length--;
    argument[length] = '\0';
    reader->at = end + 1;
    return length > 0;
}

static bool trait_read(struct reader *reader, const struct subject *subject)
{
    const char *name = reader->at;
    char argument[ARGUMENT_BYTES];
    while (isalpha((unsigned char)*reader->at))
        reader->at++;
    const struct trait *trait = trait_find(name, (size_t)(reader->at - name));
    if (!trait) {
        reader->at = name;
        go_wrong(reader, "no trait is named so here; there are kind(cpu), arch(x86_64), "
                         "vendor(intel) and uid(NAME)");
        return false;
    }
    if (!takes(reader, "(") || !argument_read(reader, argument)) {
        go_wrong(reader, "a trait has an argument in parentheses, as in uid(NAME)");
        return false;
    }
    return trait->is(subject, argument);
}

/* ---- expressions ---------------------------------------------------------------------------- */

static bool level_read(struct reader *reader, const struct subject *subject);

static bool term_read(struct reader *reader, const struct subject *subject)
{
    bool turned = false;
    while (takes(reader, "!"))
        turned = !turned;
    if (!takes(reader, "("))
        return trait_read(reader, subject) != turned;
    bool is = level_read(reader, subject);
    if (!takes(reader, ")"))
        go_wrong(reader, "a parenthesis is not closed");
    return is != turned;
}

static bool level_read(struct reader *reader, const struct subject *subject)
{
    bool is = term_read(reader, subject);
    const char *sign = NULL;
    while (!reader->wrong) {
        const char *next = takes(reader, "&&") ? "&&" : takes(reader, "||") ? "||" : NULL;
        if (!next)
            break;
        if (sign && *sign != *next)
            go_wrong(reader, "&& and || need parentheses between them");
        sign = next;
        bool other = term_read(reader, subject);
        is = *sign == '&' ? is && other : is || other;
    }
    return is;
}

static bool subject_is(struct reader *reader, const struct subject *subject)
{
    return takes(reader, "*") ? subject->device != NULL : level_read(reader, subject);
}

/* ---- subscripts ----------------------------------------------------------------------------- */

struct section {
    long first, length, stride;
};

static long number_read(struct reader *reader, long otherwise)
{
    char *end;
    blanks_skip(reader);
    if (!isdigit((unsigned char)*reader->at))
        return otherwise;
    long number = strtol(reader->at, &end, 10);
    reader->at = end;
    return number;
}

static struct section section_read(struct reader *reader)
{
    struct section section = {.length = LONG_MAX, .stride = 1};
    if (!takes(reader, "["))
        return section;
    section.first = number_read(reader, -1);
    if (!takes(reader, ":")) {
        section.length = 1;
    } else {
        section.first = section.first < 0 ? 0 : section.first;
        section.length = number_read(reader, LONG_MAX);
        if (takes(reader, ":"))
            section.stride = number_read(reader, 1);
    }
    if (section.first < 0 || section.stride < 1 || !takes(reader, "]"))
        go_wrong(reader, "a subscript is [INDEX], [FIRST:LENGTH] or [FIRST:LENGTH:STRIDE]");
    return section;
}

static bool section_has(const struct section *section, long index)
{
    long behind = index - section->first;
    return behind >= 0 && behind % section->stride == 0 &&
           behind / section->stride < section->length;
}

/* ---- items ---------------------------------------------------------------------------------- */

static bool ends(struct reader *reader)
{
    blanks_skip(reader);
    if (*reader->at && *reader->at != ',')
        go_wrong(reader, "a comma is to be between items");
    return reader->wrong || !takes(reader, ",");
}

/* Adds to the `found` first ones of `chosen` what one item names. With `host` that may be the host,
 * which comes behind all devices. */
static int item_read(struct reader *reader, const struct traits *devices, int count, bool host,
                     int *chosen, int found)
{
    const char *begin = reader->at;
    char *fulfils = calloc((size_t)count + 1, 1);
    long index = 0;
    if (!fulfils) {
        go_wrong(reader, "no host memory");
        return found;
    }
    for (int i = 0; i < count + host && !reader->wrong; i++) {
        const struct subject subject = {i < count ? &devices[i] : NULL};
        reader->at = begin;
        fulfils[i] = subject_is(reader, &subject);
    }
    struct section section = section_read(reader);
    for (int i = 0; i < count + host && !reader->wrong; i++) {
        if (!fulfils[i] || !section_has(&section, index++))
            continue;
        bool known = false;
        for (int k = 0; k < found; k++)
            known |= chosen[k] == i;
        if (!known)
            chosen[found++] = i;
    }
    free(fulfils);
    return found;
}

static int refuse(const struct reader *reader, const char *otherwise, char *why, size_t room)
{
    if (!reader->wrong)
        snprintf(why, room, "%s", otherwise);
    else if (*reader->at)
        snprintf(why, room, "at \"%.60s\": %s", reader->at, reader->wrong);
    else
        snprintf(why, room, "at its end: %s", reader->wrong);
    return -1;
}

static const char none[] = "no device is so";

int available_choose(const char *text, const struct traits *devices, int count, int *chosen,
                     char *why, size_t room)
{
    struct reader reader = {.at = text};
    int found = 0;
    do {
        blanks_skip(&reader);
        found = item_read(&reader, devices, count, false, chosen, found);
    } while (!ends(&reader));
    if (!reader.wrong && found > 0)
        return found;
    refuse(&reader, none, why, room);
    return 0;
}

/* ---- the default device --------------------------------------------------------------------- */

static bool takes_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);
    if (strncasecmp(reader->at, word, length) != 0 || isalpha((unsigned char)reader->at[length]))
        return false;
    reader->at += length;
    return true;
}

/* -1: the item names none, and the next one may. */
static int default_item(struct reader *reader, const struct traits *devices, int count, int *chosen)
{
    blanks_skip(reader);
    if (isdigit((unsigned char)*reader->at)) {
        long number = number_read(reader, -1);
        return number <= count ? (int)number : -1;
    }
    if (takes_word(reader, "initial"))
        return count;
    if (takes_word(reader, "default"))
        return 0;
    return item_read(reader, devices, count, true, chosen, 0) > 0 ? chosen[0] : -1;
}

int available_default(const char *text, const struct traits *devices, int count, char *why,
                      size_t room)
{
    struct reader reader = {.at = text};
    int *chosen = calloc((size_t)count + 1, sizeof(*chosen)), first = -1;
    if (!chosen)
        go_wrong(&reader, "no host memory");
    else
        do {
            int number = default_item(&reader, devices, count, chosen);
            first = first < 0 ? number : first;
        } while (!ends(&reader));
    free(chosen);
    return reader.wrong || first < 0 ? refuse(&reader, none, why, room) : first;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * environment.c: libomp reads numbers only from OMP_DEFAULT_DEVICE, and takes 0 for all else. It
 * reads when the program first calls it, which is after the devices have started as a rule: so the
 * number takes the name's place in the environment.
 */
#include "openmp/device/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omprma_private/uid.h>

#include "openmp/abi/late.h"
#include "openmp/abi/libomp.h"
#include "openmp/device/available.h"

enum { WHY_BYTES = 256, NAMES_BYTES = 1024 };

static const char default_variable[] = "OMP_DEFAULT_DEVICE";
static const char available_variable[] = "OMP_AVAILABLE_DEVICES";

static bool names_host;

struct described {
    char uid[OMPRMA_UID_BYTES];
    omprma_device_info_t info;
};

/* Malloced; NULL: no memory. */
static struct traits *describe(const int *remotes, int count, struct described *described)
{
    struct traits *traits = calloc((size_t)count, sizeof(*traits));
    for (int i = 0; traits && i < count; i++) {
        omprma_uid(remotes[i], described[i].uid);
        omprma_device_info(remotes[i], &described[i].info);
        traits[i] = (struct traits){described[i].uid, described[i].info.model};
    }
    return traits;
}

/* Says why in `text`; -1. */
static int refuse(const char *variable, const char *why, const struct traits *traits, int count,
                  char text[ENVIRONMENT_BYTES])
{
    char names[NAMES_BYTES];
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof(names) - OMPRMA_UID_BYTES - 8; i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%suid(%s)", i ? ", " : "",
                                 traits[i].uid);
    snprintf(text, ENVIRONMENT_BYTES, "%s=\"%.512s\": %s; the devices of this program are %s",
             variable, getenv(variable), why, names);
    return -1;
}

static const char *value_of(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[strspn(value, " \t")] ? value : NULL;
}

/* -1: none. */
static int keep_available(int *remotes, struct traits *traits, int count,
                          char text[ENVIRONMENT_BYTES])
{
    char why[WHY_BYTES] = "no host memory";
    const char *value = value_of(available_variable);
    if (!value)
        return count;
    struct named {
        struct traits traits;
        int remote;
    } *before = calloc((size_t)count, sizeof(*before));
    int *chosen = calloc((size_t)count, sizeof(*chosen)), kept = 0;
    if (before && chosen)
        kept = available_choose(value, traits, count, chosen, why, sizeof(why));
    for (int i = 0; i < count && before; i++)
        before[i] = (struct named){traits[i], remotes[i]};
    for (int i = 0; i < kept; i++) {
        traits[i] = before[chosen[i]].traits;
        remotes[i] = before[chosen[i]].remote;
    }
    free(chosen);
    free(before);
    return kept > 0 ? kept : refuse(available_variable, why, traits, count, text);
}

static bool is_number(const char *value)
{
    char *end;
    strtol(value, &end, 10);
    return end != value && end[strspn(end, " \t")] == '\0';
}

static int number_default(const struct traits *traits, int count, char text[ENVIRONMENT_BYTES])
{
    char why[WHY_BYTES], digits[16];
    const char *value = value_of(default_variable);
    if (!value || is_number(value))
        return count;
    int number = available_default(value, traits, count, why, sizeof(why));
    if (number < 0)
        return refuse(default_variable, why, traits, count, text);
    names_host = number == count;
    snprintf(digits, sizeof(digits), "%d", number);
    setenv(default_variable, digits, 1);
    if (late_for_libomp() && omp_set_default_device)
        omp_set_default_device(number);
    return count;
}

int environment_devices(int *remotes, int count, char text[ENVIRONMENT_BYTES])
{
    if (count == 0 || (!value_of(available_variable) && !value_of(default_variable)))
        return count;
    struct described *described = calloc((size_t)count, sizeof(*described));
    struct traits *traits = described ? describe(remotes, count, described) : NULL;
    int kept = -1;
    if (traits)
        kept = keep_available(remotes, traits, count, text);
    else
        snprintf(text, ENVIRONMENT_BYTES, "no host memory for the names of %d devices", count);
    if (kept > 0)
        kept = number_default(traits, kept, text);
    free(traits);
    free(described);
    return kept;
}

bool environment_names_host(void)
{
    return names_host;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * free_memory.c: free memory by /proc/meminfo and control groups, see free_memory.h. In a container
 * the group's path may not exist below the mount; walking up from it then ends at the mount itself,
 * which is the container's own group. Must not know: hwloc, MPI.
 */
#include "worker/free_memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Where a version of control groups is mounted and what its files are called. */
struct group_kind {
    const char *mount, *limit, *usage, *reclaimable;
};

static const struct group_kind version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                            "memory.usage_in_bytes", "total_inactive_file"};
static const struct group_kind version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                            "inactive_file"};
/* version 2 beside version 1 */
static const struct group_kind version_2_hybrid = {"/sys/fs/cgroup/unified", "memory.max",
                                                   "memory.current", "inactive_file"};

/* The number on the line "<key> number" or "<key>: number"; `key` NULL: the first line's. */
static int number_read(const char *path, const char *key, uint64_t *value)
{
    char line[256];
    int found = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    while (!found && fgets(line, sizeof(line), file)) {
        const char *at = line;
        if (key) {
            size_t length = strlen(key);
            if (strncmp(line, key, length) || !strchr(" :\t", line[length]))
                continue;
            at = line + length + strspn(line + length, " :\t");
        }
        found = sscanf(at, "%" SCNu64, value) == 1; /* "max" is no number: no limit */
        if (!key)
            break;
    }
    fclose(file);
    return found;
}

enum question { LIMIT, FREE };

/* What one group leaves, or its limit; file pages that can be dropped count as free. */
static uint64_t group_ask(const struct group_kind *kind, const char *folder, enum question question)
{
    char path[PATH_MAX + 64];
    uint64_t limit, usage = 0, reclaimable = 0;
    snprintf(path, sizeof(path), "%s/%s", folder, kind->limit);
    if (!number_read(path, NULL, &limit))
        return UINT64_MAX;
    if (question == LIMIT)
        return limit;
    snprintf(path, sizeof(path), "%s/%s", folder, kind->usage);
    number_read(path, NULL, &usage);
    snprintf(path, sizeof(path), "%s/memory.stat", folder);
    number_read(path, kind->reclaimable, &reclaimable);
    usage -= reclaimable < usage ? reclaimable : usage;
    return limit > usage ? limit - usage : 0;
}

/* The least of the group `name` and all groups above it. */
static uint64_t groups_ask(const struct group_kind *kind, const char *root, const char *name,
                           enum question question)
{
    char folder[PATH_MAX];
    int top = snprintf(folder, sizeof(folder), "%s%s", root, kind->mount);
    if (top < 0 || (size_t)top + strlen(name) >= sizeof(folder))
        return UINT64_MAX;
    strcpy(folder + top, name);
    uint64_t least = UINT64_MAX;
    for (;;) {
        uint64_t here = group_ask(kind, folder, question);
        least = here < least ? here : least;
        char *last = strrchr(folder + top, '/');
        if (!last)
            return least;
        *last = 0;
    }
}

/* True if the comma-separated `list` holds `word`. */
static int list_holds(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
            return 1;
    return 0;
}

static uint64_t all_groups_ask(const char *root, enum question question)
{
    char path[PATH_MAX], line[PATH_MAX];
    uint64_t least = UINT64_MAX;
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return least;
    while (fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *name = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!name)
            continue;
        *name++ = 0;
        controllers++;
        uint64_t here = UINT64_MAX;
        if (list_holds(controllers, "memory")) {
            here = groups_ask(&version_1, root, name, question);
        } else if (!*controllers) {
            here = groups_ask(&version_2, root, name, question);
            uint64_t hybrid = groups_ask(&version_2_hybrid, root, name, question);
            here = hybrid < here ? hybrid : here;
        }
        least = here < least ? here : least;
    }
    fclose(file);
    return least;
}

uint64_t free_memory_bytes(const char *root)
{
    char path[PATH_MAX];
    uint64_t available_kib = 0;
    snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    uint64_t host =
        number_read(path, "MemAvailable", &available_kib) ? available_kib << 10 : UINT64_MAX;
    uint64_t groups = all_groups_ask(root, FREE);
    uint64_t least = host < groups ? host : groups;
    return least == UINT64_MAX ? 0 : least;
}

/* Version 1 has no word for "no limit": it is the largest number of whole pages. */
uint64_t free_memory_limit(const char *root)
{
    uint64_t limit = all_groups_ask(root, LIMIT);
    return limit >= (uint64_t)1 << 62 ? 0 : limit;
}

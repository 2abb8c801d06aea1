/* place.c: see place.h. */
#include "openmp/place.h"

#include <pthread.h>
#include <stdio.h>

#include "openmp/report.h"

enum { RANGES = 256 };

bool place_wanted;

static struct {
    pthread_mutex_t lock;
    struct {
        int remote;
        uintptr_t begin, end;
    } ranges[RANGES];
    size_t count;
} unmapped = {.lock = PTHREAD_MUTEX_INITIALIZER};

void place_open(void)
{
    place_wanted = omprma_check_wanted();
}

void place_say_wanted(const struct location *where, const char *map_name)
{
    char place[256], variable[128];
    struct name name = name_of(map_name);
    bool known = location_words(where, place, sizeof(place));
    snprintf(variable, sizeof(variable), "%.*s", name.length, name.text);
    omprma_check_place(known ? place : NULL, map_name ? variable : NULL, 0);
}

void place_unmapped(int remote, uintptr_t begin, uintptr_t end)
{
    pthread_mutex_lock(&unmapped.lock);
    size_t at = unmapped.count++ % RANGES;
    unmapped.ranges[at].remote = remote;
    unmapped.ranges[at].begin = begin;
    unmapped.ranges[at].end = end;
    pthread_mutex_unlock(&unmapped.lock);
}

bool place_was_mapped(int remote, uintptr_t address)
{
    bool found = false;
    pthread_mutex_lock(&unmapped.lock);
    for (size_t i = 0; i < RANGES && !found; i++)
        found = unmapped.ranges[i].remote == remote && address >= unmapped.ranges[i].begin &&
                address < unmapped.ranges[i].end;
    pthread_mutex_unlock(&unmapped.lock);
    return found;
}

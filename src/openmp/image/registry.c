/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * registry.c: Regions of all images stand in one tree by the address that programs call them with,
 * and, as several libraries may have one of the same name, by the age of their image. Lookups that
 * repeat are answered by the plans of a device, which are valid while nothing was registered or
 * removed. Libraries begin on a device when it is next used.
 */
#include "openmp/image/registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "face/gate.h"
#include "openmp/device/devices.h"
#include "openmp/image/image.h"
#include "openmp/site/report.h"

struct region {
    RB_ENTRY(region) link;
    const void *id;
    struct image *image;
    size_t index; /* of its entry */
};
RB_HEAD(region_tree, region);

static struct registry {
    pthread_rwlock_t lock;
    struct image *images; /* the newest last */
    struct region_tree regions;
    unsigned long order;                   /* of the newest image */
    atomic_ulong generation;               /* counts changes */
    atomic_ulong removed;                  /* counts libraries that have gone */
    atomic_llong requires;                 /* by any part of the program */
    atomic_int oldest_clang, newest_clang; /* see registry_compilers() */
    atomic_bool foreign;                   /* a library had only images for other machines */
    atomic_bool variables;                 /* an image has some of the program */
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Several libraries may have regions of one name, for example of a file that was compiled twice.
 * The ids of these are one symbol to the loader, so they are one address. */
static int region_compare(const struct region *a, const struct region *b)
{
    unsigned long first = a->image ? a->image->order : 0, second = b->image ? b->image->order : 0;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return first < second ? -1 : first > second;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* not all of them are used */
RB_GENERATE_INTERNAL(region_tree, region, link, region_compare, static)
#pragma GCC diagnostic pop

/* ---- libraries ------------------------------------------------------------------------------ */

void registry_require(int64_t clauses)
{
    static const struct {
        int64_t clause;
        const char *name;
    } shared[] = {{REQUIRES_REVERSE_OFFLOAD, "reverse_offload"},
                  {REQUIRES_UNIFIED_ADDRESS, "unified_address"},
                  {REQUIRES_UNIFIED_SHARED_MEMORY, "unified_shared_memory"}};
    long long before = 0; /* nothing was said; "no clause" is a bit of its own */
    if (atomic_compare_exchange_strong(&registry.requires, &before, clauses))
        return;
    atomic_fetch_or(&registry.requires, clauses);
    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        if ((before ^ clauses) & shared[i].clause)
            report_inconsistent(shared[i].name);
}

static bool requires_take(const struct entry *entry, void *context)
{
    (void)context;
    if (entry->flags & ENTRY_REQUIRES)
        registry_require(entry->data);
    return true;
}

static void regions_add(struct image *image)
{
    for (size_t i = 0; i < image->count; i++) {
        if (image->entries[i].bytes > 0 || !image->entries[i].address)
            continue;
        struct region *region = calloc(1, sizeof(*region));
        if (!region) {
            report(NULL, NULL, "no host memory for the target region %s", image->entries[i].name);
            return;
        }
        *region = (struct region){.id = image->entries[i].address, .image = image, .index = i};
        if (RB_INSERT(region_tree, &registry.regions, region))
            free(region); /* the same entry twice */
    }
}

static void regions_drop(struct image *image)
{
    for (size_t i = 0; i < image->count; i++) {
        struct region key = {.id = image->entries[i].address, .image = image};
        struct region *region = RB_FIND(region_tree, &registry.regions, &key);
        if (region) {
            RB_REMOVE(region_tree, &registry.regions, region);
            free(region);
        }
    }
}

static void compilers_note(struct compilers more)
{
    struct compilers all = registry_compilers();
    if (more.newest == 0)
        return;
    compilers_add(&all, more.oldest);
    compilers_add(&all, more.newest);
    atomic_store(&registry.oldest_clang, all.oldest);
    atomic_store(&registry.newest_clang, all.newest);
}

struct compilers registry_compilers(void)
{
    return (struct compilers){.oldest = atomic_load(&registry.oldest_clang),
                              .newest = atomic_load(&registry.newest_clang)};
}

bool registry_add(const struct abi_library *library)
{
    bool any = false;
    if (!entries_each(library->entries_begin, library->entries_end, requires_take, NULL))
        return false;
    for (int32_t i = 0; i < library->count; i++) {
        struct image *image =
            image_make(library, &library->images[i], atomic_load(&registry.removed));
        if (!image)
            continue;
        pthread_rwlock_wrlock(&registry.lock);
        image->order = ++registry.order;
        struct image **last = &registry.images;
        while (*last)
            last = &(*last)->next;
        *last = image;
        regions_add(image);
        compilers_note(image->by);
        atomic_fetch_add(&registry.generation, 1);
        pthread_rwlock_unlock(&registry.lock);
        any = true;
    }
    if (!any && library->count > 0)
        atomic_store(&registry.foreign, true);
    return any;
}

/* Takes the library's first image out of the list. */
static struct image *image_take(const struct abi_library *library)
{
    pthread_rwlock_wrlock(&registry.lock);
    struct image **place = &registry.images;
    while (*place && (*place)->library != library)
        place = &(*place)->next;
    struct image *found = *place;
    if (found) {
        *place = found->next;
        regions_drop(found);
    }
    pthread_rwlock_unlock(&registry.lock);
    return found;
}

static void library_remove(const struct abi_library *library, int sites)
{
    struct image *image;
    while ((image = image_take(library))) {
        for (int i = 0; i < sites; i++) {
            struct device *device = device_of_site(i);
            pthread_mutex_lock(&device->site.load_lock);
            image_displace(image, device);
            pthread_mutex_unlock(&device->site.load_lock);
        }
        image_free(image);
    }
}

void registry_remove(const struct abi_library *library)
{
    atomic_fetch_add(&registry.removed, 1);
    library_remove(library, devices_ended() ? 0 : devices_sites());
}

void registry_clear(int sites)
{
    while (registry.images) {
        const struct image *newest = registry.images;
        while (newest->next)
            newest = newest->next;
        library_remove(newest->library, sites);
    }
}

bool registry_has_variables(void)
{
    return atomic_load_explicit(&registry.variables, memory_order_relaxed);
}

/* ---- devices -------------------------------------------------------------------------------- */

/* Only placement asks for variables. */
static bool image_prepare(struct image *image, struct device *device, const struct location *where)
{
    if (image_is_placed(image, device))
        return true;
    if (devices_are_placed() && image_has_variables(image))
        atomic_store(&registry.variables, true);
    return image_place(image, device, where);
}

static bool prepare_locked(struct device *device, const struct location *where)
{
    const char *refusal = requires_refusal(atomic_load(&registry.requires));
    if (refusal)
        return report(where, &device->site, "%s", refusal);
    unsigned long generation = atomic_load(&registry.generation);
    bool right = true;
    pthread_rwlock_rdlock(&registry.lock);
    for (struct image *image = registry.images; image && right; image = image->next)
        right = image_prepare(image, device, where);
    pthread_rwlock_unlock(&registry.lock);
    if (right)
        atomic_store(&device->site.generation, generation);
    return right;
}

bool registry_prepare(struct device *device, const struct location *where)
{
    if (atomic_load_explicit(&device->site.generation, memory_order_acquire) ==
        atomic_load_explicit(&registry.generation, memory_order_acquire))
        return true;
    pthread_mutex_lock(&device->site.load_lock);
    bool right = prepare_locked(device, where);
    pthread_mutex_unlock(&device->site.load_lock);
    return right;
}

void registry_each(bool (*call)(const struct image *image, void *context), void *context)
{
    pthread_rwlock_rdlock(&registry.lock);
    for (const struct image *image = registry.images; image; image = image->next)
        if (image->addresses && !call(image, context))
            break;
    pthread_rwlock_unlock(&registry.lock);
}

unsigned long registry_changes(void)
{
    return atomic_load_explicit(&registry.generation, memory_order_acquire) +
           atomic_load_explicit(&registry.removed, memory_order_acquire);
}

/* Of several regions with this id the one of the code that asks, whose `caller` lies in its shared
 * object; else the first one. */
static const struct region *region_find(const struct device *device, const void *id,
                                        const struct location *caller, bool *several)
{
    struct region key = {.id = id}, *region = RB_NFIND(region_tree, &registry.regions, &key);
    const struct region *first = NULL, *own = NULL;
    int count = 0; /* one that is not placed yet may be the next caller's */
    for (; region && region->id == id; region = RB_NEXT(region_tree, &registry.regions, region)) {
        count++;
        if (!image_is_placed(region->image, device))
            continue;
        first = first ? first : region;
        if (!own && image_is_of(region->image, caller))
            own = region;
    }
    *several = count > 1;
    return own ? own : first;
}

static bool kernel_find(const struct device *device, struct plan *found,
                        const struct location *caller)
{
    bool several = false;
    pthread_rwlock_rdlock(&registry.lock);
    const struct region *region = region_find(device, found->host_id, caller, &several);
    if (region) {
        found->kernel = region->image->addresses[device->site.index][region->index];
        found->name = region->image->entries[region->index].name;
        found->has_leading = region->image->entries[region->index].has_leading;
        found->as_on_gpus = region->image->entries[region->index].as_on_gpus;
    }
    found->caller = several ? caller : NULL;
    bool ended = !registry.images && atomic_load(&registry.removed) > 0;
    pthread_rwlock_unlock(&registry.lock);
    return ended;
}

/* The host's code of it is there, and calls. Clang from 15 on registers nothing of a link that has
 * brought no device code, and links that of archives only for object files that have some. */
static bool region_is_missing(const struct device *device, const struct location *where)
{
    if (atomic_load(&registry.foreign))
        return report(where, &device->site,
                      "the program has no image with this target region for x86_64; "
                      "compile it with -fopenmp-targets=x86_64-pc-linux-gnu");
    return report(where, &device->site,
                  "the device code of this target region was not linked; link with clang -fopenmp "
                  "-fopenmp-targets=x86_64-pc-linux-gnu, and not static archives alone: give an "
                  "object file that was compiled so beside them");
}

/* Images are looked at without the device's lock: who places one holds both. */
static bool plan_begin(struct device *device, struct plan *plan, const void *host_id,
                       const struct location *where)
{
    struct plan found = {.host_id = host_id, .changes = registry_changes()};
    pthread_mutex_unlock(&device->space->lock);
    bool ended = kernel_find(device, &found, where);
    pthread_mutex_lock(&device->space->lock);
    *plan = found;
    if (!found.kernel && ended && gate_ends_elsewhere())
        return false;
    if (!found.kernel && ended)
        return report(where, &device->site,
                      "the program, or the library with this target region, ends before the "
                      "region has begun: wait for nowait regions first, for example by taskwait");
    return found.kernel || region_is_missing(device, where);
}

/* Clang gives regions neighbouring addresses. */
struct plan *registry_plan(struct device *device, const void *host_id, const struct location *where)
{
    struct plan *plan = &device->plans[(uintptr_t)host_id % PLANS];
    bool is_known = plan->host_id == host_id && plan->kernel &&
                    (!plan->caller || plan->caller == where) && plan->changes == registry_changes();
    return is_known || plan_begin(device, plan, host_id, where) ? plan : NULL;
}

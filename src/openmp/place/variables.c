/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * variables.c: a kernel that all devices have compares variables with what they were (see
 * omprma_private/variables.h). It is launched behind each construct, in the same queue, and what it
 * finds goes into a log in device memory, whose end comes back with the construct's data. So a
 * construct that has written nothing costs no message more. The log is read, outside of the lock,
 * before the construct is over; what others lack is written by a work of its own, which the next
 * construct there waits for.
 */
#include "openmp/place/variables.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/abi/elf.h"
#include "openmp/device/devices.h"
#include "openmp/image/image.h"
#include "openmp/image/registry.h"
#include "openmp/place/copies.h"
#include "openmp/place/end.h"
#include "openmp/place/lacking.h"
#include "openmp/site/report.h"

enum {
    MOST_BYTES = 64 << 10, /* that are compared behind each construct */
    LOG_BYTES = 512 << 10, /* more than all of them take as records */
    NEAR_BYTES = 64        /* ranges that are so near to each other are one */
};

/* A variable that the program can name, in the table for good. */
struct named {
    struct mapped *mapped;
    uint64_t number;
    omprma_addr_t at[SITES_MOST];
};

/* What is known of a site. */
struct seen {
    pthread_mutex_t lock;   /* of who reads its log; taken before the space's */
    _Atomic uint64_t read;  /* bytes of its log */
    struct work *writer;    /* the last work that has written there what it lacked, */
    uint64_t writer_number; /* if that is still this one */
    uint64_t taken;         /* the number of works when something of its log was taken last */
};

static struct variables {
    pthread_mutex_t lock;  /* of who prepares; taken before the space's */
    atomic_ulong prepared; /* changes of the registry until then, see registry_changes() */
    unsigned long newest;  /* image that is watched */
    _Atomic omprma_addr_t log;
    size_t bytes;
    struct words words; /* the rest under the space's lock */
    struct named *named;
    size_t named_count;
    int named_on; /* site */
    struct seen seen[SITES_MOST];
} variables = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_watched(void)
{
    return atomic_load_explicit(&variables.log, memory_order_acquire) != 0;
}

static omprma_addr_t log_of(size_t offset)
{
    return atomic_load(&variables.log) + sizeof(omprma_variables_log_t) + offset;
}

/* ---- ranges of images ----------------------------------------------------------------------- */

/* Variables of an image, as it counts addresses. */
struct ranges {
    omprma_variables_range_t *list;
    size_t count, room;
    bool full; /* no memory */
};

static bool range_take(const struct elf_variable *variable, void *context)
{
    struct ranges *ranges = context;
    if (ranges->count == ranges->room) {
        size_t room = ranges->room ? 2 * ranges->room : 16;
        omprma_variables_range_t *longer = reallocarray(ranges->list, room, sizeof(*longer));
        if (!longer) {
            ranges->full = true;
            return false;
        }
        ranges->list = longer;
        ranges->room = room;
    }
    ranges->list[ranges->count++] = (omprma_variables_range_t){variable->at, variable->bytes};
    return true;
}

static int range_compare(const void *left, const void *right)
{
    const omprma_variables_range_t *a = left, *b = right;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Few long ones, in order. Several symbols may be one variable. Their bytes. */
static size_t ranges_join(struct ranges *ranges)
{
    size_t count = 0, bytes = 0;
    if (ranges->count > 0)
        qsort(ranges->list, ranges->count, sizeof(*ranges->list), range_compare);
    for (size_t i = 0; i < ranges->count; i++) {
        const omprma_variables_range_t next = ranges->list[i];
        omprma_variables_range_t *last = count > 0 ? &ranges->list[count - 1] : NULL;
        if (!last || next.at > last->at + last->bytes + NEAR_BYTES)
            ranges->list[count++] = next;
        else if (next.at + next.bytes > last->at + last->bytes)
            last->bytes = next.at + next.bytes - last->at;
    }
    ranges->count = count;
    for (size_t i = 0; i < count; i++)
        bytes += ranges->list[i].bytes + 16;
    return bytes;
}

/* Where the image begins on each site. False: it has no code that anybody calls. */
static bool image_places(const struct image *image, uint64_t *places)
{
    for (size_t i = 0; i < image->count; i++) {
        uint64_t at = image->entries[i].flags & ENTRY_INDIRECT
                          ? 0
                          : elf_symbol(image->start, image->bytes, image->entries[i].name);
        for (int site = 0; at && site < devices_sites(); site++)
            places[site] = image->addresses[site] ? image->addresses[site][i] - at : 0;
        if (at)
            return true;
    }
    return false;
}

/* ---- beginning ------------------------------------------------------------------------------ */

/* A work of this file's own that is waited for, with device memory. NULL: reported. */
static struct work *work_with(struct device *device, size_t bytes, omprma_addr_t *block)
{
    pthread_mutex_lock(&device->space->lock);
    struct work *work = work_begin_locked(device, NULL, WORK_WAITED);
    *block = work && bytes > 0 ? work_private(work, bytes) : 0;
    pthread_mutex_unlock(&device->space->lock);
    if (work && bytes > 0 && !*block) {
        work_finish(work);
        return NULL;
    }
    return work;
}

static bool serve(struct work *work, enum omprma_variables_demand demand, uint64_t at,
                  uint64_t words, uint64_t more)
{
    const uint64_t list[] = {demand, at, words, more};
    return work_launch(work, work->site->variables, NULL, list, 4);
}

/* True in *own: a variable has an address of the worker's own memory. */
static bool site_watch(struct device *device, const struct ranges *ranges, uint64_t place,
                       bool first, bool *own)
{
    static const omprma_variables_log_t empty;
    size_t bytes = ranges->count * sizeof(*ranges->list);
    omprma_addr_t block;
    struct work *work = work_with(device, bytes, &block);
    omprma_variables_range_t *list = work ? work_keep(work, bytes) : NULL;
    uint64_t found = 0;
    bool right = list != NULL;
    for (size_t i = 0; i < ranges->count && right; i++)
        list[i] = (omprma_variables_range_t){place + ranges->list[i].at, ranges->list[i].bytes};
    if (right && first)
        right = work_submit(work, atomic_load(&variables.log), &empty, sizeof(empty), NULL);
    right = right && work_submit(work, block, list, bytes, NULL) &&
            serve(work, OMPRMA_VARIABLES_WATCH, block, ranges->count, first) &&
            work_retrieve(work, &found, block, sizeof(found), NULL);
    right = work && work_finish(work) && right;
    *own = *own || found;
    return right;
}

static bool log_make(struct device *device)
{
    omprma_addr_t log;
    if (is_watched())
        return true;
    if (!report_status(NULL, omprma_alloc(device->site.remote,
                                          sizeof(omprma_variables_log_t) + LOG_BYTES, &log)))
        return false;
    for (int i = 0; i < devices_sites(); i++)
        pthread_mutex_init(&variables.seen[i].lock, NULL);
    variables.words.sites = devices_sites();
    atomic_store(&variables.log, log);
    return true;
}

static bool named_add(const struct image *image, size_t entry, struct mapped *mapped)
{
    struct named *longer =
        reallocarray(variables.named, variables.named_count + 1, sizeof(*longer));
    if (!longer)
        return false;
    variables.named = longer;
    longer += variables.named_count++;
    longer->mapped = mapped;
    longer->number = mapped->number;
    for (int i = 0; i < devices_sites(); i++)
        longer->at[i] = image->addresses[i] ? image->addresses[i][entry] : 0;
    return true;
}

/* What the table has of the image: variables, also constant ones, and functions that are called
 * through pointers. Under the space's lock. One that several images have belongs to the first. */
static bool names_add(struct space *space, const struct image *image)
{
    bool right = true;
    for (size_t i = 0; i < image->count && right; i++) {
        const struct entry *entry = &image->entries[i];
        struct mapped *mapped;
        if (entry->bytes > 0 &&
            mapping_find(&space->mapping, (uintptr_t)entry->address, entry->bytes, &mapped) ==
                OVERLAP_INSIDE &&
            mapped->name == entry->name)
            right = named_add(image, i, mapped);
    }
    return right;
}

/* What is watched of it. Under the space's lock. */
static bool books_add(const struct image *image, const uint64_t *places,
                      const struct ranges *ranges)
{
    bool right = words_add_image(&variables.words, places, elf_extent(image->start, image->bytes));
    for (size_t i = 0; i < ranges->count && right; i++) {
        const omprma_variables_range_t range = {places[0] + ranges->list[i].at,
                                                ranges->list[i].bytes};
        right = words_add_range(&variables.words, &range);
    }
    return right;
}

static bool image_note(struct space *space, const struct image *image, const uint64_t *places,
                       const struct ranges *ranges)
{
    pthread_mutex_lock(&space->lock);
    bool right = (!ranges || books_add(image, places, ranges)) && names_add(space, image);
    pthread_mutex_unlock(&space->lock);
    return right || report(NULL, NULL, "no host memory for variables of a device image");
}

struct preparing {
    const char *why;
    bool right;
};

static bool image_watch(const struct image *image, const struct ranges *ranges,
                        const uint64_t *places, struct preparing *preparing)
{
    struct space *space = device_of_site(0)->space;
    bool first = variables.words.range_count == 0, own = false;
    bool right = log_make(device_of_site(0));
    for (int i = 0; i < devices_sites() && right; i++) {
        struct device *device = device_of_site(i);
        right = device_is_lost(device) || site_watch(device, ranges, places[i], first, &own) ||
                device_is_lost(device);
    }
    right = right && image_note(space, image, places, ranges);
    if (own)
        preparing->why = "the program's variables on devices lead to memory that each worker has "
                         "made for itself (constructors)";
    return right;
}

/* Of all images, in the order in which they came. */
static bool image_prepare(const struct image *image, void *context)
{
    struct preparing *preparing = context;
    struct ranges ranges = {.count = 0};
    uint64_t places[SITES_MOST];
    if (image->order <= variables.newest || preparing->why)
        return true;
    bool whole = elf_each_variable(image->start, image->bytes, range_take, &ranges);
    size_t bytes = ranges_join(&ranges);
    if (ranges.full)
        preparing->right = report(NULL, NULL, "no host memory for a list of variables");
    else if (!whole)
        preparing->why = "device code has no table of symbols, which tells of variables (strip)";
    else if (ranges.count > 0 && bytes > MOST_BYTES - variables.bytes)
        preparing->why = "the program has more than 64 KiB of variables on devices (declare "
                         "target, static)";
    else if (ranges.count > 0 && image_places(image, places))
        preparing->right = image_watch(image, &ranges, places, preparing);
    else
        preparing->right = image_note(device_of_site(0)->space, image, NULL, NULL);
    variables.bytes += bytes;
    variables.newest = image->order;
    free(ranges.list);
    return preparing->right;
}

bool variables_prepare(const char **why)
{
    struct preparing preparing = {.right = true};
    *why = NULL;
    if (atomic_load_explicit(&variables.prepared, memory_order_acquire) == registry_changes())
        return true;
    pthread_mutex_lock(&variables.lock);
    unsigned long changes = registry_changes();
    registry_each(image_prepare, &preparing);
    if (preparing.right && !preparing.why)
        atomic_store_explicit(&variables.prepared, changes, memory_order_release);
    pthread_mutex_unlock(&variables.lock);
    *why = preparing.why;
    return preparing.right;
}

/* ---- before a construct --------------------------------------------------------------------- */

void variables_turn_to(const struct site *site)
{
    if (variables.named_on == site->index)
        return;
    for (size_t i = 0; i < variables.named_count; i++) {
        const struct named *named = &variables.named[i];
        if (named->mapped->number == named->number)
            named->mapped->device = named->at[site->index];
    }
    variables.named_on = site->index;
}

static bool is_variable(const struct mapped *mapped)
{
    return mapped && mapped->variable;
}

bool variables_give(struct space *space, const void *address, const char *how)
{
    struct mapped *mapped;
    if (!placement_give(how))
        return false;
    pthread_mutex_lock(&space->lock);
    mapping_find(&space->mapping, (uintptr_t)address, 1, &mapped);
    bool variable = is_variable(mapped);
    pthread_mutex_unlock(&space->lock);
    return !variable || placement_end("the program asks for the device address of a variable on "
                                      "devices (declare target)");
}

bool variables_are_pointed_to(struct space *space, const struct maps *maps)
{
    bool found = false;
    pthread_mutex_lock(&space->lock);
    for (int i = 0; i < maps->count && !found && variables.named_count > 0; i++) {
        struct mapped *to, *pointer;
        if (!(maps->types[i] & (MAP_PTR_AND_OBJ | MAP_ATTACH)))
            continue;
        mapping_find(&space->mapping, (uintptr_t)maps->begins[i], 0, &to);
        mapping_find(&space->mapping, (uintptr_t)maps->bases[i], sizeof(void *), &pointer);
        found = is_variable(to) && !is_variable(pointer);
    }
    pthread_mutex_unlock(&space->lock);
    return found;
}

/* What attached pointers in variables lead to. */
static bool named_use(struct work *work)
{
    for (size_t i = 0; i < variables.named_count; i++) {
        const struct named *named = &variables.named[i];
        if (named->mapped->number == named->number && mapped_has_pointers(named->mapped) &&
            !copies_use(work, named->mapped, true))
            return false;
    }
    return true;
}

/* Gives the site what it lacks, by a work that this one waits for. */
static bool site_write(struct work *work, struct seen *seen, size_t room)
{
    struct work *writer = work_begin_locked(work->device, work->where, WORK_FLIGHT);
    char *records = writer ? work_keep(writer, room) : NULL;
    omprma_addr_t block = records ? work_private(writer, room) : 0;
    bool right = block != 0;
    if (right) {
        size_t bytes = words_give(&variables.words, work->site->index, records);
        right = work_submit(writer, block, records, bytes, NULL) &&
                serve(writer, OMPRMA_VARIABLES_WRITE, block, bytes, 0);
        seen->writer = writer;
        seen->writer_number = writer->number;
    }
    if (!writer)
        return false;
    return work_depart(writer) && work_await(work, writer) && right;
}

static bool site_follow(struct work *work, const struct seen *seen)
{
    const struct work *writer = seen->writer;
    return !writer || writer->number != seen->writer_number || work_wait_for(work, seen->writer);
}

bool variables_bring(struct work *work, bool region)
{
    variables_turn_to(work->site);
    if (!is_watched())
        return !region || named_use(work);
    struct seen *seen = &variables.seen[work->site->index];
    size_t room = words_lacking(&variables.words, work->site->index);
    return site_follow(work, seen) && (room == 0 || site_write(work, seen, room)) &&
           (!region || named_use(work));
}

/* ---- behind a construct --------------------------------------------------------------------- */

/* What a region has found an address of. */
struct addresses {
    const struct site *site;
    bool devices, own; /* memory, the worker's */
};

struct attached_search {
    uint64_t address;
    bool found;
};

static void attached_compare(struct attached *pointer, void *context)
{
    struct attached_search *search = context;
    unsigned char value[256];
    if (pointer->bytes > sizeof(value) || !attached_value(pointer, value))
        return;
    search->found |= memcmp(value, &search->address, sizeof(search->address)) == 0;
}

/* The runtime has written it there, and regions use what it leads to. */
static bool address_is_attached(uint64_t address)
{
    struct attached_search search = {address, false};
    for (size_t i = 0; i < variables.named_count; i++) {
        struct mapped *mapped = variables.named[i].mapped;
        if (mapped->number == variables.named[i].number)
            mapped_each_pointer(mapped, mapped->begin, mapped->end - mapped->begin,
                                attached_compare, &search);
    }
    return search.found;
}

static void address_take(void *context, uint64_t address)
{
    struct addresses *addresses = context;
    bool inside = false;
    if (address_is_attached(address))
        return;
    omprma_address_inside(addresses->site->remote, address, 1, &inside);
    addresses->devices |= inside && !devices_are_named();
    addresses->own |= !inside;
}

static bool addresses_told(const struct addresses *addresses)
{
    if (addresses->own)
        return placement_end_at(addresses->site->index,
                                "a region keeps an address of its worker's own memory, as that of "
                                "malloc(), in a variable");
    return !addresses->devices ||
           placement_end("a region keeps an address of device memory in a variable");
}

static bool torn_told(const struct device *device)
{
    return report(NULL, &device->site,
                  "regions without an order have written the same variable (declare target), here "
                  "and on another worker: give them one by depend, or run the program without "
                  "--placement");
}

/* All that is new in the log of the work's site, until `end`. */
static bool log_read(struct device *device, struct seen *seen, uint64_t end)
{
    struct addresses addresses = {.site = &device->site};
    uint64_t begin = atomic_load(&seen->read);
    size_t bytes = (size_t)(end - begin), offset = (size_t)(begin % LOG_BYTES);
    size_t first = bytes < LOG_BYTES - offset ? bytes : LOG_BYTES - offset;
    omprma_addr_t block;
    struct work *work = work_with(device, 0, &block);
    char *records = work ? malloc(bytes) : NULL;
    bool right = records || (work && report(NULL, &device->site, "no host memory for variables"));
    right =
        right && work_retrieve(work, records, log_of(offset), first, NULL) &&
        (first == bytes || work_retrieve(work, records + first, log_of(0), bytes - first, NULL));
    right = work && work_finish(work) && right;
    if (right) {
        pthread_mutex_lock(&device->space->lock);
        words_take(&variables.words, device->site.index, records, bytes, address_take, &addresses);
        seen->taken = device->space->works;
        pthread_mutex_unlock(&device->space->lock);
        atomic_store(&seen->read, end);
    }
    free(records);
    if (right && variables.words.torn)
        return torn_told(device);
    return right && addresses_told(&addresses);
}

/* What had no room in the log. */
static bool log_ask(struct device *device, const struct seen *seen, struct logged *logged)
{
    omprma_addr_t block;
    struct work *work = work_with(device, 0, &block);
    bool right = work &&
                 serve(work, OMPRMA_VARIABLES_NOTE, atomic_load(&variables.log), LOG_BYTES,
                       atomic_load(&seen->read)) &&
                 work_retrieve(work, logged, atomic_load(&variables.log), sizeof(*logged), NULL);
    return work && work_finish(work) && right;
}

/* Without the space's lock, when all that the work has issued is done. */
static bool variables_over(struct work *work)
{
    struct seen *seen = &variables.seen[work->site->index];
    struct device *device = work->device;
    struct logged logged = work->logged;
    bool right = true;
    if (logged.more & OMPRMA_VARIABLES_TORN)
        return torn_told(device);
    if (logged.end <= atomic_load(&seen->read) && !logged.more)
        return true;
    pthread_mutex_lock(&seen->lock);
    while (right && (logged.end > atomic_load(&seen->read) || logged.more)) {
        if (logged.end > atomic_load(&seen->read))
            right = log_read(device, seen, logged.end);
        if (right && logged.more)
            right = log_ask(device, seen, &logged);
    }
    pthread_mutex_unlock(&seen->lock);
    return right;
}

uint64_t variables_time(struct space *space)
{
    pthread_mutex_lock(&space->lock);
    uint64_t works = space->works;
    pthread_mutex_unlock(&space->lock);
    return works;
}

bool variables_may_repeat(uint64_t since, const struct location *where)
{
    struct space *space = device_of_site(0)->space;
    int torn = -1;
    pthread_mutex_lock(&space->lock);
    for (int i = 0; i < devices_sites(); i++)
        if (is_watched() && device_is_lost(device_of_site(i)) && variables.seen[i].taken > since)
            torn = i;
    pthread_mutex_unlock(&space->lock);
    return torn < 0 ||
           report(where, NULL,
                  "variables on devices (declare target) may have a part of what this region had "
                  "written on worker %d, which is lost, so it cannot be done again: regions that "
                  "write such variables need an order, by depend, for the run to go on",
                  torn);
}

bool variables_note(struct work *work)
{
    if (!is_watched() || work->lost)
        return true;
    const struct seen *seen = &variables.seen[work->site->index];
    omprma_addr_t log = atomic_load(&variables.log);
    work->over = variables_over;
    return serve(work, OMPRMA_VARIABLES_NOTE, log, LOG_BYTES, atomic_load(&seen->read)) &&
           work_retrieve_own(work, &work->logged, log, sizeof(work->logged));
}

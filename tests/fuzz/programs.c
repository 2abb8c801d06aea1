/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* programs.c: what programs hand to the OpenMP runtime: libraries with images and tables of
 * entries, maps, arguments of regions, calls of omp_target_*. Counts, sizes, types, names, flags
 * and offsets are as damaged as the input likes; only pointers that the runtime itself has to read
 * through lie in memory of the program. Every construct ends well or is reported; at the end
 * nothing is left on the devices. */
#include <setjmp.h>

#include "openmp/copy/copy.h"
#include "openmp/image/choice.h"
#include "openmp/device/devices.h"
#include "openmp/abi/exports.h"
#include "openmp/device/mapping.h"
#include "openmp/image/registry.h"
#include "openmp/site/report.h"
#include "openmp/run/work.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/programs_device.h"

enum {
    POOL_BYTES = 4096,   /* where addresses of the program lie */
    AROUND_BYTES = 4096, /* behind it, of which private variables and pointers may be a part */
    ITEMS_MOST = 12,
    ENTRIES_MOST = 8,
    LIBRARIES_MOST = 3,
    IMAGE_BYTES_MOST = 512,
    SHAPES = 96,
    STEPS_MOST = 64,
    DIMENSIONS_MOST = RECTANGLE_DIMENSIONS + 3,
    DEVICES = 2
};

struct input {
    const uint8_t *at, *end;
};

static uint64_t take(struct input *input, size_t bytes)
{
    uint64_t value = 0;
    if (bytes > (size_t)(input->end - input->at))
        bytes = (size_t)(input->end - input->at);
    memcpy(&value, input->at, bytes);
    input->at += bytes;
    return value;
}

/* The program's memory, and where map lists with dimensions point. */
static struct {
    _Alignas(4096) char pool[POOL_BYTES + AROUND_BYTES];
    struct dimension shapes[SHAPES];
} program;
const char *const program_memory = (const char *)&program;
const size_t program_bytes = sizeof(program);

static const char *const names[] = {
    NULL,
    "",
    "x",
    ";x;app.c;42;5;;",
    ";;;;;;",
    ";",
    ";x",
    "x;y",
    ";unknown;unknown;0;0;;",
    ";a[0:n];/a/very/long/way/to/the/file.c;99999999999999999999;-1;;"};
static struct location locations[] = {{.where = NULL},
                                      {.where = ";app.c;main;42;5;;"},
                                      {.where = ";unknown;unknown;0;0;;"},
                                      {.where = ";"},
                                      {.where = ""},
                                      {.where = ";;;"}};

static char *name_take(struct input *input)
{
    return (char *)(uintptr_t)names[take(input, 1) % (sizeof(names) / sizeof(names[0]))];
}

static struct location *where_take(struct input *input)
{
    size_t which = take(input, 1) % (sizeof(locations) / sizeof(locations[0]) + 1);
    return which ? &locations[which - 1] : NULL;
}

static char *address_take(struct input *input)
{
    return program.pool + take(input, 2) % POOL_BYTES;
}

/* Of a region or a variable: few, so that the same come again. */
static char *symbol_take(struct input *input)
{
    return program.pool + 16 * (take(input, 1) & 15);
}

/* ---- failures: the process would end --------------------------------------------------------- */

static jmp_buf ended;

/* The linker puts these in the place of the ones that end the process (--wrap). */
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
_Noreturn void __wrap_report_fatal(const struct location *where);
_Noreturn void __wrap_report_fatal(const struct location *where)
{
    (void)where;
    longjmp(ended, 1);
}

/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
_Noreturn void __wrap_report_inconsistent(const char *clause);
_Noreturn void __wrap_report_inconsistent(const char *clause)
{
    (void)clause;
    longjmp(ended, 1);
}

/* ---- libraries ------------------------------------------------------------------------------- */

static struct library {
    struct abi_library library;
    struct abi_image image;
    char *entries, *bytes;
    bool registered;
} libraries[LIBRARIES_MOST];

static void entry_make(struct input *input, char *at, bool new)
{
    struct offload_entry old = {.address = symbol_take(input),
                                .name = name_take(input),
                                .bytes = take(input, 2),
                                .flags = (int32_t)take(input, 1),
                                .data = (int32_t)take(input, 1)};
    if ((old.flags & ENTRY_REQUIRES) && requires_refusal(old.data))
        old.data = REQUIRES_NONE; /* nothing would run any more */
    struct abi_entry_new entry = {.version = 1,
                                  .kind = take(input, 1) & 3,
                                  .flags = (uint32_t)old.flags,
                                  .address = old.address,
                                  .name = old.name,
                                  .bytes = old.bytes,
                                  .data = (uint64_t)old.data};
    if (new)
        memcpy(at, &entry, sizeof(entry));
    else
        memcpy(at, &old, sizeof(old));
}

static size_t entries_make(struct input *input, struct library *library)
{
    size_t count = take(input, 1) % ENTRIES_MOST, used = 0;
    library->entries = malloc(ENTRIES_MOST * sizeof(struct abi_entry_new));
    hold(library->entries != NULL);
    for (size_t i = 0; i < count; i++) {
        bool new = take(input, 1) & 1;
        entry_make(input, library->entries + used, new);
        used += new ? sizeof(struct abi_entry_new) : sizeof(struct offload_entry);
    }
    size_t cut = take(input, 1);
    used = cut < used ? used - cut : used;
    library->entries = realloc(library->entries, used ? used : 1);
    hold(library->entries != NULL);
    return used;
}

/* An ELF file by its first bytes, LLVM's file format, or anything else. */
static size_t image_make_bytes(struct input *input, struct library *library)
{
    static const char *const starts[] = {"",
                                         "\x7f"
                                         "ELF\2\1\1",
                                         "\x10\xff\x10\xad\1", "BC"};
    size_t bytes = take(input, 2) % IMAGE_BYTES_MOST, from = take(input, 1);
    const char *start = starts[from & 3];
    library->bytes = malloc(bytes ? bytes : 1);
    hold(library->bytes != NULL);
    memset(library->bytes, 0, bytes);
    memcpy(library->bytes, start, bytes < strlen(start) ? bytes : strlen(start));
    for (size_t i = 0; i < from >> 3 && bytes > 0; i++) {
        size_t at = take(input, 1) % bytes;
        library->bytes[at] = (char)take(input, 1);
    }
    return bytes;
}

static void library_register(struct input *input)
{
    struct library *library = &libraries[take(input, 1) % LIBRARIES_MOST];
    if (library->registered)
        return;
    size_t entries = entries_make(input, library), bytes = image_make_bytes(input, library);
    library->image = (struct abi_image){library->bytes, library->bytes + bytes, library->entries,
                                        library->entries + entries};
    library->library =
        (struct abi_library){1, &library->image, library->entries, library->entries + entries};
    library->registered = true;
    __tgt_register_lib(&library->library);
}

/* As clang 22 makes it: a variable, and kernels. */
static void library_register_sound(void)
{
    static char image[8] = "\x7f"
                           "ELF",
                name[] = "k";
    static struct abi_entry_new entries[5];
    struct library *library = &libraries[0];
    for (size_t i = 0; i < 5; i++)
        entries[i] = (struct abi_entry_new){.version = 1,
                                            .kind = ENTRY_KIND_OPENMP,
                                            .address = program.pool + 16 * i,
                                            .name = name,
                                            .bytes = i == 0 ? 16 : 0};
    library->image =
        (struct abi_image){image, image + sizeof(image), (char *)entries, (char *)(entries + 5)};
    library->library =
        (struct abi_library){1, &library->image, (char *)entries, (char *)(entries + 5)};
    library->registered = true;
    __tgt_register_lib(&library->library);
}

static void library_unregister(struct library *library)
{
    if (!library->registered)
        return;
    __tgt_unregister_lib(&library->library);
    free(library->entries);
    free(library->bytes);
    *library = (struct library){.registered = false};
}

/* ---- constructs ------------------------------------------------------------------------------ */

struct list {
    int32_t count;
    void *bases[ITEMS_MOST], *begins[ITEMS_MOST], *names[ITEMS_MOST], *mappers[ITEMS_MOST];
    int64_t sizes[ITEMS_MOST], types[ITEMS_MOST];
};

/* As compilers make them: the structure's range first, then what its bytes say. */
static void mapper(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name)
{
    int64_t parts = size & 3, parent = __tgt_mapper_num_components(handle) + 1;
    __tgt_push_mapper_component(handle, base, begin, size, type & ~MAP_MEMBER_OF, name);
    for (int64_t i = 0; i < parts; i++)
        __tgt_push_mapper_component(handle, (char *)begin + 8 * i, (char *)begin + 16 * i, size / 2,
                                    (type & 0x7fff) | (int64_t)((uint64_t)parent << 48), name);
}

static int64_t type_take(struct input *input)
{
    uint64_t type = take(input, 2), more = take(input, 1);
    if (more & 1)
        type |= take(input, 2) << 48;
    if (more & 2)
        type |= MAP_NON_CONTIG;
    if (more & 4)
        type |= take(input, 6);
    return (int64_t)type;
}

static int64_t size_take(struct input *input)
{
    uint64_t kind = take(input, 1);
    if (kind < 0xe0)
        return (int64_t)(kind < 0x80 ? kind : (kind & 0x3f) << 7);
    return (int64_t)take(input, 8);
}

/* Where no memory begins there may be any value, see openmp/map/maps.h. */
static void value_take(struct input *input, struct list *list, int32_t i)
{
    bool literal = (list->types[i] & MAP_LITERAL) != 0;
    if (!literal && !(list->types[i] & MAP_ATTACH) && list->sizes[i] > 0)
        return;
    list->begins[i] = (void *)take(input, 8); /* NOLINT(performance-no-int-to-ptr) */
    list->mappers[i] = NULL;
    if (literal && !(list->types[i] & MAP_PTR_AND_OBJ))
        list->bases[i] = list->begins[i];
    else
        list->bases[i] = address_take(input);
}

static void item_take(struct input *input, struct list *list)
{
    int32_t i = list->count++;
    uint64_t shape = take(input, 1);
    list->types[i] = type_take(input);
    list->sizes[i] = size_take(input);
    list->begins[i] = address_take(input);
    list->bases[i] = shape & 1 ? list->begins[i] : address_take(input);
    list->names[i] = shape & 2 ? name_take(input) : NULL;
    *(void (**)(void *, void *, void *, int64_t, int64_t, void *)) & list->mappers[i] =
        (shape & 0x1c) == 0x1c ? mapper : NULL;
    if (shape & 0x20)
        value_take(input, list, i);
    if (list->types[i] & MAP_NON_CONTIG)
        list->begins[i] = program.shapes;
}

static void list_take(struct input *input, struct list *list)
{
    uint64_t count = take(input, 1) % (ITEMS_MOST + 1);
    *list = (struct list){.count = 0};
    while ((uint64_t)list->count < count)
        item_take(input, list);
}

static int64_t device_take(struct input *input)
{
    return (int64_t)(take(input, 1) % (DEVICES + 3)) - 2;
}

static void region_run(struct input *input, struct list *list, struct location *where,
                       int64_t device)
{
    uint64_t form = take(input, 1);
    void *host_id = symbol_take(input);
    void **map_names = form & 1 ? list->names : NULL;
    struct kernel_arguments arguments = {.version = (uint32_t)(form >> 4),
                                         .count = (uint32_t)list->count,
                                         .bases = list->bases,
                                         .begins = list->begins,
                                         .sizes = list->sizes,
                                         .types = list->types,
                                         .names = map_names,
                                         .mappers = list->mappers,
                                         .flags = take(input, 1),
                                         .teams = {(uint32_t)take(input, 4)},
                                         .thread_limit = {(uint32_t)take(input, 4)},
                                         .dynamic_group_bytes = (uint32_t)take(input, 4)};
    if (form & 2)
        __tgt_target_kernel(where, device, (int32_t)take(input, 4), (int32_t)take(input, 4),
                            host_id, &arguments);
    else
        __tgt_target_teams_mapper(where, device, host_id, list->count, list->bases, list->begins,
                                  list->sizes, list->types, map_names, list->mappers,
                                  (int32_t)take(input, 4), (int32_t)take(input, 4));
}

static void construct_run_any(struct input *input, uint64_t kind)
{
    struct list list;
    struct location *where = where_take(input);
    int64_t device = device_take(input);
    list_take(input, &list);
    if (kind == 0)
        __tgt_target_data_begin_mapper(where, device, list.count, list.bases, list.begins,
                                       list.sizes, list.types, list.names, list.mappers);
    else if (kind == 1)
        __tgt_target_data_end_mapper(where, device, list.count, list.bases, list.begins, list.sizes,
                                     list.types, list.names, list.mappers);
    else if (kind == 2)
        __tgt_target_data_update_mapper(where, device, list.count, list.bases, list.begins,
                                        list.sizes, list.types, NULL, list.mappers);
    else
        region_run(input, &list, where, device);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void *place_take(struct input *input, bool *on_device)
{
    uint64_t which = take(input, 1);
    *on_device = which & 1;
    if (!(which & 1))
        return address_take(input);
    if (device_blocks() == 0)
        return NULL;
    return (char *)(uintptr_t)device_block((which >> 1) % device_blocks()) +
           take(input, 2) % POOL_BYTES;
}

/* How often something is copied is the program's wish: not often here. */
static void copy_rectangle(struct input *input, void *to, const void *from, int to_device,
                           int from_device)
{
    size_t numbers[5][DIMENSIONS_MOST];
    int dimensions = (int)(take(input, 1) % DIMENSIONS_MOST) - 1;
    for (size_t kind = 0; kind < 5; kind++)
        for (int i = 0; i < DIMENSIONS_MOST; i++) {
            uint64_t byte = i < dimensions ? take(input, 1) : 1;
            bool few = kind == 0 && i < dimensions - 1;
            numbers[kind][i] = few           ? (i < 3 ? byte & 3 : 1)
                               : byte < 0xf8 ? byte & 7
                                             : take(input, 8);
        }
    omp_target_memcpy_rect(to, from, take(input, 1), dimensions, numbers[0], numbers[1], numbers[2],
                           numbers[3], numbers[4], to_device, from_device);
}

static void copy_any(struct input *input)
{
    bool device_to, device_from;
    void *to = place_take(input, &device_to);
    const void *from = place_take(input, &device_from);
    int to_device = device_to ? (int)(take(input, 1) % DEVICES) : DEVICES;
    int from_device = device_from ? (int)(take(input, 1) % DEVICES) : DEVICES;
    if (!device_to && !device_from)
        return; /* of the host alone: memmove() by the program's word */
    if (take(input, 1) & 1)
        copy_rectangle(input, to, from, to_device, from_device);
    else
        omp_target_memcpy(to, from, (size_t)size_take(input), take(input, 1), take(input, 1),
                          to_device, from_device);
}

static void memory_any(struct input *input, int device)
{
    bool on_device;
    void *place = place_take(input, &on_device);
    uint64_t kind = take(input, 1) % 3;
    if (!on_device || device_is_host(device))
        return; /* the host's malloc() and memset() */
    if (kind == 0)
        omp_target_free(place, device);
    else if (kind == 1)
        omp_target_memset(place, 1, (size_t)size_take(input) % (1 << 17), device);
    else
        omp_target_is_accessible(place, (size_t)size_take(input), device);
}

static void shape_change(struct input *input)
{
    struct dimension *shape = &program.shapes[take(input, 1) % SHAPES];
    shape->offset = take(input, 1);
    shape->count = take(input, 1) & 15;
    shape->stride = (uint64_t)size_take(input);
}

static void call_any(struct input *input, uint64_t kind)
{
    int device = (int)device_take(input);
    void *host = address_take(input);
    void *block = device_blocks() ? (void *)(uintptr_t)device_block(0) : NULL;
    if (kind == 0)
        copy_any(input);
    else if (kind == 1 && !device_is_host(device)) /* the host's would be lost */
        omp_target_alloc((size_t)size_take(input), device);
    else if (kind == 2)
        omp_target_associate_ptr(host, block, (size_t)size_take(input), take(input, 2), device);
    else if (kind == 3)
        omp_target_disassociate_ptr(host, device);
    else if (kind == 4)
        memory_any(input, device);
    else if (kind == 5)
        shape_change(input);
    else
        __tgt_set_info_flag((uint32_t)take(input, 1));
}

static void step(struct input *input)
{
    uint64_t kind = take(input, 1) % 16;
    if (kind < 8)
        construct_run_any(input, kind % 4);
    else if (kind == 8)
        library_register(input);
    else if (kind == 9)
        library_unregister(&libraries[take(input, 1) % LIBRARIES_MOST]);
    else
        call_any(input, kind - 10);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void mapping_clear(struct device *device)
{
    struct mapped *mapped;
    mapping_forget(&device->space->mapping);
    while ((mapped = mapping_first(&device->space->mapping))) {
        hold(LIST_EMPTY(&mapped->pins)); /* nothing is under way */
        if (mapped->memory.begin)
            suballoc_give(&device->space->memory, NULL,
                          &mapped->memory); /* false: the program has freed it */
        mapping_remove(&device->space->mapping, mapped);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input input = {data, data + bytes};
    memset(&program, 0, sizeof(program));
    if (take(&input, 1) & 1)
        library_register_sound();
    for (volatile int steps = 0; input.at < input.end && steps < STEPS_MOST; steps++)
        if (setjmp(ended) == 0)
            step(&input);
    for (size_t i = 0; i < LIBRARIES_MOST; i++)
        library_unregister(&libraries[i]);
    for (int i = 0; i < devices_started(); i++)
        mapping_clear(device_at(i));
    while (device_blocks() > 0) /* of omp_target_alloc() */
        omprma_free(0, device_block(0));
    __tgt_set_info_flag(0);
    return 0;
}

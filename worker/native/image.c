/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image.c: device images, see image.h. Images stay loaded until the process ends, so their names,
 * address ranges and kernels live in append-only structures that a signal handler may read.
 * Must not know: MPI, messages, queues.
 */
#include "worker/native/image.h"

#include <dlfcn.h>
#include <gelf.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include <omprma_private/variables.h>

#include "base/elf_check.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/kernel_name.h"
#include "base/log.h"
#include "control/agent/join.h"
#include "worker/native/image_file.h"
#include "worker/native/stand_in.h"
#include "worker/native/variables.h"

struct image_symbol_entry {
    const char *name; /* in image.names */
    uint64_t size;
    bool function;
};

/* What the compiler lists in the section omp_offloading_entries; addresses are right once the image
 * is loaded. Names in it need not be exported: constructors of device globals are not. */
struct image_entry {
    void *address;
    const char *name;
    uint64_t bytes; /* 0: a kernel */
    int32_t flags, reserved;
};

struct image {
    struct image *next;
    const void *owner;
    XXH128_hash_t hash;
    size_t bytes;
    char label[32];                    /* "image 3f2a90c1", for messages and /proc/PID/maps */
    struct image_file file;            /* kept open: a second image under the same name, made of the
                                        * descriptor's number, would be taken by dlopen() for the first */
    void *handle;                      /* of dlopen() */
    uint64_t low, high;                /* addresses that it occupies */
    const struct image_entry *entries; /* its table of offload entries, in its memory */
    size_t entry_count;
    struct image_symbol_entry *symbols; /* what it defines, sorted by name */
    size_t symbol_count;
    char *names;
};

/* Kernels by address: open addressing, at most half full. A full table is replaced, never freed,
 * because a signal handler may be reading it. */
struct kernel_slot {
    _Atomic uint64_t address; /* 0: free; written after the rest */
    const char *name;
    const void *owner;
};

struct kernel_table {
    size_t capacity; /* a power of two */
    size_t used;
    struct kernel_table *previous; /* replaced, kept for late readers */
    struct kernel_slot slots[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *_Atomic images;
static struct kernel_table *_Atomic kernels;
static _Atomic size_t images_loaded;

/* ---- kernels ---- */

static struct kernel_slot *kernel_find(struct kernel_table *table, uint64_t address)
{
    size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    for (;; at++) {
        struct kernel_slot *slot = &table->slots[at & (table->capacity - 1)];
        uint64_t found = atomic_load_explicit(&slot->address, memory_order_acquire);
        if (found == address || !found)
            return slot;
    }
}

static void kernel_insert(struct kernel_table *table, uint64_t address, const char *name,
                          const void *owner)
{
    struct kernel_slot *slot = kernel_find(table, address);
    if (atomic_load_explicit(&slot->address, memory_order_relaxed))
        return;
    slot->name = name;
    slot->owner = owner;
    atomic_store_explicit(&slot->address, address, memory_order_release);
    table->used++;
}

static omprma_status_t kernel_remember(uint64_t address, const char *name, const void *owner)
{
    struct kernel_table *table = atomic_load(&kernels);
    if (!table || 2 * (table->used + 1) > table->capacity) {
        size_t capacity = table ? 2 * table->capacity : 64;
        /* Not on the heap, which kernels overwrite: crashes are described from it. */
        struct kernel_table *larger =
            mmap(NULL, sizeof(*larger) + capacity * sizeof(larger->slots[0]),
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (larger == MAP_FAILED)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to remember a kernel");
        larger->capacity = capacity;
        larger->previous = table;
        for (size_t i = 0; table && i < table->capacity; i++) {
            uint64_t old = atomic_load(&table->slots[i].address);
            if (old)
                kernel_insert(larger, old, table->slots[i].name, table->slots[i].owner);
        }
        atomic_store(&kernels, larger);
        table = larger;
    }
    kernel_insert(table, address, name, owner);
    return OMPRMA_OK;
}

static const struct kernel_slot *kernel_known(uint64_t address)
{
    struct kernel_table *table = atomic_load_explicit(&kernels, memory_order_acquire);
    if (!table || !address)
        return NULL;
    struct kernel_slot *slot = kernel_find(table, address);
    return atomic_load_explicit(&slot->address, memory_order_acquire) ? slot : NULL;
}

void *image_library_symbol(const void *owner, const char *name)
{
    void *found = NULL;
    for (struct image *image = atomic_load(&images); image && !found; image = image->next)
        if (image->owner == owner)
            found = dlsym(image->handle, name);
    return found;
}

const char *image_kernel_name(uint64_t address)
{
    const struct kernel_slot *slot = kernel_known(address);
    return slot ? slot->name : "?";
}

/* Kernels that all devices have, and that come with no image. */
static const struct own_kernel {
    const char *name;
    void (*code)(void); /* whatever its parameters */
} own_kernels[] = {{OMPRMA_SYMBOL_STAND_IN, (void (*)(void))stand_in_place},
                   {OMPRMA_SYMBOL_VARIABLES, (void (*)(void))variables_serve}};

static const struct own_kernel *own_kernel_find(const char *name, uint64_t address)
{
    for (size_t i = 0; i < sizeof(own_kernels) / sizeof(own_kernels[0]); i++)
        if (name ? strcmp(name, own_kernels[i].name) == 0
                 : (uintptr_t)own_kernels[i].code == address)
            return &own_kernels[i];
    return NULL;
}

bool image_is_kernel(const void *owner, uint64_t address)
{
    if (own_kernel_find(NULL, address))
        return true;
    const struct kernel_slot *slot = kernel_known(address);
    return slot && slot->owner == owner;
}

/* ---- symbols of one image ---- */

static int symbol_compare(const void *left, const void *right)
{
    const struct image_symbol_entry *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* Copies one dynamic symbol table; the image's bytes are gone after image_open(). */
static omprma_status_t symbols_copy(struct image *image, Elf *elf, Elf_Scn *section,
                                    const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Scn *strings_section = elf_getscn(elf, header->sh_link);
    Elf_Data *strings = strings_section ? elf_getdata(strings_section, NULL) : NULL;
    if (!data || !strings || !strings->d_size || !header->sh_entsize)
        return error_set(OMPRMA_ERR_IMAGE,
                         "%s: its dynamic symbol table cannot be read: %s; rebuild the program",
                         image->label, elf_errmsg(-1));
    size_t count = header->sh_size / header->sh_entsize;
    image->symbols = calloc(count + 1, sizeof(*image->symbols));
    image->names = malloc(strings->d_size);
    if (!image->symbols || !image->names)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "%s: no memory for its %zu symbols", image->label,
                         count);
    memcpy(image->names, strings->d_buf, strings->d_size);
    image->names[strings->d_size - 1] = 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_name >= strings->d_size)
            continue;
        int type = GELF_ST_TYPE(symbol.st_info);
        image->symbols[image->symbol_count++] = (struct image_symbol_entry){
            .name = image->names + symbol.st_name,
            .size = symbol.st_size,
            .function = type == STT_FUNC || type == STT_GNU_IFUNC,
        };
    }
    qsort(image->symbols, image->symbol_count, sizeof(*image->symbols), symbol_compare);
    return OMPRMA_OK;
}

/* Notes where the table of entries will lie, as an offset from the load address for now. */
static void entries_find(struct image *image, Elf *elf, const GElf_Shdr *header)
{
    size_t names = 0;
    const char *name;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return;
    name = elf_strptr(elf, names, header->sh_name);
    if (!name || strcmp(name, "omp_offloading_entries") != 0 || !(header->sh_flags & SHF_ALLOC))
        return;
    image->entries = (const struct image_entry *)(uintptr_t)header->sh_addr;
    image->entry_count = header->sh_size / sizeof(*image->entries);
}

static omprma_status_t symbols_read(struct image *image, const void *bytes)
{
    omprma_status_t status = OMPRMA_OK;
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)(uintptr_t)bytes, image->bytes);
    if (!elf)
        return error_set(OMPRMA_ERR_IMAGE, "%s cannot be read: %s", image->label, elf_errmsg(-1));
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section && !status;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_DYNSYM && !image->symbols)
            status = symbols_copy(image, elf, section, &header);
        else if (header.sh_type == SHT_PROGBITS)
            entries_find(image, elf, &header);
    }
    elf_end(elf);
    return status;
}

/* ---- loading ---- */

/* Workers have no sanitizer's library, and one that comes when the process runs already serves
 * nobody. */
static bool is_sanitizers(const char *why)
{
    static const char *const names[] = {"__asan_", "__hwasan_", "__lsan_", "__msan_",
                                        "__tsan_", "__ubsan_",  "__dfsan_"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strstr(why, names[i]))
            return true;
    return false;
}

/* Functions that a program may call, and a region not. */
static bool is_hosts(const char *why)
{
    static const char *const names[] = {"omp_", "ompx_", "MPI_", "PMPI_"};
    const char *symbol = strstr(why, "undefined symbol: ");
    for (size_t i = 0; symbol && i < sizeof(names) / sizeof(names[0]); i++)
        if (!strncmp(symbol + strlen("undefined symbol: "), names[i], strlen(names[i])))
            return true;
    return false;
}

/* Words the loader's complaint. It calls the image by its path, which says little to a user, so the
 * label stands in for it. */
static omprma_status_t load_failed(const struct image *image, const char *why)
{
    const char *path = image->file.path;

    if (!strncmp(why, path, strlen(path)) && why[strlen(path)] == ':') {
        why += strlen(path) + 1;
        why += *why == ' ';
    }
    const char *folders = getenv("LD_LIBRARY_PATH");
    bool searched = folders && *folders;
    if (strstr(why, "cannot open shared object file"))
        return error_set(OMPRMA_ERR_SYMBOL,
                         "%s cannot be loaded: %s; searched LD_LIBRARY_PATH=%s and the system's "
                         "folders; install the library or add its folder",
                         image->label, why, searched ? folders : "(empty)");
    if (strstr(why, "undefined symbol: ") && is_sanitizers(why))
        return error_set(OMPRMA_ERR_SYMBOL,
                         "%s cannot be loaded: %s; workers have no sanitizer: compile and link "
                         "device code without, -fsanitize=... -Xopenmp-target -fno-sanitize=all",
                         image->label, why);
    if (is_hosts(why))
        return error_set(OMPRMA_ERR_SYMBOL,
                         "%s cannot be loaded: %s; regions have no such function: call it on the "
                         "host, and pass what it returns",
                         image->label, why);
    if (strstr(why, "undefined symbol"))
        return error_set(OMPRMA_ERR_SYMBOL,
                         "%s cannot be loaded: %s; if the program defines it, put it between "
                         "'declare target' and its end there; if a library does, link that into "
                         "the target code, or put the right version first: LD_LIBRARY_PATH=%s",
                         image->label, why, searched ? folders : "(empty)");
    if (strstr(why, "version `"))
        return error_set(OMPRMA_ERR_SYMBOL,
                         "%s cannot be loaded: %s; put the right version first: "
                         "LD_LIBRARY_PATH=%s",
                         image->label, why, searched ? folders : "(empty)");
    return error_set(OMPRMA_ERR_IMAGE, "%s cannot be loaded: %s", image->label, why);
}

/* Images ask for libomp by a name without a folder: then what is there under it already is taken.
 */
static void libomp_open(void)
{
    const char *path = getenv(DIRECT_LIBOMP_VARIABLE);
    if (path && !dlopen(path, RTLD_NOW | RTLD_LOCAL))
        log_write(LOG_CHOICE, "kernels take the libomp that the loader finds: %s", dlerror());
}

static omprma_status_t image_dlopen(struct image *image)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, libomp_open);
    image->handle = dlopen(image->file.path, RTLD_NOW | RTLD_LOCAL);
    if (!image->handle) {
        const char *why = dlerror();
        return load_failed(image, why ? why : "unknown reason");
    }
    return OMPRMA_OK;
}

/* dl_iterate_phdr callback: the range of the object whose load address is image->low. */
static int image_measure(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct image *image = context;
    if (info->dlpi_addr != image->low)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > image->high)
            image->high = end;
    }
    return 1;
}

static void image_drop(struct image *image)
{
    image_file_drop(&image->file);
    free(image->symbols);
    free(image->names);
    free(image);
}

/* Each owner has a copy of its own. The caller holds the lock. */
static omprma_status_t image_store(struct image *image, const void *bytes)
{
    char name[64];
    int copies = 1;

    for (const struct image *other = atomic_load(&images); other; other = other->next)
        copies += other->bytes == image->bytes && XXH128_isEqual(other->hash, image->hash);
    snprintf(name, sizeof(name), copies > 1 ? "image-%08x-%d" : "image-%08x",
             (unsigned)image->hash.high64, copies);
    return image_file_make(&image->file, image->label, name, bytes, image->bytes);
}

static omprma_status_t image_load(const void *bytes, size_t size, const void *owner,
                                  XXH128_hash_t hash, struct image **out)
{
    struct image *image = calloc(1, sizeof(*image));
    if (!image)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to load an image of %zu bytes", size);
    image->file.fd = -1;
    image->owner = owner;
    image->hash = hash;
    image->bytes = size;
    snprintf(image->label, sizeof(image->label), "image %08x", (unsigned)hash.high64);

    omprma_status_t status = symbols_read(image, bytes);
    if (!status)
        status = image_store(image, bytes);
    if (!status)
        status = image_dlopen(image);
    if (status) {
        image_drop(image);
        return status;
    }
    struct link_map *map = NULL;
    if (!dlinfo(image->handle, RTLD_DI_LINKMAP, &map) && map) {
        image->low = map->l_addr;
        dl_iterate_phdr(image_measure, image);
        image->entries = (const void *)((uintptr_t)image->entries + map->l_addr);
    } else {
        image->entry_count = 0;
    }
    image->next = atomic_load(&images);
    atomic_store(&images, image);
    atomic_fetch_add(&images_loaded, 1);
    *out = image;
    return OMPRMA_OK;
}

omprma_status_t image_open(const void *bytes, size_t size, const void *owner, struct image **image)
{
    omprma_status_t status = elf_check(bytes, size);
    if (status)
        return status;
    XXH128_hash_t hash = XXH3_128bits(bytes, size);
    pthread_mutex_lock(&lock);
    struct image *found = atomic_load(&images);
    while (found &&
           !(found->owner == owner && found->bytes == size && XXH128_isEqual(found->hash, hash)))
        found = found->next;
    if (!found)
        status = image_load(bytes, size, owner, hash, &found);
    pthread_mutex_unlock(&lock);
    if (!status)
        *image = found;
    return status;
}

static const struct image_entry *entry_find(const struct image *image, const char *name)
{
    for (size_t i = 0; i < image->entry_count; i++)
        if (image->entries[i].name && strcmp(image->entries[i].name, name) == 0)
            return &image->entries[i];
    return NULL;
}

/* Clang 14 lists a region whose device code it has not linked. */
static omprma_status_t symbol_missing(const struct image *image, const char *name)
{
    bool region = strncmp(name, "__omp_offloading_", 17) == 0;
    char words[KERNEL_NAME_WORDS];
    return error_set(OMPRMA_ERR_SYMBOL,
                     "%s has no symbol %s; program and image come from different builds%s",
                     image->label, kernel_name_words(name, words),
                     region ? ", or the region's object file stands in a static archive, whose "
                              "device code clang 14 does not link: link the object file itself"
                            : "");
}

/* What kernels print through is the worker's, which sends it to the program; NULL: another name. */
static FILE *stream_find(const char *name, const char **kept)
{
    const struct {
        const char *name;
        FILE *stream;
    } streams[] = {{OMPRMA_SYMBOL_STDIN, stdin},
                   {OMPRMA_SYMBOL_STDOUT, stdout},
                   {OMPRMA_SYMBOL_STDERR, stderr}};

    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        if (strcmp(name, streams[i].name) != 0)
            continue;
        *kept = streams[i].name;
        return streams[i].stream;
    }
    return NULL;
}

/* The image's own tables only: dlsym() alone would also find symbols of the libraries it needs. */
static omprma_status_t symbol_find(const struct image *image, const char *name, uint64_t size,
                                   void **address, const char **kept)
{
    struct image_symbol_entry wanted = {.name = name};
    const struct own_kernel *own = size ? NULL : own_kernel_find(name, 0);
    const struct image_symbol_entry *symbol = NULL;
    const struct image_entry *entry;
    char words[KERNEL_NAME_WORDS];
    uint64_t there;

    if (own) {
        *address = (void *)(uintptr_t)own->code;
        *kept = own->name;
        return OMPRMA_OK;
    }
    if (size == sizeof(FILE) && (*address = stream_find(name, kept)))
        return OMPRMA_OK;
    if (image->symbol_count)
        symbol =
            bsearch(&wanted, image->symbols, image->symbol_count, sizeof(wanted), symbol_compare);
    entry = symbol ? NULL : entry_find(image, name);
    *address = symbol ? dlsym(image->handle, name) : entry ? entry->address : NULL;
    if (!*address)
        return symbol_missing(image, name);
    there = symbol ? symbol->size : entry->bytes;
    if (size && there != size)
        return error_set(OMPRMA_ERR_SYMBOL,
                         "%s: symbol %s has %llu bytes there, %llu in the program; program and "
                         "image come from different builds",
                         image->label, kernel_name_words(name, words), (unsigned long long)there,
                         (unsigned long long)size);
    if (!size && (symbol ? !symbol->function : entry->bytes != 0))
        return error_set(OMPRMA_ERR_SYMBOL, "%s: symbol %s is data, not a kernel", image->label,
                         kernel_name_words(name, words));
    *kept = symbol ? symbol->name : entry->name;
    return OMPRMA_OK;
}

omprma_status_t image_symbol(struct image *image, const char *name, uint64_t size,
                             uint64_t *address)
{
    const char *kept = name;
    void *at;
    omprma_status_t status = symbol_find(image, name, size, &at, &kept);
    if (status)
        return status;
    if (!size) {
        pthread_mutex_lock(&lock);
        status = kernel_remember((uint64_t)(uintptr_t)at, kept, image->owner);
        pthread_mutex_unlock(&lock);
        if (status)
            return status;
    }
    *address = (uint64_t)(uintptr_t)at;
    return OMPRMA_OK;
}

static const struct image *image_around(uint64_t address)
{
    const struct image *image = atomic_load(&images);
    while (image && !(address >= image->low && address < image->high))
        image = image->next;
    return image;
}

bool image_offset(uint64_t address, uint64_t *offset)
{
    const struct image *image = image_around(address);
    if (image)
        *offset = address - image->low;
    return image != NULL;
}

const void *image_owner(uint64_t address)
{
    const struct image *image = image_around(address);
    return image ? image->owner : NULL;
}

void image_list(struct fault_question *question)
{
    for (const struct image *image = atomic_load(&images);
         image && question->image_count < FAULT_IMAGES; image = image->next) {
        question->images[question->image_count].base = image->low;
        question->images[question->image_count++].fd = image->file.fd;
    }
}

size_t image_count(void)
{
    return atomic_load(&images_loaded);
}

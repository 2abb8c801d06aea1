/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * local_omprma.c: omprma.h for tests of the OpenMP runtime (tests/unit/openmp) and of the plugin
 * (tests/plugin) alone: its devices are this process, so no MPI and no worker is needed. It is as
 * lazy as the contract allows: nothing of a queue runs before the queue is queried or waited for,
 * large submits read their source only then, and freed memory is overwritten. Whoever forgets to
 * wait or frees too early is caught.
 *
 * LOCAL_OMPRMA_DEVICES: how many devices (default 2; 0: init fails with NO_WORKERS).
 * LOCAL_OMPRMA_TRACE=1: init, finalize and image_load are reported on stderr.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <omprma/omprma.h>
#include <omprma_private/common.h>
#include <omprma_private/variables.h>

#include "no_checks.h"
#include "no_unwaited.h"
#include "parts.h"

enum { MAX_DEVICES = 8, MAX_BLOCKS = 1 << 16, MAX_IMAGES = 64 };
enum { PAGE = 4096, LINE = 64 };

struct operation {
    struct operation *next;
    enum { COPY, CALL, CALL_CONTEXT, WAIT } what;
    void *to;
    const void *from;
    size_t bytes;
    omprma_queue_t *queue; /* WAIT */
    unsigned place;        /* WAIT */
    void *owned;
};

struct omprma_queue {
    int device;
    struct operation *first, **last;
    atomic_uint issued, done;
    pthread_mutex_t running; /* held while operations run, so that they stay in order */
    omprma_status_t error;
};

struct omprma_event {
    omprma_queue_t *queue;
    unsigned place;
};

static struct {
    int devices, references;
    bool finalized, trace;
    struct {
        char *address;
        size_t bytes, front;
        int device;
    } blocks[MAX_BLOCKS];
    int block_count;
    struct {
        void *content;
        size_t bytes;
        int device;
        void *handle;
    } images[MAX_IMAGES];
    int image_count;
} local;

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static _Thread_local char text[512];

static __attribute__((format(printf, 2, 3))) omprma_status_t fail(omprma_status_t status,
                                                                  const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return status;
}

static void trace(const char *what)
{
    if (local.trace)
        dprintf(STDERR_FILENO, "local: %s\n", what);
}

const char *omprma_error(void)
{
    return text;
}

omprma_status_t omprma_init(void)
{
    const char *devices = getenv("LOCAL_OMPRMA_DEVICES");
    local.trace = getenv("LOCAL_OMPRMA_TRACE") != NULL;
    local.devices = devices ? atoi(devices) : 2;
    trace("init");
    if (local.devices == 0)
        return fail(OMPRMA_ERR_NO_WORKERS, "no workers: start the program with omprma-run");
    local.references++;
    return OMPRMA_OK;
}

void omprma_finalize(void)
{
    trace("finalize");
    local.finalized = --local.references == 0;
}

int omprma_device_count(void)
{
    return local.references ? local.devices : 0;
}

omprma_status_t omprma_device_info(int device, omprma_device_info_t *info)
{
    *info =
        (omprma_device_info_t){.pid = getpid(), .cores = 1 + device, .osc = "none", .native = true};
    strcpy(info->host, "here");
    strcpy(info->model, "this one");
    return OMPRMA_OK;
}

/* All devices have this process's memory. */
omprma_status_t omprma_memory_join(const int *devices, int count)
{
    (void)devices, (void)count;
    return OMPRMA_OK;
}

/* For tests: bits of devices that are lost. */
unsigned local_omprma_lost;

bool omprma_device_is_lost(int device)
{
    return local_omprma_lost >> device & 1;
}

/* For tests: what exchanges to the last device take, or to all. */
omprma_exchange_cost_t local_omprma_cost;
bool local_omprma_cost_of_all;

omprma_status_t omprma_exchange_cost(int from, int to, omprma_exchange_cost_t *cost)
{
    bool has = to == local.devices - 1 || local_omprma_cost_of_all;
    *cost = has ? local_omprma_cost : (omprma_exchange_cost_t){0};
    (void)from;
    return OMPRMA_OK;
}

/* For tests: how many blocks there are, and may be (0: any number). */
int local_omprma_blocks, local_omprma_blocks_most;

omprma_status_t omprma_alloc_like(int device, size_t bytes, const void *host,
                                  omprma_addr_t *address)
{
    size_t alignment = bytes >= PAGE ? PAGE : LINE, front = (uintptr_t)host % alignment;
    if (bytes > (size_t)64 << 30 ||
        (local_omprma_blocks_most && local_omprma_blocks >= local_omprma_blocks_most))
        return fail(OMPRMA_ERR_DEVICE_MEMORY, "device %d: no memory for %zu bytes", device, bytes);
    char *block = NULL;
    if (posix_memalign((void **)&block, alignment, front + bytes))
        return fail(OMPRMA_ERR_DEVICE_MEMORY, "device %d: no memory for %zu bytes", device, bytes);
    pthread_mutex_lock(&lock);
    int at = 0;
    while (at < local.block_count && local.blocks[at].address)
        at++;
    if (at == MAX_BLOCKS)
        abort();
    local.block_count = at == local.block_count ? at + 1 : local.block_count;
    local.blocks[at].address = block + front;
    local.blocks[at].front = front;
    local.blocks[at].bytes = bytes;
    local.blocks[at].device = device;
    local_omprma_blocks++;
    pthread_mutex_unlock(&lock);
    *address = (omprma_addr_t)block + front;
    return OMPRMA_OK;
}

omprma_status_t omprma_alloc(int device, size_t bytes, omprma_addr_t *address)
{
    return omprma_alloc_like(device, bytes, NULL, address);
}

omprma_status_t omprma_address_inside(int device, omprma_addr_t address, size_t bytes, bool *inside)
{
    (void)device, (void)address, (void)bytes;
    *inside = true; /* this stand-in copies at once */
    return OMPRMA_OK;
}

omprma_status_t omprma_fault_address(int device, omprma_addr_t *address)
{
    (void)device;
    *address = 0;
    return OMPRMA_OK;
}

omprma_status_t omprma_free(int device, omprma_addr_t address)
{
    omprma_status_t status = fail(OMPRMA_ERR_ADDRESS, "device %d: free of 0x%llx, no block", device,
                                  (unsigned long long)address);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < local.block_count && status != OMPRMA_OK; i++)
        if (local.blocks[i].address == (char *)address && local.blocks[i].device == device) {
            size_t bytes = local.blocks[i].bytes;
            memset((char *)address, 0xdd, bytes < 1 << 20 ? bytes : 1 << 20);
            free((char *)address - local.blocks[i].front);
            local.blocks[i].address = NULL;
            local_omprma_blocks--;
            status = OMPRMA_OK;
        }
    pthread_mutex_unlock(&lock);
    return status;
}

omprma_status_t omprma_image_check(const void *image, size_t bytes)
{
    const Elf64_Ehdr *header = image;
    if (bytes < sizeof(*header) || header->e_shoff + header->e_shnum * header->e_shentsize > bytes)
        return fail(OMPRMA_ERR_IMAGE, "image of %zu bytes is truncated", bytes);
    return header->e_machine == EM_X86_64
               ? OMPRMA_OK
               : fail(OMPRMA_ERR_IMAGE, "image is for machine %d", header->e_machine);
}

static void *copy_of(const void *from, size_t bytes)
{
    return memcpy(malloc(bytes + 1), from, bytes);
}

static void *image_open(int device, const void *content, size_t bytes)
{
    for (int i = 0; i < local.image_count; i++)
        if (local.images[i].device == device && local.images[i].bytes == bytes &&
            memcmp(local.images[i].content, content, bytes) == 0)
            return local.images[i].handle;
    char path[64];
    int fd = memfd_create("image", MFD_CLOEXEC);
    if (fd < 0 || write(fd, content, bytes) != (ssize_t)bytes)
        return NULL;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
    void *handle =
        dlopen(path, RTLD_NOW | RTLD_LOCAL); /* fd stays: equal paths are equal objects */
    if (handle && local.image_count < MAX_IMAGES) {
        local.images[local.image_count].content = copy_of(content, bytes);
        local.images[local.image_count].bytes = bytes;
        local.images[local.image_count].device = device;
        local.images[local.image_count++].handle = handle;
    }
    return handle;
}

/* The program's functions are here anyway. */
static void stand_in_none(uint64_t result, uint64_t address, uint64_t function)
{
    (void)address, (void)function;
    *(uint64_t *)(uintptr_t)result = 0;
}
static void (*stand_in)(uint64_t, uint64_t, uint64_t) = stand_in_none;

/* clang 14 gives the kernels that construct and destroy device globals local symbols; they can only
 * be found through the entry that the image itself has for them. */
static void *image_find(void *handle, const char *name)
{
    char entry_name[512];
    if (strcmp(name, OMPRMA_SYMBOL_STAND_IN) == 0 || strcmp(name, OMPRMA_SYMBOL_VARIABLES) == 0)
        return *(void **)&stand_in;
    if (strcmp(name, OMPRMA_SYMBOL_STDIN) == 0)
        return stdin;
    if (strcmp(name, OMPRMA_SYMBOL_STDOUT) == 0)
        return stdout;
    if (strcmp(name, OMPRMA_SYMBOL_STDERR) == 0)
        return stderr;
    void *address = dlsym(handle, name);
    if (address)
        return address;
    snprintf(entry_name, sizeof(entry_name), ".omp_offloading.entry.%s", name);
    void *const *entry = dlsym(handle, entry_name);
    return entry ? *entry : NULL;
}

omprma_status_t omprma_image_load(int device, const void *image, size_t bytes,
                                  omprma_symbol_t *symbols, size_t count)
{
    trace("load");
    pthread_mutex_lock(&lock);
    void *handle = image_open(device, image, bytes);
    pthread_mutex_unlock(&lock);
    if (!handle)
        return fail(OMPRMA_ERR_IMAGE, "%s", dlerror());
    for (size_t i = 0; i < count; i++) {
        Dl_info where;
        Elf64_Sym *symbol = NULL;
        void *address = image_find(handle, symbols[i].name);
        if (!address)
            return fail(OMPRMA_ERR_SYMBOL, "no symbol %s", symbols[i].name);
        bool ours = strncmp(symbols[i].name, "__omprma_", 9) == 0; /* no symbol of the image */
        if (!ours && symbols[i].bytes &&
            dladdr1(address, &where, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
            symbol->st_size != symbols[i].bytes)
            return fail(OMPRMA_ERR_SYMBOL, "%s has %llu bytes, not %llu", symbols[i].name,
                        (unsigned long long)symbol->st_size, (unsigned long long)symbols[i].bytes);
        symbols[i].address = (omprma_addr_t)address;
    }
    return OMPRMA_OK;
}

omprma_status_t omprma_queue_create(int device, omprma_queue_t **queue)
{
    *queue = calloc(1, sizeof(**queue));
    (*queue)->device = device;
    (*queue)->last = &(*queue)->first;
    pthread_mutex_init(&(*queue)->running, NULL);
    return OMPRMA_OK;
}

static omprma_status_t append(omprma_queue_t *queue, struct operation operation)
{
    if (local.finalized)
        return fail(OMPRMA_ERR_CLOSED, "used after finalize");
    struct operation *made = malloc(sizeof(*made));
    *made = operation;
    pthread_mutex_lock(&lock);
    *queue->last = made;
    queue->last = &made->next;
    queue->issued++;
    pthread_mutex_unlock(&lock);
    return OMPRMA_OK;
}

/* For tests: how many there were. */
int local_omprma_submits;

omprma_status_t omprma_submit(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                              size_t bytes)
{
    __atomic_fetch_add(&local_omprma_submits, 1, __ATOMIC_RELAXED);
    void *copy = bytes <= OMPRMA_COPIED_SUBMIT ? copy_of(from, bytes) : NULL;
    return append(queue, (struct operation){.what = COPY,
                                            .to = (void *)to,
                                            .from = copy ? copy : from,
                                            .bytes = bytes,
                                            .owned = copy});
}

omprma_status_t omprma_fill(omprma_queue_t *queue, omprma_addr_t to, const void *pattern,
                            size_t pattern_bytes, size_t count)
{
    char *content = malloc(pattern_bytes * count);
    for (size_t i = 0; i < count; i++)
        memcpy(content + i * pattern_bytes, pattern, pattern_bytes);
    return append(queue, (struct operation){.what = COPY,
                                            .to = (void *)to,
                                            .from = content,
                                            .bytes = pattern_bytes * count,
                                            .owned = content});
}

omprma_status_t omprma_retrieve(omprma_queue_t *queue, void *to, omprma_addr_t from, size_t bytes)
{
    return append(queue,
                  (struct operation){.what = COPY, .to = to, .from = (void *)from, .bytes = bytes});
}

/* For tests: how many there were. */
int local_omprma_exchanges;

omprma_status_t omprma_exchange(omprma_queue_t *queue, omprma_addr_t from, int to_device,
                                omprma_addr_t to, size_t bytes)
{
    __atomic_fetch_add(&local_omprma_exchanges, 1, __ATOMIC_RELAXED);
    (void)to_device;
    return omprma_retrieve(queue, (void *)to, from, bytes);
}

/* For tests: the geometry of the last launch. */
omprma_geometry_t local_omprma_geometry;

static omprma_status_t launch(omprma_queue_t *queue, omprma_addr_t kernel,
                              const omprma_geometry_t *geometry, const uint64_t *arguments,
                              size_t count, int what)
{
    pthread_mutex_lock(&lock);
    local_omprma_geometry = geometry ? *geometry : (omprma_geometry_t){0};
    pthread_mutex_unlock(&lock);
    if (count > OMPRMA_LAUNCH_ARGUMENTS || count > 128)
        return fail(OMPRMA_ERR_ARGUMENT, "%zu arguments are too many", count);
    uint64_t *words = calloc(128, sizeof(*words));
    memcpy(words, arguments, count * sizeof(*words));
    return append(queue, (struct operation){.what = what, .from = (void *)kernel, .owned = words});
}

omprma_status_t omprma_launch(omprma_queue_t *queue, omprma_addr_t kernel,
                              const omprma_geometry_t *geometry, const uint64_t *arguments,
                              size_t count)
{
    return launch(queue, kernel, geometry, arguments, count, CALL);
}

omprma_status_t omprma_launch_context(omprma_queue_t *queue, omprma_addr_t kernel,
                                      const omprma_geometry_t *geometry, const uint64_t *arguments,
                                      size_t count)
{
    return launch(queue, kernel, geometry, arguments, count, CALL_CONTEXT);
}

#define W4(n) w[n], w[n + 1], w[n + 2], w[n + 3]
#define W16(n) W4(n), W4(n + 4), W4(n + 8), W4(n + 12)

static bool queue_step(omprma_queue_t *queue);

static void call_context(const struct operation *operation)
{
    uint64_t *words = operation->owned;
    void *context[128];
    for (int i = 0; i < 128; i++)
        context[i] = &words[i];
    ((void (*)(void **))operation->from)(context);
}

static void operation_run(const struct operation *operation)
{
    const uint64_t *w = operation->owned;
    /* A C function does not mind arguments that it does not have. */
    typedef void kernel_t(uint64_t, ...);
    switch (operation->what) {
    case COPY:
        memmove(operation->to, operation->from, operation->bytes);
        break;
    case CALL:
        ((kernel_t *)operation->from)(W16(0), W16(16), W16(32), W16(48), W16(64), W16(80), W16(96),
                                      W16(112));
        break;
    case CALL_CONTEXT:
        call_context(operation);
        break;
    case WAIT:
        while (operation->queue->done < operation->place) {
            /* Whoever runs that queue may be waiting for the one that this operation is in, so
             * nobody waits for the lock here. And what comes behind the place may wait for this
             * very operation. */
            if (pthread_mutex_trylock(&operation->queue->running) == 0) {
                if (operation->queue->done < operation->place)
                    queue_step(operation->queue);
                pthread_mutex_unlock(&operation->queue->running);
            }
            sched_yield();
        }
    }
    free(operation->owned);
}

/* Runs the first operation; false: there is none. */
static bool queue_step(omprma_queue_t *queue)
{
    pthread_mutex_lock(&lock);
    struct operation *operation = queue->first;
    if (operation) {
        queue->first = operation->next;
        if (!queue->first)
            queue->last = &queue->first;
    }
    pthread_mutex_unlock(&lock);
    if (!operation)
        return false;
    operation_run(operation);
    queue->done++;
    free(operation);
    return true;
}

omprma_status_t omprma_queue_flush(omprma_queue_t *queue)
{
    bool more;
    do {
        pthread_mutex_lock(&queue->running);
        more = queue_step(queue);
        pthread_mutex_unlock(&queue->running);
    } while (more);
    return OMPRMA_OK;
}

omprma_status_t omprma_queue_query(omprma_queue_t *queue, bool *done)
{
    *done = true;
    return omprma_queue_flush(queue);
}

omprma_status_t omprma_queue_synchronize(omprma_queue_t *queue)
{
    return omprma_queue_flush(queue);
}

omprma_status_t omprma_queue_destroy(omprma_queue_t *queue)
{
    if (queue)
        omprma_queue_flush(queue);
    free(queue);
    return OMPRMA_OK;
}

omprma_status_t omprma_event_create(omprma_event_t **event)
{
    *event = calloc(1, sizeof(**event));
    return OMPRMA_OK;
}

omprma_status_t omprma_event_record(omprma_event_t *event, omprma_queue_t *queue)
{
    *event = (omprma_event_t){.queue = queue, .place = queue->issued};
    return OMPRMA_OK;
}

omprma_status_t omprma_event_wait(omprma_event_t *event, omprma_queue_t *queue)
{
    if (!event->queue || event->queue == queue)
        return OMPRMA_OK;
    return append(queue,
                  (struct operation){.what = WAIT, .queue = event->queue, .place = event->place});
}

omprma_status_t omprma_event_query(omprma_event_t *event, bool *done)
{
    *done = true;
    return event->queue ? omprma_queue_flush(event->queue) : OMPRMA_OK;
}

omprma_status_t omprma_event_synchronize(omprma_event_t *event)
{
    return event->queue ? omprma_queue_flush(event->queue) : OMPRMA_OK;
}

void omprma_event_destroy(omprma_event_t *event)
{
    free(event);
}

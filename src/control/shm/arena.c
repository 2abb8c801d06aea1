/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * arena.c: the memory becomes that of a file without a name, at the same address; its last bytes
 * are a random number, by which the other process knows that it has opened the right one.
 */
#define _GNU_SOURCE
#include "control/shm/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/file_limit.h"
#include "control/shm/huge_file.h"

enum {
    HUGE_PAGE = ARENA_HUGE_PAGE,
    STREAM_OUT_LEAST = 16 << 20, /* no cache holds it */
    STREAM_IN_LEAST = 32 << 20,  /* the program reads some of it soon */
    PAGE = 4096,
    COOKIE = sizeof(uint64_t),
    RIGHTS = PROT_READ | PROT_WRITE
};

/* ---- who has it ---- */

static bool promises_memory(void)
{
    char mode = '0';
    int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    if (read(fd, &mode, 1) != 1)
        mode = '0';
    close(fd);
    return mode == '2';
}

/* -1: see errno. */
static int make_file(size_t bytes)
{
    errno = promises_memory() ? ENOTSUP : EFBIG;
    return errno == EFBIG && file_may_have(bytes) ? huge_file_make(bytes) : -1;
}

/* The number is written by the file: that takes less than the first use of memory. */
static bool write_cookie(int fd, size_t bytes, struct shm_address *address)
{
    uint64_t cookie;

    if (getrandom(&cookie, sizeof(cookie), 0) != (ssize_t)sizeof(cookie))
        cookie = (uint64_t)getpid() << 32 | (uint32_t)fd;
    *address = (struct shm_address){.pid = getpid(), .fd = fd, .cookie = cookie};
    return pwrite(fd, &cookie, COOKIE, (off_t)(bytes - COOKIE)) == COOKIE;
}

int arena_share(void *at, size_t bytes, struct shm_address *address)
{
    int fd = make_file(bytes), code;

    if (fd < 0)
        return -1;
    if (write_cookie(fd, bytes, address) &&
        mmap(at, bytes, RIGHTS, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0) == at) {
        madvise(at, bytes, MADV_HUGEPAGE);
        return fd;
    }
    code = errno;
    arena_unshare(at, bytes, fd);
    errno = code;
    return -1;
}

void arena_unshare(void *at, size_t bytes, int file)
{
    close(file);
    if (mmap(at, bytes, RIGHTS, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at)
        madvise(at, bytes, MADV_HUGEPAGE);
}

/* ---- who opens it ---- */

/* -1: see errno. The number is looked at. */
static int open_file(const struct shm_address *address, uint64_t bytes)
{
    char path[64];
    uint64_t cookie = 0;
    int fd;
    off_t end;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", address->pid, address->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -1;
    end = lseek(fd, 0, SEEK_END);
    if (end >= (off_t)(bytes + COOKIE) && pread(fd, &cookie, COOKIE, end - COOKIE) == COOKIE &&
        cookie == address->cookie)
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

/* From the beginning of a huge page on, as there. The program's children have no part in it, and it
 * is no part of its core files: it is one of the worker's. */
static bool map(struct arena *arena)
{
    void *at;

    arena->mapped_bytes = arena->bytes + HUGE_PAGE;
    arena->mapped = mmap(NULL, arena->mapped_bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena->mapped == MAP_FAILED)
        return false;
    at = (char *)arena->mapped + (-(uintptr_t)arena->mapped & (HUGE_PAGE - 1));
    if (mmap(at, arena->bytes, RIGHTS, MAP_SHARED | MAP_FIXED, arena->file, 0) != at) {
        int code = errno;

        munmap(arena->mapped, arena->mapped_bytes);
        errno = code;
        return false;
    }
    madvise(at, arena->bytes, MADV_HUGEPAGE);
    madvise(at, arena->bytes, MADV_DONTFORK);
    madvise(at, arena->bytes, MADV_DONTDUMP);
    arena->at = at;
    return true;
}

struct arena *arena_open(const struct shm_address *address, uint64_t base, uint64_t bytes)
{
    struct arena *arena = calloc(1, sizeof(*arena));
    int code;

    if (!arena)
        return NULL;
    *arena = (struct arena){
        .address = *address, .base = base, .bytes = bytes, .file = open_file(address, bytes)};
    arena->filled = calloc(bytes / HUGE_PAGE + 1, sizeof(*arena->filled));
    if (arena->file >= 0 && arena->filled && map(arena))
        return arena;
    code = errno;
    if (arena->file >= 0)
        close(arena->file);
    free(arena->filled);
    free(arena);
    errno = code;
    return NULL;
}

void arena_close(struct arena *arena)
{
    if (!arena)
        return;
    munmap(arena->mapped, arena->mapped_bytes);
    close(arena->file);
    free(arena->filled);
    free(arena);
}

/* ---- copies ---- */

#ifdef __SSE2__
enum { LINE = 64 };

/* Whole lines of `to`, past the caches: else each line is read before it is written. Returns how
 * many bytes. */
static size_t copy_lines(char *to, const char *from, size_t bytes)
{
    size_t done = 0;

    for (; done + LINE <= bytes; done += LINE) {
        const __m128i *source = (const __m128i *)(const void *)(from + done);
        __m128i *target = (__m128i *)(void *)(to + done);
        __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1),
                c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);

        _mm_stream_si128(target, a);
        _mm_stream_si128(target + 1, b);
        _mm_stream_si128(target + 2, c);
        _mm_stream_si128(target + 3, d);
    }
    _mm_sfence();
    return done;
}

static void copy_stream(char *to, const char *from, size_t bytes)
{
    size_t before = -(uintptr_t)to & (LINE - 1), done;

    before = before < bytes ? before : bytes;
    memcpy(to, from, before);
    done = before + copy_lines(to + before, from + before, bytes - before);
    memcpy(to + done, from + done, bytes - done);
}
#else
static void copy_stream(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif

/* Whether a huge page begins there that nobody has written to. */
static bool is_new(const struct arena *arena, uint64_t offset)
{
    return offset % HUGE_PAGE == 0 &&
           !atomic_load_explicit(&arena->filled[offset / HUGE_PAGE], memory_order_relaxed);
}

/* By the kernel, which then does not zero what is written at once. It ends processes that write
 * more to a file than they may. False: nothing was done, or not all of it. */
static bool fill_page(const struct arena *arena, const void *from, uint64_t offset)
{
    if (!is_new(arena, offset))
        return false;
    atomic_store_explicit(&arena->filled[offset / HUGE_PAGE], true, memory_order_relaxed);
    return file_may_have(offset + HUGE_PAGE) &&
           pwrite(arena->file, from, HUGE_PAGE, (off_t)offset) == HUGE_PAGE;
}

void arena_copy(const struct arena *arena, bool out, void *here, uint64_t there, uint64_t bytes,
                bool stream)
{
    uint64_t offset = there - arena->base;
    char *at = arena_here(arena, there), *to = out ? at : here;
    const char *from = out ? here : at;

    if (out && bytes == HUGE_PAGE && fill_page(arena, from, offset))
        return;
    if (stream)
        copy_stream(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

uint64_t arena_piece(const struct arena *arena, const struct transfer *t, uint64_t at,
                     uint64_t most)
{
    uint64_t offset = t->remote + at - arena->base, left = HUGE_PAGE - offset % HUGE_PAGE;
    uint64_t piece = left < t->bytes - at ? left : t->bytes - at;
    bool fills = piece == HUGE_PAGE && t->direction == TRANSFER_OUT && is_new(arena, offset);

    return fills || piece < most ? piece : most;
}

void arena_copy_piece(const struct arena *arena, const struct transfer *t, uint64_t at,
                      uint64_t piece)
{
    bool out = t->direction == TRANSFER_OUT;

    arena_copy(arena, out, (char *)t->local + at, t->remote + at, piece,
               t->bytes >= (out ? STREAM_OUT_LEAST : STREAM_IN_LEAST));
}

bool arena_move(const struct arena *arena, struct transfer *t)
{
    uint64_t piece = arena_piece(arena, t, t->completed, HUGE_PAGE);

    arena_copy_piece(arena, t, t->completed, piece);
    t->completed += piece;
    t->issued = t->completed;
    return t->completed == t->bytes;
}

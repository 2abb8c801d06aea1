/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * quota.c: a line for each session, which only it writes until it has ended: its slot, and what it
 * holds. There is no sum that a session could leave wrong when it is killed; who asks for more adds
 * up.
 */
#define _GNU_SOURCE
#include "worker/quota.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

struct line {
    _Atomic uint64_t bytes;
    _Atomic uint32_t slot; /* and 1; 0: it is nobody's */
};

struct page {
    uint64_t free_bytes;
    _Atomic uint32_t used; /* lines from here on were never anybody's */
    struct line lines[QUOTA_SESSIONS_MOST];
};

struct quota {
    int fd;
    struct line *own; /* NULL in the agent */
    struct page *page;
};

static omprma_status_t quota_fail(void)
{
    return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to count device memory: %s",
                     strerror(errno));
}

/* Takes the descriptor over. */
static omprma_status_t quota_map(int fd, struct quota **made)
{
    struct quota *quota = calloc(1, sizeof(*quota));
    void *page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (!quota || page == MAP_FAILED) {
        omprma_status_t status = quota_fail();

        if (page != MAP_FAILED)
            munmap(page, sizeof(struct page));
        close(fd);
        free(quota);
        return status;
    }
    *quota = (struct quota){.fd = fd, .page = page};
    *made = quota;
    return OMPRMA_OK;
}

/* ---- the agent ---- */

omprma_status_t quota_create(uint64_t free_bytes, struct quota **quota)
{
    int fd = memfd_create("omprma-quota", MFD_CLOEXEC);
    omprma_status_t status;

    if (fd < 0)
        return quota_fail();
    if (ftruncate(fd, sizeof(struct page))) {
        status = quota_fail();
        close(fd);
        return status;
    }
    status = quota_map(fd, quota);
    if (status == OMPRMA_OK)
        (*quota)->page->free_bytes = free_bytes;
    return status;
}

int quota_descriptor(const struct quota *quota)
{
    return quota->fd;
}

int quota_enter(struct quota *quota, int slot)
{
    struct page *page = quota->page;

    for (uint32_t i = 0; i < QUOTA_SESSIONS_MOST; i++) {
        if (page->lines[i].slot != 0)
            continue;
        page->lines[i].slot = (uint32_t)slot + 1;
        if (page->used <= i)
            page->used = i + 1;
        return (int)i;
    }
    return -1;
}

void quota_leave(struct quota *quota, int entry)
{
    if (entry < 0)
        return;
    quota->page->lines[entry].bytes = 0;
    quota->page->lines[entry].slot = 0;
}

/* ---- a session ---- */

omprma_status_t quota_join(struct quota **quota)
{
    const char *text = getenv(QUOTA_VARIABLE);
    int fd, entry, end = 0;
    omprma_status_t status;

    *quota = NULL;
    if (!text)
        return OMPRMA_OK;
    if (sscanf(text, "%d,%d%n", &fd, &entry, &end) != 2 || text[end] || fd <= STDERR_FILENO ||
        entry < 0 || entry >= QUOTA_SESSIONS_MOST)
        return error_set(OMPRMA_ERR_CONFIG, QUOTA_VARIABLE " is %s, which no agent has set", text);
    unsetenv(QUOTA_VARIABLE);
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* what regions start is not to have it */
    status = quota_map(fd, quota);
    if (status == OMPRMA_OK)
        (*quota)->own = &(*quota)->page->lines[entry];
    return status;
}

uint64_t quota_free_bytes(const struct quota *quota)
{
    return quota->page->free_bytes;
}

uint64_t quota_others(const struct quota *quota)
{
    const struct page *page = quota->page;
    uint32_t used = page->used;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < used && i < QUOTA_SESSIONS_MOST; i++)
        if (&page->lines[i] != quota->own && page->lines[i].slot == quota->own->slot)
            sum += page->lines[i].bytes;
    return sum;
}

/* Its own line comes first: of two that ask at once, each sees the other's. */
bool quota_take(struct quota *quota, uint64_t bytes, uint64_t limit)
{
    uint64_t mine = atomic_fetch_add(&quota->own->bytes, bytes) + bytes, others;

    others = quota_others(quota);
    if (mine <= limit && others <= limit - mine)
        return true;
    quota_give(quota, bytes);
    return false;
}

void quota_give(struct quota *quota, uint64_t bytes)
{
    atomic_fetch_sub(&quota->own->bytes, bytes);
}

/* ---- both ---- */

void quota_close(struct quota *quota)
{
    if (!quota)
        return;
    munmap(quota->page, sizeof(*quota->page));
    close(quota->fd);
    free(quota);
}

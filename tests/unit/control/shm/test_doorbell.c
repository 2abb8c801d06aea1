/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_doorbell.c: two processes that sleep until the other rings; no ring is lost. Who has died is
 * told from who lives.
 * Covers: doorbell.c shm/memory.c */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/clock.h"
#include "control/shm/doorbell.h"

enum { ROUNDS = 20000, LONG_NS = 2000000000, MEMORY = 64 << 20 };

/* What both processes see. */
struct table {
    struct shm_address address[2];
    _Atomic int ready[2];
    _Atomic unsigned turn; /* even: the first's */
};

static struct table *table;

static void make_table(void)
{
    table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(table != MAP_FAILED);
}

/* Waits until it is this side's turn, passes it on. False if a ring was lost: then a sleep lasted
 * until its limit. */
static bool ping_pong(unsigned side, struct doorbell *own, struct doorbell *other)
{
    for (unsigned round = side; round < ROUNDS; round += 2) {
        while (atomic_load(&table->turn) != round) {
            int64_t begin = clock_ns();

            doorbell_prepare(own);
            if (atomic_load(&table->turn) == round) {
                doorbell_cancel(own);
                break;
            }
            doorbell_sleep(own, LONG_NS);
            if (clock_ns() - begin >= LONG_NS)
                return false;
        }
        atomic_store(&table->turn, round + 1);
        doorbell_ring(other);
    }
    return true;
}

static struct doorbell *meet(unsigned side, struct doorbell **own)
{
    if (doorbell_create(own, 0, &table->address[side]) != OMPRMA_OK)
        return NULL;
    atomic_store(&table->ready[side], 1);
    while (!atomic_load(&table->ready[1 - side]))
        usleep(100);
    return doorbell_open(&table->address[1 - side], 0);
}

TEST(processes_wake_each_other)
{
    struct doorbell *own = NULL, *other;
    int status = 0;
    bool good;
    pid_t child;

    make_table();
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        other = meet(1, &own);
        good = other && ping_pong(1, own, other);
        doorbell_close(other);
        doorbell_close(own);
        _exit(good ? 0 : 1);
    }
    other = meet(0, &own);
    good = other && ping_pong(0, own, other);
    waitpid(child, &status, 0);
    assert_true(good);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    doorbell_close(other);
    doorbell_close(own);
    munmap(table, sizeof(*table));
}

TEST(a_sleep_ends_at_its_limit)
{
    struct shm_address address;
    struct doorbell *bell;
    int64_t begin = clock_ns();

    assert_int_equal(doorbell_create(&bell, 0, &address), OMPRMA_OK);
    doorbell_prepare(bell);
    doorbell_sleep(bell, 20000000);
    assert_true(clock_ns() - begin >= 19000000);
    doorbell_prepare(bell);
    doorbell_ring(bell); /* between prepare and sleep: the sleep ends at once */
    begin = clock_ns();
    doorbell_sleep(bell, LONG_NS);
    assert_true(clock_ns() - begin < LONG_NS / 2);
    doorbell_ring(bell); /* nobody sleeps: it leaves nothing behind */
    doorbell_prepare(bell);
    begin = clock_ns();
    doorbell_sleep(bell, 20000000);
    assert_true(clock_ns() - begin >= 19000000);
    doorbell_close(bell);
}

TEST(strangers_are_not_opened)
{
    struct shm_address address, changed;
    struct doorbell *bell, *peer;

    assert_int_equal(doorbell_create(&bell, 0, &address), OMPRMA_OK);
    peer = doorbell_open(&address, 0);
    assert_non_null(peer);
    doorbell_close(peer);
    changed = address;
    changed.cookie++;
    assert_null(doorbell_open(&changed, 0));
    changed = address;
    changed.fd = 0; /* something else is open there */
    assert_null(doorbell_open(&changed, 0));
    changed.fd = 900;
    assert_null(doorbell_open(&changed, 0));
    changed = address;
    changed.pid = 0x7ffffff;
    assert_null(doorbell_open(&changed, 0));
    doorbell_close(bell);
    doorbell_close(NULL);
    doorbell_ring(NULL);
}

/* Seen at once by all, before the memory of the dead is gone, and for good. */
TEST(the_death_of_an_owner_is_seen)
{
    struct doorbell *peer, *other, *own = NULL;
    struct iovec here, there;
    unsigned char *memory, byte;
    pid_t child;

    make_table();
    memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        memset(memory, 1, MEMORY); /* freeing it takes a while */
        if (doorbell_create(&own, 0, &table->address[0]) != OMPRMA_OK ||
            doorbell_stay(own) != OMPRMA_OK)
            _exit(1);
        atomic_store(&table->ready[0], 1);
        for (;;)
            pause();
    }
    while (!atomic_load(&table->ready[0]))
        usleep(100);
    peer = doorbell_open(&table->address[0], 0);
    other = doorbell_open(&table->address[0], 0);
    assert_non_null(peer);
    assert_non_null(other);
    here = (struct iovec){&byte, 1};
    there = (struct iovec){memory, 1};
    assert_false(doorbell_owner_died(peer));
    assert_false(doorbell_owner_died(NULL));
    assert_int_equal(process_vm_readv(child, &here, 1, &there, 1, 0), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    while (process_vm_readv(child, &here, 1, &there, 1, 0) == 1)
        ;
    assert_true(doorbell_owner_died(peer));
    waitpid(child, NULL, 0);
    for (int i = 0; i < 5; i++) {
        assert_true(doorbell_owner_died(peer));
        assert_true(doorbell_owner_died(other));
    }
    doorbell_close(other);
    doorbell_close(peer);
    munmap(memory, MEMORY);
    munmap(table, sizeof(*table));
}

static int make_large(void)
{
    const struct rlimit limit = {4096, 4096};
    struct shm_memory memory;
    struct shm_address address;

    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    if (shm_memory_make(&memory, "test", MEMORY, SHM_PAGES_LATER, &address) !=
        OMPRMA_ERR_HOST_MEMORY)
        return 2;
    if (shm_memory_make(&memory, "test", 64, SHM_PAGES_NOW, &address) != OMPRMA_OK)
        return 3;
    shm_memory_close(&memory);
    return 0;
}

/* The kernel kills who makes a larger file than it may. */
TEST(memory_above_the_limit_of_files_is_an_error)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(make_large());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Neither one that has said nothing, nor one that lives, nor one that was closed in order. */
TEST(nobody_is_taken_for_dead)
{
    struct shm_address address;
    struct doorbell *bell, *peer;

    assert_int_equal(doorbell_create(&bell, 0, &address), OMPRMA_OK);
    peer = doorbell_open(&address, 0);
    assert_non_null(peer);
    assert_false(doorbell_owner_died(peer));
    assert_int_equal(doorbell_stay(bell), OMPRMA_OK);
    for (int i = 0; i < 5; i++)
        assert_false(doorbell_owner_died(peer));
    doorbell_close(bell);
    assert_false(doorbell_owner_died(peer));
    assert_false(doorbell_owner_died(peer));
    doorbell_close(peer);
}

/* A bell that uses descriptors, as its owner and a peer have it. */
TEST(a_sleep_at_descriptors_ends_by_a_ring_or_a_descriptor)
{
    struct shm_address address;
    struct doorbell *own, *peer;
    int pipes[2], at[DOORBELL_DESCRIPTORS];

    assert_int_equal(doorbell_create(&own, 0, &address), OMPRMA_OK);
    assert_int_equal(doorbell_use_descriptors(own), OMPRMA_OK);
    peer = doorbell_open(&address, 0);
    assert_non_null(peer);
    assert_int_equal(pipe(pipes), 0);
    at[0] = pipes[0];
    at[1] = -1;
    for (int i = 0; i < 100; i++) {
        doorbell_prepare(own);
        assert_true(doorbell_is_asleep(peer));
        doorbell_ring(i % 2 ? peer : own); /* one that comes before the sleep is not lost */
        assert_false(doorbell_sleep_at(own, at, LONG_NS));
        assert_false(doorbell_is_asleep(peer));
    }
    doorbell_prepare(own);
    assert_int_equal(write(pipes[1], "", 1), 1);
    assert_true(doorbell_sleep_at(own, at, LONG_NS));
    doorbell_prepare(own);
    doorbell_close(own);
    doorbell_ring(peer); /* nobody is there, and that is no signal */
    doorbell_close(peer);
    close(pipes[0]);
    close(pipes[1]);
}

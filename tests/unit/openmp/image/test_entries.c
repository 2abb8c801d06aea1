/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_entries.c: entries and images in all forms that programs register them in.
 * Covers: registry.c entries.c offload_binary.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "openmp/abi/offload_binary.h"
#include "openmp/image/entries.h"
#include "openmp/image/registry.h"

static struct entry taken[8];
static int taken_count;

static bool take(const struct entry *entry, void *context)
{
    (void)context;
    taken[taken_count++] = *entry;
    return true;
}

static bool take_all(const void *begin, size_t bytes)
{
    taken_count = 0;
    return entries_each(begin, (const char *)begin + bytes, take, NULL);
}

/* As clang 16 lays them out: a variable of 16 bytes, then a kernel. */
TEST(test_old_entries)
{
    static char name[] = "g", kernel[] = "k";
    const uint64_t words[] = {0x1000, (uintptr_t)name,   16, 0, /* flags and data: none */
                              0x2000, (uintptr_t)kernel, 0,  0};
    assert_true(take_all(words, sizeof(words)));
    assert_int_equal(taken_count, 2);
    assert_ptr_equal(taken[0].address, 0x1000);
    assert_int_equal(taken[0].bytes, 16);
    assert_string_equal(taken[1].name, "k");
    assert_int_equal(taken[1].bytes, 0);
}

/* As clang 22 lays them out: requires clauses, a variable that is linked, and one of CUDA's. */
TEST(test_new_entries)
{
    static char name[] = "g", none[] = "";
    const uint64_t words[] = {
        0, 0x0000001000010001, 0,      (uintptr_t)none, 0, 8, 0, /* flags 16, data 8 */
        0, 0x0000000100010001, 0x1000, (uintptr_t)name, 8, 0, 0, /* flags 1 */
        0, 0x0000000000020001, 0x3000, (uintptr_t)name, 8, 0, 0, /* kind 2 */
    };
    assert_true(take_all(words, sizeof(words)));
    assert_int_equal(taken_count, 2);
    assert_int_equal(taken[0].flags, ENTRY_REQUIRES);
    assert_int_equal(taken[0].data, 8);
    assert_int_equal(taken[1].flags, ENTRY_LINK);
    assert_ptr_equal(taken[1].address, 0x1000);
}

TEST(test_damaged_entries)
{
    const uint64_t words[] = {0x1000, 0, 0, 0, 0x2000, 0};
    assert_false(take_all(words, sizeof(words)));
    assert_true(take_all(words, 0));
    /* a newer one is not taken for an older one because it is cut off */
    const uint64_t cut[] = {0, 0x0000000100010001, 0x1000, 0, 8};
    assert_false(take_all(cut, sizeof(cut)));
}

/* The clauses that all parts of a program must agree on; no clause is a bit of its own. */
static int status_of_requires(int64_t first, int64_t second)
{
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        registry_require(first);
        registry_require(second);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

TEST(test_requires)
{
    assert_int_equal(status_of_requires(1, 1), 0);
    assert_int_equal(status_of_requires(2, 2), 0);
    assert_int_equal(status_of_requires(1, 16), 0); /* dynamic_allocators may differ */
    assert_true(WIFSIGNALED(status_of_requires(1, 2)));
    assert_true(WIFSIGNALED(status_of_requires(8, 1)));
}

/* What the devices cannot give, whichever part of the program requires it. */
static bool is_prepared(int64_t first, int64_t second)
{
    static struct device device = {
        .site = {.load_lock = PTHREAD_MUTEX_INITIALIZER, .generation = 1}};
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        registry_require(first);
        registry_require(second);
        _exit(!registry_prepare(&device, NULL));
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 0;
}

TEST(test_requires_what_cannot_be_given)
{
    assert_true(is_prepared(1, 1));
    assert_true(is_prepared(4, 4 + 16));
    assert_false(is_prepared(2, 2));
    assert_false(is_prepared(8, 8));
    for (int bit = 5; bit < 64; bit++) {
        assert_false(is_prepared((int64_t)(UINT64_C(1) << bit), 1));
        assert_false(is_prepared(1, (int64_t)(UINT64_C(1) << bit)));
    }
}

/* What is said of a region without device code: that it was not linked, or is for other machines.
 */
static bool missing_says(const char *wanted)
{
    static struct space space = {.lock = PTHREAD_MUTEX_INITIALIZER};
    static struct device device = {.space = &space};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    pthread_mutex_lock(&device.space->lock);
    bool found = registry_plan(&device, wanted, NULL) != NULL;
    pthread_mutex_unlock(&device.space->lock);
    dup2(before, STDERR_FILENO);
    close(before);
    char words[1000];
    ssize_t bytes = read(ends[0], words, sizeof(words) - 1);
    close(ends[0]);
    words[bytes > 0 ? bytes : 0] = '\0';
    return !found && strstr(words, wanted) != NULL;
}

TEST(test_missing)
{
    static char bitcode[] = "BC not for us";
    struct abi_image image = {.start = bitcode, .end = bitcode + sizeof(bitcode)};
    assert_true(missing_says("static archives"));
    registry_add(&(struct abi_library){.count = 1, .images = &image});
    assert_true(missing_says("no image with this target region for x86_64"));
}

/* ---- LLVM's file format for images ---- */

struct packed {
    unsigned char magic[4];
    uint32_t version;
    uint64_t bytes, entry_offset, entry_bytes;
    uint16_t kinds[2];
    uint32_t flags;
    uint64_t strings[2], image_offset, image_bytes;
    char image[16];
};

static struct packed packed_make(void)
{
    return (struct packed){{0x10, 0xff, 0x10, 0xad},
                           1,
                           sizeof(struct packed),
                           offsetof(struct packed, kinds),
                           40,
                           {0, 0},
                           0,
                           {0, 0},
                           offsetof(struct packed, image),
                           7,
                           "\177ELF..."};
}

TEST(test_packed)
{
    struct packed packed = packed_make();
    const char *start = (const char *)&packed;
    size_t bytes = sizeof(packed);
    assert_true(offload_binary_open(&start, &bytes));
    assert_ptr_equal(start, packed.image);
    assert_int_equal(bytes, 7);
    assert_true(offload_binary_open(&start, &bytes)); /* a bare image stays */
    assert_ptr_equal(start, packed.image);
}

static bool opens(struct packed packed, size_t bytes)
{
    const char *start = (const char *)&packed;
    return offload_binary_open(&start, &bytes);
}

TEST(test_packed_damaged)
{
    struct packed packed = packed_make();
    for (size_t bytes = sizeof(packed.magic); bytes < offsetof(struct packed, image); bytes++)
        assert_false(opens(packed, bytes));
    packed.image_offset = UINT64_MAX;
    assert_false(opens(packed, sizeof(packed)));
    packed = packed_make();
    packed.image_bytes = 1000;
    assert_false(opens(packed, sizeof(packed)));
    packed = packed_make();
    packed.entry_offset = sizeof(packed) - 8;
    assert_false(opens(packed, sizeof(packed)));
    packed = packed_make();
    packed.version = 2;
    assert_false(opens(packed, sizeof(packed)));
}

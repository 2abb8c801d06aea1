/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_gather.c: small ranges share blocks of device memory, keep the host's alignment, and
 * travel together; what lies between them and is somebody else's stays as it is. On devices that
 * are this process (tests/unit/fake/local_omprma.c).
 * Covers: gather.c suballoc.c
 */
#include <string.h>

#include "tests/unit/test.h"
#include "openmp/image/choice.h"
#include "openmp/run/gather.h"

static struct device *device;
static omprma_queue_t *queue;

static int set_up(void **state)
{
    (void)state;
    if (device_choose(0, NULL, &device) != CHOICE_DEVICE)
        return -1;
    return omprma_queue_create(device->site.remote, &queue) == OMPRMA_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    omprma_queue_destroy(queue);
    device_leave();
    return 0;
}

static struct suballoc take(uintptr_t host, size_t bytes)
{
    struct suballoc share;
    pthread_mutex_lock(&device->space->lock);
    assert_true(suballoc_take(&device->space->memory, NULL, NULL, host, bytes, &share));
    pthread_mutex_unlock(&device->space->lock);
    assert_int_equal(share.device % SUBALLOC_ALIGNMENT, host % SUBALLOC_ALIGNMENT);
    return share;
}

static void give(const struct suballoc *share)
{
    pthread_mutex_lock(&device->space->lock);
    assert_true(suballoc_give(&device->space->memory, NULL, share));
    pthread_mutex_unlock(&device->space->lock);
}

/* Memory is used again when all that shared it has gone, and blocks come and go. */
TEST(test_shares)
{
    enum { MANY = 500, BYTES = 40 };
    static struct suballoc shares[MANY];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            shares[i] = take((uintptr_t)i, BYTES);
            assert_non_null(shares[i].block);
            memset((void *)shares[i].device, i & 0x7f, BYTES);
        }
        for (int i = 0; i < MANY; i++)
            for (int byte = 0; byte < BYTES; byte++)
                assert_int_equal(((char *)shares[i].device)[byte], i & 0x7f);
        for (int i = 0; i < MANY; i++)
            give(&shares[i]);
    }
    struct suballoc first = take(0, 8), large = take(8, SUBALLOC_BYTES + 1);
    assert_null(large.block);
    give(&first);
    give(&large);
    struct suballoc again = take(0, 8);
    assert_int_equal(again.device, first.device);
    give(&again);
}

static void issue(struct gather *gather)
{
    assert_int_equal(gather_issue(gather, queue), OMPRMA_OK);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_OK);
}

TEST(test_out)
{
    static struct gather gather;
    char text[3][9] = {"abcdefgh", "ijklmnop", "qrstuvwx"};
    struct suballoc first = take(0, 8), second = take(4, 8), other = take(0, 8), last = take(8, 8);
    memset((void *)other.device, '-', 8);
    assert_true(gather_add(&gather, &first, first.device, text[0], 8));
    assert_true(gather_add(&gather, &second, second.device, text[1], 8)); /* beyond a gap */
    assert_false(gather_add(&gather, &last, last.device, text[2], 8));    /* beyond a range */
    memset(text, 'z', sizeof(text));
    issue(&gather);
    assert_memory_equal((void *)first.device, "abcdefgh", 8);
    assert_memory_equal((void *)second.device, "ijklmnop", 8);
    assert_memory_equal((void *)other.device, "--------", 8);
    assert_true(gather_add(&gather, &last, last.device + 2, "QR", 2)); /* it is empty again */
    assert_true(gather_add(&gather, &last, last.device + 4, "ST", 2));
    assert_false(gather_add(&gather, &last, last.device + 4, "ST", 2));
    issue(&gather);
    assert_memory_equal((char *)last.device + 2, "QRST", 4);
    give(&first);
    give(&second);
    give(&other);
    give(&last);
}

/* What is large, or far away, does not fit. */
TEST(test_limits)
{
    static struct gather gather;
    static char bytes[SUBALLOC_BYTES + 1];
    struct suballoc own = take(0, SUBALLOC_BYTES + 1), shares[GATHER_BYTES / SUBALLOC_BYTES + 1];
    assert_false(gather_add(&gather, &own, own.device, bytes, 8));
    size_t count = sizeof(shares) / sizeof(shares[0]);
    for (size_t i = 0; i < count; i++) {
        shares[i] = take(0, SUBALLOC_BYTES);
        assert_int_equal(gather_add(&gather, &shares[i], shares[i].device, bytes, SUBALLOC_BYTES),
                         i < count - 1);
    }
    issue(&gather);
    for (size_t i = 0; i < count; i++)
        give(&shares[i]);
    give(&own);
}

/* What comes back begins with the last range, and leaves what is between where it was. */
TEST(test_back)
{
    static struct scatter scatter;
    char text[4][9] = {"zzzzzzzz", "zzzzzzzz", "zzzzzzzz", "zzzzzzzz"};
    enum { FAR = GATHER_BYTES / SUBALLOC_BYTES };
    struct suballoc first = take(0, 8), second = take(4, 8), other = take(0, 8), third = take(8, 8);
    struct suballoc own = take(0, SUBALLOC_BYTES + 1), far[FAR];
    for (int i = 0; i < FAR; i++)
        far[i] = take(0, SUBALLOC_BYTES);
    struct suballoc last = take(8, 8);
    memcpy((void *)first.device, "abcdefgh", 8);
    memcpy((void *)second.device, "ijklmnop", 8);
    memcpy((void *)other.device, "--------", 8);
    memcpy((void *)third.device, "ABCDEFGH", 8);
    memcpy((void *)last.device, "qrstuvwx", 8);
    assert_false(scatter_add(&scatter, &own, text[0], own.device, 8));
    assert_true(scatter_add(&scatter, &second, text[1] + 4, second.device + 4, 4));
    assert_true(scatter_add(&scatter, &second, text[1], second.device, 2)); /* beyond a pointer */
    assert_true(scatter_add(&scatter, &third, text[3], third.device, 8));   /* beyond a range */
    assert_false(scatter_add(&scatter, &last, text[2], last.device, 8));    /* too far away */
    assert_true(scatter_add(&scatter, &first, text[0], first.device, 8));   /* beyond a gap */
    assert_int_equal(scatter_issue(&scatter, queue), OMPRMA_OK);
    assert_true(scatter_add(&scatter, &last, text[2], last.device, 8)); /* it is empty again */
    assert_int_equal(scatter_issue(&scatter, queue), OMPRMA_OK);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_OK);
    assert_string_equal(text[0], "abcdefgh");
    assert_string_equal(text[1], "ijzzmnop");
    assert_string_equal(text[2], "qrstuvwx");
    assert_string_equal(text[3], "ABCDEFGH");
    give(&first);
    give(&second);
    give(&other);
    give(&third);
    for (int i = 0; i < FAR; i++)
        give(&far[i]);
    give(&own);
    give(&last);
}

/* No more parts, and no larger range, than travel in a message. */
TEST(test_limits_back)
{
    static struct scatter scatter;
    static char bytes[SUBALLOC_BYTES];
    struct suballoc shares[SCATTER_PARTS + 1], wide[GATHER_BYTES / SUBALLOC_BYTES + 1];
    for (size_t i = 0; i <= SCATTER_PARTS; i++) {
        shares[i] = take(8 * i, 8);
        assert_int_equal(scatter_add(&scatter, &shares[i], bytes, shares[i].device, 8),
                         i < SCATTER_PARTS);
    }
    assert_int_equal(scatter_issue(&scatter, queue), OMPRMA_OK);
    size_t count = sizeof(wide) / sizeof(wide[0]);
    for (size_t i = 0; i < count; i++)
        wide[i] = take(0, SUBALLOC_BYTES);
    for (size_t i = count; i-- > 0;)
        assert_int_equal(scatter_add(&scatter, &wide[i], bytes, wide[i].device, SUBALLOC_BYTES),
                         i > 0);
    assert_int_equal(scatter_issue(&scatter, queue), OMPRMA_OK);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_OK);
    for (size_t i = 0; i <= SCATTER_PARTS; i++)
        give(&shares[i]);
    for (size_t i = 0; i < count; i++)
        give(&wide[i]);
}

TEST_GROUP(set_up, tear_down)

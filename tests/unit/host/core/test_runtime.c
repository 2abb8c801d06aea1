/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_runtime.c: a process that is forked by one that uses devices has none, and its end does not
 * touch its parent's.
 * Covers: core/runtime.c */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

/* What the parent has when it forks. */
struct handles {
    omprma_queue_t *queue;
    omprma_event_t *event;
    omprma_addr_t there;
};

static void note(void *data, omprma_status_t status)
{
    (void)data, (void)status;
}

/* The first call that did not say why it failed; 0: none. */
static int use_all(const struct handles *has)
{
    uint64_t word = 1;
    omprma_queue_t *queue;
    omprma_addr_t there;
    omprma_device_info_t info;
    bool done;
    int number = 0;

#define CLOSED(call)                                                                               \
    number++;                                                                                      \
    if ((call) != OMPRMA_ERR_CLOSED || !strstr(omprma_error(), "was forked"))                      \
    return number
    CLOSED(omprma_init());
    CLOSED(omprma_device_info(0, &info));
    CLOSED(omprma_alloc(0, 8, &there));
    CLOSED(omprma_free(0, has->there));
    CLOSED(omprma_queue_create(0, &queue));
    CLOSED(omprma_submit(has->queue, has->there, &word, sizeof(word)));
    CLOSED(omprma_fill(has->queue, has->there, &word, 1, sizeof(word)));
    CLOSED(omprma_exchange(has->queue, has->there, 0, has->there, sizeof(word)));
    CLOSED(omprma_queue_notify(has->queue, note, NULL));
    CLOSED(omprma_retrieve(has->queue, &word, has->there, sizeof(word)));
    CLOSED(launch(has->queue, KERNEL(kernel_nap), 1, 0, 0));
    CLOSED(omprma_event_record(has->event, has->queue));
    CLOSED(omprma_event_wait(has->event, has->queue));
    CLOSED(omprma_event_synchronize(has->event));
    CLOSED(omprma_event_query(has->event, &done));
    CLOSED(omprma_queue_flush(has->queue));
    CLOSED(omprma_queue_query(has->queue, &done));
    CLOSED(omprma_queue_synchronize(has->queue));
#undef CLOSED
    if (omprma_device_count() != 0)
        return 100;
    omprma_queue_destroy(has->queue);
    omprma_event_destroy(has->event);
    omprma_finalize();
    return 0;
}

CORE_TEST(a_forked_process_has_none, 1)
{
    struct handles has;
    uint64_t word = 7, back = 0;
    pid_t child;
    int status;

    has = (struct handles){core_queue(0), core_event(), core_alloc(0, sizeof(word))};
    assert_ok(omprma_submit(has.queue, has.there, &word, sizeof(word)));
    assert_ok(omprma_event_record(has.event, has.queue));
    runtime_lock(runtime_get()); /* as if another thread had it */
    child = fork();
    if (child == 0) {
        alarm(10);
        _exit(use_all(&has));
    }
    runtime_unlock(runtime_get());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_ok(omprma_retrieve(has.queue, &back, has.there, sizeof(back)));
    assert_ok(omprma_event_synchronize(has.event));
    assert_ok(omprma_queue_destroy(has.queue));
    assert_int_equal(back, word);
    omprma_event_destroy(has.event);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_every_step.c: a program that does some of everything on two devices, of which the n-th
 * message, transfer or allocation fails or is late, for every n, at the application's end and at a
 * worker's: an error with words or the right data, each callback once, all memory back, and what is
 * not lost goes on working. The failures are put in between here: channel and paths know nothing of
 * them. STEP=WAYS,SIDE,FAULT,N runs one.
 * Covers: start/start.c calls/image.c queue/issue.c submit.c calls/launch.c exchange.c
 * blocks.c kernel_names.c */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "tests/unit/core_fixture.h"
#include "tests/unit/image_fixture.h"

enum {
    BYTES = 3 * CORE_PIECE,
    SMALL = 100,
    LIMIT_S = 20,
    LATE = 40,
    DEVICES = 2,
    GROWS = 12 << 20
};
enum side { HEAD, WORKER, SIDES };
enum failing {
    NONE,
    SEND_FAILS,    /* a message cannot be sent */
    MESSAGE_FAILS, /* one that came cannot be taken: its sender is lost */
    ALL_FAILS,     /* the same, and nothing can be received any more */
    MESSAGE_LATE,
    START_FAILS, /* a transfer cannot be started */
    END_FAILS,   /* it ends with an error */
    MALLOC_FAILS,
    FAULTS
};
static const char *const names[FAULTS] = {"none", "send",  "message", "all",
                                          "late", "start", "end",     "malloc"};

static struct {
    enum side side;
    enum failing fault;
    unsigned n;
    atomic_uint count; /* steps of this kind so far */
    atomic_bool armed;
    pthread_t main;
    /* of the application's end */
    bool told[DEVICES + 1]; /* that this worker has died */
    bool all_failed;
    struct channel_message *held[DEVICES + 1]; /* late, by rank of the receiver */
    int patience[DEVICES + 1];
} plan;

static const struct channel_ops *real_ops;
static struct datapath *real_one_sided, *real_two_sided;
static unsigned char data[BYTES], back[BYTES], pattern[SMALL];

/* ---- faults ---- */

/* The n-th of its kind? */
static bool is_due(enum side side, enum failing fault)
{
    return atomic_load(&plan.armed) && plan.fault == fault && plan.side == side &&
           atomic_fetch_add(&plan.count, 1) + 1 == plan.n;
}

static omprma_status_t step_fails(const char *what)
{
    return error_set(OMPRMA_ERR_MPI, "%s number %u was to fail", what, plan.n);
}

static int rank_of(const struct channel *channel)
{
    for (int i = 0; i < core.workers; i++)
        if (core.worker[i].server.channel == channel)
            return i + 1;
    return 0;
}

static enum side side_of(int rank)
{
    return rank == 0 ? HEAD : rank == 1 ? WORKER : SIDES;
}

static omprma_status_t step_send(struct channel *channel, struct channel_message *message)
{
    if (!is_due(side_of(rank_of(channel)), SEND_FAILS))
        return real_ops->send(channel, message);
    channel_drop(channel, message);
    return step_fails("message");
}

/* A worker that has broken ends its process, which MPI or the doorbell tell. */
static bool has_died(int rank)
{
    struct core_worker *worker = &core.worker[rank - 1];

    if (!worker->joined && pthread_tryjoin_np(worker->thread, NULL) == 0)
        worker->joined = true;
    if (!worker->joined || worker->status == OMPRMA_OK || plan.told[rank])
        return false;
    plan.told[rank] = true;
    worker->status = OMPRMA_OK;
    return true;
}

static omprma_status_t take_late(struct channel *channel, int rank,
                                 struct channel_message **message)
{
    *message = NULL;
    if (--plan.patience[rank] > 0) {
        channel_wake(channel); /* not slept over */
        return OMPRMA_OK;
    }
    *message = plan.held[rank];
    plan.held[rank] = NULL;
    return OMPRMA_OK;
}

static omprma_status_t fail_message(struct channel *channel, struct channel_message *message,
                                    int rank, bool all)
{
    channel->failed_peer = rank == 0 && !all ? message->peer : -1;
    plan.all_failed = plan.all_failed || (all && rank == 0);
    if (channel->failed_peer > 0)
        plan.told[channel->failed_peer] = true;
    channel_drop(channel, message);
    return step_fails("receive");
}

static omprma_status_t step_receive(struct channel *channel, struct channel_message **message)
{
    int rank = rank_of(channel);
    enum side side = side_of(rank);
    omprma_status_t status;

    if (plan.held[rank])
        return take_late(channel, rank, message);
    if (rank == 0 && plan.all_failed) {
        channel->failed_peer = -1;
        return step_fails("receive");
    }
    do { /* what one that is lost has sent is not received */
        status = real_ops->receive(channel, message);
        if (status == OMPRMA_OK && *message && rank == 0 && plan.told[(*message)->peer])
            channel_drop(channel, *message);
        else
            break;
    } while (true);
    for (int i = 1; rank == 0 && i <= core.workers && status == OMPRMA_OK && !*message; i++)
        if (has_died(i)) {
            channel->failed_peer = i;
            return error_set(OMPRMA_ERR_MPI, "its worker has died");
        }
    if (status != OMPRMA_OK || !*message)
        return status;
    if (is_due(side, MESSAGE_LATE)) {
        plan.held[rank] = *message;
        plan.patience[rank] = LATE;
        return take_late(channel, rank, message);
    }
    if (is_due(side, MESSAGE_FAILS))
        return fail_message(channel, *message, rank, false);
    return is_due(side, ALL_FAILS) ? fail_message(channel, *message, rank, true) : OMPRMA_OK;
}

/* The path's own functions are the same for all paths of a kind. */
static omprma_status_t (*real_start[2])(struct datapath *path, struct transfer *transfer);
static omprma_status_t (*real_test[2])(struct datapath *path, struct transfer *transfer,
                                       bool *done);

static enum side side_of_path(const struct datapath *path)
{
    const struct server *server = &core.worker[0].server;

    if (path == real_one_sided || path == real_two_sided)
        return HEAD;
    return path == server->one_sided || path == server->two_sided ? WORKER : SIDES;
}

static omprma_status_t step_start(struct datapath *path, struct transfer *transfer)
{
    return is_due(side_of_path(path), START_FAILS) ? step_fails("transfer")
                                                   : real_start[path->one_sided](path, transfer);
}

static omprma_status_t step_test(struct datapath *path, struct transfer *transfer, bool *done)
{
    omprma_status_t status = real_test[path->one_sided](path, transfer, done);

    if (status != OMPRMA_OK || !*done || !is_due(side_of_path(path), END_FAILS))
        return status;
    *done = false;
    return step_fails("transfer");
}

static void put_between(struct channel *channel, struct datapath *one_sided,
                        struct datapath *two_sided)
{
    static struct channel_ops ops;
    struct datapath *paths[] = {two_sided, one_sided};

    if (!real_ops)
        real_ops = channel->ops;
    ops = *real_ops;
    ops.send = step_send;
    ops.receive = step_receive;
    channel->ops = &ops;
    for (int i = 0; i < 2; i++) {
        if (paths[i]->start != step_start) {
            real_start[i] = paths[i]->start;
            real_test[i] = paths[i]->test;
        }
        paths[i]->start = step_start;
        paths[i]->test = step_test;
    }
}

/* With --wrap of the linker. */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_reallocarray(void *old, size_t count, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_reallocarray(void *old, size_t count, size_t bytes);
char *__wrap_strdup(const char *text);

static bool malloc_fails(void)
{
    if (!atomic_load(&plan.armed) || plan.fault != MALLOC_FAILS)
        return false;
    return is_due(pthread_equal(pthread_self(), plan.main)               ? HEAD
                  : pthread_equal(pthread_self(), core.worker[0].thread) ? WORKER
                                                                         : SIDES,
                  MALLOC_FAILS);
}

void *__wrap_malloc(size_t bytes)
{
    return malloc_fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return malloc_fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return malloc_fails() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_reallocarray(void *old, size_t count, size_t bytes)
{
    return malloc_fails() ? NULL : __real_reallocarray(old, count, bytes);
}

char *__wrap_strdup(const char *text)
{
    return malloc_fails() ? NULL : __real_strdup(text);
}

/* A worker whose second thread notices ends at once; here, when its main thread does. */
void __wrap_world_abort(struct world *world, int code) __attribute__((noreturn));
void __wrap_world_abort(struct world *world, int code)
{
    (void)world;
    (void)code;
    for (int i = 0; i < core.workers; i++)
        if (core.worker[i].server.broken != OMPRMA_OK)
            server_unlock(&core.worker[i].server);
    pthread_exit(NULL);
}

/* ---- the program ---- */

struct run {
    omprma_queue_t *queue[DEVICES];
    omprma_addr_t large[DEVICES], small[DEVICES], sum[DEVICES], grown[DEVICES], add_two[DEVICES];
    omprma_event_t *event;
    uint64_t sums[DEVICES];
    unsigned char few[SMALL];
    bool failed[DEVICES]; /* something of this device's queue */
    int asked, called;
    omprma_status_t told[2 * DEVICES];
};

static char where[128];

/* Whatever fails says why. */
static bool right(struct run *run, int device, omprma_status_t status)
{
    if (status == OMPRMA_OK)
        return true;
    if (!*omprma_error())
        fail_msg("%s: no words for %s", where, omprma_status_string(status));
    if (status != OMPRMA_ERR_MPI && status != OMPRMA_ERR_DEVICE_LOST &&
        status != OMPRMA_ERR_HOST_MEMORY && status != OMPRMA_ERR_DEVICE_MEMORY)
        fail_msg("%s: %s: %s", where, omprma_status_string(status), omprma_error());
    if (status == OMPRMA_ERR_HOST_MEMORY && !strstr(omprma_error(), "memory"))
        fail_msg("%s: no memory, but the words are: %s", where, omprma_error());
    run->failed[device] = true;
    return false;
}

static void call_back(void *context, omprma_status_t status)
{
    struct run *run = context;

    (void)status;
    run->called++;
}

static void notify(struct run *run, int device)
{
    if (right(run, device, omprma_queue_notify(run->queue[device], call_back, run)))
        run->asked++;
}

static void *image;
static size_t image_bytes;

/* The first one is loaded from here, the second one gets it from the first. */
static void load(struct run *run, int device)
{
    omprma_symbol_t symbol = {.name = "add_two"};

    if (right(run, device, omprma_image_load(device, image, image_bytes, &symbol, 1)))
        run->add_two[device] = symbol.address;
}

static void begin(struct run *run)
{
    for (int i = 0; i < DEVICES; i++) {
        right(run, i, omprma_queue_create(i, &run->queue[i]));
        right(run, i, omprma_alloc(i, BYTES, &run->large[i]));
        right(run, i, omprma_alloc(i, SMALL, &run->small[i]));
        right(run, i, omprma_alloc(i, 8, &run->sum[i]));
        right(run, i, omprma_alloc(i, GROWS, &run->grown[i]));
        load(run, i);
    }
    right(run, 0, omprma_event_create(&run->event));
}

/* Data of both sizes to device 0, from there to device 1, and the same to both; sums come back. */
static void work(struct run *run)
{
    const omprma_part_t halves[] = {{run->few + SMALL / 2, SMALL / 2, SMALL - SMALL / 2},
                                    {run->few, 0, SMALL / 2}};
    omprma_queue_t *first = run->queue[0], *second = run->queue[1];

    right(run, 0, omprma_submit(first, run->small[0], pattern, SMALL));
    right(run, 0, omprma_submit(first, run->large[0], data, BYTES));
    right(run, 0, launch(first, KERNEL(kernel_add), run->small[0], SMALL, 1));
    right(run, 0, launch(first, run->add_two[0], run->small[0] + SMALL - 1, 0, 0));
    notify(run, 0);
    right(run, 0, omprma_exchange(first, run->large[0], 1, run->large[1], BYTES));
    right(run, 0, omprma_exchange(first, run->small[0], 1, run->small[1], SMALL));
    right(run, 0, omprma_retrieve_parts(first, run->small[0], SMALL, halves, 2));
    right(run, 0, omprma_event_record(run->event, first));
    right(run, 1, omprma_event_wait(run->event, second));
    right(run, 1, launch(second, KERNEL(kernel_sum), run->large[1], BYTES, run->sum[1]));
    right(run, 1, omprma_retrieve(second, &run->sums[1], run->sum[1], 8));
    right(run, 1, omprma_retrieve(second, back, run->large[1], BYTES));
    notify(run, 1);
}

static void spread(struct run *run)
{
    const omprma_addr_t to[] = {run->large[0], run->large[1]};

    if (right(run, 0, omprma_broadcast(run->queue, to, DEVICES, data, BYTES)))
        right(run, 0, launch(run->queue[0], KERNEL(kernel_sum), to[0], BYTES, run->sum[0]));
    else
        run->failed[1] = true;
    right(run, 0, omprma_retrieve(run->queue[0], &run->sums[0], run->sum[0], 8));
    right(run, 0, omprma_fill(run->queue[0], run->small[0], "x", 1, SMALL));
}

static void synchronize(struct run *run)
{
    bool done;

    for (int i = 0; i < DEVICES; i++) {
        right(run, i, omprma_queue_query(run->queue[i], &done));
        right(run, i, omprma_queue_synchronize(run->queue[i]));
    }
    right(run, 0, omprma_event_synchronize(run->event));
    if (run->called != run->asked)
        fail_msg("%s: %d callbacks were called of %d", where, run->called, run->asked);
}

/* What is complete without an error is right. */
static void check(const struct run *run)
{
    if (!run->failed[0] && run->few[SMALL - 1] != (unsigned char)(pattern[SMALL - 1] + 3))
        fail_msg("%s: small data is wrong", where);
    if (!run->failed[0] && run->sums[0] != sum_of(data, BYTES))
        fail_msg("%s: what was spread is wrong", where);
    if (run->failed[0] || run->failed[1])
        return;
    if (run->sums[1] != sum_of(data, BYTES) || memcmp(back, data, BYTES) != 0)
        fail_msg("%s: large data is wrong", where);
}

static void end(struct run *run)
{
    omprma_event_destroy(run->event);
    for (int i = 0; i < DEVICES; i++) {
        if (run->queue[i])
            right(run, i, omprma_queue_destroy(run->queue[i]));
        if (run->large[i])
            right(run, i, omprma_free(i, run->large[i]));
        if (run->small[i])
            right(run, i, omprma_free(i, run->small[i]));
        if (run->sum[i])
            right(run, i, omprma_free(i, run->sum[i]));
        if (run->grown[i])
            right(run, i, omprma_free(i, run->grown[i]));
    }
}

/* A new queue of the device works, and nothing is left of the others but the image;
 * only memory that one that is lost may still write to is not used again. False: it is lost, which
 * it may not have known. */
static bool is_well(int number)
{
    struct allocator_usage usage;
    omprma_queue_t *queue = NULL;
    omprma_addr_t counter = 0;
    uint64_t count = 0;
    omprma_status_t status = omprma_queue_create(number, &queue);

    if (status == OMPRMA_OK)
        status = omprma_alloc(number, 8, &counter);
    if (status == OMPRMA_OK)
        status = omprma_submit(queue, counter, &count, 8);
    if (status == OMPRMA_OK)
        status = launch(queue, KERNEL(kernel_count), counter, 0, 0);
    if (status == OMPRMA_OK)
        status = omprma_retrieve(queue, &count, counter, 8);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    if (status != OMPRMA_OK && !core_device(number)->lost_text[0])
        fail_msg("%s: device %d: %s", where, number, omprma_error());
    omprma_queue_destroy(queue);
    omprma_free(number, counter);
    if (status != OMPRMA_OK)
        return false;
    assert_int_equal(count, 1);
    allocator_usage(core_device(number)->memory->allocator, &usage);
    if (usage.blocks != (core_device(number)->images != NULL) &&
        !core_device(number)->memory->keeps)
        fail_msg("%s: %llu blocks of device %d are left", where, (unsigned long long)usage.blocks,
                 number);
    return true;
}

/* Memory that the application lacks costs no device, but where the null path stands for MPI, and
 * half a transfer was announced. */
static bool may_lose(const struct device *device)
{
    return plan.fault != NONE && plan.fault != MESSAGE_LATE &&
           !(plan.fault == MALLOC_FAILS && plan.side == HEAD &&
             !strstr(device->lost_text, "no memory for a send"));
}

/* ---- every n ---- */

static void say_where(int number)
{
    (void)number;
    if (write(STDERR_FILENO, where, strlen(where)) > 0 &&
        write(STDERR_FILENO, ": it does not end\n", 18) > 0)
        _exit(1);
    _exit(1);
}

static void plan_make(enum side side, enum failing fault, unsigned n)
{
    plan.side = side;
    plan.fault = fault;
    plan.n = n;
    plan.count = 0;
    plan.all_failed = false;
    plan.main = pthread_self();
    memset(plan.told, 0, sizeof(plan.told));
}

static void core_begin(bool rma)
{
    struct runtime *runtime;

    core_start(&(struct core_options){.workers = DEVICES});
    for (int i = 0; i < DEVICES; i++)
        core_choose(i, 512, rma);
    runtime = runtime_get();
    runtime_lock(runtime);
    real_one_sided = runtime->one_sided;
    real_two_sided = runtime->two_sided;
    for (int i = 0; i < DEVICES; i++) {
        core_hold(i);
        put_between(core.worker[i].server.channel, core.worker[i].server.one_sided,
                    core.worker[i].server.two_sided);
        core_release(i);
    }
    put_between(runtime->channel, runtime->one_sided, runtime->two_sided);
    runtime_unlock(runtime);
}

/* A worker may have sent more behind what failed before it ends, and be lost for the gap. */
static void end_with_losses(void)
{
    for (int i = 0; i < DEVICES; i++)
        if (core_device(i)->lost && !core.worker[i].joined) {
            omprma_status_t status;

            core_let_go(i);
            status = core_ended(i);
            if (status != OMPRMA_OK && (status != OMPRMA_ERR_MPI || plan.side != WORKER || i > 0))
                fail_msg("%s: worker %d has ended with %s", where, i, omprma_status_string(status));
        }
    core_stop();
}

/* False: there are fewer steps. */
static bool run_one(bool rma, enum side side, enum failing fault, unsigned n)
{
    struct run run = {0};
    bool reached;

    snprintf(where, sizeof(where), "STEP=%d,%d,%d,%u (%s, %s, %s number %u)", rma, side, fault, n,
             rma ? "one-sided" : "two-sided", side == HEAD ? "application" : "worker", names[fault],
             n);
    alarm(LIMIT_S);
    plan_make(side, fault, n);
    core_begin(rma);
    atomic_store(&plan.armed, true);
    begin(&run);
    if (!run.failed[0] && !run.failed[1]) {
        work(&run);
        synchronize(&run);
        spread(&run);
        synchronize(&run);
        check(&run);
    }
    end(&run);
    reached = atomic_load(&plan.count) >= n;
    atomic_store(&plan.armed, false);
    for (int i = 0; i < DEVICES; i++)
        if (!is_well(i) && !may_lose(core_device(i)))
            fail_msg("%s: device %d is lost: %s", where, i, core_device(i)->lost_text);
    if (fault == NONE && (run.failed[0] || run.failed[1]))
        fail_msg("%s: it fails: %s", where, omprma_error());
    end_with_losses();
    return reached;
}

static void run_all(bool rma, enum side side)
{
    run_one(rma, side, NONE, 0);
    for (enum failing fault = SEND_FAILS; fault < FAULTS; fault++) {
        unsigned n = 1;

        while (run_one(rma, side, fault, n))
            n++;
        print_message("%s, %s: %s: %u steps\n", rma ? "one-sided" : "two-sided",
                      side == HEAD ? "application" : "worker", names[fault], n - 1);
    }
}

TEST(each_step)
{
    const char *one = getenv("STEP");
    int rma, side, fault;
    unsigned n;

    signal(SIGALRM, say_where);
    for (int i = 0; i < SMALL; i++)
        pattern[i] = (unsigned char)i;
    for (int i = 0; i < BYTES; i++)
        data[i] = (unsigned char)(i * 7 + i / 251);
    image =
        fixture_compile("cc", "c", "void add_two(char *at) { *at += 2; }\n", "", "", &image_bytes);
    assert_non_null(image);
    if (one && sscanf(one, "%d,%d,%d,%u", &rma, &side, &fault, &n) == 4) {
        run_one(rma, (enum side)side, (enum failing)fault, n);
        free(image);
        return;
    }
    for (rma = 1; rma >= 0; rma--)
        for (side = HEAD; side < SIDES; side++)
            run_all(rma, (enum side)side);
    free(image);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* execute.c: runs random programs and compares with what the model says. See random.h. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/random/random.h"

struct run;

/* A callback that was asked for. */
struct note {
    struct run *run; /* NULL: was not asked for */
    struct random_step step;
    int number; /* of the step */
    _Atomic int calls;
};

struct run {
    const struct random_program *program;
    const struct random_limits *limits;
    const struct random_step *step;
    int steps;
    omprma_queue_t *queue[RANDOM_QUEUES];
    omprma_event_t *event[RANDOM_EVENTS];
    omprma_addr_t address[RANDOM_BLOCKS];
    int device[RANDOM_BLOCKS];
    uint64_t used[RANDOM_DEVICES]; /* bytes of each device at the start */
    unsigned char *host, *junk;    /* what failing operations use */
    struct note *note;             /* by step */
    int noted[RANDOM_QUEUES];      /* the step of the last callback that was called */
    omprma_event_t *never;         /* never recorded: its query only makes progress */
    sem_t *passed; /* of each handoff: the thread that is waited for has passed it */
    _Atomic int reached[RANDOM_THREADS];
    int patience_s;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool ended;
};

struct run_thread {
    struct run *run;
    int number;
};

/* ---- what is wrong ---- */

/* _exit(): other threads, and the end of MPI, may be in any state. */
static _Noreturn void wrong(const struct run *run, const struct random_operation *operation,
                            const char *text)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    char words[512] = "at the end";

    pthread_mutex_lock(&one);
    if (operation)
        random_describe(operation, words, sizeof(words));
    fprintf(stderr, "WRONG: operation %d (%s): %s\n", operation ? operation->number : -1, words,
            text);
    random_print(run->program);
    _exit(1);
}

static void wrong_byte(const struct run *run, const struct random_operation *operation,
                       const char *what, uint64_t at, int found, int wanted)
{
    char text[200];

    snprintf(text, sizeof(text), "%s: byte %llu is %d, not %d", what, (unsigned long long)at, found,
             wanted);
    wrong(run, operation, text);
}

static void check_status(const struct run *run, const struct random_step *step,
                         omprma_status_t status)
{
    char text[700];

    if (step->allowed >> status & 1)
        return;
    snprintf(text, sizeof(text), "gave status %d (%s: %s), allowed are those of the bits 0x%x",
             status, omprma_status_string(status), status ? omprma_error() : "", step->allowed);
    wrong(run, &step->operation, text);
}

static void check_ok(const struct run *run, omprma_status_t status)
{
    if (status != OMPRMA_OK)
        wrong(run, NULL, omprma_error());
}

/* ---- operations ---- */

static omprma_addr_t at(const struct run *run, struct random_place place)
{
    return run->address[place.block] + place.at;
}

/* A call of a kernel. */
struct call {
    omprma_addr_t kernel;
    omprma_geometry_t geometry; /* only if `shaped` */
    bool shaped, context;
    uint64_t arguments[3];
};

static struct call make_call(omprma_addr_t kernel, uint64_t a, uint64_t b, uint64_t c)
{
    return (struct call){
        .kernel = kernel,
        .geometry = {.teams = {1 + a % 7, 1, 1},
                     .threads = {1 + b % 5, 2, 1},
                     .shared_bytes = c % 1000},
        .shaped = (a + b + c) % 3 == 0,
        .arguments = {a, b, c},
    };
}

static struct call call_of(const struct run *run, const struct random_operation *o, int device)
{
    const struct random_symbols *symbols = &run->limits->symbols[device];
    bool context = symbols->fill_context && o->number % 2;
    struct call call;

    switch (o->kind) {
    case RANDOM_FILL:
        call = make_call(context ? symbols->fill_context : symbols->fill, at(run, o->to), o->bytes,
                         o->value);
        call.context = context;
        return call;
    case RANDOM_ADD:
        return make_call(symbols->add, at(run, o->to), o->bytes, o->value);
    case RANDOM_COPY:
        return make_call(symbols->copy, at(run, o->to), at(run, o->from), o->bytes);
    case RANDOM_SUM:
        return make_call(symbols->sum, at(run, o->from), o->bytes, at(run, o->to));
    default:
        return make_call(symbols->nap, o->value, 0, 0);
    }
}

static omprma_status_t launch(omprma_queue_t *queue, const struct call *call)
{
    return (call->context ? omprma_launch_context : omprma_launch)(
        queue, call->kernel, call->shaped ? &call->geometry : NULL, call->arguments, 3);
}

enum { PARTS_MOST = 7 };

/* What a retrieve brings, in parts of uneven sizes, the last one first. Their number. */
static size_t parts_of(const struct run *run, const struct random_operation *o,
                       omprma_part_t parts[PARTS_MOST])
{
    size_t count = o->bytes % 3 ? 1 : 1 + (size_t)o->number % PARTS_MOST, end = o->bytes;

    for (size_t i = 0; i < count; i++) {
        size_t begin = i + 1 == count ? 0 : end - end / 3;

        parts[i] = (omprma_part_t){run->host + o->to.at + begin, begin, end - begin};
        end = begin;
    }
    return count;
}

static omprma_status_t retrieve_parts(struct run *run, const struct random_operation *o,
                                      omprma_queue_t *queue)
{
    omprma_part_t parts[PARTS_MOST];
    size_t count = parts_of(run, o, parts);

    return omprma_retrieve_parts(queue, at(run, o->from), o->bytes, parts, count);
}

static omprma_status_t run_broadcast(struct run *run, const struct random_operation *o)
{
    omprma_queue_t *queues[RANDOM_DEVICES];
    omprma_addr_t to[RANDOM_DEVICES];

    for (int i = 0; i < o->targets; i++) {
        queues[i] = run->queue[o->target[i].queue];
        to[i] = at(run, o->target[i].to);
    }
    return omprma_broadcast(queues, to, (size_t)o->targets, run->host + o->from.at, o->bytes);
}

static void rest(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static omprma_status_t query_until_done(struct run *run, const struct random_operation *o)
{
    omprma_status_t status;
    bool done = false;

    for (;;) {
        if (o->kind == RANDOM_QUERY_DONE)
            status = omprma_queue_query(run->queue[o->queue], &done);
        else
            status = omprma_event_query(run->event[o->event], &done);
        if (status != OMPRMA_OK || done)
            return status;
        rest(10);
    }
}

static omprma_status_t run_alloc(struct run *run, const struct random_operation *o)
{
    omprma_addr_t address;
    omprma_status_t status;
    bool inside = false;

    if (o->kind == RANDOM_TOO_MUCH)
        return omprma_alloc(o->peer, (size_t)1 << 50, &address);
    status = omprma_alloc(o->peer, o->bytes, &run->address[o->to.block]);
    run->device[o->to.block] = o->peer;
    if (status == OMPRMA_OK)
        status = omprma_address_inside(o->peer, run->address[o->to.block], o->bytes, &inside);
    if (status == OMPRMA_OK && !inside)
        wrong(run, o, "the new block is not inside itself");
    return status;
}

static void look(struct run *run, const struct random_step *step)
{
    const struct random_operation *o = &step->operation;
    const unsigned char *found = run->host + o->from.at;

    if (memcmp(found, step->expected, o->bytes) == 0)
        return;
    for (uint64_t i = 0;; i++)
        if (found[i] != step->expected[i])
            wrong_byte(run, o, "host memory", o->from.at + i, found[i], step->expected[i]);
}

/* Callbacks run one at a time. */
static void on_complete(void *data, omprma_status_t status)
{
    struct note *note = data;
    struct run *run = note->run;
    const struct random_operation *o = &note->step.operation;
    omprma_event_t *event = NULL;
    char text[200];

    if (atomic_load(&note->calls) > 0)
        wrong(run, o, "the callback was called twice");
    if (status != note->step.told) {
        snprintf(text, sizeof(text), "the callback was given status %d, not %d", status,
                 note->step.told);
        wrong(run, o, text);
    }
    if (run->noted[o->queue] > note->number)
        wrong(run, o, "the callback came after a later one of its queue");
    run->noted[o->queue] = note->number;
    check_ok(run, omprma_event_create(&event)); /* it may call what does not block */
    omprma_event_destroy(event);
    atomic_store(&note->calls, 1);
}

static omprma_status_t run_notify(struct run *run, const struct random_step *step,
                                  omprma_queue_t *queue)
{
    int number = (int)(step - run->step);

    run->note[number] = (struct note){.run = run, .step = *step, .number = number};
    return omprma_queue_notify(queue, on_complete, &run->note[number]);
}

static omprma_status_t wait_for_note(const struct run *run, const struct note *note)
{
    omprma_status_t status = OMPRMA_OK;
    bool done;

    while (atomic_load(&note->calls) == 0 && status == OMPRMA_OK) {
        status = omprma_event_query(run->never, &done);
        if (atomic_load(&note->calls) == 0)
            rest(10);
    }
    return status;
}

static omprma_status_t run_pattern(const struct run *run, const struct random_operation *o,
                                   omprma_queue_t *queue)
{
    uint64_t bytes = random_pattern_bytes(o);

    return omprma_fill(queue, at(run, o->to), &o->value, bytes, o->bytes / bytes);
}

static omprma_status_t renew(omprma_event_t **event)
{
    omprma_event_destroy(*event);
    return omprma_event_create(event);
}

/* The operation's queue. Others may be made and ended by other threads at this moment. */
static omprma_queue_t *queue_of(const struct run *run, const struct random_operation *o)
{
    switch (o->kind) {
    case RANDOM_QUEUE_CREATE:
    case RANDOM_EVENT_DONE:
    case RANDOM_RENEW:
    case RANDOM_EVENT_QUERY:
    case RANDOM_EVENT_SYNCHRONIZE:
    case RANDOM_ALLOC:
    case RANDOM_TOO_MUCH:
    case RANDOM_FREE:
    case RANDOM_BROADCAST:
        return NULL;
    default:
        return o->queue >= 0 ? run->queue[o->queue] : NULL;
    }
}

static omprma_status_t run_call(struct run *run, const struct random_step *step, bool *done)
{
    const struct random_operation *o = &step->operation;
    omprma_queue_t *queue = queue_of(run, o);
    omprma_event_t **event = &run->event[o->event];

    switch (o->kind) {
    case RANDOM_QUEUE_CREATE:
        return omprma_queue_create(o->peer, &run->queue[o->queue]);
    case RANDOM_QUEUE_DESTROY:
        run->queue[o->queue] = NULL;
        return omprma_queue_destroy(queue);
    case RANDOM_FLUSH:
        return omprma_queue_flush(queue);
    case RANDOM_QUERY:
        return omprma_queue_query(queue, done);
    case RANDOM_QUERY_DONE:
    case RANDOM_EVENT_DONE:
        return query_until_done(run, o);
    case RANDOM_SYNCHRONIZE:
        return omprma_queue_synchronize(queue);
    case RANDOM_NOTIFY:
        return run_notify(run, step, queue);
    case RANDOM_NOTIFIED:
        return wait_for_note(run, &run->note[step->notify]);
    case RANDOM_PATTERN:
        return run_pattern(run, o, queue);
    case RANDOM_RENEW:
        return renew(event);
    case RANDOM_RECORD:
        return omprma_event_record(*event, queue);
    case RANDOM_WAIT:
        return omprma_event_wait(*event, queue);
    case RANDOM_EVENT_QUERY:
        return omprma_event_query(*event, done);
    case RANDOM_EVENT_SYNCHRONIZE:
        return omprma_event_synchronize(*event);
    case RANDOM_ALLOC:
    case RANDOM_TOO_MUCH:
        return run_alloc(run, o);
    case RANDOM_FREE:
        return omprma_free(run->device[o->to.block], run->address[o->to.block]);
    case RANDOM_SUBMIT:
        return omprma_submit(queue, at(run, o->to), run->host + o->from.at, o->bytes);
    case RANDOM_RETRIEVE:
        return o->bytes % 3 == 0
                   ? retrieve_parts(run, o, queue)
                   : omprma_retrieve(queue, run->host + o->to.at, at(run, o->from), o->bytes);
    case RANDOM_EXCHANGE:
        return omprma_exchange(queue, at(run, o->from), run->device[o->to.block], at(run, o->to),
                               o->bytes);
    case RANDOM_BROADCAST:
        return run_broadcast(run, o);
    case RANDOM_BAD_SUBMIT:
        return omprma_submit(queue, run->limits->hole, run->junk, o->bytes);
    case RANDOM_BAD_RETRIEVE:
        return omprma_retrieve(queue, run->junk, run->limits->hole, o->bytes);
    case RANDOM_BAD_EXCHANGE:
        return omprma_exchange(queue, at(run, o->from), o->peer, run->limits->hole, o->bytes);
    case RANDOM_OVERRUN:
        return omprma_submit(queue, at(run, o->to), run->host, o->bytes);
    default: /* RANDOM_NO_KERNEL */
        return omprma_launch(queue, 0, NULL, NULL, 0);
    }
}

static bool is_launch(const struct random_operation *o)
{
    return o->kind >= RANDOM_FILL && o->kind <= RANDOM_NAP;
}

static void run_step(struct run *run, const struct random_step *step, const int *queue_device)
{
    const struct random_operation *o = &step->operation;
    struct call call;
    bool done;

    if (o->kind == RANDOM_WRITE)
        random_fill(run->host + o->to.at, o->bytes, o->value);
    else if (o->kind == RANDOM_LOOK)
        look(run, step);
    else if (o->kind == RANDOM_PAUSE)
        rest((long)o->value);
    else if (is_launch(o)) {
        call = call_of(run, o, queue_device[o->queue]);
        check_status(run, step, launch(run->queue[o->queue], &call));
    } else
        check_status(run, step, run_call(run, step, &done));
}

/* A submit, a launch and a retrieve, of which one of the first and the last may be missing, that
 * follow each other: as one region. The number of steps that it takes; 0: it is none. */
static int run_region(struct run *run, const struct random_step *step, int left,
                      const int *queue_device)
{
    const struct random_operation *first = &step->operation, *o = first;
    const struct random_step *end = step + left;
    omprma_part_t parts[PARTS_MOST];
    omprma_region_t region = {0};
    struct random_step whole = *step;
    struct call call;

    if (o->kind == RANDOM_SUBMIT && ++step < end) {
        region.to = at(run, o->to);
        region.from = run->host + o->from.at;
        region.bytes = o->bytes;
        o = &step->operation;
        whole.allowed |= step->allowed;
    }
    if (step == end || !is_launch(o) || o->queue != first->queue || o->thread != first->thread ||
        o->number % 4 == 0)
        return 0;
    call = call_of(run, o, queue_device[o->queue]);
    region.kernel = call.kernel;
    region.geometry = call.shaped ? &call.geometry : NULL;
    region.arguments = call.arguments;
    region.count = 3;
    region.context = call.context;
    o = &(++step)->operation;
    if (step < end && o->kind == RANDOM_RETRIEVE && o->queue == first->queue &&
        o->thread == first->thread && o->number % 5) {
        region.back = at(run, o->from);
        region.back_bytes = o->bytes;
        region.parts = parts;
        region.part_count = parts_of(run, o, parts);
        whole.allowed |= step++->allowed;
    }
    if (!region.bytes && !region.back_bytes)
        return 0;
    check_status(run, &whole, omprma_region(run->queue[first->queue], &region));
    return (int)(step - (end - left));
}

/* ---- threads ---- */

static void *run_thread(void *data)
{
    const struct run_thread *thread = data;
    struct run *run = thread->run;
    int queue_device[RANDOM_QUEUES] = {0}, taken;

    for (int i = 0; i < run->steps; i++) {
        const struct random_step *step = &run->step[i];
        const struct random_operation *o = &step->operation;

        if (o->kind == RANDOM_QUEUE_CREATE) /* by whichever thread */
            queue_device[o->queue] = o->peer;
        if (o->thread == thread->number || o->kind == RANDOM_HANDOFF)
            atomic_store(&run->reached[thread->number], i + 1);
        if (o->kind == RANDOM_HANDOFF && o->peer == thread->number) {
            sem_post(&run->passed[i]);
        } else if (o->thread == thread->number) {
            if (o->kind == RANDOM_HANDOFF)
                sem_wait(&run->passed[i]);
            else if ((taken = run_region(run, step, run->steps - i, queue_device)) > 0)
                i += taken - 1;
            else
                run_step(run, step, queue_device);
        }
    }
    atomic_store(&run->reached[thread->number], run->steps + 1);
    return NULL;
}

static void say_hang(struct run *run)
{
    fprintf(stderr, "HANG: nothing has moved for %d s\n", run->patience_s);
    for (int i = 0; i < run->limits->threads; i++) {
        int reached = atomic_load(&run->reached[i]);
        char text[512] = "what everything ends with";

        if (reached > 0 && reached <= run->steps)
            random_describe(&run->step[reached - 1].operation, text, sizeof(text));
        fprintf(stderr, "thread %d is at operation %d: %s\n", i,
                reached > 0 && reached <= run->steps ? run->step[reached - 1].operation.number : -1,
                text);
    }
    random_print(run->program);
    _exit(3);
}

/* Ends the process when no thread gets on any more. */
static void *watch(void *data)
{
    struct run *run = data;
    struct timespec until;
    long moved = -1;

    pthread_mutex_lock(&run->lock);
    while (!run->ended) {
        long sum = 0;

        for (int i = 0; i < run->limits->threads; i++)
            sum += atomic_load(&run->reached[i]);
        if (sum == moved)
            say_hang(run);
        moved = sum;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += run->patience_s;
        while (!run->ended && pthread_cond_timedwait(&run->over, &run->lock, &until) == 0)
            ;
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

static void run_threads(struct run *run)
{
    struct run_thread thread[RANDOM_THREADS];
    pthread_t id[RANDOM_THREADS];

    for (int i = 0; i < run->limits->threads; i++)
        thread[i] = (struct run_thread){run, i};
    for (int i = 1; i < run->limits->threads; i++)
        if (pthread_create(&id[i], NULL, run_thread, &thread[i]))
            abort();
    run_thread(&thread[0]);
    for (int i = 1; i < run->limits->threads; i++)
        pthread_join(id[i], NULL);
}

/* ---- the end ---- */

/* Ends what is left over; the model says what it must have come to. */
static void end_queues(struct run *run, struct random_model *model)
{
    struct random_obstacle obstacle;
    int count;

    for (int i = 0; i < RANDOM_QUEUES; i++) {
        struct random_operation destroy = {.kind = RANDOM_QUEUE_DESTROY, .queue = i, .number = -1};
        const struct random_step *step;

        if (!random_model_accept(model, &destroy, &obstacle))
            continue;
        step = random_model_steps(model, &count) + count - 1;
        check_status(run, step, omprma_queue_destroy(run->queue[i]));
    }
    for (int i = 0; i < RANDOM_EVENTS; i++)
        omprma_event_destroy(run->event[i]);
    for (int i = 0; i < run->steps; i++)
        if (run->note[i].run)
            check_ok(run, wait_for_note(run, &run->note[i]));
    omprma_event_destroy(run->never);
}

static void end_block(struct run *run, struct random_model *model, int number)
{
    uint64_t bytes = random_model_block_bytes(model, number), wrong_at = 0;
    unsigned char *found;
    omprma_queue_t *queue = NULL;
    char text[80];

    if (bytes == 0)
        return;
    found = calloc(1, bytes);
    if (!found)
        abort();
    check_ok(run, omprma_queue_create(run->device[number], &queue));
    check_ok(run, omprma_retrieve(queue, found, run->address[number], bytes));
    check_ok(run, omprma_queue_destroy(queue));
    snprintf(text, sizeof(text), "%s %d at the end",
             number < RANDOM_ALLOCATED ? "the globals of device" : "block",
             number - (number < RANDOM_ALLOCATED ? RANDOM_GLOBAL : RANDOM_ALLOCATED));
    if (!random_model_compare(model, number, found, &wrong_at))
        wrong_byte(run, NULL, text, wrong_at, found[wrong_at], -1);
    free(found);
    if (number >= RANDOM_ALLOCATED)
        check_ok(run, omprma_free(run->device[number], run->address[number]));
}

static uint64_t used_bytes(const struct run *run, int device)
{
    omprma_device_info_t info;

    check_ok(run, omprma_device_info(device, &info));
    return info.used_bytes;
}

static void end_all(struct run *run, struct random_model *model)
{
    uint64_t wrong_at = 0;

    end_queues(run, model);
    if (!random_model_compare(model, RANDOM_HOST, run->host, &wrong_at))
        wrong_byte(run, NULL, "host memory at the end", wrong_at, run->host[wrong_at], -1);
    for (int i = RANDOM_GLOBAL; i < RANDOM_BLOCKS; i++)
        if (i >= RANDOM_ALLOCATED || i < RANDOM_GLOBAL + run->limits->devices)
            end_block(run, model, i);
    for (int i = 0; i < run->limits->devices; i++)
        if (used_bytes(run, i) != run->used[i])
            wrong(run, NULL, "device memory is in use although all blocks were freed");
}

static void start(struct run *run, const struct random_model *model)
{
    uint64_t host_bytes = random_model_block_bytes(model, RANDOM_HOST);

    run->host = calloc(1, host_bytes);
    run->junk = calloc(1, run->limits->most);
    run->passed = calloc((size_t)run->steps + 1, sizeof(*run->passed));
    run->note = calloc((size_t)run->steps + 1, sizeof(*run->note));
    if (!run->host || !run->junk || !run->passed || !run->note)
        abort();
    for (int i = 0; i < run->steps; i++)
        sem_init(&run->passed[i], 0, 0);
    for (int i = 0; i < RANDOM_EVENTS; i++)
        check_ok(run, omprma_event_create(&run->event[i]));
    check_ok(run, omprma_event_create(&run->never));
    for (int i = 0; i < run->limits->devices; i++) {
        run->address[RANDOM_GLOBAL + i] = run->limits->symbols[i].global;
        run->device[RANDOM_GLOBAL + i] = i;
        run->used[i] = used_bytes(run, i);
    }
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->over, NULL);
}

static void stop(struct run *run)
{
    for (int i = 0; i < run->steps; i++)
        sem_destroy(&run->passed[i]);
    pthread_mutex_destroy(&run->lock);
    pthread_cond_destroy(&run->over);
    free(run->passed);
    free(run->note);
    free(run->host);
    free(run->junk);
}

void random_execute(const struct random_program *program, const struct random_limits *limits,
                    int patience_s)
{
    struct run run = {.program = program, .limits = limits, .patience_s = patience_s};
    struct random_model *model = random_model_create(limits);
    struct random_obstacle obstacle;
    pthread_t watcher;

    for (int i = 0; i < program->count; i++)
        random_model_accept(model, &program->operation[i], &obstacle);
    run.step = random_model_steps(model, &run.steps);
    start(&run, model);
    if (pthread_create(&watcher, NULL, watch, &run))
        abort();
    run_threads(&run);
    end_all(&run, model);
    pthread_mutex_lock(&run.lock);
    run.ended = true;
    pthread_cond_signal(&run.over);
    pthread_mutex_unlock(&run.lock);
    pthread_join(watcher, NULL);
    stop(&run);
    random_model_destroy(model);
}

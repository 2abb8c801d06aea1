/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* generate.c: makes random programs: proposes operations to the model, and where something must be
 * waited for first, one of the ways of waiting. */
#include <stdlib.h>
#include <string.h>

#include "tests/random/random.h"

struct generator {
    struct random_program *program;
    const struct random_limits *limits;
    struct random_model *model;
    uint64_t draw;
    struct random_place looked; /* host memory that was retrieved last */
    uint64_t looked_bytes;
    int quiet; /* one in so many operations fails on purpose; 0: none */
};

/* How often each is proposed. */
static const int weight[RANDOM_KINDS] = {
    [RANDOM_QUEUE_CREATE] = 6, [RANDOM_QUEUE_DESTROY] = 2, [RANDOM_FLUSH] = 6,
    [RANDOM_QUERY] = 4,        [RANDOM_QUERY_DONE] = 2,    [RANDOM_SYNCHRONIZE] = 5,
    [RANDOM_RENEW] = 2,        [RANDOM_RECORD] = 10,       [RANDOM_WAIT] = 12,
    [RANDOM_EVENT_QUERY] = 4,  [RANDOM_EVENT_DONE] = 2,    [RANDOM_EVENT_SYNCHRONIZE] = 4,
    [RANDOM_ALLOC] = 6,        [RANDOM_FREE] = 3,          [RANDOM_WRITE] = 8,
    [RANDOM_LOOK] = 12,        [RANDOM_SUBMIT] = 40,       [RANDOM_RETRIEVE] = 30,
    [RANDOM_EXCHANGE] = 25,    [RANDOM_BROADCAST] = 8,     [RANDOM_FILL] = 12,
    [RANDOM_ADD] = 12,         [RANDOM_COPY] = 8,          [RANDOM_SUM] = 8,
    [RANDOM_NAP] = 6,          [RANDOM_PAUSE] = 2,         [RANDOM_HANDOFF] = 3,
    [RANDOM_NOTIFY] = 5,       [RANDOM_NOTIFIED] = 3,      [RANDOM_PATTERN] = 8,
};

static uint64_t below(struct generator *g, uint64_t limit)
{
    return random_below(&g->draw, limit);
}

static bool one_in(struct generator *g, uint64_t count)
{
    return below(g, count) == 0;
}

/* Near one of the limits in the code, or any, small ones more often. */
static uint64_t any_size(struct generator *g)
{
    static const uint64_t limits[] = {8,    64,    512,   2048,  4096,  8192,
                                      8193, 15360, 16384, 61440, 65536, 131072};
    uint64_t which = below(g, 24), bytes, most = g->limits->most;
    int bits = 3;

    if (which < sizeof(limits) / sizeof(limits[0])) {
        bytes = limits[which] + below(g, 3) - 1;
    } else {
        while ((UINT64_C(2) << bits) < most)
            bits++;
        bytes = 8 + below(g, UINT64_C(1) << (3 + below(g, (uint64_t)bits - 2)));
    }
    return bytes < most ? bytes : most;
}

/* A block of the device, -1 for none; -1 as device: host memory. */
static int any_block(struct generator *g, int device)
{
    int found[RANDOM_BLOCKS], count = 0;

    for (int i = 0; i < RANDOM_BLOCKS; i++)
        if (random_model_block_bytes(g->model, i) > 0 &&
            random_model_block_device(g->model, i) == device &&
            (i < RANDOM_GLOBAL || i >= RANDOM_ALLOCATED || one_in(g, 4)))
            found[count++] = i;
    return count ? found[below(g, (uint64_t)count)] : -1;
}

/* A place for `*bytes`, which become fewer if the block is smaller; often one that was used. */
static bool any_place(struct generator *g, int device, uint64_t *bytes, struct random_place *place)
{
    uint64_t room;

    place->block = any_block(g, device);
    if (place->block < 0)
        return false;
    room = random_model_block_bytes(g->model, place->block);
    if (*bytes > room)
        *bytes = room;
    room -= *bytes;
    place->at = one_in(g, 3) ? 0 : below(g, room + 1);
    if (!one_in(g, 3))
        place->at &= ~UINT64_C(511);
    place->at &= ~UINT64_C(7);
    return true;
}

static int any_queue(struct generator *g)
{
    int found[RANDOM_QUEUES], count = 0;

    for (int i = 0; i < RANDOM_QUEUES; i++)
        if (random_model_queue_device(g->model, i) >= 0)
            found[count++] = i;
    return count ? found[below(g, (uint64_t)count)] : -1;
}

static bool submit_result(struct generator *g, const struct random_operation *operation,
                          struct random_obstacle *obstacle)
{
    struct random_operation numbered = *operation;

    numbered.number = g->program->count;
    if (!random_model_accept(g->model, &numbered, obstacle))
        return false;
    g->program->operation[g->program->count++] = numbered;
    return true;
}

/* Waits for what an actor has been given, in one of several ways. */
static void wait_for(struct generator *g, int actor, const struct random_operation *o)
{
    struct random_operation first = {.thread = o->thread, .event = (int)below(g, RANDOM_EVENTS)};
    struct random_operation then = first;
    struct random_obstacle obstacle;

    if (actor >= RANDOM_QUEUES) {
        first.kind = RANDOM_HANDOFF;
        first.peer = actor - RANDOM_QUEUES;
        submit_result(g, &first, &obstacle);
        return;
    }
    first.queue = actor;
    then.queue = o->queue;
    first.kind = RANDOM_RECORD;
    switch (below(g, 9)) {
    case 0:
        first.kind = one_in(g, 2) ? RANDOM_SYNCHRONIZE : RANDOM_QUERY_DONE;
        submit_result(g, &first, &obstacle);
        return;
    case 2:
        first.kind = RANDOM_NOTIFY;
        then.kind = RANDOM_NOTIFIED;
        then.queue = first.queue;
        if (submit_result(g, &first, &obstacle))
            submit_result(g, &then, &obstacle);
        return;
    case 1:
        then.kind = one_in(g, 2) ? RANDOM_EVENT_SYNCHRONIZE : RANDOM_EVENT_DONE;
        break;
    default:
        then.kind = RANDOM_WAIT;
    }
    if (o->queue < 0 || o->kind == RANDOM_FREE)
        then.kind = one_in(g, 2) ? RANDOM_EVENT_SYNCHRONIZE : RANDOM_EVENT_DONE;
    if (submit_result(g, &first, &obstacle))
        submit_result(g, &then, &obstacle);
}

/* Gives a place something certain to hold. */
static void define(struct generator *g, const struct random_obstacle *obstacle,
                   const struct random_operation *o)
{
    struct random_operation fill = {
        .kind = one_in(g, 2) ? RANDOM_FILL : RANDOM_SUBMIT,
        .thread = o->thread,
        .queue = o->queue,
        .bytes = obstacle->bytes,
        .to = obstacle->place,
        .value = random_draw(&g->draw) | 1,
    };
    struct random_obstacle ignored;

    if (fill.bytes > g->limits->most)
        fill.bytes = g->limits->most;
    submit_result(g, &fill, &ignored);
}

static void propose(struct generator *g, const struct random_operation *o)
{
    struct random_obstacle obstacle;

    for (int attempt = 0; attempt < 6 && g->program->count < g->limits->operations; attempt++) {
        if (submit_result(g, o, &obstacle)) {
            if (o->kind == RANDOM_RETRIEVE) {
                g->looked = o->to;
                g->looked_bytes = o->bytes;
            }
            return;
        }
        if (g->program->count + 3 > g->limits->operations)
            return;
        if (obstacle.actor >= 0)
            wait_for(g, obstacle.actor, o);
        else if (obstacle.undefined && o->queue >= 0)
            define(g, &obstacle, o);
        else
            return;
    }
}

/* What the queue was given leaves, and the worker is busy meanwhile. */
static void fall_behind(struct generator *g, struct random_operation o)
{
    o.kind = RANDOM_NAP;
    o.value = below(g, 300);
    propose(g, &o);
    o.kind = RANDOM_FLUSH;
    propose(g, &o);
}

/* Many transfers of one queue that nothing comes between, mostly small: as a region with many maps
 * makes them. Often all are tiny, and in several messages: far more than a worker that is behind
 * has answered. */
static void burst(struct generator *g)
{
    struct random_operation o = {.queue = any_queue(g)};
    enum random_kind kind = one_in(g, 4) ? RANDOM_RETRIEVE : RANDOM_SUBMIT;
    int device = o.queue >= 0 ? random_model_queue_device(g->model, o.queue) : -1;
    bool tiny = one_in(g, 2);

    o.thread = o.queue >= 0 ? o.queue % g->limits->threads : 0;
    if (tiny && device >= 0)
        fall_behind(g, o);
    for (int i = 10 + (int)below(g, 40); device >= 0 && i > 0; i--) {
        o.kind = one_in(g, tiny ? 8 : 40) ? RANDOM_FLUSH : one_in(g, 20) ? RANDOM_ADD : kind;
        o.bytes = tiny ? 8 + below(g, 57) : any_size(g);
        o.value = random_draw(&g->draw) | 1;
        if (any_place(g, kind == RANDOM_SUBMIT ? -1 : device, &o.bytes, &o.from) &&
            any_place(g, kind == RANDOM_SUBMIT || o.kind == RANDOM_ADD ? device : -1, &o.bytes,
                      &o.to))
            propose(g, &o);
    }
}

/* ---- operations ---- */

static bool make_broadcast(struct generator *g, struct random_operation *o)
{
    if (!any_place(g, -1, &o->bytes, &o->from))
        return false;
    for (int i = 0; i < RANDOM_QUEUES && o->targets < g->limits->devices; i++) {
        int device = random_model_queue_device(g->model, i);
        struct random_place to;
        bool taken = false;

        for (int k = 0; k < o->targets; k++)
            taken |= random_model_queue_device(g->model, o->target[k].queue) == device;
        if (device < 0 || taken || one_in(g, 3) || !any_place(g, device, &o->bytes, &to))
            continue;
        o->target[o->targets].queue = i;
        o->target[o->targets++].to = to;
        o->queue = i;
    }
    return o->targets > 0;
}

/* Places for an operation with data in the order of a queue. */
static bool make_data(struct generator *g, struct random_operation *o, int device)
{
    int other = (int)below(g, (uint64_t)g->limits->devices);
    bool from_host = o->kind == RANDOM_SUBMIT, to_host = o->kind == RANDOM_RETRIEVE;
    uint64_t word = 8;

    if (o->kind == RANDOM_EXCHANGE && !one_in(g, 5) && other == device)
        other = (other + 1) % g->limits->devices;
    if (o->kind != RANDOM_EXCHANGE)
        other = to_host ? -1 : device;
    if (o->kind != RANDOM_PATTERN && o->kind != RANDOM_FILL && o->kind != RANDOM_ADD &&
        !any_place(g, from_host ? -1 : device, &o->bytes, &o->from))
        return false;
    return any_place(g, other, o->kind == RANDOM_SUM ? &word : &o->bytes, &o->to);
}

/* Small regions: submit, launch, retrieve; random_execute() makes one call of some. */
static void regions(struct generator *g)
{
    static const enum random_kind kinds[] = {RANDOM_RETRIEVE, RANDOM_FILL, RANDOM_SUBMIT};
    struct random_operation o = {.queue = any_queue(g)};
    int device = o.queue >= 0 ? random_model_queue_device(g->model, o.queue) : -1;

    o.thread = o.queue >= 0 ? o.queue % g->limits->threads : 0;
    for (int i = 3 * (1 + (int)below(g, 10)) - 1; device >= 0 && i >= 0; i--) {
        o.kind = kinds[i % 3];
        if (o.kind == RANDOM_FILL)
            o.kind = (enum random_kind)(RANDOM_FILL + below(g, RANDOM_NAP - RANDOM_FILL));
        o.bytes = one_in(g, 10) ? any_size(g) : 8 + below(g, 2048);
        o.value = random_draw(&g->draw) | 1;
        if (make_data(g, &o, device))
            propose(g, &o);
    }
}

static bool make_bad(struct generator *g, struct random_operation *o, int device)
{
    o->peer = (int)below(g, (uint64_t)g->limits->devices);
    if (o->kind == RANDOM_BAD_EXCHANGE)
        return any_place(g, device, &o->bytes, &o->from);
    if (o->kind != RANDOM_OVERRUN)
        return true;
    if (!any_place(g, device, &o->bytes, &o->to))
        return false;
    o->bytes = random_model_block_bytes(g->model, o->to.block) - o->to.at + 1 + below(g, 100);
    return true;
}

static enum random_kind any_kind(struct generator *g)
{
    int sum = 0, at = 0;
    uint64_t pick;

    if (g->quiet && one_in(g, (uint64_t)g->quiet))
        return (enum random_kind)(RANDOM_BAD_SUBMIT + below(g, 6));
    for (int i = 0; i < RANDOM_KINDS; i++)
        sum += weight[i];
    for (pick = below(g, (uint64_t)sum); pick >= (uint64_t)weight[at]; at++)
        pick -= (uint64_t)weight[at];
    return (enum random_kind)at;
}

/* Fills in what the kind wants; false if there is no such thing at the moment. */
static bool make(struct generator *g, struct random_operation *o)
{
    int device;

    o->event = (int)below(g, RANDOM_EVENTS);
    o->peer = (int)below(g, (uint64_t)g->limits->devices);
    o->bytes = any_size(g);
    o->value = random_draw(&g->draw) | 1;
    switch (o->kind) {
    case RANDOM_QUEUE_CREATE:
        o->queue = (int)below(g, RANDOM_QUEUES);
        return true;
    case RANDOM_ALLOC:
        o->to.block = RANDOM_ALLOCATED + (int)below(g, RANDOM_BLOCKS - RANDOM_ALLOCATED);
        if (one_in(g, 2))
            o->bytes = g->limits->most;
        return true;
    case RANDOM_FREE:
        o->queue = -1;
        o->to.block = RANDOM_ALLOCATED + (int)below(g, RANDOM_BLOCKS - RANDOM_ALLOCATED);
        return true;
    case RANDOM_HANDOFF:
        o->peer = (int)below(g, (uint64_t)g->limits->threads);
        return o->peer != o->thread;
    case RANDOM_WRITE:
        o->queue = -1;
        return any_place(g, -1, &o->bytes, &o->to);
    case RANDOM_LOOK:
        o->queue = -1;
        o->from = g->looked;
        o->bytes = g->looked_bytes;
        return o->bytes > 0;
    case RANDOM_BROADCAST:
        return make_broadcast(g, o);
    case RANDOM_PAUSE:
    case RANDOM_NAP:
        o->value = below(g, 300);
        break;
    default:
        break;
    }
    o->queue = any_queue(g);
    if (o->queue < 0)
        return false;
    if (g->limits->threads > 1 && !one_in(g, 6)) /* most of a queue's calls come from one thread */
        o->thread = o->queue % g->limits->threads;
    device = random_model_queue_device(g->model, o->queue);
    if (o->kind >= RANDOM_BAD_SUBMIT && o->kind <= RANDOM_TOO_MUCH)
        return make_bad(g, o, device);
    if (o->kind >= RANDOM_SUBMIT && o->kind <= RANDOM_SUM)
        return make_data(g, o, device);
    return true;
}

bool random_may_fail(void)
{
    const char *text = getenv("RANDOM_FAILURES");

    return !text || strcmp(text, "no") != 0;
}

void random_generate(struct random_program *program, const struct random_limits *limits,
                     uint64_t seed)
{
    struct generator g = {
        .program = program,
        .limits = limits,
        .model = random_model_create(limits),
        .draw = seed * UINT64_C(0x9e3779b97f4a7c15) + 1,
    };

    program->seed = seed;
    program->count = 0;
    for (int i = 0; i < 8; i++)
        random_draw(&g.draw);
    if (limits->failures && one_in(&g, 3))
        g.quiet = 5 + (int)below(&g, 30);
    /* Something to begin with. */
    for (int i = 0; i < 2 * limits->devices + 2; i++) {
        struct random_operation queue = {
            .kind = RANDOM_QUEUE_CREATE, .queue = i % RANDOM_QUEUES, .peer = i % limits->devices};
        struct random_operation block = {.kind = RANDOM_ALLOC,
                                         .to = {RANDOM_ALLOCATED + i, 0},
                                         .bytes = limits->most,
                                         .peer = i % limits->devices};

        if (i < 3 || i < limits->devices || one_in(&g, 2))
            propose(&g, &queue);
        if (RANDOM_ALLOCATED + i < RANDOM_BLOCKS && (i < limits->devices || one_in(&g, 2)))
            propose(&g, &block);
    }
    for (int i = 0; i < 20 * limits->operations && program->count < limits->operations; i++) {
        struct random_operation operation = {.kind = any_kind(&g),
                                             .thread = (int)below(&g, (uint64_t)limits->threads)};

        if (one_in(&g, 40))
            burst(&g);
        else if (one_in(&g, 40))
            regions(&g);
        else if (make(&g, &operation))
            propose(&g, &operation);
    }
    random_model_destroy(g.model);
}

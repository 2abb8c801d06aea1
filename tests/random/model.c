/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* model.c: what random programs must give. See random.h. Knows nothing of how they are run. */
#include <stdlib.h>
#include <string.h>

#include "tests/random/random.h"

/* What is complete, as far as somebody knows: of every actor, the number of its last step. */
struct clock {
    uint32_t step[RANDOM_ACTORS];
};

/* Bytes of a block with one history; it ends where the next one begins. */
struct piece {
    uint64_t begin;
    int writer;
    uint32_t written;             /* the writer's step */
    uint32_t read[RANDOM_ACTORS]; /* last step of each that read it since */
    bool defined;
};

/* When something was used last, by which thread: whoever uses it next comes after. */
struct touch {
    int thread;
    uint32_t step;
};

struct block {
    int device;
    uint64_t bytes; /* 0: none */
    struct touch touch;
    unsigned char *content;
    struct piece *piece;
    int pieces, room;
};

struct queue {
    int device; /* -1: none */
    uint32_t steps;
    bool failed;
    struct clock clock;
    struct touch touch;
    int notify; /* the step of the last callback; -1: none */
    bool notify_failed;
    struct clock notify_clock;
};

struct event {
    int queue; /* -1: not recorded */
    bool failed;
    struct clock clock;
    struct touch touch;
};

/* One range that an operation uses. */
struct access {
    struct random_place place;
    uint64_t bytes;
    bool write;
    int queue; /* in whose order; -1: the thread's */
    bool left; /* to the thread: it is over when the call returns */
};

struct random_model {
    struct random_limits limits;
    struct queue queue[RANDOM_QUEUES];
    struct event event[RANDOM_EVENTS];
    struct clock thread[RANDOM_THREADS];
    struct block block[RANDOM_BLOCKS];
    struct random_step *step;
    int steps, room;
    struct random_obstacle *obstacle;
};

enum { HOST_BYTES_PER_MOST = 4 };

#define ALLOW(status) (1u << (status))
#define ALLOW_FAILED (ALLOW(OMPRMA_OK) | ALLOW(OMPRMA_ERR_ADDRESS)) /* known, or not yet */

static void *grown(void *list, int count, int *room, size_t bytes)
{
    if (count < *room)
        return list;
    *room = *room ? 2 * *room : 16;
    list = realloc(list, (size_t)*room * bytes);
    if (!list)
        abort();
    return list;
}

/* ---- content ---- */

uint64_t random_draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(2685821657736338717);
}

uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return (random_draw(state) >> 16) % limit;
}

void random_fill(void *data, uint64_t bytes, uint64_t value)
{
    unsigned char *at = data;
    uint64_t state = value * 2 + 1, word;

    for (; bytes >= 8; bytes -= 8, at += 8) {
        word = random_draw(&state);
        memcpy(at, &word, 8);
    }
    word = random_draw(&state);
    memcpy(at, &word, bytes);
}

uint64_t random_pattern_bytes(const struct random_operation *operation)
{
    uint64_t bytes = UINT64_C(1) << (operation->value >> 8) % 4;

    return operation->bytes % bytes ? 1 : bytes;
}

uint64_t random_sum(const void *data, uint64_t bytes)
{
    const unsigned char *at = data;
    uint64_t sum = UINT64_C(14695981039346656037);

    for (uint64_t i = 0; i < bytes; i++)
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
    return sum;
}

/* ---- clocks ---- */

static void clock_join(struct clock *to, const struct clock *from)
{
    for (int i = 0; i < RANDOM_ACTORS; i++)
        if (from->step[i] > to->step[i])
            to->step[i] = from->step[i];
}

static int thread_actor(int thread)
{
    return RANDOM_QUEUES + thread;
}

/* ---- pieces ---- */

static void piece_split(struct block *block, uint64_t at)
{
    int i = 0;

    while (i < block->pieces && block->piece[i].begin < at)
        i++;
    if (at >= block->bytes || (i < block->pieces && block->piece[i].begin == at))
        return;
    block->piece = grown(block->piece, block->pieces, &block->room, sizeof(*block->piece));
    memmove(&block->piece[i + 1], &block->piece[i],
            (size_t)(block->pieces - i) * sizeof(*block->piece));
    block->piece[i] = block->piece[i - 1];
    block->piece[i].begin = at;
    block->pieces++;
}

static uint64_t piece_end(const struct block *block, int number)
{
    return number + 1 < block->pieces ? block->piece[number + 1].begin : block->bytes;
}

/* Finds the pieces that make up exactly [at, at + bytes): the first one's number, and how many. */
static int pieces_of(struct block *block, uint64_t at, uint64_t bytes, int *count)
{
    int first = 0;

    piece_split(block, at);
    piece_split(block, at + bytes);
    while (block->piece[first].begin < at)
        first++;
    for (*count = 0;
         first + *count < block->pieces && block->piece[first + *count].begin < at + bytes;)
        ++*count;
    return first;
}

static void block_begin(struct block *block, uint64_t bytes, int writer, uint32_t written)
{
    block->bytes = bytes;
    block->piece = grown(block->piece, 0, &block->room, sizeof(*block->piece));
    block->pieces = 1;
    block->piece[0] = (struct piece){.writer = writer, .written = written};
}

/* ---- accesses ---- */

static bool refuse(struct random_model *model, int actor)
{
    model->obstacle->actor = actor;
    return false;
}

/* What is complete for sure when the access begins. Host memory is used by calls of the thread at
 * any time until the operation is complete: there events between queues do not count. */
static struct clock clock_of(const struct random_model *model, const struct access *access,
                             int thread)
{
    struct clock clock = model->thread[thread];

    if (access->queue < 0)
        return clock;
    if (access->place.block == RANDOM_HOST)
        clock.step[access->queue] = model->queue[access->queue].steps;
    else
        clock_join(&clock, &model->queue[access->queue].clock);
    return clock;
}

static bool access_certain(struct random_model *model, const struct access *access, int thread)
{
    struct block *block = &model->block[access->place.block];
    struct clock clock = clock_of(model, access, thread);
    int count, first;

    if (access->place.at + access->bytes > block->bytes || access->bytes == 0)
        return refuse(model, -1);
    first = pieces_of(block, access->place.at, access->bytes, &count);
    for (int i = first; i < first + count; i++) {
        const struct piece *piece = &block->piece[i];

        if (clock.step[piece->writer] < piece->written)
            return refuse(model, piece->writer);
        for (int actor = 0; access->write && actor < RANDOM_ACTORS; actor++)
            if (clock.step[actor] < piece->read[actor])
                return refuse(model, actor);
        if (!access->write && !piece->defined) {
            model->obstacle->undefined = true;
            model->obstacle->place = (struct random_place){access->place.block, piece->begin};
            model->obstacle->bytes = piece_end(block, i) - piece->begin;
            return refuse(model, -1);
        }
    }
    return true;
}

static void access_note(struct random_model *model, const struct access *access, int thread)
{
    struct block *block = &model->block[access->place.block];
    bool by_thread = access->queue < 0 || access->left;
    int actor = by_thread ? thread_actor(thread) : access->queue, count;
    uint32_t step =
        by_thread ? model->thread[thread].step[actor] : model->queue[access->queue].steps;
    int first = pieces_of(block, access->place.at, access->bytes, &count);

    if (!access->write) {
        for (int i = first; i < first + count; i++)
            block->piece[i].read[actor] = step;
        return;
    }
    block->piece[first] = (struct piece){
        .begin = access->place.at, .writer = actor, .written = step, .defined = true};
    memmove(&block->piece[first + 1], &block->piece[first + count],
            (size_t)(block->pieces - first - count) * sizeof(*block->piece));
    block->pieces -= count - 1;
}

/* A call names a block that nobody reads: it is freed after the call. */
static void note_named(struct random_model *model, int block, int thread)
{
    struct access first = {{block, 0}, 1, false, -1, true};

    access_note(model, &first, thread);
}

/* ---- steps ---- */

static struct random_step *add_step(struct random_model *model,
                                    const struct random_operation *operation, unsigned allowed)
{
    model->step = grown(model->step, model->steps, &model->room, sizeof(*model->step));
    model->step[model->steps] = (struct random_step){.operation = *operation, .allowed = allowed};
    return &model->step[model->steps++];
}

static void hand_off(struct random_model *model, int from, int to)
{
    struct random_operation operation = {.kind = RANDOM_HANDOFF, .thread = to, .peer = from};

    if (from == to)
        return;
    add_step(model, &operation, 0);
    clock_join(&model->thread[to], &model->thread[from]);
}

/* The thread uses something that another one has used: after it. */
static void use(struct random_model *model, int thread, struct touch *touch)
{
    if (model->thread[thread].step[thread_actor(touch->thread)] < touch->step)
        hand_off(model, touch->thread, thread);
    *touch = (struct touch){thread, model->thread[thread].step[thread_actor(thread)] + 1};
}

/* The operation is the thread's next one, and is allowed to give these results. */
static struct random_step *take(struct random_model *model,
                                const struct random_operation *operation, unsigned allowed)
{
    model->thread[operation->thread].step[thread_actor(operation->thread)]++;
    return add_step(model, operation, allowed);
}

/* Something is added to the queue that begins after all that the thread knows to be over. */
static void extend(struct random_model *model, int number, int thread)
{
    struct queue *queue = &model->queue[number];

    clock_join(&queue->clock, &model->thread[thread]);
    queue->clock.step[number] = ++queue->steps;
}

/* ---- data ---- */

static unsigned char *content(struct random_model *model, struct random_place place)
{
    return model->block[place.block].content + place.at;
}

/* Fills in the ranges that an operation of one queue, or a thread, uses. */
static int accesses_of(const struct random_operation *o, struct access access[2])
{
    struct access from = {o->from, o->bytes, false, o->queue, false};
    struct access to = {o->to, o->bytes, true, o->queue, false};

    switch (o->kind) {
    case RANDOM_WRITE:
        to.queue = -1;
        break;
    case RANDOM_LOOK:
        from.queue = -1;
        access[0] = from;
        return 1;
    case RANDOM_PATTERN:
    case RANDOM_FILL:
        break;
    case RANDOM_ADD:
        access[0] = (struct access){o->to, o->bytes, false, o->queue, false};
        access[1] = to;
        return 2;
    case RANDOM_SUM:
        to.bytes = 8;
        access[0] = from;
        access[1] = to;
        return 2;
    case RANDOM_BAD_EXCHANGE:
        access[0] = from;
        return 1;
    default: /* submit, retrieve, exchange, copy */
        from.left = o->kind == RANDOM_SUBMIT && o->bytes <= OMPRMA_COPIED_SUBMIT;
        access[0] = from;
        access[1] = to;
        return 2;
    }
    access[0] = to;
    return 1;
}

static void change_content(struct random_model *model, const struct random_operation *o)
{
    unsigned char *to = content(model, o->to);
    uint64_t sum;

    switch (o->kind) {
    case RANDOM_WRITE:
        random_fill(to, o->bytes, o->value);
        break;
    case RANDOM_PATTERN:
        for (uint64_t i = 0; i < o->bytes; i++)
            to[i] = (unsigned char)(o->value >> 8 * (i % random_pattern_bytes(o)));
        break;
    case RANDOM_FILL:
        memset(to, (int)(unsigned char)o->value, o->bytes);
        break;
    case RANDOM_ADD:
        for (uint64_t i = 0; i < o->bytes; i++)
            to[i] = (unsigned char)(to[i] + o->value);
        break;
    case RANDOM_SUM:
        sum = random_sum(content(model, o->from), o->bytes);
        memcpy(to, &sum, 8);
        break;
    default:
        memmove(to, content(model, o->from), o->bytes);
    }
}

/* The blocks are where the operation needs them. */
static bool blocks_fit(const struct random_model *model, const struct random_operation *o)
{
    int device = o->queue >= 0 ? model->queue[o->queue].device : -1;
    bool from_host = o->kind == RANDOM_SUBMIT, to_host = o->kind == RANDOM_RETRIEVE;
    const struct block *from = &model->block[o->from.block], *to = &model->block[o->to.block];

    switch (o->kind) {
    case RANDOM_WRITE:
        return o->to.block == RANDOM_HOST;
    case RANDOM_LOOK:
        return o->from.block == RANDOM_HOST;
    case RANDOM_BAD_EXCHANGE:
        return from->device == device;
    case RANDOM_EXCHANGE:
        return from->device == device && o->to.block != RANDOM_HOST;
    case RANDOM_PATTERN:
    case RANDOM_FILL:
    case RANDOM_ADD:
        return to->device == device;
    default:
        return (from_host ? o->from.block == RANDOM_HOST : from->device == device) &&
               (to_host ? o->to.block == RANDOM_HOST : to->device == device);
    }
}

/* Behind a failure, before that was known, a retrieve may have filled host memory. */
static void forget(struct random_model *model, const struct random_operation *o,
                   const struct access *access)
{
    struct block *block = &model->block[access->place.block];
    int count, first;

    extend(model, o->queue, o->thread);
    access_note(model, access, o->thread);
    first = pieces_of(block, access->place.at, access->bytes, &count);
    block->piece[first].defined = false;
}

static bool accept_data(struct random_model *model, const struct random_operation *o)
{
    struct queue *queue = o->queue >= 0 ? &model->queue[o->queue] : NULL;
    struct access access[2];
    struct random_step *step;
    int count = accesses_of(o, access);

    if ((queue && queue->device < 0) || !blocks_fit(model, o))
        return refuse(model, -1);
    if (queue)
        use(model, o->thread, &queue->touch);
    /* Nobody may move blocks away while calls with their addresses are made. */
    for (int i = 0; i < count; i++)
        if (model->block[access[i].place.block].bytes == 0)
            return refuse(model, -1);
    if (queue && queue->failed) { /* not run; the ranges must be such as can be named, no more */
        for (int i = 0; i < count; i++) {
            const struct block *block = &model->block[access[i].place.block];

            if (access[i].place.at + access[i].bytes > block->bytes || access[i].bytes == 0)
                return refuse(model, -1);
            if (model->thread[o->thread].step[thread_actor(block->touch.thread)] <
                block->touch.step)
                return refuse(model, thread_actor(block->touch.thread));
        }
        if (o->kind == RANDOM_RETRIEVE && !access_certain(model, &access[1], o->thread))
            return false;
        take(model, o, ALLOW_FAILED);
        for (int i = 0; i < count; i++)
            note_named(model, access[i].place.block, o->thread);
        if (o->kind == RANDOM_RETRIEVE)
            forget(model, o, &access[1]);
        return true;
    }
    for (int i = 0; i < count; i++)
        if (!access_certain(model, &access[i], o->thread))
            return false;
    step = take(model, o, ALLOW(OMPRMA_OK));
    if (queue)
        extend(model, o->queue, o->thread);
    for (int i = 0; i < count; i++)
        access_note(model, &access[i], o->thread);
    if (o->kind == RANDOM_LOOK) {
        step->expected = malloc(o->bytes);
        if (!step->expected)
            abort();
        memcpy(step->expected, content(model, o->from), o->bytes);
    } else if (o->kind == RANDOM_BAD_EXCHANGE) {
        queue->failed = true;
    } else {
        change_content(model, o);
    }
    return true;
}

static bool accept_broadcast(struct random_model *model, const struct random_operation *o)
{
    struct access from = {o->from, o->bytes, false, 0, o->bytes <= OMPRMA_COPIED_SUBMIT};

    for (int i = 0; i < o->targets; i++) {
        struct queue *queue = &model->queue[o->target[i].queue];

        if (queue->device < 0 || queue->failed ||
            model->block[o->target[i].to.block].device != queue->device ||
            model->block[o->target[i].to.block].bytes == 0)
            return refuse(model, -1);
        for (int k = 0; k < i; k++)
            if (model->queue[o->target[k].queue].device == queue->device)
                return refuse(model, -1);
    }
    for (int i = 0; i < o->targets; i++) {
        struct access to = {o->target[i].to, o->bytes, true, o->target[i].queue, false};

        use(model, o->thread, &model->queue[o->target[i].queue].touch);
        from.queue = o->target[i].queue;
        if (!access_certain(model, &to, o->thread) || !access_certain(model, &from, o->thread))
            return false;
    }
    take(model, o, ALLOW(OMPRMA_OK));
    for (int i = 0; i < o->targets; i++) {
        struct access to = {o->target[i].to, o->bytes, true, o->target[i].queue, false};

        extend(model, o->target[i].queue, o->thread);
        from.queue = o->target[i].queue;
        access_note(model, &from, o->thread);
        access_note(model, &to, o->thread);
        memcpy(content(model, to.place), content(model, o->from), o->bytes);
    }
    return true;
}

/* Fails on the worker, or at once. */
static bool accept_bad(struct random_model *model, const struct random_operation *o)
{
    struct queue *queue = &model->queue[o->queue];
    const struct block *block = &model->block[o->to.block];
    unsigned at_once =
        ALLOW(o->kind == RANDOM_NO_KERNEL ? OMPRMA_ERR_ARGUMENT : OMPRMA_ERR_ADDRESS);

    if (queue->device < 0 || !model->limits.failures)
        return refuse(model, -1);
    if (o->kind == RANDOM_OVERRUN && (block->bytes == 0 || block->device != queue->device ||
                                      o->to.at + o->bytes <= block->bytes ||
                                      o->to.block < RANDOM_ALLOCATED || o->to.at >= block->bytes))
        return refuse(model, -1);
    use(model, o->thread, &queue->touch);
    if (o->kind == RANDOM_OVERRUN &&
        model->thread[o->thread].step[thread_actor(block->touch.thread)] < block->touch.step)
        return refuse(model, thread_actor(block->touch.thread));
    if (o->kind == RANDOM_OVERRUN || o->kind == RANDOM_NO_KERNEL) {
        take(model, o, at_once | (queue->failed ? ALLOW(OMPRMA_ERR_ADDRESS) : 0));
        if (o->kind == RANDOM_OVERRUN)
            note_named(model, o->to.block, o->thread);
        return true;
    }
    take(model, o, queue->failed ? ALLOW_FAILED : ALLOW(OMPRMA_OK));
    queue->failed = true;
    return true;
}

static bool accept_nap(struct random_model *model, const struct random_operation *o)
{
    struct queue *queue = &model->queue[o->queue];

    if (queue->device < 0)
        return refuse(model, -1);
    use(model, o->thread, &queue->touch);
    take(model, o, queue->failed ? ALLOW_FAILED : ALLOW(OMPRMA_OK));
    if (!queue->failed)
        extend(model, o->queue, o->thread);
    return true;
}

/* ---- queues, events, blocks ---- */

static bool accept_queue(struct random_model *model, const struct random_operation *o)
{
    struct queue *queue = &model->queue[o->queue];
    bool ends = o->kind == RANDOM_SYNCHRONIZE || o->kind == RANDOM_QUEUE_DESTROY;

    if ((queue->device < 0) != (o->kind == RANDOM_QUEUE_CREATE) || o->peer >= model->limits.devices)
        return refuse(model, -1);
    use(model, o->thread, &queue->touch);
    take(model, o, ALLOW(ends && queue->failed ? OMPRMA_ERR_ADDRESS : OMPRMA_OK));
    if (ends || (o->kind == RANDOM_QUERY_DONE && !queue->failed))
        clock_join(&model->thread[o->thread], &queue->clock);
    if (ends)
        queue->failed = false;
    if (o->kind == RANDOM_QUEUE_CREATE) {
        queue->device = o->peer;
        queue->notify = -1;
        queue->clock = model->thread[o->thread];
        queue->clock.step[o->queue] = queue->steps;
    } else if (o->kind == RANDOM_QUEUE_DESTROY) {
        queue->device = -1;
    }
    return true;
}

static bool accept_notify(struct random_model *model, const struct random_operation *o)
{
    struct queue *queue = &model->queue[o->queue];
    struct random_step *step;

    if (queue->device < 0 || (o->kind == RANDOM_NOTIFIED && queue->notify < 0))
        return refuse(model, -1);
    use(model, o->thread, &queue->touch);
    step = take(model, o, ALLOW(OMPRMA_OK));
    if (o->kind == RANDOM_NOTIFIED) {
        step->notify = queue->notify;
        if (!queue->notify_failed)
            clock_join(&model->thread[o->thread], &queue->notify_clock);
        return true;
    }
    step->told = queue->failed ? OMPRMA_ERR_ADDRESS : OMPRMA_OK;
    queue->notify = model->steps - 1;
    queue->notify_failed = queue->failed;
    queue->notify_clock = queue->clock;
    return true;
}

static bool accept_wait(struct random_model *model, const struct random_operation *o)
{
    struct queue *queue = &model->queue[o->queue];
    struct event *event = &model->event[o->event];

    if (queue->device < 0)
        return refuse(model, -1);
    if (o->kind == RANDOM_WAIT && event->failed && event->queue == o->queue)
        return refuse(model, -1); /* of its own queue, after that was mended: nobody needs that */
    use(model, o->thread, &queue->touch);
    use(model, o->thread, &event->touch);
    if (o->kind == RANDOM_RECORD) {
        take(model, o, ALLOW(OMPRMA_OK));
        event->queue = o->queue;
        event->failed = queue->failed;
        event->clock = queue->clock;
        return true;
    }
    take(model, o, queue->failed || event->failed ? ALLOW_FAILED : ALLOW(OMPRMA_OK));
    if (queue->failed)
        return true;
    if (event->failed)
        queue->failed = true;
    else if (event->queue >= 0)
        clock_join(&queue->clock, &event->clock);
    return true;
}

static bool accept_event(struct random_model *model, const struct random_operation *o)
{
    struct event *event = &model->event[o->event];
    bool waits = o->kind == RANDOM_EVENT_DONE || o->kind == RANDOM_EVENT_SYNCHRONIZE;

    use(model, o->thread, &event->touch);
    take(model, o,
         ALLOW(event->failed && o->kind == RANDOM_EVENT_SYNCHRONIZE ? OMPRMA_ERR_ADDRESS
                                                                    : OMPRMA_OK));
    if (o->kind == RANDOM_RENEW)
        *event = (struct event){.queue = -1, .touch = event->touch};
    else if (waits && !event->failed)
        clock_join(&model->thread[o->thread], &event->clock);
    return true;
}

static bool accept_block(struct random_model *model, const struct random_operation *o)
{
    struct block *block = &model->block[o->to.block];
    struct access all = {{o->to.block, 0}, block->bytes, true, -1, false};

    if (o->to.block < RANDOM_ALLOCATED || (block->bytes == 0) != (o->kind == RANDOM_ALLOC) ||
        o->peer >= model->limits.devices)
        return refuse(model, -1);
    if (o->kind == RANDOM_FREE && !access_certain(model, &all, o->thread))
        return false;
    use(model, o->thread, &block->touch);
    take(model, o, ALLOW(OMPRMA_OK));
    if (o->kind == RANDOM_FREE) {
        block->bytes = 0;
        return true;
    }
    free(block->content);
    block->content = malloc(o->bytes);
    if (!block->content)
        abort();
    block->device = o->peer;
    block_begin(block, o->bytes, thread_actor(o->thread), block->touch.step);
    return true;
}

bool random_model_accept(struct random_model *model, const struct random_operation *o,
                         struct random_obstacle *obstacle)
{
    *obstacle = (struct random_obstacle){.actor = -1};
    model->obstacle = obstacle;
    switch (o->kind) {
    case RANDOM_QUEUE_CREATE:
    case RANDOM_QUEUE_DESTROY:
    case RANDOM_FLUSH:
    case RANDOM_QUERY:
    case RANDOM_QUERY_DONE:
    case RANDOM_SYNCHRONIZE:
        return accept_queue(model, o);
    case RANDOM_NOTIFY:
    case RANDOM_NOTIFIED:
        return accept_notify(model, o);
    case RANDOM_RECORD:
    case RANDOM_WAIT:
        return accept_wait(model, o);
    case RANDOM_RENEW:
    case RANDOM_EVENT_QUERY:
    case RANDOM_EVENT_DONE:
    case RANDOM_EVENT_SYNCHRONIZE:
        return accept_event(model, o);
    case RANDOM_ALLOC:
    case RANDOM_FREE:
        return accept_block(model, o);
    case RANDOM_BROADCAST:
        return accept_broadcast(model, o);
    case RANDOM_BAD_SUBMIT:
    case RANDOM_BAD_RETRIEVE:
    case RANDOM_OVERRUN:
    case RANDOM_NO_KERNEL:
        return accept_bad(model, o);
    case RANDOM_NAP:
        return accept_nap(model, o);
    case RANDOM_PAUSE:
        take(model, o, ALLOW(OMPRMA_OK));
        return true;
    case RANDOM_TOO_MUCH:
        take(model, o, ALLOW(OMPRMA_ERR_DEVICE_MEMORY));
        return true;
    case RANDOM_HANDOFF:
        hand_off(model, o->peer, o->thread);
        return true;
    default:
        return accept_data(model, o);
    }
}

/* ---- outside ---- */

struct random_model *random_model_create(const struct random_limits *limits)
{
    struct random_model *model = calloc(1, sizeof(*model));
    struct block *host;

    if (!model)
        abort();
    model->limits = *limits;
    for (int i = 0; i < RANDOM_QUEUES; i++)
        model->queue[i].device = -1;
    for (int i = 0; i < RANDOM_EVENTS; i++)
        model->event[i].queue = -1;
    for (int i = 0; i < limits->devices; i++) {
        struct block *block = &model->block[RANDOM_GLOBAL + i];

        block->device = i;
        block_begin(block, limits->global_bytes, thread_actor(0), 0);
        block->content = malloc(limits->global_bytes);
        if (!block->content)
            abort();
    }
    host = &model->block[RANDOM_HOST];
    host->device = -1;
    block_begin(host, HOST_BYTES_PER_MOST * limits->most, thread_actor(0), 0);
    host->content = calloc(1, host->bytes);
    if (!host->content)
        abort();
    host->piece[0].defined = true;
    return model;
}

void random_model_destroy(struct random_model *model)
{
    for (int i = 0; i < RANDOM_BLOCKS; i++) {
        free(model->block[i].content);
        free(model->block[i].piece);
    }
    for (int i = 0; i < model->steps; i++)
        free(model->step[i].expected);
    free(model->step);
    free(model);
}

const struct random_step *random_model_steps(const struct random_model *model, int *count)
{
    *count = model->steps;
    return model->step;
}

int random_model_queue_device(const struct random_model *model, int queue)
{
    return model->queue[queue].device;
}

bool random_model_event_recorded(const struct random_model *model, int event)
{
    return model->event[event].queue >= 0;
}

int random_model_block_device(const struct random_model *model, int block)
{
    return model->block[block].device;
}

uint64_t random_model_block_bytes(const struct random_model *model, int block)
{
    return model->block[block].bytes;
}

bool random_model_compare(const struct random_model *model, int number, const unsigned char *found,
                          uint64_t *at)
{
    const struct block *block = &model->block[number];

    for (int i = 0; i < block->pieces; i++) {
        uint64_t begin = block->piece[i].begin, end = piece_end(block, i);

        if (!block->piece[i].defined ||
            memcmp(block->content + begin, found + begin, end - begin) == 0)
            continue;
        for (*at = begin; block->content[*at] == found[*at];)
            ++*at;
        return false;
    }
    return true;
}

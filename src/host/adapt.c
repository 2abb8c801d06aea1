/* adapt.c: see adapt.h. */
#define _GNU_SOURCE
#include "host/adapt.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

enum {
    EXCHANGE_WAYS_FREE = 3, /* put, get, send: what contests between ways count from 0 */
    SMALL_FIRST = 11,       /* classes of small data: up to 4 and up to 8 KiB */
    SMALL_LAST = 12
};

_Static_assert(ADAPT_LEAST == 2 << SMALL_FIRST && ADAPT_SMALL == 2 << SMALL_LAST, "small sizes");

#define NEVER UINT64_MAX /* no number of transfers: the time says nothing */

static const char *const direction_names[PATHS_DIRECTIONS] = {"submit", "retrieve"};

/* What contests call the ways of a transfer. A small submit cannot go two-sided: its source is
 * copied. */
static enum path path_of(enum paths_direction direction, bool small, int way)
{
    if (way == 0)
        return PATH_RMA;
    return way == 2 || (small && direction == PATHS_SUBMIT) ? PATH_INLINE : PATH_TWO_SIDED;
}

static enum paths_direction direction_of(const struct operation *operation)
{
    return operation->fills_host ? PATHS_RETRIEVE : PATHS_SUBMIT;
}

/* Sizes for which messages are one of the ways. */
static bool is_small(const struct adapt_kind *kind, enum paths_direction direction, uint64_t bytes)
{
    return kind->small[direction] && bytes >= ADAPT_LEAST && bytes <= ADAPT_SMALL;
}

static enum config_exchange exchange_way_of(int way)
{
    return (enum config_exchange)(EXCHANGE_PUT + way);
}

static const char *exchange_name_of(int way)
{
    static const char *const names[EXCHANGE_WAYS_FREE] = {"put", "get", "send"};

    return names[way];
}

/* "64 KiB"; what a class is above. */
static const char *size_text(unsigned class, char *text, size_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};

    snprintf(text, bytes, "%u %s", 1u << class % 10, units[class / 10]);
    return text;
}

/* ---- begin and end ---- */

static void begin_direction(struct adapt_kind *kind, const struct paths *paths,
                            enum paths_direction direction)
{
    for (unsigned class = cost_class(ADAPT_LEAST); class < COST_CLASSES; class ++) {
        uint64_t bytes = cost_class_bytes(class);
        const double us[] = {cost_at(&paths->curve[direction][PATH_RMA], bytes),
                             cost_at(&paths->curve[direction][PATH_TWO_SIDED], bytes)};
        bool rma = paths_bulk(paths, direction == PATHS_SUBMIT, bytes) == PATH_RMA;

        contest_begin(&kind->contest[direction][class], 2, !rma, us);
    }
}

static bool is_inline(const struct adapt_kind *kind, enum paths_direction direction, unsigned class)
{
    const struct contest *contest = &kind->contest[direction][class];

    return contest->current == contest->ways - 1;
}

/* What messages carry, by the classes of small data. Where they win they carry what is below, too.
 */
static void put_small(const struct adapt_kind *kind, struct paths *paths,
                      enum paths_direction direction)
{
    uint32_t limit = is_inline(kind, direction, SMALL_LAST)    ? ADAPT_SMALL
                     : is_inline(kind, direction, SMALL_FIRST) ? ADAPT_LEAST
                                                               : kind->below[direction];

    if (direction == PATHS_SUBMIT) {
        paths->inline_submit = limit;
        return;
    }
    paths->inline_retrieve = limit;
    paths->inline_retrieve_fused = kind->fused > limit ? kind->fused : limit;
}

static void begin_small(struct adapt_kind *kind, struct paths *paths,
                        enum paths_direction direction)
{
    uint32_t limit = direction == PATHS_SUBMIT ? paths->inline_submit : paths->inline_retrieve;
    int ways = direction == PATHS_SUBMIT ? 2 : 3;

    kind->small[direction] = true;
    kind->below[direction] = limit < ADAPT_LEAST ? limit : ADAPT_LEAST - 1;
    kind->fused = paths->inline_retrieve_fused;
    for (unsigned class = SMALL_FIRST; class <= SMALL_LAST; class ++) {
        uint64_t bytes = cost_class_bytes(class);
        bool rma = paths_bulk(paths, direction == PATHS_SUBMIT, bytes) == PATH_RMA;
        double us[CONTEST_WAYS];

        for (int way = 0; way < ways; way++)
            us[way] = cost_at(&paths->curve[direction][path_of(direction, true, way)], bytes);
        contest_begin(&kind->contest[direction][class], ways, limit >= bytes ? ways - 1 : !rma, us);
    }
    put_small(kind, paths, direction);
}

void adapt_begin(struct device *device)
{
    const struct config *config = &device->runtime->config;
    struct runtime *runtime = device->runtime;
    struct adapt_kind *kind = calloc(1, sizeof(*kind));

    if (!kind)
        return;
    snprintf(kind->name, sizeof(kind->name), "%s%s",
             device->peer->can_ring || runtime->adopted ? "this host" : "host ",
             device->peer->can_ring || runtime->adopted ? "" : device->peer->hello.host);
    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++)
        begin_direction(kind, &device->paths, (enum paths_direction)direction);
    if (config->inline_submit < 0)
        begin_small(kind, &device->paths, PATHS_SUBMIT);
    if (config->inline_retrieve < 0)
        begin_small(kind, &device->paths, PATHS_RETRIEVE);
    kind->next = runtime->kinds;
    runtime->kinds = kind;
    device->paths.adapt = kind;
}

void adapt_begin_exchange(struct exchange_paths *paths)
{
    struct contest *contests = calloc(COST_CLASSES, sizeof(*contests));

    if (!contests)
        return;
    for (unsigned class = 0; class < COST_CLASSES; class ++) {
        double share = (double)cost_class_bytes(class) / (1 << 20), us[EXCHANGE_WAYS_FREE];

        for (int way = 0; way < EXCHANGE_WAYS_FREE; way++)
            us[way] = share * paths->us[exchange_way_of(way)];
        contest_begin(&contests[class], EXCHANGE_WAYS_FREE, (int)(paths->way - EXCHANGE_PUT), us);
    }
    paths->contests = contests;
}

static void stop_watching(struct adapt_watch *watch)
{
    struct runtime *runtime = watch->operation->queue->device->runtime;

    observer_remove(&runtime->observers, &watch->observer);
    operation_drop(&runtime->operations, watch->operation);
    watch->operation = NULL;
}

void adapt_end(struct runtime *runtime)
{
    if (runtime->watch.operation)
        stop_watching(&runtime->watch);
    while (runtime->kinds) {
        struct adapt_kind *kind = runtime->kinds;

        runtime->kinds = kind->next;
        free(kind);
    }
    for (int far = 0; far < 2; far++) {
        free(runtime->exchange[far].contests);
        runtime->exchange[far].contests = NULL;
    }
}

/* ---- what may be timed ---- */

/* Whether its turn may come long after it could be had: it waits for other queues. */
static bool may_be_held(const struct omprma_queue *queue)
{
    for (const struct operation *o = queue->first; o; o = o->next)
        if (o->kind == OPERATION_WAIT || o->kind == OPERATION_TASK)
            return true;
    return false;
}

/* Behind others of its queue it will be seen later whether data of other queues is under way. */
static bool can_time(const struct omprma_queue *queue)
{
    struct runtime *runtime = queue->device->runtime;

    return !runtime->watch.is_inline && !runtime->watch.operation && !may_be_held(queue) &&
           !queue->device->lost && (runtime->moving == 0 || !queue_is_idle(queue));
}

struct contest *adapt_contest(struct adapt_kind *kind, enum paths_direction direction,
                              uint64_t bytes)
{
    return &kind->contest[direction][cost_class(bytes)];
}

bool adapt_decides(const struct omprma_queue *queue, bool submit, uint64_t bytes)
{
    const struct adapt_kind *kind = queue->device->paths.adapt;

    return bytes >= ADAPT_LEAST && kind &&
           is_small(kind, submit ? PATHS_SUBMIT : PATHS_RETRIEVE, bytes);
}

enum path adapt_path(struct omprma_queue *queue, bool submit, uint64_t bytes, bool *timed)
{
    const struct paths *paths = &queue->device->paths;
    enum paths_direction direction = submit ? PATHS_SUBMIT : PATHS_RETRIEVE;
    struct contest *contest;
    bool small;
    int way;

    *timed = false;
    if (!paths->adapt || bytes < ADAPT_LEAST)
        return paths_bulk(paths, submit, bytes);
    small = is_small(paths->adapt, direction, bytes);
    if (!small && submit && bytes <= OMPRMA_COPIED_SUBMIT)
        return paths_bulk(paths, submit, bytes);
    contest = adapt_contest(paths->adapt, direction, bytes);
    way = contest_next(
        contest, contest_is_due(contest) && (!small || queue_is_idle(queue)) && can_time(queue),
        timed);
    if (*timed)
        queue->device->runtime->watch = (struct adapt_watch){.way = way, .asked_ns = clock_ns()};
    return path_of(direction, small, way);
}

/* ---- the transfer that is timed ---- */

static struct adapt_watch *watch_of(struct observer *observer)
{
    return (struct adapt_watch *)observer; /* its first member */
}

/* The first of its queue: one that stands behind a launch begins when that is over. */
static bool is_first(const struct operation *operation)
{
    const struct operation *o = operation->queue->first;

    while (o && (o->kind == OPERATION_MARK ||
                 (operation_has_command(operation) && o == operation->move.command)))
        o = o->next;
    return o == operation;
}

/* Nothing of other queues is under way. */
static bool is_alone(const struct omprma_queue *queue)
{
    uint32_t own = 0;

    for (const struct operation *o = queue->active; o; o = o->next_active)
        own++;
    return queue->device->runtime->moving == own;
}

/* It is under way, if nothing else of its queue is before it any more. */
static void begin_if_first(struct adapt_watch *watch)
{
    const struct omprma_queue *queue = watch->operation->queue;
    const struct runtime *runtime = queue->device->runtime;
    bool waited;

    if (watch->begun_ns || !is_first(watch->operation))
        return;
    waited = watch->waited || (queue->waiters && runtime->driven); /* a query does not drive */
    /* What a call takes until data is under way counts, as it does for a message. */
    watch->begun_ns = watch->waited ? watch->asked_ns : clock_ns();
    watch->begun = waited && is_alone(queue) ? runtime->moved - watch->own : NEVER;
}

/* As if it had the largest size of its class: longer by what was measured of sizes, but by no more
 * than it is larger, whatever was. */
static double scaled(const struct cost_curve *curve, uint64_t bytes, unsigned class, double us)
{
    uint64_t largest = cost_class_bytes(class);
    double whole = cost_at(curve, bytes), most = (double)largest / (double)bytes;
    double factor = whole > 0 ? cost_at(curve, largest) / whole : 1;

    return us * (factor < 1 ? 1 : factor > most ? most : factor);
}

static void say_revision(const char *what, const char *where, const struct contest *contest,
                         int old, unsigned class, const char *(*name)(int way))
{
    char from[16], to[16];

    log_write(LOG_CHOICE, "%ss above %s to %s, %s: %s in place of %s: %.1f us in place of %.1f",
              what, size_text(class, from, sizeof(from)), size_text(class + 1, to, sizeof(to)),
              where, name(contest->current), name(old), (double)contest->us[contest->current],
              (double)contest->us[old]);
}

static const char *path_name_of(int way)
{
    return paths_names[path_of(PATHS_RETRIEVE, false, way)];
}

static const char *small_submit_name_of(int way)
{
    return paths_names[path_of(PATHS_SUBMIT, true, way)];
}

/* All devices of the kind follow, whoever asks. */
static void follow(const struct runtime *runtime, const struct adapt_kind *kind,
                   enum paths_direction direction, unsigned class, enum path path)
{
    uint64_t bit = UINT64_C(1) << class;

    for (int i = 0; i < runtime->device_count; i++) {
        struct paths *paths = &runtime->devices[i]->paths;

        if (paths->adapt != kind)
            continue;
        if (path == PATH_RMA)
            paths->rma[direction] |= bit;
        if (path == PATH_TWO_SIDED)
            paths->rma[direction] &= ~bit;
        if (class <= SMALL_LAST && kind->small[direction])
            put_small(kind, paths, direction);
    }
}

/* The worker is on this thread's processor, though there are others: the scheduler will part them.
 * Until then what needs the worker takes as long as it takes to be let in, and says nothing about
 * later. */
static bool is_cramped(const struct device *device)
{
    const struct peer *peer = device->peer;
    cpu_set_t allowed;
    int cpu = sched_getcpu();

    return peer->can_ring && cpu >= 0 && doorbell_cpu(device->runtime->bells[peer->rank]) == cpu &&
           sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 1;
}

/* The transfer that is timed is over. `share`: how much of its time counts. */
static void count(const struct device *device, enum paths_direction direction, uint64_t bytes,
                  double share)
{
    const struct adapt_watch *watch = &device->runtime->watch;
    double us = share * (double)(clock_ns() - watch->begun_ns) / 1e3;
    struct adapt_kind *kind = device->paths.adapt;
    unsigned class = cost_class(bytes);
    struct contest *contest;
    bool small;
    int old;

    if (!kind || !watch->begun_ns || watch->begun != device->runtime->moved - watch->own ||
        is_cramped(device))
        return;
    contest = adapt_contest(kind, direction, bytes);
    small = is_small(kind, direction, bytes);
    old = contest->current;
    us = scaled(&device->paths.curve[direction][path_of(direction, small, watch->way)], bytes,
                class, us);
    if (!contest_sample(contest, watch->way, us))
        return;
    follow(device->runtime, kind, direction, class, path_of(direction, small, contest->current));
    say_revision(direction_names[direction], kind->name, contest, old, class,
                 small && direction == PATHS_SUBMIT ? small_submit_name_of : path_name_of);
}

/* Transfers of its own queue wait for its end. */
static void see_issued(struct observer *observer, struct operation *operation)
{
    struct adapt_watch *watch = watch_of(observer);

    if (operation == watch->operation)
        begin_if_first(watch);
    if (operation->queue == watch->operation->queue && operation->kind == OPERATION_TRANSFER)
        watch->own++;
}

/* It may have stood behind this one. */
static void see_ended(struct observer *observer, struct operation *operation)
{
    struct adapt_watch *watch = watch_of(observer);

    if (operation != watch->operation) {
        if (watch->operation->state == OPERATION_ISSUED)
            begin_if_first(watch);
        return;
    }
    if (!operation->failure)
        count(operation->queue->device, direction_of(operation), operation->device_bytes, 1);
    stop_watching(watch);
}

void adapt_watch(struct operation *operation, bool waited)
{
    struct runtime *runtime = operation->queue->device->runtime;
    struct adapt_watch *watch = &runtime->watch;

    operation->timed = true;
    watch->operation = operation_hold(operation);
    watch->waited = waited;
    watch->observer = (struct observer){.issued = see_issued, .ended = see_ended};
    observer_add(&runtime->observers, &watch->observer);
}

void adapt_inline_begins(struct runtime *runtime)
{
    struct adapt_watch *watch = &runtime->watch;

    watch->is_inline = true;
    watch->begun = runtime->moved;
    watch->begun_ns = watch->asked_ns;
}

/* Only a submit that is timed has a result, whose way back takes about a third of the time within a
 * host, and more between hosts: what is counted is never too little. */
static const double SUBMIT_SHARE = 2.0 / 3;

void adapt_inline_ended(const struct omprma_queue *queue, bool submit, uint64_t bytes)
{
    if (!queue->failed)
        count(queue->device, submit ? PATHS_SUBMIT : PATHS_RETRIEVE, bytes,
              submit ? SUBMIT_SHARE : 1);
    queue->device->runtime->watch.is_inline = false;
}

/* ---- exchanges ---- */

enum config_exchange adapt_exchange_way(const struct exchange *x,
                                        const struct exchange_paths *paths,
                                        struct adapt_exchange *times)
{
    struct runtime *runtime = x->queue->device->runtime;
    struct contest *contest;
    int way;

    *times = (struct adapt_exchange){0};
    if (!paths->contests)
        return paths->way;
    contest = &paths->contests[cost_class(x->bytes)];
    way = contest_next(contest,
                       contest_is_due(contest) && queue_is_idle(x->queue) && can_time(x->queue),
                       &times->timed);
    times->way = way;
    times->contest = contest;
    times->begun = runtime->moved;
    if (times->timed)
        times->begun_ns = clock_ns();
    return exchange_way_of(way);
}

void adapt_exchange_ended(const struct exchange *x, const struct adapt_exchange *times)
{
    const struct runtime *runtime = x->queue->device->runtime;
    double us = (double)(clock_ns() - times->begun_ns) / 1e3;
    unsigned class = cost_class(x->bytes);
    int old = times->contest->current;

    if (x->queue->failed || runtime->moved != times->begun)
        return;
    us *= (double)cost_class_bytes(class) / (double)x->bytes;
    if (contest_sample(times->contest, times->way, us))
        say_revision("exchange",
                     times->contest == &runtime->exchange[0].contests[class]
                         ? "devices of one host"
                         : "devices of different hosts",
                     times->contest, old, class, exchange_name_of);
}

/* ---- words ---- */

static bool is_same(const struct contest *a, const struct contest *b)
{
    return a->current == b->current && a->first == b->first && !a->revisions && !b->revisions;
}

/* Classes that were used, those of one choice in one line. */
static void print_contests(FILE *out, const char *what, const char *where,
                           const struct contest contests[COST_CLASSES], unsigned from_class,
                           unsigned to_class, const char *(*name)(int way))
{
    for (unsigned class = from_class, next; class < to_class; class = next) {
        const struct contest *contest = &contests[class];
        uint64_t transfers = contest->transfers;
        double spent = contest->spent_us;
        char from[16], to[16];

        next = class + 1;
        if (!contest->transfers)
            continue;
        for (; next < to_class && contests[next].transfers && is_same(contest, &contests[next]);
             next++) {
            transfers += contests[next].transfers;
            spent += contests[next].spent_us;
        }
        fprintf(out, "omprma:   %ss above %s to %s, %s: %s, %" PRIu64 " of them", what,
                size_text(class, from, sizeof(from)), size_text(next, to, sizeof(to)), where,
                name(contest->current), transfers);
        if (contest->revisions)
            fprintf(out, "; at start-up %s, revised %" PRIu32 "x, gained %.1f ms",
                    name(contest->first), contest->revisions, contest->gained_us / 1e3);
        if (spent > 0)
            fprintf(out, "; trying others cost %.1f ms", spent / 1e3);
        fputc('\n', out);
    }
}

static void print_direction(FILE *out, const struct adapt_kind *kind,
                            enum paths_direction direction)
{
    const struct contest *contests = kind->contest[direction];
    unsigned larger = kind->small[direction] ? SMALL_LAST + 1 : 0;

    if (larger)
        print_contests(out, direction_names[direction], kind->name, contests, SMALL_FIRST, larger,
                       direction == PATHS_SUBMIT ? small_submit_name_of : path_name_of);
    print_contests(out, direction_names[direction], kind->name, contests, larger, COST_CLASSES,
                   path_name_of);
}

void adapt_print(const struct runtime *runtime, FILE *out)
{
    fprintf(out, "omprma: choices by size, %s\n",
            runtime->kinds ? "corrected by real transfers" : "as at start-up");
    for (const struct adapt_kind *kind = runtime->kinds; kind; kind = kind->next)
        for (int direction = 0; direction < PATHS_DIRECTIONS; direction++)
            print_direction(out, kind, (enum paths_direction)direction);
    for (int far = 0; far < 2; far++)
        if (runtime->exchange[far].contests)
            print_contests(out, "exchange",
                           far ? "devices of different hosts" : "devices of one host",
                           runtime->exchange[far].contests, 0, COST_CLASSES, exchange_name_of);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * task.c: the compiler's call that makes a task is kept with its dependences, and is put in order.
 * When it may begin, its routine runs on a frame of libomp's that this file makes; the construct
 * inside finds out, by a thread-local, that it may leave, and is in flight from then on. Whoever
 * waits for tasks lets flights land, begins what they held up, and passes on to libomp.
 */
#include "openmp/task/task.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <omprma_private/notes.h>

#include "base/clock.h"
#include "face/gate.h"
#include "openmp/abi/exports.h"
#include "openmp/device/devices.h"
#include "openmp/image/choice.h"
#include "openmp/run/kept.h"
#include "openmp/site/report.h"
#include "openmp/task/depend.h"
#include "openmp/task/flight.h"
#include "openmp/task/handle.h"
#include "openmp/task/next.h"
#include "openmp/task/parallel.h"
#include "openmp/task/reduction.h"
#include "openmp/task/theirs.h"

enum {
    MOST = 4096,          /* tasks of a parent that are not over; who makes more waits */
    COUNTS = 1024,        /* parents may share one */
    APART = 64,           /* bytes to which libomp aligns tasks */
    ARGUMENTS = 16,       /* of a parallel region, without memory of their own */
    PATIENCE_NS = 100000, /* of who waits in a team, since something has landed */
    YIELDS_NS = 200000,   /* who waits yields for so long, then naps, */
    NAP_NS = 20000,       /* longer and longer */
    LONGEST_NAP_NS = 500000,
    NAP_PART = 32 /* of the time that it has waited */
};

/* A nowait construct, or a thread that waits for some. */
struct target_task {
    struct ordered ordered;
    struct flight flight;
    struct task *task; /* the compiler's part; NULL: it is a thread that waits */
    task_routine_t *routine;
    int64_t device;             /* that it means when it says -1 */
    uint64_t parent;            /* see parent_now() */
    _Atomic int32_t *in_region; /* those not over in its parallel region, or NULL */
    int32_t flags;              /* of the compiler */
    int32_t thread;             /* that has made it */
    bool waited;                /* by that thread, at once */
    bool here;                  /* begun by that thread, too */
    struct task *proxy;         /* stands for it in libomp; NULL: none does */
    struct work *work;          /* to be left in flight */
    size_t shared_bytes;        /* of the compiler's part, the last ones */
    struct kept *kept;          /* if it may begin later */
    atomic_bool reached;        /* of a thread that waits */
};

/* The one whose routine the calling thread is in. What it does there, when it computes a region on
 * the host, is no business of ours. */
static _Thread_local struct target_task *current;

static struct tasks {
    _Atomic int32_t counts[COUNTS]; /* made and not over, by their parents */
    atomic_bool host;               /* libomp has to put tasks in order */
    pthread_mutex_t lock;
    struct ordered_list ready; /* those that may begin, and that nobody has begun */
    _Atomic int32_t ready_count;
} tasks = {.lock = PTHREAD_MUTEX_INITIALIZER, .ready = STAILQ_HEAD_INITIALIZER(tasks.ready)};

static void say(void)
{
    const char *why_not = next_get()->why_not;
    if (why_not)
        report_choice("nowait constructs are tasks of libomp's: %s", why_not);
    else
        report_choice("nowait constructs need no thread that waits");
}

static bool tasks_are_ours(void)
{
    static pthread_once_t said = PTHREAD_ONCE_INIT;
    bool ours = !next_get()->why_not;
    pthread_once(&said, say);
    return ours && !atomic_load_explicit(&tasks.host, memory_order_acquire);
}

static void libomp_orders(const char *reason)
{
    if (!next_get()->why_not && !atomic_exchange(&tasks.host, true))
        report_choice("nowait constructs are tasks of libomp's from now on: %s", reason);
}

/* Stands where a compiler's routine would, so that a task of ours is known by it. */
static int32_t routine_ours(int32_t thread, struct task *task)
{
    (void)thread, (void)task;
    return 0;
}

/* A task that stands for a construct in a team, where libomp waits for tasks by itself: at the end
 * of a parallel region, for one. It is over when proxy_end() says so. Untied, or threads of the
 * team that wait for tied ones would not touch it. */
static struct task *proxy_begin(int32_t thread)
{
    struct task *task = __kmpc_omp_task_alloc(NULL, thread, TASK_UNTIED | TASK_DETACHABLE,
                                              sizeof(*task), 0, routine_ours);
    __kmpc_task_allow_completion_event(NULL, thread, task);
    __kmpc_omp_task_begin_if0(NULL, thread, task);
    __kmpc_omp_task_complete_if0(NULL, thread, task);
    return task;
}

/* Before the runtime's own thread, of which libomp may not know yet, comes to libomp. */
static bool helpers_lock_apart(void)
{
    return flight_is_watched_here() && helpers_lock();
}

/* The calling thread ends it. omp_fulfill_event() would give it to a thread of the team, which may
 * have left the barrier: libomp does not wait there for what a task has made that is over. That
 * thread would be counted twice among those that have come to a later barrier, which would let
 * others pass too early. */
static void proxy_end(struct task *task)
{
    bool locked = helpers_lock_apart();
    __kmpc_proxy_task_completed(__kmpc_global_thread_num(NULL), task);
    helpers_unlock(locked);
}

/* ---- target tasks --------------------------------------------------------------------------- */

static struct target_task *task_of(struct ordered *ordered)
{
    return (struct target_task *)((char *)ordered - offsetof(struct target_task, ordered));
}

static struct target_task *task_of_flight(struct flight *flight)
{
    return (struct target_task *)((char *)flight - offsetof(struct target_task, flight));
}

/* Is there a team, where libomp waits for tasks? A thread alone runs its tasks one within the
 * other, and waits for none. */
static bool in_team(void)
{
    return omp_get_level() > 0 && omp_get_num_threads() > 1;
}

/* Identifies the encompassing task. A thread outside of teams has one for all that it is in. In a
 * team it is the task's handle where libomp, from 16 on, tells it, else the thread at its level. */
static uint64_t parent_now(int32_t thread)
{
    int level = omp_get_level();
    if (in_team() && __kmpc_omp_get_target_async_handle_ptr)
        return (uintptr_t)__kmpc_omp_get_target_async_handle_ptr(thread);
    return (uint64_t)level << 32 | (uint32_t)thread;
}

static _Atomic int32_t *count_of(uint64_t parent)
{
    return &tasks.counts[parent * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (COUNTS - 1)];
}

static void tasks_begin(void);

/* Those that may begin now are left in the list. */
static void task_leaves(struct target_task *own)
{
    struct ordered_list begin = STAILQ_HEAD_INITIALIZER(begin);
    struct ordered *ordered;
    int32_t count = 0;
    depend_leave(&own->ordered, &begin);
    if (STAILQ_EMPTY(&begin))
        return;
    STAILQ_FOREACH(ordered, &begin, next) count++;
    flight_count(count);
    pthread_mutex_lock(&tasks.lock);
    STAILQ_CONCAT(&tasks.ready, &begin);
    atomic_fetch_add_explicit(&tasks.ready_count, count, memory_order_release);
    pthread_mutex_unlock(&tasks.lock);
}

static void task_over(struct target_task *own)
{
    _Atomic int32_t *count = count_of(own->parent);
    if (own->flags & TASK_DESTRUCTORS)
        own->task->destructors(own->thread, own->task);
    task_leaves(own);
    if (own->proxy)
        proxy_end(own->proxy);
    kept_free(own->kept);
    if (own->in_region)
        atomic_fetch_sub_explicit(own->in_region, 1, memory_order_release);
    free(own);
    atomic_fetch_sub_explicit(count, 1, memory_order_release);
    flight_count(-1);
}

static void flight_over(struct flight *flight)
{
    task_over(task_of_flight(flight));
}

static const struct flight_calls flight_calls = {.over = flight_over, .then = tasks_begin};

/* Within a task of libomp's, whose variables of control it may change (thread_limit does). */
static void routine_run(struct target_task *own)
{
    struct target_task *outer = current;
    const struct kept *kept = kept_use(own->kept);
    int32_t thread = __kmpc_global_thread_num(NULL);
    struct task *frame =
        __kmpc_omp_task_alloc(NULL, thread, TASK_TIED, sizeof(*frame), 0, routine_ours);
    __kmpc_omp_task_begin_if0(NULL, thread, frame);
    current = own;
    reduction_forget();
    own->routine(thread, own->task);
    current = outer;
    kept_use(kept);
    __kmpc_omp_task_complete_if0(NULL, thread, frame);
}

/* Its turn has come. */
static void task_begin(struct target_task *own)
{
    if (!own->task) { /* a thread waits for that; its memory is gone then */
        task_leaves(own);
        flight_count(-1);
        atomic_store_explicit(&own->reached, true, memory_order_release);
        return;
    }
    bool locked = helpers_lock_apart();
    routine_run(own);
    helpers_unlock(locked);
    if (own->work)
        flight_begin(&own->flight, own->work);
    else
        task_over(own);
}

static struct target_task *ready_take(void)
{
    if (atomic_load_explicit(&tasks.ready_count, memory_order_acquire) <= 0)
        return NULL;
    pthread_mutex_lock(&tasks.lock);
    struct ordered *ordered = STAILQ_FIRST(&tasks.ready);
    if (ordered) {
        STAILQ_REMOVE_HEAD(&tasks.ready, next);
        atomic_fetch_sub_explicit(&tasks.ready_count, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&tasks.lock);
    return ordered ? task_of(ordered) : NULL;
}

/* Begins all whose turn has come; none any more when the process has begun to end. */
static void tasks_begin(void)
{
    struct target_task *own;
    while (!gate_closed() && (own = ready_take()))
        task_begin(own);
}

/* ---- waiting -------------------------------------------------------------------------------- */

/* What a thread waits for: its turn, or that no more than `most` of those counted are not over. */
struct awaited {
    int32_t thread;
    const _Atomic int32_t *count;
    int32_t most;
    const atomic_bool *reached; /* in place of a count */
    bool patient;               /* else not for ever: it may be more than what has to be over */
    bool takes_tasks;           /* of libomp's meanwhile; only where libomp would, too */
};

static bool is_over(const struct awaited *awaited)
{
    if (awaited->reached)
        return atomic_load_explicit(awaited->reached, memory_order_acquire);
    return atomic_load_explicit(awaited->count, memory_order_acquire) <= awaited->most;
}

/* Nothing has landed: other tasks of the team may have their turn, or other processes. */
static void help_pause(const struct awaited *awaited, int64_t waited_ns)
{
    int64_t length = waited_ns / NAP_PART;
    if (awaited->takes_tasks && omp_in_parallel())
        __kmpc_omp_taskyield(NULL, awaited->thread, 0);
    if (waited_ns < YIELDS_NS) {
        sched_yield();
        return;
    }
    length = length < NAP_NS ? NAP_NS : length > LONGEST_NAP_NS ? LONGEST_NAP_NS : length;
    nanosleep(&(struct timespec){.tv_nsec = length}, NULL);
}

static void help_until_over(const struct awaited *awaited)
{
    int64_t last = clock_ns(), now = last;
    while (!is_over(awaited) && !gate_closed()) {
        tasks_begin();
        if (flight_look())
            last = now;
        else if (!awaited->patient && now - last >= PATIENCE_NS)
            return;
        else
            help_pause(awaited, now - last);
        now = clock_ns();
    }
}

/* For statistics, while omprma is there. */
static void note_wait(bool begins)
{
    if (!gate_enter())
        return;
    omprma_note_wait(begins);
    gate_leave();
}

static void help(const struct awaited *awaited)
{
    if (!is_over(awaited)) {
        note_wait(true);
        help_until_over(awaited);
        note_wait(false);
    }
    gate_hold(); /* libomp ends, too: nobody goes on to it */
}

/* Is all that the calling thread does with tasks libomp's? */
static bool is_apart(int32_t thread)
{
    return thread < 0 || current || next_get()->why_not || !flight_counted() || devices_forked();
}

/* Before libomp waits: in a team for the tasks that stand for ours, else for none of ours. */
static void help_all(int32_t thread)
{
    if (!is_apart(thread))
        help(&(struct awaited){.thread = thread,
                               .count = count_of(parent_now(thread)),
                               .patient = !in_team(),
                               .takes_tasks = true});
}

/* Until something with these dependences could begin. */
static void help_until(int32_t thread, const struct dependences *dependences)
{
    struct target_task *own = calloc(1, sizeof(*own));
    if (!own) {
        report(NULL, NULL, "no host memory to wait for dependences");
        report_fatal(NULL);
    }
    atomic_init(&own->reached, false);
    if (depend_enter(&own->ordered, dependences)) {
        flight_count(1);
        task_begin(own);
        tasks_begin();
    }
    help(&(struct awaited){.thread = thread, .reached = &own->reached, .patient = true});
    if (atomic_load_explicit(&own->reached, memory_order_acquire)) /* else the process ends */
        free(own);
}

int32_t __kmpc_omp_taskwait(void *location, int32_t thread)
{
    help_all(thread);
    return next_get()->taskwait(location, thread);
}

void __kmpc_taskgroup(void *location, int32_t thread)
{
    next_get()->taskgroup(location, thread);
    if (reduction_any())
        reduction_taskgroup_begin(parent_now(thread));
}

/* After libomp has waited: what tasks make meanwhile may take part, too. */
static void taskgroup_over(int32_t thread)
{
    if (reduction_any())
        reduction_taskgroup_end(parent_now(thread));
}

void __kmpc_end_taskgroup(void *location, int32_t thread)
{
    help_all(thread);
    next_get()->end_taskgroup(location, thread);
    taskgroup_over(thread);
}

/* Those of a parallel region, but not when it is that of a routine of ours. */
static void help_region(const _Atomic int32_t *count, bool at_end)
{
    if (count && atomic_load_explicit(count, memory_order_acquire) > 0 && !current &&
        !devices_forked())
        help(&(struct awaited){.thread = __kmpc_global_thread_num(NULL),
                               .count = count,
                               .patient = true,
                               .takes_tasks = at_end});
}

void __kmpc_barrier(void *location, int32_t thread)
{
    help_all(thread);
    next_get()->barrier(location, thread);
    const _Atomic int32_t *before = parallel_count_here();
    if (before) {
        parallel_pass();
        help_region(before, false);
    }
}

/* A microtask: what each thread of the region calls. libomp ends a region without waiting for the
 * tasks that stand for constructs of explicit tasks, and their parents' memory is used again. So
 * the thread waits here. Behind parallel_leave() the region is not known any more, and who makes a
 * construct waits for it. */
static void thread_run(int32_t *thread, int32_t *number, struct parallel *parallel)
{
    parallel_run(parallel, thread, number);
    help_region(parallel_count_here(), true);
    parallel_leave();
}

static void region_run(struct parallel *parallel, void *location)
{
    parallel_begin(parallel);
    next_get()->fork_call(location, 1, (void *)thread_run, parallel);
    parallel_end(parallel);
}

/* As if it had not come here. What is passed beyond the count is not looked at. */
static void region_pass(void *location, int32_t count, microtask_t *body, void **a)
{
    next_get()->fork_call(location, count, (void *)body, a[0], a[1], a[2], a[3], a[4], a[5], a[6],
                          a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]);
}

void __kmpc_fork_call(void *location, int32_t count, microtask_t *body, ...)
{
    const struct next *libomp = next_get();
    void *some[ARGUMENTS] = {NULL};
    void **arguments = count > ARGUMENTS ? malloc((size_t)count * sizeof(*arguments)) : some;
    va_list list;
    if (!arguments || (count > ARGUMENTS && !libomp->invoke)) {
        report(NULL, NULL, "%s for a parallel region with %d variables",
               arguments ? "libomp lacks a function" : "no host memory", (int)count);
        report_fatal(NULL);
    }
    va_start(list, body);
    for (int32_t i = 0; i < count; i++)
        arguments[i] = va_arg(list, void *);
    va_end(list);
    if (count <= ARGUMENTS && libomp->why_not)
        region_pass(location, count, body, arguments);
    else
        region_run(&(struct parallel){libomp->invoke, body, count, arguments, .region = 0},
                   location);
    if (arguments != some)
        free(arguments);
}

void __kmpc_fork_call_if(void *location, int32_t count, microtask_t *body, int32_t condition,
                         void *argument)
{
    const struct next *libomp = next_get();
    if (condition && !libomp->why_not)
        region_run(
            &(struct parallel){libomp->invoke, body, argument ? count : 0, &argument, .region = 0},
            location);
    else
        libomp->fork_call_if(location, count, body, condition, argument);
}

/* ---- dependences ---------------------------------------------------------------------------- */

static bool names_all(const struct dependences *dependences)
{
    for (int32_t i = 0; i < dependences_total(dependences); i++)
        if (dependence_at(dependences, i)->flags & DEPEND_ALL)
            return true;
    return false;
}

/* What has to be over before the thread, or libomp, sees to something with these dependences. */
static void help_before(int32_t thread, struct dependences *dependences)
{
    if (next_get()->why_not || current || !depend_any() || devices_forked())
        return;
    dependences->parent = parent_now(thread);
    if (names_all(dependences))
        help(&(struct awaited){
            .thread = thread, .count = count_of(dependences->parent), .patient = true});
    else
        help_until(thread, dependences);
}

void __kmpc_omp_wait_deps(void *location, int32_t thread, int32_t count,
                          struct dependence *dependences, int32_t alias_free_count,
                          struct dependence *alias_free)
{
    const struct next *libomp = next_get();
    help_before(thread, &(struct dependences){0, count, alias_free_count, dependences, alias_free});
    libomp->wait_deps(location, thread, count, dependences, alias_free_count, alias_free);
}

void __kmpc_omp_taskwait_deps_51(void *location, int32_t thread, int32_t count,
                                 struct dependence *dependences, int32_t alias_free_count,
                                 struct dependence *alias_free, int32_t nowait)
{
    const struct next *libomp = next_get();
    if (nowait)
        libomp_orders("a taskwait with dependences and nowait");
    help_before(thread, &(struct dependences){0, count, alias_free_count, dependences, alias_free});
    libomp->taskwait_deps(location, thread, count, dependences, alias_free_count, alias_free,
                          nowait);
}

/* ---- reductions ----------------------------------------------------------------------------- */

void *__kmpc_taskred_init(int32_t thread, int32_t count, void *data)
{
    const struct next *libomp = next_get();
    if (libomp->possible)
        reduction_begin(parent_now(thread), true);
    return libomp->taskred(thread, count, data);
}

/* Its taskgroup is begun and ended by libomp. */
void *__kmpc_taskred_modifier_init(void *location, int32_t thread, int32_t shares, int32_t count,
                                   void *data)
{
    const struct next *libomp = next_get();
    if (libomp->possible)
        reduction_begin(parent_now(thread), false);
    return libomp->taskred_modifier(location, thread, shares, count, data);
}

void __kmpc_task_reduction_modifier_fini(void *location, int32_t thread, int32_t shares)
{
    help_all(thread);
    next_get()->taskred_end(location, thread, shares);
    taskgroup_over(thread);
}

void *__kmpc_task_reduction_get_th_data(int32_t thread, void *group, void *data)
{
    void *copy = next_get()->taskred_copy(thread, group, data);
    reduction_ask(group, data, copy);
    return copy;
}

/* ---- making tasks --------------------------------------------------------------------------- */

static size_t round_up(size_t bytes)
{
    return (bytes + APART - 1) / APART * APART;
}

static bool is_ours(const struct task *task)
{
    return task->routine == routine_ours;
}

static struct target_task *task_of_compiler(struct task *task)
{
    return (struct target_task *)((char *)task - round_up(sizeof(struct target_task)));
}

static struct target_task *task_make(int32_t thread, int32_t flags, size_t task_bytes,
                                     size_t shared_bytes, task_routine_t *routine)
{
    size_t head = round_up(sizeof(struct target_task)), body = round_up(task_bytes);
    struct target_task *own = aligned_alloc(APART, head + body + round_up(shared_bytes));
    if (!own) {
        report(NULL, NULL, "no host memory for a target construct with nowait");
        report_fatal(NULL);
    }
    *own = (struct target_task){.flight.calls = &flight_calls,
                                .task = (struct task *)((char *)own + head),
                                .routine = routine,
                                .flags = flags,
                                .thread = thread,
                                .shared_bytes = shared_bytes};
    *own->task = (struct task){.shareds = (char *)own->task + body, .routine = routine_ours};
    return own;
}

/* Who sees to a construct that is a task of the calling thread's? */
enum keeper {
    KEEPER_LIBOMP,
    KEEPER_LIBOMP_ALL, /* and to all others of the same parent */
    KEEPER_US,
    KEEPER_MAKER
};

/* The last one that the thread has made which depends on none of ours. */
static _Thread_local struct task *theirs_alone;

/* `final`: the thread is in a final task, where each task is over before its maker goes on; libomp
 * would not wait. `here`: this, or a reduction is open. libomp gets none then, for its helper
 * threads have no private copies. */
static enum keeper keeper_of(int32_t thread, bool final, bool here)
{
    bool ours = tasks_are_ours();
    if (thread < 0 || (!ours && !here))
        return KEEPER_LIBOMP;
    if (current)
        return KEEPER_LIBOMP_ALL;
    if (!ours || final)
        return KEEPER_MAKER;
    /* Nobody would wait before the end of a parallel region that is not known. */
    return omp_get_level() == 0 || parallel_count_here() ? KEEPER_US : KEEPER_MAKER;
}

struct task *__kmpc_omp_target_task_alloc(void *location, int32_t thread, int32_t flags,
                                          size_t task_bytes, size_t shared_bytes,
                                          task_routine_t *routine, int64_t device)
{
    gate_hold(); /* libomp, which ends as well, must not make its helper threads now */
    bool final = thread >= 0 && next_get()->possible && omp_in_final();
    bool here = final || reduction_any();
    enum keeper keeper = keeper_of(thread, final, here);
    bool ours = keeper == KEEPER_US || keeper == KEEPER_MAKER;
    int number = ours ? device_number(device) : -1;
    if (number < 0 && (!ours || !here || devices_forked())) { /* or the host's, or nobody's */
        struct task *task =
            theirs_make(location, thread, flags, task_bytes, shared_bytes, routine, device);
        theirs_alone = keeper == KEEPER_LIBOMP_ALL ? task : NULL;
        return task;
    }
    struct target_task *own = task_make(thread, flags, task_bytes, shared_bytes, routine);
    own->device = number < 0 ? device : number;
    own->waited = keeper == KEEPER_MAKER;
    own->here = here;
    return own->task;
}

static void task_enter(struct target_task *own, struct dependences *dependences)
{
    struct awaited awaited = {.thread = own->thread};
    own->parent = dependences->parent = parent_now(own->thread);
    awaited.count = count_of(own->parent);
    if (in_team() && !own->waited)
        own->proxy = proxy_begin(own->thread);
    if (dependences_total(dependences) > 0)
        own->kept = kept_make(own->task, own->shared_bytes);
    awaited.most = own->waited ? 0 : MOST;
    awaited.patient = true;
    atomic_fetch_add_explicit(count_of(own->parent), 1, memory_order_relaxed);
    own->in_region = parallel_count_here();
    if (own->in_region)
        atomic_fetch_add_explicit(own->in_region, 1, memory_order_relaxed);
    if (depend_enter(&own->ordered, dependences)) {
        flight_count(1);
        task_begin(own);
        tasks_begin();
    }
    help(&awaited);
}

/* After all that was made before, and before all that is made later. */
static void task_enter_alone(struct target_task *own)
{
    struct awaited before = {
        .thread = own->thread, .count = count_of(parent_now(own->thread)), .patient = true};
    help(&before);
    own->waited = true;
    task_enter(own, &(struct dependences){0});
}

/* A task of the host that sees to one of ours. */
struct deputy {
    struct task task; /* for libomp */
    struct target_task *own;
};

static int32_t deputy_run(int32_t thread, struct task *task)
{
    struct target_task *own = ((struct deputy *)task)->own;
    own->thread = thread;
    task_enter(own, &(struct dependences){0});
    return 0;
}

/* Where libomp puts tasks in order, and one of ours has to be waited for by a thread of the team,
 * which has copies of what is reduced. Its maker may be the only one who can fulfil its
 * dependences. */
static struct task *deputy_make(int32_t thread, struct target_task *own)
{
    struct task *task =
        __kmpc_omp_task_alloc(NULL, thread, TASK_TIED, sizeof(struct deputy), 0, deputy_run);
    ((struct deputy *)task)->own = own;
    own->kept = kept_make(own->task, own->shared_bytes);
    return task;
}

/* Does the task, which is ours, have its dependences seen to by libomp? */
static bool wants_deputy(struct task *task)
{
    const struct target_task *own = task_of_compiler(task);
    return own->here && own->waited && !tasks_are_ours();
}

int32_t __kmpc_omp_task_with_deps(void *location, int32_t thread, struct task *task, int32_t count,
                                  struct dependence *dependences, int32_t alias_free_count,
                                  struct dependence *alias_free)
{
    const struct next *libomp = next_get();
    struct dependences all = {0, count, alias_free_count, dependences, alias_free};
    if (is_ours(task) && wants_deputy(task))
        task = deputy_make(thread, task_of_compiler(task));
    if (is_ours(task)) {
        struct target_task *own = task_of_compiler(task);
        if (own->here) /* then it can begin at once */
            __kmpc_omp_wait_deps(location, thread, count, dependences, alias_free_count,
                                 alias_free);
        if (names_all(&all))
            task_enter_alone(own);
        else
            task_enter(own, &all);
        return 0;
    }
    if (task != theirs_alone && dependences_total(&all) > 0)
        libomp_orders("a task of the host, or an asynchronous copy, has dependences");
    theirs_alone = NULL;
    theirs_keep(task, &all);
    help_before(thread, &all);
    return libomp->with_deps(location, thread, task, count, dependences, alias_free_count,
                             alias_free);
}

int32_t __kmpc_omp_task(void *location, int32_t thread, struct task *task)
{
    if (!is_ours(task)) {
        theirs_keep(task, &(struct dependences){0});
        return next_get()->task(location, thread, task);
    }
    task_enter(task_of_compiler(task), &(struct dependences){0});
    return 0;
}

bool tasks_possible(void)
{
    return next_get()->alloc && next_get()->with_deps && next_get()->wait_deps &&
           __kmpc_global_thread_num;
}

struct task *task_for_helper(int32_t thread, size_t bytes, task_routine_t *routine)
{
    return theirs_alloc(NULL, thread, TASK_TIED, bytes, 0, routine, -1);
}

/* ---- their constructs ----------------------------------------------------------------------- */

bool task_may_leave(void)
{
    return current ? !current->work && !current->waited : handle_possible();
}

bool task_is_waited(void)
{
    return current && current->here;
}

void task_leave(struct work *work)
{
    if (current)
        current->work = work;
    else
        handle_leave(work);
}

bool task_names(uintptr_t begin, uintptr_t end, bool by_in)
{
    return current ? depend_names(&current->ordered, begin, end, by_in)
                   : theirs_names(begin, end, by_in);
}

int64_t task_device(int64_t device)
{
    return device == -1 && current ? current->device : device;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* The process then ends with its last thread, of which libomp knows nothing any more. */
static bool main_thread_has_ended(void)
{
    char text[256] = "";
    FILE *file = fopen("/proc/self/stat", "re"); /* number (name) state */
    const char *name_end;
    if (file && !fgets(text, sizeof(text), file))
        text[0] = 0;
    if (file)
        fclose(file);
    name_end = strrchr(text, ')');
    return name_end && strncmp(name_end, ") Z", 3) == 0;
}

void tasks_end(void)
{
    if (devices_started() == 0 || gate_is_inside() || !__kmpc_global_thread_num ||
        !omp_in_parallel || !next_get()->taskwait)
        return;
    flight_end_begins();
    if (!main_thread_has_ended() && !omp_in_parallel())
        __kmpc_omp_taskwait(NULL, __kmpc_global_thread_num(NULL));
    flight_end(current ? 1 : 0); /* its routine may have called exit() */
}

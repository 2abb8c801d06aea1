/* test: needs=own args=1;30
 * Random trees of tasks (tied, untied, final, not deferred), nowait regions, chains of constructs
 * with dependences, taskgroups, reductions, taskloops, barriers and parallel regions within each
 * other: after whatever waits, all is done that it has to wait for, and what chains and reductions
 * come to is as in a model. Tasks of the host have no dependences, because libomp loses some where
 * parallel regions are nested. Arguments: the first seed, and how many trees. Teams have one size,
 * because libomp's idle threads fail an assertion when the next team is smaller than the last one.
 */
#include "check.h"

#include <pthread.h>

enum {
    DEPTH = 3,
    PLACES = 3000,
    BELOW = 3000,
    OWN = 200,
    TASKS = 6000,
    SCOPES = 3000,
    SLOW = 150,
    CHAINS = 3
};

/* All that is made below a construct that waits for all of it. */
struct scope {
    struct scope *outer;
    int count, places[BELOW];
};

/* What a task makes itself; its chains depend on each other by the address of their value. */
struct task {
    int count, places[OWN];
    unsigned value[CHAINS], model[CHAINS];
};

/* Whatever is made has a place, where it leaves a number when it is done. */
static struct grove {
    int done[PLACES], made, scope_count, task_count;
    struct scope scopes[SCOPES];
    struct task tasks[TASKS];
} grove;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int devices, threads_most;

static struct scope *scope_make(struct scope *outer)
{
    pthread_mutex_lock(&lock);
    struct scope *scope = grove.scope_count < SCOPES ? &grove.scopes[grove.scope_count++] : NULL;
    pthread_mutex_unlock(&lock);
    if (scope) {
        scope->outer = outer;
        scope->count = 0;
    }
    return scope;
}

static struct task *task_make(void)
{
    pthread_mutex_lock(&lock);
    struct task *task = grove.task_count < TASKS ? &grove.tasks[grove.task_count++] : NULL;
    pthread_mutex_unlock(&lock);
    if (task) {
        task->count = 0;
        memset(task->value, 0, sizeof(task->value));
        memset(task->model, 0, sizeof(task->model));
    }
    return task;
}

/* For something that the task makes now; -1: that is enough. */
static int place_make(struct scope *scope, struct task *task)
{
    pthread_mutex_lock(&lock);
    int place = grove.made < PLACES && task->count < OWN ? grove.made++ : -1;
    if (place >= 0) {
        grove.done[place] = 0;
        task->places[task->count++] = place;
        for (; scope; scope = scope->outer)
            scope->places[scope->count++] = place;
    }
    pthread_mutex_unlock(&lock);
    return place;
}

static void check_places(const char *what, const int *places, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        int done;
#pragma omp atomic read
        done = grove.done[places[i]];
        wrong += done != places[i] + 1;
    }
    if (wrong > 0) {
        fprintf(stderr, "behind a %s: %d of %d not done\n", what, wrong, count);
        failures++;
    }
}

static void check_chain(const char *what, const struct task *task, int k)
{
    if (task->value[k] != task->model[k]) {
        fprintf(stderr, "behind a %s: chain %d is %u, not %u\n", what, k, task->value[k],
                task->model[k]);
        failures++;
    }
}

static void check_task(const char *what, const struct task *task)
{
    check_places(what, task->places, task->count);
    for (int k = 0; k < CHAINS; k++)
        check_chain(what, task, k);
}

static void check_scope(const char *what, const struct scope *scope)
{
    check_places(what, scope->places, scope->count);
}

// clang-format off
static void region(struct scope *scope, struct task *task, unsigned *seed, int waits)
{
    int place = place_make(scope, task), slow = check_draw(seed, SLOW), on = check_draw(seed, devices);
    if (place < 0)
        return;
    int *done = &grove.done[place];
    if (waits) {
#pragma omp target map(from : done[0:1]) device(on) firstprivate(place, slow)
        {
            usleep((unsigned)slow);
            done[0] = place + 1;
        }
        check_places("region", &place, 1);
        return;
    }
#pragma omp target nowait map(from : done[0:1]) device(on) firstprivate(place, slow)
    {
        usleep((unsigned)slow);
        done[0] = place + 1;
    }
}
// clang-format on

/* ---- chains: constructs that depend on each other ---- */

// clang-format off
static void chain_region(unsigned *value, int on, unsigned by, int slow)
{
#pragma omp target nowait depend(inout : value[0]) map(tofrom : value[0:1]) device(on) firstprivate(by, slow)
    {
        usleep((unsigned)slow);
        value[0] = value[0] * 3 + by;
    }
}

/* Two that come to the same in any order, but not at once. */
static void chain_exclusive(unsigned *value, int on, unsigned by, int slow)
{
    for (int i = 0; i < 2; i++) {
#pragma omp target nowait depend(mutexinoutset : value[0]) map(tofrom : value[0:1]) device(on) firstprivate(by, slow)
        {
            unsigned before = value[0];
            usleep((unsigned)slow);
            value[0] = before + by;
        }
    }
}

/* By itself in the device's memory, from construct to construct. */
static void chain_data(unsigned *value, int on, unsigned by, int slow)
{
#pragma omp target enter data nowait depend(inout : value[0]) map(to : value[0:1]) device(on)
    chain_region(value, on, by, slow);
#pragma omp target update nowait depend(inout : value[0]) from(value[0:1]) device(on)
    chain_region(value, on, by + 1, slow);
#pragma omp target exit data nowait depend(inout : value[0]) map(from : value[0:1]) device(on)
}

/* Reads what has been made so far. */
static void chain_read(struct scope *scope, struct task *task, unsigned *value, int on, unsigned right)
{
    int place = place_make(scope, task);
    if (place < 0)
        return;
    int *done = &grove.done[place];
#pragma omp target nowait depend(in : value[0]) map(to : value[0:1]) map(from : done[0:1]) device(on) firstprivate(place, right)
    done[0] = value[0] == right ? place + 1 : -1;
}

static void chain_here(unsigned *value, unsigned by)
{
#pragma omp task if(0) depend(inout : value[0])
    value[0] = value[0] * 3 + by;
}
// clang-format on

static unsigned after(unsigned value, unsigned by)
{
    return value * 3 + by;
}

static void chain(struct scope *scope, struct task *task, unsigned *seed)
{
    int k = check_draw(seed, CHAINS), on = check_draw(seed, devices), slow = check_draw(seed, SLOW),
        kind = check_draw(seed, 6);
    unsigned *value = &task->value[k], *model = &task->model[k],
             by = (unsigned)check_draw(seed, 1000);
    switch (kind) {
    case 0:
        chain_region(value, on, by, slow);
        *model = after(*model, by);
        break;
    case 1:
        chain_exclusive(value, on, by, slow);
        *model += 2 * by;
        break;
    case 2:
        chain_data(value, on, by, slow);
        *model = after(after(*model, by), by + 1);
        break;
    case 3:
        chain_read(scope, task, value, on, *model);
        break;
    case 4:
        chain_here(value, by);
        *model = after(*model, by);
        check_chain("task that is not deferred", task, k);
        break;
    default: {
#pragma omp taskwait depend(in : value[0])
        check_chain("taskwait of a dependence", task, k);
    }
    }
}

/* ---- the tree ---- */

static void grow(struct scope *scope, struct task *task, unsigned seed, int depth);

static void grow_done(struct scope *scope, int place, unsigned seed, int depth)
{
    struct task *task = task_make();
    if (task)
        grow(scope, task, seed, depth);
#pragma omp atomic write
    grove.done[place] = place + 1;
}

/* Another thread may go on with it at each taskyield or taskwait. */
static void untied_task(struct scope *scope, int place, unsigned seed, int depth)
{
#pragma omp task untied firstprivate(scope, place, seed, depth)
    {
        struct task *task = task_make();
        if (task) {
            region(scope, task, &seed, 0);
#pragma omp taskyield
            grow(scope, task, seed, depth);
#pragma omp taskwait
            check_task("taskwait of an untied task", task);
            region(scope, task, &seed, 0);
        }
#pragma omp atomic write
        grove.done[place] = place + 1;
    }
}

enum { UNTIED, HERE, FINAL };

static void host_task(struct scope *scope, struct task *task, unsigned seed, int depth)
{
    int place = place_make(scope, task), kind = check_draw(&seed, 8);
    if (place < 0)
        return;
    if (kind == UNTIED)
        untied_task(scope, place, seed, depth);
    else {
#pragma omp task firstprivate(scope, place, seed, depth) if (kind != HERE) final(kind == FINAL)
        grow_done(scope, place, seed, depth);
    }
}

static void task_loop(struct scope *outer, unsigned seed, int depth)
{
    struct scope *scope = scope_make(outer);
    if (!scope)
        return;
#pragma omp taskloop grainsize(1) firstprivate(scope, seed, depth)
    for (int i = 0; i < 3; i++) {
        struct task *task = task_make();
        if (task)
            grow(scope, task, seed + (unsigned)i * 77, depth);
    }
    check_scope("taskloop", scope);
}

static void group(struct scope *outer, struct task *task, unsigned seed, int depth)
{
    struct scope *scope = scope_make(outer);
    if (!scope)
        return;
#pragma omp taskgroup
    grow(scope, task, seed, depth);
    check_scope("taskgroup", scope);
}

#if __clang_major__ >= 16
/* Regions and tasks of the host that take part, beside others. */
static void reduce(struct scope *outer, struct task *task, unsigned seed, int depth)
{
    long sum = 0, right = 0;
    struct scope *scope = scope_make(outer);
    if (!scope)
        return;
        // clang-format off
#pragma omp taskgroup task_reduction(+ : sum)
    for (int steps = check_draw(&seed, 5); steps > 0; steps--) {
        int kind = check_draw(&seed, 4), on = check_draw(&seed, devices), slow = check_draw(&seed, SLOW);
        if (kind < 2)
            right += 3;
        if (kind == 0) {
#pragma omp target nowait in_reduction(+ : sum) device(on) firstprivate(slow)
            {
                sum += 3;
                usleep((unsigned)slow);
            }
        } else if (kind == 1) {
#pragma omp task in_reduction(+ : sum) firstprivate(slow, on)
            {
                sum++;
#pragma omp target nowait in_reduction(+ : sum) device(on)
                sum++;
                usleep((unsigned)slow);
                sum++;
            }
        } else if (kind == 2)
            chain(scope, task, &seed);
        else
            grow(scope, task, seed + 17, depth);
    }
    // clang-format on
    check_scope("reduction", scope);
    CHECK_EQUAL(sum, right);
}
#else
#define reduce group
#endif

enum { ALL, MASTER, SINGLE, SINGLE_NOWAIT, LOOP, TASK_EACH, WAYS, PHASES = 3 };

/* What the threads of a team do between two barriers; the last ones may leave the second one to the
 * end of the region. */
static void phase(int way, int last, struct scope *scope, struct task *task, unsigned seed,
                  int depth)
{
    int number = omp_get_thread_num(), barrier = 1;
    switch (way) {
    case ALL:
        grow(scope, task, seed + (unsigned)number * 991, depth);
        break;
    case MASTER:
#pragma omp master
        grow(scope, task, seed, depth);
        break;
    case SINGLE:
#pragma omp single
        grow(scope, task, seed, depth);
        barrier = 0;
        break;
    case SINGLE_NOWAIT:
#pragma omp single nowait
        grow(scope, task, seed, depth);
        break;
    case LOOP:
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 4; i++)
            grow(scope, task, seed + (unsigned)i * 313, depth);
        barrier = 0;
        break;
    default:
        host_task(scope, task, seed + (unsigned)number * 7, depth);
    }
    if (barrier && last)
        return;
    if (barrier) {
#pragma omp barrier
    }
    check_scope("barrier", scope);
}

static void team(struct scope *outer, unsigned seed, int depth)
{
    int threads = check_draw(&seed, 4) ? threads_most : 1, phases = 1 + check_draw(&seed, PHASES),
        ways[PHASES];
    struct scope *scopes[PHASES];
    struct task *tasks[4];
    int alone = check_draw(&seed, 6) == 0;
    for (int i = 0; i < threads; i++)
        if (!(tasks[i] = task_make()))
            return;
    for (int i = 0; i < phases; i++) {
        ways[i] = check_draw(&seed, WAYS);
        if (!(scopes[i] = scope_make(outer)))
            return;
    }
#pragma omp parallel num_threads(threads) if (!alone)
    for (int i = 0; i < phases; i++)
        phase(ways[i], i + 1 == phases, scopes[i], tasks[omp_get_thread_num()],
              seed + (unsigned)i * 5003, depth);
    for (int i = 0; i < phases; i++)
        check_scope("parallel region", scopes[i]);
}

static void grow(struct scope *scope, struct task *task, unsigned seed, int depth)
{
    for (int steps = check_draw(&seed, 5); steps > 0; steps--) {
        int kind = check_draw(&seed, depth > 0 ? 18 : 10) - 3;
        unsigned below = seed ^ (unsigned)steps * 40503u;
        if (kind < 0)
            chain(scope, task, &seed);
        else if (kind < 5)
            region(scope, task, &seed, 0);
        else if (kind == 5)
            region(scope, task, &seed, 1);
        else if (kind == 6) {
#pragma omp taskwait
            check_task("taskwait", task);
        } else if (kind < 10)
            host_task(scope, task, below, depth - 1);
        else if (kind == 10)
            group(scope, task, below, depth - 1);
        else if (kind == 11)
            task_loop(scope, below, depth - 1);
        else if (kind == 13)
            reduce(scope, task, below, depth - 1);
        else if (kind == 12 && omp_get_level() < 2)
            team(scope, below, depth - 1);
        else {
#pragma omp taskyield
        }
    }
}

static void tree(unsigned seed)
{
    struct scope *scope;
    grove.made = grove.scope_count = grove.task_count = 0;
    scope = scope_make(NULL);
    if (check_draw(&seed, 3))
        team(scope, seed, DEPTH);
    else
        group(scope, task_make(), seed, DEPTH);
    check_scope("tree", scope);
    for (int i = 0; i < grove.task_count; i++)
        check_task("tree", &grove.tasks[i]);
}

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    int count = argc > 2 ? atoi(argv[2]) : 30;
    double end = check_end(argc, argv);
    devices = check_devices();
    threads_most = 2 + (int)(first % 3);
    omp_set_max_active_levels(3);
    for (int i = 0; i < count && failures == 0 && omp_get_wtime() < end; i++) {
        tree(first + (unsigned)i);
        if (failures)
            fprintf(stderr, "the tree of seed %u\n", first + (unsigned)i);
    }
    return finish("grove");
}

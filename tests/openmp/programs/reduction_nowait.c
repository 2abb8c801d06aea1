/* test: from=16 needs=own
 * Regions that take part in a reduction over tasks: they map the variable of the reduction itself,
 * or the private copy of a thread, so no two may be under way, nor may their maker go on meanwhile.
 * (LLVM's own runtime loses sums here, or asks libomp's helper threads for copies that they do not
 * have. clang 16 and 19 take wrong addresses for sections of arrays.) */
#include "check.h"

enum { REGIONS = 12, ROUNDS = 3, THREADS = 3 };

static long total;

// clang-format off

/* Several variables, chains and tasks of the host between them; by one maker. */
static void one_maker(int devices, int threads)
{
    long sum = 0, product = 1;
    int chain[4] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(* : product)
    for (int i = 0; i < REGIONS; i++) {
#pragma omp target nowait in_reduction(+ : sum) depend(inout : chain[i % 4]) device(i % devices)
        {
            usleep(100);
            sum += i;
        }
#pragma omp task in_reduction(+ : sum) in_reduction(* : product)
        {
            sum += 1000;
            product *= i < 4 ? 2 : 1;
        }
#pragma omp target nowait in_reduction(* : product) if (i < 3) device((i + 1) % devices)
        product *= i < 3 ? 3 : 1;
    }
    CHECK_EQUAL(sum, REGIONS * (REGIONS - 1) / 2 + 1000 * REGIONS);
    CHECK_EQUAL(product, 16 * 27);
}

/* Outside of parallel regions; the last device is the host. */
static void no_team(int devices)
{
    long sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < REGIONS; i++) {
#pragma omp target nowait in_reduction(+ : sum) device(i % (devices + 1))
        {
            usleep(100);
            sum += 100;
        }
#pragma omp task in_reduction(+ : sum)
        sum += 1;
    }
    CHECK_EQUAL(sum, 101 * REGIONS);
}

/* Tasks of a team make them, with nowait and without. */
static void many_makers(int devices, int threads)
{
    long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < REGIONS; i++) {
#pragma omp task firstprivate(i) shared(sum)
        {
#pragma omp target in_reduction(+ : sum) device(i % devices)
            {
                sum += 1;
                usleep(100);
            }
#pragma omp target nowait in_reduction(+ : sum) device((i + 1) % devices)
            sum += 100;
        }
    }
    CHECK_EQUAL(sum, 101 * REGIONS);
}

/* A thread's copy of the reduction of a parallel region, or of a loop, is its body's, too. */
static void modifier(int devices, int threads)
{
    long sum = 0, loop = 0;
    int team = 0;
#pragma omp parallel num_threads(threads) reduction(task, + : sum)
    {
#pragma omp atomic
        team++;
        for (int d = 0; d < devices; d++) {
#pragma omp target nowait in_reduction(+ : sum) device(d)
            {
                usleep(100);
                sum += 10;
            }
            sum++;
#pragma omp task in_reduction(+ : sum)
            sum += 5;
        }
    }
    CHECK_EQUAL(sum, 16 * team * devices);
#pragma omp parallel num_threads(threads)
#pragma omp for reduction(task, + : loop)
    for (int i = 0; i < REGIONS; i++) {
        loop += i;
#pragma omp target nowait in_reduction(+ : loop) device(i % devices)
        loop += 100;
    }
    CHECK_EQUAL(loop, REGIONS * (REGIONS - 1) / 2 + 100 * REGIONS);
    total = 0;
#pragma omp for reduction(task, + : total)
    for (int i = 0; i < REGIONS; i++) {
        total += i;
#pragma omp target nowait in_reduction(+ : total) device(i % devices)
        total += 100;
    }
    CHECK_EQUAL(total, REGIONS * (REGIONS - 1) / 2 + 100 * REGIONS);
}

/* One taskgroup in the other; what an inner one ends is not the outer one's reduction. */
static void nested(int devices)
{
    long inner = 0, outer = 0, loop = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : outer)
        {
#pragma omp taskgroup task_reduction(+ : inner)
            for (int i = 0; i < REGIONS; i++) {
#pragma omp taskgroup
                {
#pragma omp target nowait in_reduction(+ : outer) device(i % devices)
                    outer += 100;
                }
#pragma omp target nowait in_reduction(+ : inner) device(i % devices)
                inner += 100;
            }
            for (int i = 0; i < REGIONS; i++) {
#pragma omp target nowait in_reduction(+ : outer) depend(inout : inner) device(i % devices)
                outer++;
            }
        }
#pragma omp taskloop reduction(+ : loop) grainsize(1)
        for (int i = 0; i < REGIONS; i++) {
            loop += 1;
#pragma omp target nowait in_reduction(+ : loop) device(i % devices)
            loop += 10;
        }
    }
    CHECK_EQUAL(outer, 101 * REGIONS);
    CHECK_EQUAL(inner, 100 * REGIONS);
    CHECK_EQUAL(loop, 11 * REGIONS);
}

#if __clang_major__ >= 22
static void sections(int devices)
{
    long values[20] = {0}, *some = values;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : values[2:6])
    for (int i = 0; i < REGIONS; i++) {
#pragma omp target nowait in_reduction(+ : values[2:6]) device(i % devices)
        for (int k = 2; k < 8; k++)
            values[k] += k;
#pragma omp task in_reduction(+ : values[2:6])
        values[3] += 1000;
    }
    CHECK_EQUAL(some[2], 2 * REGIONS);
    CHECK_EQUAL(some[3], 1003 * REGIONS);
    CHECK_EQUAL(some[8], 0);
}
#else
#define sections(devices)
#endif

/* They have no part in it: they are in flight side by side, and in order. */
static void others(int devices)
{
    long sum = 0, values[REGIONS] = {0};
#pragma omp parallel num_threads(THREADS)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < REGIONS; i++) {
        long *value = &values[i];
#pragma omp target nowait map(tofrom : value[0:1]) depend(out : value[0]) device(i % devices)
        {
            usleep(100);
            value[0] = i;
        }
#pragma omp target nowait map(tofrom : value[0:1]) depend(inout : value[0]) device((i + 1) % devices)
        value[0] += 100;
#pragma omp target nowait in_reduction(+ : sum) device(i % devices)
        sum++;
    }
    CHECK_EQUAL(sum, REGIONS);
    for (int i = 0; i < REGIONS; i++)
        CHECK_EQUAL(values[i], i + 100);
}

static void add_one(int device)
{
#pragma omp target in_reduction(+ : total) device(device)
    {
        usleep(100);
        total++;
    }
}

/* Regions in functions that do not see the reduction; and regions that map a thread's copy. */
static void out_of_sight(int devices)
{
    long sum = 0;
    total = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : total)
        for (int i = 0; i < REGIONS; i++) {
#pragma omp task firstprivate(i)
            add_one(i % devices);
        }
#pragma omp taskloop reduction(+ : sum) grainsize(1)
        for (int i = 0; i < REGIONS; i++) {
#pragma omp target map(tofrom : sum) device(i % devices)
            {
                usleep(100);
                sum += i;
            }
        }
    }
    CHECK_EQUAL(total, REGIONS);
    CHECK_EQUAL(sum, REGIONS * (REGIONS - 1) / 2);
}

/* A task of the host waits for an event that the maker fulfils when it has made the region behind it. */
static void fulfilled_by_maker(int devices, int threads)
{
    long sum = 0, x[REGIONS] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < REGIONS; i++) {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x[i])
        x[i] = 1;
#pragma omp target nowait depend(inout : x[i]) map(tofrom : x[i:1]) device(i % devices)
        x[i] += 2;
#pragma omp target nowait depend(in : x[i]) in_reduction(+ : sum) map(to : x[i:1]) device(i % devices)
        sum += x[i];
        omp_fulfill_event(event);
    }
    CHECK_EQUAL(sum, 3 * REGIONS);
}

/* The maker goes on with a copy of its own meanwhile; the region has another one. */
static void copies_apart(int devices, int threads)
{
    long sum = 0, body = 0, x = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < REGIONS; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(x)
        {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
            usleep(10);
#pragma omp target nowait depend(in : x) in_reduction(+ : sum) device(i % devices)
            sum += 1000;
            omp_fulfill_event(event);
            for (int k = 0; k < 100; k++) {
                sum++;
                usleep(10);
            }
        }
    }
    CHECK_EQUAL(sum, 1100 * REGIONS);
#pragma omp parallel num_threads(threads) reduction(task, + : body)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
        usleep(10);
#pragma omp target nowait depend(in : x) in_reduction(+ : body)
        body += 1000;
        omp_fulfill_event(event);
        for (int k = 0; k < 100; k++) {
            body++;
            usleep(10);
        }
    }
    CHECK_EQUAL(body, 1100);
}

static void all(int devices)
{
    for (int round = 0; round < ROUNDS; round++) {
        one_maker(devices, THREADS);
        one_maker(devices, 1);
        no_team(devices);
        many_makers(devices, THREADS);
        many_makers(devices, 1);
        modifier(devices, THREADS);
        modifier(devices, 1);
        nested(devices);
        sections(devices);
        others(devices);
        out_of_sight(devices);
    }
}

int main(void)
{
    int devices = check_devices(), x = 0;
    all(devices);
#pragma omp target nowait map(tofrom : x) depend(inout : x)
    x = 7;
#pragma omp task shared(x) depend(inout : x) /* from here on libomp puts tasks in order */
    x++;
#pragma omp taskwait
    CHECK_EQUAL(x, 8);
    all(devices);
    /* libomp 14 to 16 fail an assertion behind tasks with events in a team of one thread. */
    for (int threads = __clang_major__ < 19 ? THREADS : 1; threads <= THREADS; threads += 2) {
        fulfilled_by_maker(devices, threads);
        copies_apart(devices, threads);
    }
    return finish("reduction_nowait");
}

/* test: needs=own
 * nowait regions where tasks are more than a row: in teams that end without waiting, in tasks that
 * wait for their own, computed by the host with tasks inside, more of them than are begun at once.
 * (libomp 14 to 16 crashes in such programs, with LLVM's local device too; in the last part, where
 * tasks of the host have dependences, in any case. Libomp 19 may where a team with tasks is
 * followed by a smaller one. So all have as many threads.) */
#include "check.h"

enum { TEAM = 4, MANY = 9000, ROUNDS = 20 };

// clang-format off

/* The end of a parallel region, and a barrier, wait for what its threads have in flight. */
static void teams(int devices)
{
    long own[TEAM] = {0}, twice[TEAM] = {0};
    int threads = 0;
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num(), beside = (me + 1) % omp_get_num_threads();
        long *mine = &own[me], *next = &own[beside], *copy = &twice[me];
#pragma omp atomic
        threads++;
#pragma omp target nowait map(tofrom : mine[0:1]) device(me % devices) firstprivate(me)
        mine[0] = me + 1;
#pragma omp barrier
        CHECK_EQUAL(*next, beside + 1);
#pragma omp target nowait map(tofrom : copy[0:1]) device(me % devices) firstprivate(me)
        copy[0] = 2 * me;
    }
    for (int i = 0; i < threads; i++)
        CHECK_EQUAL(twice[i], 2 * i);
}

/* That of one thread waits, too. */
static void team_of_one(int device)
{
    long x = 1, y = 1;
#pragma omp parallel num_threads(1)
    {
#pragma omp target nowait map(tofrom : x) device(device)
        x++;
    }
    CHECK_EQUAL(x, 2);
#pragma omp parallel if (0)
    {
#pragma omp target nowait map(tofrom : y) device(device)
        y++;
    }
    CHECK_EQUAL(y, 2);
}

/* A task waits for its own regions. */
static void tasks_that_wait(int devices)
{
    int wrong = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : wrong)
    {
#pragma omp single
        for (int i = 0; i < ROUNDS; i++) {
#pragma omp task firstprivate(i) shared(wrong)
            {
                long x = i, y = i;
#pragma omp target nowait map(tofrom : x) device(i % devices)
                x *= 3;
#pragma omp taskgroup
                {
#pragma omp target nowait map(tofrom : y) device((i + 1) % devices)
                    y += 7;
                }
                int bad = y != i + 7;
#pragma omp taskwait
                bad += x != 3 * i;
#pragma omp atomic
                wrong += bad;
            }
        }
    }
    CHECK_EQUAL(wrong, 0);
}

/* The host computes one of them, in a team with tasks, which depend on what the region depends on
 * itself. */
static void on_the_host(int device, int dependences)
{
    long x = 1, y = 0;
#pragma omp target nowait map(tofrom : x) depend(inout : x) device(device)
    {
        usleep(1000);
        x = 2;
    }
#pragma omp target nowait map(tofrom : x, y) depend(inout : x) device(device) firstprivate(dependences) if (device < 0)
    {
#pragma omp parallel num_threads(TEAM)
        {
#pragma omp single
            if (dependences) {
#pragma omp task depend(inout : x)
                x *= 5;
#pragma omp taskwait
            } else {
#pragma omp task
                x *= 5;
#pragma omp taskwait
            }
#pragma omp atomic
            y++;
        }
    }
#pragma omp target nowait map(tofrom : x) depend(inout : x) device(device)
    x += 3;
#pragma omp taskwait
    CHECK_EQUAL(x, 13);
    CHECK(y >= 1 && y <= TEAM);
}

/* Private copies that a compiler aligns, and one that has to stay until the device has it. */
static void aligned(int device)
{
    struct wide {
        _Alignas(64) double values[8];
    } wide = {{1, 2, 3, 4, 5, 6, 7, 8}};
    struct large {
        int values[5000];
    } large;
    double sum = 0;
    long total = 0;
    for (int i = 0; i < 5000; i++)
        large.values[i] = i;
#pragma omp target nowait map(tofrom : sum) firstprivate(wide) device(device)
    for (int i = 0; i < 8; i++)
        sum += wide.values[i];
#pragma omp target nowait map(tofrom : total) firstprivate(large) device(device)
    for (int i = 0; i < 5000; i++)
        total += large.values[i];
    memset(&wide, 0, sizeof(wide));
    memset(&large, 0, sizeof(large));
#pragma omp taskwait
    CHECK_EQUAL(sum, 36);
    CHECK_EQUAL(total, 5000 * 4999 / 2);
}

/* What a clause of a region sets is over with it. */
static void limit_of_threads(int device)
{
    int before = omp_get_thread_limit(), threads = 0, x = 0;
    for (int i = 0; i < ROUNDS; i++) {
#if __clang_major__ >= 19
#pragma omp target nowait thread_limit(1) map(tofrom : x) depend(inout : x) device(device)
        x++;
#else
#pragma omp target teams nowait thread_limit(1) num_teams(1) map(tofrom : x) depend(inout : x) device(device)
        x++;
#endif
    }
#pragma omp taskwait
    CHECK_EQUAL(x, ROUNDS);
    CHECK_EQUAL(omp_get_thread_limit(), before);
#pragma omp parallel num_threads(TEAM) reduction(+ : threads)
    threads++;
    CHECK(threads == TEAM || before < TEAM || omp_get_dynamic());
}

/* All of them are made before any can be over but the first, in chains and alone. */
static void many(int devices)
{
    long first = 0, links[4] = {0}, sum = 0;
    for (int i = 0; i < MANY; i++) {
        long *link = &links[i % 4];
        if (i % 3 == 0) {
#pragma omp target nowait map(tofrom : link[0:1]) depend(inout : link[0]) device(i % devices)
            link[0]++;
        } else {
#pragma omp target nowait map(tofrom : link[0:1]) depend(in : first) depend(inout : link[0]) device(i % devices)
            link[0]++;
        }
    }
#pragma omp taskwait
    for (int i = 0; i < 4; i++)
        sum += links[i];
    CHECK_EQUAL(sum, MANY);
    CHECK_EQUAL(first, 0);
}

/* An address that is named twice, readers between writers, a set that may change together. */
static void kinds(int devices)
{
    long x = 1, read[TEAM] = {0};
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp target nowait map(tofrom : x) depend(in : x) depend(inout : x) device(round % devices)
        x++;
        for (int i = 0; i < TEAM; i++) {
            long *to = &read[i];
#pragma omp target nowait map(to : x) map(from : to[0:1]) depend(in : x) depend(out : to[0]) device(i % devices)
            to[0] = x;
        }
#pragma omp taskwait depend(in : read[0]) depend(in : read[TEAM - 1])
        CHECK_EQUAL(read[0], round + 2);
        CHECK_EQUAL(read[TEAM - 1], round + 2);
    }
#pragma omp target map(tofrom : x) depend(inout : x)
    x += 100;
    CHECK_EQUAL(x, ROUNDS + 101);
#pragma omp taskwait
#if __clang_major__ >= 19
    long y = 1, z = 0;
#pragma omp target nowait map(tofrom : y) depend(inout : y)
    {
        usleep(1000);
        y = 5;
    }
#pragma omp target nowait map(tofrom : y, z) depend(inout : omp_all_memory) device(1 % devices)
    z = y + 1;
#pragma omp target nowait map(tofrom : z) depend(inout : z)
    z *= 2;
#pragma omp taskwait
    CHECK_EQUAL(z, 12);
#endif
}

// clang-format on

int main(void)
{
    int devices = check_devices();
    for (int i = 0; i < ROUNDS; i++) {
        teams(devices);
        team_of_one(i % devices);
        tasks_that_wait(devices);
        on_the_host(i % devices, 0);
        limit_of_threads(i % devices);
        kinds(devices);
        aligned(i % devices);
#pragma omp parallel num_threads(TEAM)
#pragma omp single
        {
            kinds(devices);
            on_the_host(i % devices, 0);
        }
    }
    many(devices);
#if __clang_major__ >= 19
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    on_the_host(0, 1);
#endif
    return finish("nowait");
}

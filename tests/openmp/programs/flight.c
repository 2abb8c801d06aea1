/* test: tier=few
 * 1,000 nowait regions in flight, five times and more, each region with a number of its own and in
 * chains held together by depend. Every result is right, and no process grows with the number of
 * regions that it has seen. */
#include "check.h"

enum { FLIGHT = 1000, FLIGHTS = 5, FLIGHTS_MOST = 40, CHAINS = 16 };
enum { GROWTH = 8 << 20, LEAK = 128 }; /* bytes: after the first flight; per region */

#pragma omp declare target
/* Resident bytes of the process. */
static long resident(void)
{
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%ld %ld", &size, &pages) != 2)
            pages = 0;
        fclose(file);
    }
    return pages * sysconf(_SC_PAGESIZE);
}
#pragma omp end declare target

static long resident_on(int device)
{
    long bytes = 0;
#pragma omp target map(from : bytes) device(device)
    bytes = resident();
    return bytes;
}

static long numbers[FLIGHT], links[CHAINS], expected[CHAINS];

/* Not inlined: clang 16 takes stack anew for each region that it meets in a loop. */
static void __attribute__((noinline)) fly(int count)
{
    // clang-format off
    for (int i = 0; i < FLIGHT; i++) {
        long *number = &numbers[i];
#pragma omp target nowait map(tofrom : number[0:1]) device(i % count) firstprivate(i)
        number[0] += i;
    }
#pragma omp taskwait
    for (int i = 0; i < FLIGHT; i++) {
        long *link = &links[i % CHAINS];
        expected[i % CHAINS] = (expected[i % CHAINS] * 3 + i) % 1000003;
#pragma omp target nowait map(tofrom : link[0:1]) depend(inout : link[0]) device(i % count) firstprivate(i)
        link[0] = (link[0] * 3 + i) % 1000003;
    }
#pragma omp taskwait
    // clang-format on
}

/* How much a process has grown from flight to flight. LLVM's runtimes may have few regions under
 * way or many, so later flights can need more than the first did, now and then a little in each of
 * the first four; a leak shows in every flight. */
struct growth {
    long first, last, least;
};

static void note(struct growth *growth, int flight, long bytes)
{
    if (flight == 1)
        *growth = (struct growth){bytes, bytes, bytes};
    else if (bytes - growth->last < growth->least)
        growth->least = bytes - growth->last;
    growth->last = bytes;
}

static int grows(const struct growth *growth, int regions)
{
    return growth->least >= LEAK * regions;
}

static void check_growth(const struct growth *growth, int regions)
{
    CHECK(growth->last - growth->first < GROWTH);
    CHECK(!grows(growth, regions));
}

int main(void)
{
    enum { MOST = 64 };
    static struct growth host, device[MOST];
    int count = check_devices(), wrong = 0, more = 1;
    count = count < MOST ? count : MOST;
    for (int flight = 1; flight <= FLIGHTS || (more && flight <= FLIGHTS_MOST); flight++) {
        fly(count);
        for (int i = 0; i < FLIGHT; i++)
            wrong += numbers[i] != (long)i * flight;
        for (int c = 0; c < CHAINS; c++)
            wrong += links[c] != expected[c];
        note(&host, flight, resident());
        more = grows(&host, 2 * FLIGHT);
        for (int d = 0; d < count; d++) {
            note(&device[d], flight, resident_on(d));
            more |= grows(&device[d], 2 * FLIGHT / count);
        }
    }
    CHECK_EQUAL(wrong, 0);
    check_growth(&host, 2 * FLIGHT);
    for (int d = 0; d < count; d++)
        check_growth(&device[d], 2 * FLIGHT / count);
    return finish("flight");
}

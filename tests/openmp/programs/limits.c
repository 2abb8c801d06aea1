/* test: from=19 reference=no
 * thread_limit of regions without teams: parallel regions have no more threads,
 * omp_get_thread_limit() says so, and what comes later is as before. num_threads is no limit, and
 * teams have their own. On LLVM's local device nowait regions are in a parallel one.
 */
#include <limits.h>

#include "check.h"

enum { WISH = 8 };

static int usual = INT_MAX;

struct seen {
    int limit, threads;
};

#pragma omp declare target
static void look(struct seen *seen)
{
    seen->limit = omp_get_thread_limit();
#pragma omp parallel num_threads(WISH)
#pragma omp masked
    seen->threads = omp_get_num_threads();
}
#pragma omp end declare target

static struct seen unlimited(void)
{
    struct seen seen = {0};
#pragma omp target map(tofrom : seen)
    look(&seen);
    return seen;
}

static void check_unlimited(void)
{
    struct seen seen = unlimited();
    CHECK_EQUAL(seen.limit, usual);
    CHECK_EQUAL(seen.threads, WISH);
}

static void check_limits(void)
{
    for (int limit = 1; limit <= WISH + 2; limit++) {
        struct seen seen = {0}, later = {0};
        int threads = 0;
#pragma omp target map(tofrom : seen) thread_limit(limit)
        look(&seen);
        CHECK_EQUAL(seen.limit, limit);
        CHECK_EQUAL(seen.threads, limit < WISH ? limit : WISH);
#pragma omp target parallel map(tofrom : threads) thread_limit(limit) num_threads(WISH)
#pragma omp masked
        threads = omp_get_num_threads();
        CHECK_EQUAL(threads, limit < WISH ? limit : WISH);
#pragma omp target map(tofrom : later) thread_limit(limit) nowait
        look(&later);
#pragma omp taskwait
        CHECK_EQUAL(later.limit, limit);
        check_unlimited();
    }
}

/* One after the other, all of different limits and none. */
static void check_many(void)
{
    enum { MANY = 64 };
    struct seen seen[MANY] = {{0}};
    for (int i = 0; i < MANY; i++) {
        if (i % 3 == 0) {
#pragma omp target map(tofrom : seen[i]) nowait
            look(&seen[i]);
        } else {
#pragma omp target map(tofrom : seen[i]) thread_limit(i % 3 + 1) nowait
            look(&seen[i]);
        }
    }
#pragma omp taskwait
    for (int i = 0; i < MANY; i++) {
        CHECK_EQUAL(seen[i].limit, i % 3 ? i % 3 + 1 : usual);
        CHECK_EQUAL(seen[i].threads, i % 3 ? i % 3 + 1 : WISH);
    }
}

/* num_threads of a region is told the device, too, as clang counts threads, and is no limit. */
static void check_others(void)
{
    int outer = 0, inner = 0, teams = 0, in_team = 0, limit = 0;
#pragma omp target map(tofrom : outer, inner)
    {
        omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp masked
        {
            outer = omp_get_num_threads();
#pragma omp parallel num_threads(4)
#pragma omp masked
            inner = omp_get_num_threads();
        }
        omp_set_max_active_levels(1);
    }
    CHECK_EQUAL(outer, 2);
    CHECK_EQUAL(inner, 4);
#pragma omp target teams num_teams(1) thread_limit(2) map(tofrom : teams, in_team, limit)
#pragma omp parallel num_threads(WISH)
    if (omp_get_team_num() == 0 && omp_get_thread_num() == 0) {
        teams = omp_get_num_teams();
        in_team = omp_get_num_threads();
        limit = omp_get_thread_limit();
    }
    CHECK_EQUAL(teams, 1);
    CHECK(in_team >= 1 && in_team <= 2); /* fewer where there is one processor */
    CHECK_EQUAL(limit, 2);
}

int main(void)
{
    const char *environment = getenv("OMP_THREAD_LIMIT");
    if (environment)
        usual = atoi(environment);
    check_unlimited();
    check_limits();
    check_many();
    check_others();
    return finish("limits");
}

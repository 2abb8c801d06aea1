/* test:
 * What may stand inside a region: teams, loops, simd, collapse, sections, locks, atomics. */
#include "check.h"

int main(void)
{
    static double m[60][70], v[1000];
    check_devices();
#pragma omp target teams distribute parallel for simd collapse(2) map(from : m)
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 70; j++)
            m[i][j] = i * 100 + j;
    int bad = 0;
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 70; j++)
            bad += m[i][j] != i * 100 + j;
    CHECK_EQUAL(bad, 0);

    int critical = 0, atomic = 0, ordered_ok = 1, last = -1, sections = 0, threads = 0;
#pragma omp target map(tofrom : critical, atomic, ordered_ok, last, sections, threads)
#pragma omp parallel num_threads(4)
    {
#pragma omp critical
        critical++;
#pragma omp atomic
        atomic += 2;
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp sections
        {
#pragma omp section
#pragma omp atomic
            sections += 1;
#pragma omp section
#pragma omp atomic
            sections += 10;
        }
#pragma omp for ordered schedule(dynamic, 1)
        for (int i = 0; i < 50; i++) {
#pragma omp ordered
            {
                ordered_ok = ordered_ok && last == i - 1;
                last = i;
            }
        }
    }
    CHECK_EQUAL(critical, threads);
    CHECK_EQUAL(atomic, 2 * threads);
    CHECK_EQUAL(sections, 11);
    CHECK(ordered_ok && last == 49);

    int teams = 0, inside = 0;
#pragma omp target teams num_teams(3) thread_limit(2) map(tofrom : teams, inside)
    {
        if (omp_get_team_num() == 0)
            teams = omp_get_num_teams();
#pragma omp parallel num_threads(1)
#pragma omp atomic
        inside++;
    }
    CHECK_EQUAL(inside, teams);

#pragma omp target teams distribute map(from : v)
    for (int i = 0; i < 1000; i++)
        v[i] = i / 2.0;
    CHECK(v[999] == 499.5);
    return finish("worksharing");
}

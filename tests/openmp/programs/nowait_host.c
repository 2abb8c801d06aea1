/* test: from=19 needs=own
 * nowait regions and tasks of the host that depend on each other: libomp puts them in order from
 * the first of those tasks on, which has to wait for what is in flight. */
#include "check.h"

enum { ROUNDS = 20 };

// clang-format off
/* In flight before, between and behind tasks of the host. */
static void in_turns(int devices)
{
    long x = 1, y = 0;
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp target nowait map(tofrom : x) depend(inout : x) device(i % devices) firstprivate(i)
        {
            if (i == 0)
                usleep(20000);
            x = (x * 3 + 1) % 10007;
        }
        if (i % 4 == 3) {
#pragma omp task depend(inout : x) depend(out : y) shared(x, y)
            y = x;
#pragma omp target nowait map(tofrom : y) depend(inout : y) device(i % devices)
            y++;
        }
    }
#pragma omp taskwait
    long expected = 1;
    for (int i = 0; i < ROUNDS; i++)
        expected = (expected * 3 + 1) % 10007;
    CHECK_EQUAL(x, expected);
    CHECK_EQUAL(y, x + 1);
}
// clang-format on

int main(void)
{
    int devices = check_devices();
    in_turns(devices);
    in_turns(devices);
    return finish("nowait_host");
}

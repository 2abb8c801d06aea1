/* test:
 * Explicit tasks inside a region. Alone: in libomp 15 and 16 tasks hang once the same thread has
 * run a teams construct, with the local device too. */
#include "check.h"

#pragma omp declare target
static long fibonacci(int n)
{
    long left = 0, right = 0;
    if (n < 2)
        return n;
#pragma omp task shared(left) if (n > 12)
    left = fibonacci(n - 1);
#pragma omp task shared(right) if (n > 12)
    right = fibonacci(n - 2);
#pragma omp taskwait
    return left + right;
}
#pragma omp end declare target

int main(void)
{
    check_devices();
    long fib = 0;
#pragma omp target map(from : fib)
#pragma omp parallel
#pragma omp single
    fib = fibonacci(18);
    CHECK_EQUAL(fib, 2584);

    int squares[200], sum = 0;
#pragma omp target map(from : squares) map(tofrom : sum)
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(10)
        for (int i = 0; i < 200; i++)
            squares[i] = i * i;
#pragma omp taskgroup
        for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(i)
#pragma omp atomic
            sum += i;
        }
    }
    CHECK(squares[199] == 199 * 199 && sum == 6);
    return finish("tasks");
}

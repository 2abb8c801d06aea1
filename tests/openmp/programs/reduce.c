/* test:
 * Reductions over teams and threads. Values are chosen so that every order gives the same. */
#include "check.h"

enum { N = 20000 };

int main(void)
{
    static int a[N];
    int count = check_devices();
    for (int i = 0; i < N; i++)
        a[i] = (i * 7919) % 1000 + 1;
    long expected = 0;
    for (int i = 0; i < N; i++)
        expected += a[i];
    for (int d = 0; d < count; d++) {
        long sum = 0;
        double dsum = 0;
        int low = 1 << 30, high = 0, all = 1, any = 0;
        unsigned bits = 0, parity = 0;
#pragma omp target teams distribute parallel for map(to : a) device(d)                             \
    reduction(+ : sum, dsum) reduction(min : low) reduction(max : high) reduction(&& : all)        \
    reduction(|| : any) reduction(| : bits) reduction(^ : parity)
        for (int i = 0; i < N; i++) {
            sum += a[i];
            dsum += a[i] * 0.5;
            low = a[i] < low ? a[i] : low;
            high = a[i] > high ? a[i] : high;
            all = all && a[i] > 0;
            any = any || a[i] > 1000;
            bits |= (unsigned)a[i];
            parity ^= (unsigned)i;
        }
        CHECK_EQUAL(sum, expected);
        CHECK(dsum == (double)expected / 2);
        CHECK(low == 1 && high == 1000 && all == 1 && any == 0 && bits == 1023);
        CHECK_EQUAL(parity, 0);
    }
    int histogram[10] = {0};
#pragma omp target parallel for reduction(+ : histogram) map(to : a)
    for (int i = 0; i < N; i++)
        histogram[a[i] % 10]++;
    int total = 0;
    for (int i = 0; i < 10; i++)
        total += histogram[i];
    CHECK_EQUAL(total, N);
    printf("sum %ld\n", expected);
    return finish("reduce");
}

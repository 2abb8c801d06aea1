/* test: tier=all
 * Scalars and structures by value, small and large; what a region does to them stays there. */
#include <stdint.h>
#include "check.h"

struct small {
    char c;
    short s;
    float f;
};
struct large {
    double values[700];
    int marker;
};

int main(void)
{
    int8_t i8 = -8;
    uint16_t u16 = 65535;
    int32_t i32 = -2000000000;
    uint64_t u64 = UINT64_C(0xfedcba9876543210);
    float f = 0.25f;
    double d = -1e300;
    _Bool yes = 1;
    struct small small = {'x', -5, 1.5f};
    static struct large large;
    int array[40], bad = 0;
    check_devices();
    for (int i = 0; i < 40; i++)
        array[i] = i;
    large.values[699] = 42;
    large.marker = 43;
    for (int round = 0; round < 3; round++) {
#pragma omp target map(tofrom : bad) firstprivate(i8, u16, i32, u64, f, d, yes, small, array, large)
        {
            bad += i8 != -8 || u16 != 65535 || i32 != -2000000000;
            bad += u64 != UINT64_C(0xfedcba9876543210) || f != 0.25f || d != -1e300 || !yes;
            bad += small.c != 'x' || small.s != -5 || small.f != 1.5f;
            bad += array[39] != 39 || large.values[699] != 42 || large.marker != 43;
            i8 = 0, u16 = 0, i32 = 0, u64 = 0, f = 0, d = 0, yes = 0;
            small.c = 0, array[39] = 0, large.marker = 0;
        }
        CHECK_EQUAL(bad, 0);
        CHECK(i8 == -8 && array[39] == 39 && large.marker == 43 && small.c == 'x');
    }
    int private_value = 7;
#pragma omp target private(private_value)
    private_value = 8;
    CHECK_EQUAL(private_value, 7);
    return finish("firstprivate");
}

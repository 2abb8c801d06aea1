/* test: tier=all
 * Map kinds, and sizes from 0 to 32 MiB around every limit. */
#include <stdint.h>
#include "check.h"

static uint8_t pattern(size_t i, size_t bytes)
{
    return (uint8_t)(i * 31 + bytes * 7 + (i >> 8));
}

static void check_size(size_t bytes, int device)
{
    uint8_t *a = malloc(bytes + 2), *b = malloc(bytes + 2);
    for (size_t i = 0; i < bytes; i++)
        a[i] = pattern(i, bytes);
    memset(b, 0x55, bytes + 2);
    a[bytes] = a[bytes + 1] = 0x77;
    int wrong = 0;
#pragma omp target map(tofrom : a [0:bytes], wrong) map(from : b [0:bytes]) device(device)
    for (size_t i = 0; i < bytes; i++) {
        wrong += a[i] != (uint8_t)(i * 31 + bytes * 7 + (i >> 8));
        b[i] = (uint8_t)(a[i] + 1);
        a[i] = (uint8_t)~a[i];
    }
    CHECK_EQUAL(wrong, 0);
    int bad_a = 0, bad_b = 0;
    for (size_t i = 0; i < bytes; i++) {
        bad_a += a[i] != (uint8_t)~pattern(i, bytes);
        bad_b += b[i] != (uint8_t)(pattern(i, bytes) + 1);
    }
    CHECK_EQUAL(bad_a, 0);
    CHECK_EQUAL(bad_b, 0);
    CHECK(a[bytes] == 0x77 && b[bytes] == 0x55 && b[bytes + 1] == 0x55);
    free(a);
    free(b);
}

static void check_kinds(void)
{
    int to = 1, from = 2, both = 3, alloc = 4;
#pragma omp target map(to : to) map(from : from) map(tofrom : both) map(alloc : alloc)
    {
        from = to + 10;
        both += to;
        to = 100;
        alloc = 200;
    }
    CHECK_EQUAL(to, test_is_remote() || to == 1 ? 1 : 100);
    CHECK_EQUAL(from, 11);
    CHECK_EQUAL(both, 4);
    CHECK_EQUAL(alloc, 4);

    /* `always` copies though the data is there already. */
    int x = 1;
#pragma omp target data map(to : x)
    {
        x = 2;
        int seen = 0;
#pragma omp target map(to : x) map(from : seen)
        seen = x;
        CHECK_EQUAL(seen, 1);
#pragma omp target map(always, tofrom : x) map(from : seen)
        {
            seen = x;
            x = 3;
        }
        CHECK_EQUAL(seen, 2);
        CHECK_EQUAL(x, 3);
    }
}

int main(void)
{
    static const size_t sizes[] = {0,       1,       7,       8,        9,       63,    64,
                                   65,      255,     256,     1000,     4095,    4096,  4097,
                                   8191,    8192,    8193,    16384,    65535,   65536, 65537,
                                   1 << 20, 3000001, 8 << 20, 33554431, 32 << 20};
    int count = check_devices();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        check_size(sizes[i], (int)i % count);
    check_kinds();
    return finish("maps");
}

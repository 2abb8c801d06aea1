/* test: tier=all needs=own flags=-mavx
 * What is aligned on the host is aligned on the device: addresses are the same modulo 64, those of
 * a page or more modulo a page, for each size and residue and each way to get memory there. Vectors
 * of 32 and 64 bytes are used where they lie.
 */
#include <stdalign.h>
#include <stdint.h>
#include "check.h"

enum { PAGE = 4096, LINE = 64, ROOM = 3 * PAGE + 65537 };

typedef double v4 __attribute__((vector_size(32)));
typedef double v8 __attribute__((vector_size(64)));

static alignas(PAGE) char room[ROOM];
static int device;

/* 0: the addresses go together. */
static uintptr_t apart(const void *host, uintptr_t there, size_t bytes)
{
    return ((uintptr_t)host - there) % (bytes >= PAGE ? PAGE : LINE);
}

/* ---- all sizes and residues ----------------------------------------------------------------- */

static void check_entered(char *begin, size_t bytes)
{
    char *there = begin;
#pragma omp target enter data map(alloc : begin[:bytes]) device(device)
#pragma omp target data map(alloc : there[:bytes]) use_device_ptr(there) device(device)
    CHECK(there != begin && apart(begin, (uintptr_t)there, bytes) == 0);
#pragma omp target exit data map(delete : begin[:bytes]) device(device)
}

static void check_alloc(char *begin, size_t bytes)
{
    char *there = omp_target_alloc(bytes, device);
    CHECK(there && (uintptr_t)there % (bytes >= 65536 ? PAGE : LINE) == 0);
    omp_target_free(there, device);
}

/* What lies in front of the section and behind it stays as it is. */
static void check_moved(char *begin, size_t bytes)
{
    uintptr_t there = 0, behind = 0;
    for (size_t i = 0; i < bytes + 2; i++)
        begin[i] = (char)(i * 7);
#pragma omp target map(tofrom : begin [1:bytes]) map(from : there, behind) device(device)
    {
        there = (uintptr_t)(begin + 1);
        for (size_t i = 1; i <= bytes; i++)
            begin[i]++;
        behind = (uintptr_t)&begin[bytes];
    }
    CHECK_EQUAL(apart(begin + 1, there, bytes), 0);
    CHECK_EQUAL(behind - there, bytes - 1);
    int bad = begin[0] != 0 || begin[bytes + 1] != (char)((bytes + 1) * 7);
    for (size_t i = 1; i <= bytes; i++)
        bad += begin[i] != (char)(i * 7 + 1);
    CHECK_EQUAL(bad, 0);
}

static void check_one_way(char *begin, size_t bytes)
{
    uintptr_t to = 0, from = 0, inner = 0, returned = 0;
    memset(begin, 3, bytes);
#pragma omp target map(to : begin[:bytes]) map(from : to) device(device)
    to = (uintptr_t)begin + (begin[bytes - 1] != 3);
    CHECK_EQUAL(apart(begin, to, bytes), 0);
#pragma omp target map(from : begin[:bytes]) map(from : from) device(device)
    {
        from = (uintptr_t)begin;
        memset(begin, 4, bytes);
    }
    CHECK_EQUAL(apart(begin, from, bytes), 0);
#pragma omp target data map(tofrom : begin[:bytes]) device(device)
    {
#pragma omp target map(tofrom                                                                      \
                       : begin [bytes / 2:bytes - bytes / 2]) map(from                             \
                                                                  : inner) device(device)
        {
            inner = (uintptr_t)&begin[bytes / 2];
            begin[bytes - 1]++;
        }
#pragma omp target data use_device_ptr(begin) device(device)
        returned = (uintptr_t)begin;
    }
    CHECK_EQUAL(apart(begin + bytes / 2, inner, bytes), 0);
    CHECK_EQUAL(apart(begin, returned, bytes), 0);
    CHECK_EQUAL(begin[bytes - 1], 5);
    CHECK(bytes == 1 || begin[0] == 4);
}

static void each_size(void (*check)(char *begin, size_t bytes), int step)
{
    static const size_t around[] = {2, 8, 16, 32, 64, 128, 256, 1024, 2048, 4096, 8192, 65536};
    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
        for (size_t bytes = around[i] - 1; bytes <= around[i] + 1; bytes++)
            for (int residue = (int)bytes % step; residue < PAGE; residue += step)
                check(room + residue, bytes);
}

/* ---- structures ----------------------------------------------------------------------------- */

struct vectors {
    char first;
    v4 four;
    char between;
    v8 eight;
    alignas(LINE) float last[24];
};

struct holder {
    char name[5];
    struct vectors *vectors;
    double *numbers;
    int count;
};
#pragma omp declare mapper(whole : struct holder h) map(h, h.numbers [0:h.count], h.vectors [0:2])

struct page {
    alignas(PAGE) char bytes[100];
    v4 four;
};

static void check_members(void)
{
    static struct vectors s;
    uintptr_t four = 0, eight = 0, last = 0;
    s.four = (v4){1, 2, 3, 4};
    s.eight = (v8){1, 2, 3, 4, 5, 6, 7, 8};
    s.last[3] = 0;
#pragma omp target map(tofrom : s.four) map(from : four) device(device)
    {
        four = (uintptr_t)&s.four;
        s.four += s.four;
    }
#pragma omp target map(tofrom : s.between, s.eight) map(from : eight) device(device)
    {
        eight = (uintptr_t)&s.eight;
        s.eight += s.eight;
    }
#pragma omp target map(tofrom : s.first, s.last) map(from : last) device(device)
    {
        last = (uintptr_t)&s.last[3];
        s.last[3]++;
    }
    CHECK_EQUAL(apart(&s.four, four, sizeof(s.four)), 0);
    CHECK_EQUAL(apart(&s.eight, eight, sizeof(s.eight)), 0);
    CHECK_EQUAL(apart(&s.last[3], last, sizeof(float)), 0);
    CHECK(s.four[3] == 8 && s.eight[7] == 16 && s.last[3] == 1);
}

static void check_pointers(void)
{
    static alignas(LINE) struct vectors pair[2];
    double *numbers = (double *)(room + 40);
    struct holder h = {"four", pair, numbers, 700};
    uintptr_t there = 0, vectors = 0;
    pair[1].eight = (v8){0, 0, 0, 0, 0, 0, 0, 21};
    numbers[699] = 4;
#pragma omp target map(tofrom : h.vectors [0:2]) map(from : vectors) device(device)
    {
        vectors = (uintptr_t)h.vectors;
        h.vectors[1].eight += h.vectors[1].eight;
    }
    CHECK_EQUAL(apart(pair, vectors, sizeof(pair)), 0);
    CHECK(pair[1].eight[7] == 42);
#pragma omp target map(mapper(whole), tofrom : h) map(from : there, vectors) device(device)
    {
        there = (uintptr_t)h.numbers;
        vectors = (uintptr_t)h.vectors;
        h.numbers[699]++;
        h.vectors[1].eight += h.vectors[1].eight;
    }
    CHECK_EQUAL(apart(numbers, there, 700 * sizeof(double)), 0);
    CHECK_EQUAL(apart(pair, vectors, sizeof(pair)), 0);
    CHECK(numbers[699] == 5 && pair[1].eight[7] == 84);
}

/* ---- variables ------------------------------------------------------------------------------ */

#pragma omp declare target
char odd_global;
v8 eight_global = {1};
#pragma omp end declare target

static void check_variables(void)
{
    char a = 1, b = 2;
    alignas(LINE) char c[3] = "xy";
    v4 four = {1, 2, 3, 4}, twice[3] = {{1}, {2}, {3}};
    v8 eight = {1, 2, 3, 4, 5, 6, 7, 8};
    struct page page = {"p", {5}};
    uintptr_t at[5] = {0};
#pragma omp target map(tofrom : a, four, b, twice, c, eight, page) map(from : at) device(device)
    {
        at[0] = (uintptr_t)&c, at[1] = (uintptr_t)&four, at[2] = (uintptr_t)&eight;
        at[3] = (uintptr_t)&page, at[4] = (uintptr_t)&eight_global;
        four += four, eight += eight, twice[2] += twice[1], page.four += four;
        a++, b++, c[0]++, odd_global++, eight_global += eight;
    }
    CHECK_EQUAL(apart(&c, at[0], sizeof(c)), 0);
    CHECK_EQUAL(apart(&four, at[1], sizeof(four)), 0);
    CHECK_EQUAL(apart(&eight, at[2], sizeof(eight)), 0);
    CHECK_EQUAL(apart(&page, at[3], sizeof(page)), 0);
    CHECK_EQUAL(at[4] % LINE, 0);
    CHECK(four[3] == 8 && eight[7] == 16 && twice[2][0] == 5 && page.four[0] == 7);
    CHECK(a == 2 && b == 3 && c[0] == 'y' && c[1] == 'y');
}

/* Copies of the regions' own, small and large, in one and in several constructs at a time. */
static void check_private(void)
{
    char odd[3] = {1, 2, 3};
    v4 four = {1, 2, 3, 4}, pair[2] = {{5}, {6}};
    struct vectors s = {'f', {1}, 'b', {2}, {3}};
    struct page page = {"p", {7}};
    static struct {
        char odd;
        v8 eights[100];
    } large;
    large.eights[99] = (v8){8};
    double sum[4] = {0}, *sums = sum;
    for (int i = 0; i < 4; i++) {
#pragma omp target map(tofrom                                                                      \
                       : sums [i:1]) firstprivate(odd, four, pair, s, page, large) nowait          \
device(device)
        {
            four += pair[0] + pair[1], s.eight += s.eight, page.four += s.four;
            large.eights[99] += s.eight;
            sums[i] = odd[2] + four[0] + s.eight[0] + page.four[0] + large.eights[99][0];
        }
#pragma omp target private(four, s, page) device(device)
        {
            four = (v4){1}, s.eight = (v8){2}, page.four = four;
            odd_global += (char)(four[0] + s.eight[0] + page.four[0] != 4);
        }
    }
#pragma omp taskwait
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(sum[i], 3 + 12 + 4 + 8 + 12);
#pragma omp target update from(odd_global) device(device)
    CHECK_EQUAL(odd_global, 1);
}

int main(void)
{
    int devices = check_devices();
    for (device = 0; device < devices; device++) {
        each_size(check_entered, 61);
        each_size(check_alloc, 512);
        each_size(check_moved, 311);
        each_size(check_one_way, 509);
        check_members();
        check_pointers();
        check_variables();
        check_private();
        odd_global = 0;
    }
    return finish("align");
}

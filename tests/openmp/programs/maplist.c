/* test: args=1;15
 * maplist SEED ROUNDS: random map lists: regions with 1 to 60 arrays of 8 bytes to 200 KiB, mapped
 * to, from and both ways, some of them mapped before; updates of parts, mappers, several threads
 * and devices, with and without nowait; everything is compared. What hangs ends with a line. */
#include "check.h"

#include <signal.h>

enum { GROUPS = 3, ARRAYS = 60, PATIENCE_S = 30 };

/* Byte i of an array is always i + index + add, on the host and on the device. */
struct array {
    unsigned char *at;
    size_t bytes;
    int index, host_add, device_add;
    int mapped; /* since before the region */
};

/* What a region knows about its arrays. */
struct call {
    struct item {
        size_t bytes;
        int first, set; /* what byte 0 is before and after */
    } item[ARRAYS];
};

struct group {
    struct array array[ARRAYS];
    int device;
    unsigned long long state;
};

static struct group groups[GROUPS];

static unsigned long long draw(struct group *group, unsigned long long below)
{
    group->state ^= group->state << 13;
    group->state ^= group->state >> 7;
    group->state ^= group->state << 17;
    return (group->state * 2685821657736338717ULL >> 16) % below;
}

/* ---- regions ---- */

#pragma omp declare target
/* In a region: looks at an array that was copied, and changes it. */
static int change(unsigned char *at, const struct item *item, int look)
{
    int wrong = 0;
    for (size_t i = 0; i < item->bytes; i++) {
        wrong |= look && at[i] != (unsigned char)(i + (size_t)item->first);
        at[i] = (unsigned char)(i + (size_t)item->set);
    }
    return wrong;
}
#pragma omp end declare target

#define PRAGMA_(...) _Pragma(#__VA_ARGS__)
#define PRAGMA(...) PRAGMA_(__VA_ARGS__)

#define EACH_1(M) M(0)
#define EACH_2(M) EACH_1(M), M(1)
#define EACH_3(M) EACH_2(M), M(2)
#define EACH_5(M) EACH_3(M), M(3), M(4)
#define EACH_8(M) EACH_5(M), M(5), M(6), M(7)
#define EACH_13(M) EACH_8(M), M(8), M(9), M(10), M(11), M(12)
#define EACH_20(M) EACH_13(M), M(13), M(14), M(15), M(16), M(17), M(18), M(19)
#define EACH_40(M)                                                                                 \
    EACH_20(M), M(20), M(21), M(22), M(23), M(24), M(25), M(26), M(27), M(28), M(29), M(30),       \
        M(31), M(32), M(33), M(34), M(35), M(36), M(37), M(38), M(39)
#define EACH_60(M)                                                                                 \
    EACH_40(M), M(40), M(41), M(42), M(43), M(44), M(45), M(46), M(47), M(48), M(49), M(50),       \
        M(51), M(52), M(53), M(54), M(55), M(56), M(57), M(58), M(59)

#define P_BASE(i) *p##i = list[i].at
#define Q_BASE(i) *q##i = list[20 + i].at
#define R_BASE(i) *r##i = list[40 + i].at
#define P_SIZE(i) pn##i = list[i].bytes
#define Q_SIZE(i) qn##i = list[20 + i].bytes
#define R_SIZE(i) rn##i = list[40 + i].bytes
#define P_MAP(i) p##i [0:pn##i]
#define Q_MAP(i) q##i [0:qn##i]
#define R_MAP(i) r##i [0:rn##i]
#define P_WORK(i) *wrong |= change(p##i, &call->item[i], 1)
#define Q_WORK(i) *wrong |= change(q##i, &call->item[20 + i], 1)
#define R_WORK(i) *wrong |= change(r##i, &call->item[40 + i], 0)

/* n arrays both ways, the first n of the list. `call` is mapped: LLVM takes the address of what is
 * firstprivate and no scalar from the frame, and a nowait region may outlive that. */
#define REGION_ONE(n, name, nowait)                                                                \
    static void name(const struct array *list, const struct call *call, int *wrong, int device)    \
    {                                                                                              \
        unsigned char EACH_##n(P_BASE);                                                            \
        size_t EACH_##n(P_SIZE);                                                                   \
        PRAGMA(omp target map(tofrom                                                               \
                              : EACH_##n(P_MAP)) map(tofrom                                        \
                                                     : wrong [0:1]) map(to                         \
                                                                        : call [0:1])              \
                   device(device) nowait)                                                          \
        {                                                                                          \
            EACH_##n(P_WORK);                                                                      \
        }                                                                                          \
    }

/* n arrays both ways, n to the device, n from it: from 0, 20 and 40 of the list. */
#define REGION_THREE(n, name, nowait)                                                              \
    static void name(const struct array *list, const struct call *call, int *wrong, int device)    \
    {                                                                                              \
        unsigned char EACH_##n(P_BASE), EACH_##n(Q_BASE), EACH_##n(R_BASE);                        \
        size_t EACH_##n(P_SIZE), EACH_##n(Q_SIZE), EACH_##n(R_SIZE);                               \
        PRAGMA(omp target map(tofrom                                                               \
                              : EACH_##n(P_MAP)) map(to                                            \
                                                     : EACH_##n(Q_MAP)) map(from                   \
                                                                            : EACH_##n(R_MAP))     \
                   map(tofrom                                                                      \
                       : wrong [0:1]) map(to                                                       \
                                          : call [0:1]) device(device) nowait)                     \
        {                                                                                          \
            EACH_##n(P_WORK);                                                                      \
            EACH_##n(Q_WORK);                                                                      \
            EACH_##n(R_WORK);                                                                      \
        }                                                                                          \
    }

#define BOTH(KIND, n)                                                                              \
    KIND(n, KIND##_##n, )                                                                          \
    KIND(n, KIND##_##n##_nowait, nowait)

BOTH(REGION_ONE, 1)
BOTH(REGION_ONE, 5)
BOTH(REGION_ONE, 20)
BOTH(REGION_ONE, 40)
BOTH(REGION_ONE, 60)
BOTH(REGION_THREE, 1)
BOTH(REGION_THREE, 2)
BOTH(REGION_THREE, 3)
BOTH(REGION_THREE, 5)
BOTH(REGION_THREE, 8)
BOTH(REGION_THREE, 13)
BOTH(REGION_THREE, 20)

static const struct region {
    int count, three;
    void (*run[2])(const struct array *list, const struct call *call, int *wrong, int device);
} regions[] = {
#define ROW(KIND, n, three)                                                                        \
    {                                                                                              \
        n, three,                                                                                  \
        {                                                                                          \
            KIND##_##n, KIND##_##n##_nowait                                                        \
        }                                                                                          \
    }
    ROW(REGION_ONE, 1, 0),   ROW(REGION_ONE, 5, 0),    ROW(REGION_ONE, 20, 0),
    ROW(REGION_ONE, 40, 0),  ROW(REGION_ONE, 60, 0),   ROW(REGION_THREE, 1, 1),
    ROW(REGION_THREE, 2, 1), ROW(REGION_THREE, 3, 1),  ROW(REGION_THREE, 5, 1),
    ROW(REGION_THREE, 8, 1), ROW(REGION_THREE, 13, 1), ROW(REGION_THREE, 20, 1),
};

enum { REGIONS = sizeof(regions) / sizeof(regions[0]) };

static int used(const struct region *region, int number)
{
    return region->three ? number % 20 < region->count : number < region->count;
}

/* 0: both ways, 1: to, 2: from. */
static int way(const struct region *region, int number)
{
    return region->three ? number / 20 : 0;
}

static void run_region(struct group *group, int nowait)
{
    const struct region *region = &regions[draw(group, REGIONS)];
    struct call call;
    int wrong = 0;
    for (int i = 0; i < ARRAYS; i++) {
        struct array *array = &group->array[i];
        int set = (int)draw(group, 256), kind = way(region, i);
        if (!used(region, i))
            continue;
        call.item[i].bytes = array->bytes;
        call.item[i].first = array->index + (array->mapped ? array->device_add : array->host_add);
        call.item[i].set = array->index + set;
        if (kind == 2 && array->mapped == 0)
            memset(array->at, 99, array->bytes); /* all of it comes back */
        if (array->mapped)
            array->device_add = set;
        else if (kind != 1)
            array->host_add = set;
    }
    region->run[nowait](group->array, &call, &wrong, group->device);
#pragma omp taskwait
    CHECK_EQUAL(wrong, 0);
}

/* ---- what is mapped before and after ---- */

static void check_host(const struct array *array, size_t from, size_t bytes, int add)
{
    for (size_t i = from; i < from + bytes; i++)
        if (array->at[i] != (unsigned char)(i + (size_t)array->index + (size_t)add)) {
            fprintf(stderr, "array %d of %zu bytes, byte %zu is %d, not %d\n", array->index,
                    array->bytes, i, array->at[i],
                    (unsigned char)(i + (size_t)array->index + (size_t)add));
            CHECK(array->at[i] == (unsigned char)(i + (size_t)array->index + (size_t)add));
            return;
        }
}

static void set_host(struct array *array, int add)
{
    for (size_t i = 0; i < array->bytes; i++)
        array->at[i] = (unsigned char)(i + (size_t)array->index + (size_t)add);
    array->host_add = add;
}

static void enter(struct group *group, struct array *array)
{
    unsigned char *at = array->at;
    size_t bytes = array->bytes;
#pragma omp target enter data map(to : at [0:bytes]) device(group->device)
    array->mapped = 1;
    array->device_add = array->host_add;
}

static void leave(struct group *group, struct array *array)
{
    unsigned char *at = array->at;
    size_t bytes = array->bytes;
    if (!array->mapped)
        return;
#pragma omp target exit data map(from : at [0:bytes]) device(group->device)
    array->mapped = 0;
    array->host_add = array->device_add;
}

/* A part from the device, or all to it. */
static void update(struct group *group, struct array *array)
{
    unsigned char *at = array->at;
    size_t from = draw(group, array->bytes), bytes = 1 + draw(group, array->bytes - from);
    if (!array->mapped)
        return;
    if (draw(group, 2)) {
        set_host(array, (int)draw(group, 256));
        bytes = array->bytes;
#pragma omp target update to(at [0:bytes]) device(group->device)
        array->device_add = array->host_add;
        return;
    }
#pragma omp target update from(at [from:bytes]) device(group->device)
    check_host(array, from, bytes, array->device_add);
    set_host(array, array->host_add);
}

static size_t any_size(struct group *group)
{
    static const size_t limits[] = {8, 64, 512, 2048, 4096, 8192, 16384, 65536, 200 << 10};
    if (draw(group, 3) == 0)
        return limits[draw(group, sizeof(limits) / sizeof(limits[0]))];
    return 8 + draw(group, 1ULL << (1 + draw(group, 17)));
}

static void make_arrays(struct group *group)
{
    for (int i = 0; i < ARRAYS; i++) {
        struct array *array = &group->array[i];
        array->index = i;
        array->bytes = any_size(group);
        array->at = malloc(array->bytes);
        set_host(array, (int)draw(group, 256));
    }
}

static void run_group(struct group *group, int devices)
{
    make_arrays(group);
    group->device = (int)draw(group, (unsigned long long)devices);
    for (int i = 0; i < ARRAYS; i++)
        if (draw(group, 4) == 0)
            enter(group, &group->array[i]);
    for (int i = (int)draw(group, 4); i >= 0; i--) {
        run_region(group, draw(group, 2) != 0);
        for (int k = (int)draw(group, 5); k > 0; k--)
            update(group, &group->array[draw(group, ARRAYS)]);
    }
    for (int i = 0; i < ARRAYS; i++) {
        leave(group, &group->array[i]);
        check_host(&group->array[i], 0, group->array[i].bytes, group->array[i].host_add);
        free(group->array[i].at);
    }
}

/* ---- rounds ---- */

static int seed, turn;

static void hang(int number)
{
    char text[100];
    int length = snprintf(text, sizeof(text), "maplist: round %d of seed %d hangs\n", turn, seed);
    (void)number;
    (void)!write(2, text, (size_t)length);
    _exit(3);
}

int main(int count, char **words)
{
    int rounds = count > 2 ? atoi(words[2]) : 25, devices = check_devices();
    double end = check_end(count, words);
    seed = count > 1 ? atoi(words[1]) : 1;
    signal(SIGALRM, hang);
    for (int i = 0; i < GROUPS; i++)
        groups[i].state = (unsigned long long)seed * 1000003 + (unsigned long long)i * 7919 + 1;
    for (turn = 0; turn < rounds && omp_get_wtime() < end; turn++) {
        alarm(PATIENCE_S);
        if (turn % 3) {
#pragma omp parallel for num_threads(GROUPS) schedule(static, 1)
            for (int i = 0; i < GROUPS; i++)
                run_group(&groups[i], devices);
        } else {
            run_group(&groups[0], devices);
        }
    }
    alarm(0);
    return finish("maplist");
}

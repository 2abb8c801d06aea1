/* test: from=19 reference=no
 * omp_* functions for devices that not all LLVMs have: copies in several dimensions, behind
 * dependences, fills, corresponding pointers, interop objects, and what they answer to bad input.
 */
#include "check.h"

enum { X = 5, Y = 7, Z = 9 };

static void fill_host(int (*a)[Y][Z])
{
    for (int i = 0; i < X * Y * Z; i++)
        a[0][0][i] = i;
}

/* A box in the middle of a box, there and back to another place. */
static void boxes(int device, int other)
{
    int host = omp_get_initial_device(), a[X][Y][Z], b[X][Y][Z], wrong = 0;
    int *p = omp_target_alloc(sizeof(a), device), *q = omp_target_alloc(sizeof(a), other);
    const size_t all[] = {X, Y, Z}, none[] = {0, 0, 0}, size[] = {2, 3, 4};
    const size_t from[] = {1, 2, 3}, to[] = {3, 4, 5};
    fill_host(a);
    memset(b, 0, sizeof(b));
    CHECK_EQUAL(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0) >= 3,
                1);
    CHECK(omp_target_memset(q, 0, sizeof(b), other) == q);
    CHECK_EQUAL(
        omp_target_memcpy_rect(p, a, sizeof(int), 3, all, none, none, all, all, device, host), 0);
    CHECK_EQUAL(
        omp_target_memcpy_rect(q, p, sizeof(int), 3, size, to, from, all, all, other, device), 0);
    CHECK_EQUAL(omp_target_memcpy(b, q, sizeof(b), 0, 0, host, other), 0);
    for (int x = 0; x < X; x++)
        for (int y = 0; y < Y; y++)
            for (int z = 0; z < Z; z++) {
                int inside = x >= 3 && y >= 4 && z >= 5;
                wrong += b[x][y][z] != (inside ? ((x - 2) * Y + y - 2) * Z + z - 2 : 0);
            }
    CHECK_EQUAL(wrong, 0);
    omp_target_free(p, device);
    omp_target_free(q, other);
}

/* A chain over depend objects: fill, copy in, region, copy out. */
static void chain(int device)
{
    enum { N = 3000 };
    int host = omp_get_initial_device(), wrong = 0;
    unsigned char *a = malloc(N), *b = calloc(1, N), *p = omp_target_alloc(N, device);
    omp_depend_t filled, copied;
    memset(a, 1, N);
#pragma omp depobj(filled) depend(inout : p[0])
#pragma omp depobj(copied) depend(inout : b[0])
    omp_depend_t both[] = {filled, copied};
    omp_target_memset_async(p, 7, N, device, 1, &filled);
    CHECK_EQUAL(omp_target_memcpy_async(p, a, N - 20, 10, 20, device, host, 1, &filled), 0);
#pragma omp target is_device_ptr(p) device(device) depend(inout : p[0]) nowait
    for (int i = 0; i < N; i++)
        p[i] *= 2;
    CHECK_EQUAL(omp_target_memcpy_async(b, p, N, 0, 0, host, device, 2, both), 0);
#pragma omp taskwait depend(in : b[0])
    for (int i = 0; i < N; i++)
        wrong += b[i] != (i >= 10 && i < N - 10 ? 2 : 14);
    CHECK_EQUAL(wrong, 0);
    const size_t volume[] = {10, 20}, corner[] = {0, 0}, rows[] = {30, 100};
    CHECK_EQUAL(omp_target_memcpy_rect_async(b, p, 1, 2, volume, corner, corner, rows, rows, host,
                                             device, 0, NULL),
                0);
#pragma omp taskwait
#pragma omp depobj(filled) destroy
#pragma omp depobj(copied) destroy
    omp_target_free(p, device);
    free(a);
    free(b);
}

static void pointers(int device)
{
    int host = omp_get_initial_device(), a[100], *there = NULL;
    CHECK(omp_get_mapped_ptr(a, device) == NULL);
    CHECK(omp_get_mapped_ptr(a, host) == a);
    CHECK(omp_get_mapped_ptr(NULL, device) == NULL);
#pragma omp target data map(alloc : a [10:50]) device(device)
    {
        there = omp_get_mapped_ptr(&a[20], device);
        CHECK(there && there != &a[20]);
        CHECK((int *)omp_get_mapped_ptr(&a[10], device) == there - 10);
        CHECK(omp_get_mapped_ptr(&a[60], device) == NULL);
        CHECK(omp_get_mapped_ptr(&a[9], device) == NULL);
        a[20] = 0;
#pragma omp target is_device_ptr(there) device(device)
        *there = 2020;
#pragma omp target update from(a [20:1]) device(device)
        CHECK_EQUAL(a[20], 2020);
        CHECK(omp_target_associate_ptr(a, there, sizeof(a), 0, device) != 0);
    }
    CHECK(omp_target_is_present(a, host));
    CHECK(!omp_target_is_present(NULL, device));
    CHECK(omp_target_disassociate_ptr(a, device) != 0);
    CHECK(omp_target_disassociate_ptr(a, host) != 0);
    CHECK(omp_target_associate_ptr(NULL, there, 4, 0, device) != 0);
    int *p = omp_target_alloc(sizeof(a), device), value = 0;
    CHECK_EQUAL(omp_target_associate_ptr(a, p, 40, 80, device), 0);
    CHECK_EQUAL(omp_target_associate_ptr(a, p, 40, 80, device), 0);
    CHECK(omp_target_associate_ptr(a, p, 40, 120, device) != 0);
    a[3] = 33;
#pragma omp target update to(a [3:1]) device(device)
    CHECK_EQUAL(omp_target_memcpy(&value, p, 4, 0, 80 + 12, host, device), 0);
    CHECK_EQUAL(value, 33);
    CHECK_EQUAL(omp_target_disassociate_ptr(a, device), 0);
    omp_target_free(p, device);
}

/* What cannot be done is said, and the program goes on. */
static void bad_input(int device)
{
    int a[4] = {0}, host = omp_get_initial_device();
    const size_t one[] = {1}, none[] = {0};
    CHECK(omp_target_memcpy(NULL, a, 4, 0, 0, device, host) != 0);
    CHECK_EQUAL(omp_target_memcpy(a, a, 0, 0, 0, device, host), 0);
    CHECK(omp_target_memcpy(a, a, 4, 0, 0, 1000, host) != 0);
    CHECK(omp_target_memcpy_rect(a, a, 4, 0, one, none, none, one, one, host, host) != 0);
    CHECK(omp_target_memcpy_rect(a, a, 4, 1, NULL, none, none, one, one, host, host) != 0);
    CHECK(omp_target_alloc(4, 1000) == NULL);
    CHECK(omp_target_alloc(0, device) == NULL);
}

static void interop(int device)
{
    omp_interop_t object = omp_interop_none;
    int result = 0;
#pragma omp interop init(targetsync : object) device(device)
    CHECK(object != omp_interop_none);
    CHECK_EQUAL(omp_get_interop_int(object, omp_ipr_device_num, &result), device);
    CHECK_EQUAL(result, 0);
    omp_get_interop_ptr(object, omp_ipr_device_num, &result);
    CHECK(result < 0);
    CHECK(omp_get_interop_str(object, omp_ipr_vendor_name, &result) != NULL);
    CHECK(omp_get_interop_rc_desc(object, result) != NULL);
#pragma omp interop use(object)
#pragma omp interop destroy(object)
    CHECK(object == omp_interop_none);
}

int main(void)
{
    int count = check_devices();
    for (int d = 0; d < count; d++) {
        boxes(d, (d + 1) % count);
        chain(d);
        pointers(d);
        bad_input(d);
        interop(d);
    }
    boxes(omp_get_initial_device(), 0);
    boxes(0, omp_get_initial_device());
    boxes(omp_get_initial_device(), omp_get_initial_device());
    return finish("functions");
}

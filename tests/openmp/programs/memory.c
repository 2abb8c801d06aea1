/* test: tier=all
 * Device memory routines: alloc, memcpy, memcpy_rect, associate, is_present, device to device. */
#include "check.h"

enum { N = 50000 };

static void check_copies(int from, int to)
{
    int host = omp_get_initial_device();
    int *a = malloc(N * sizeof(int)), *b = calloc(N, sizeof(int));
    int *p = omp_target_alloc(N * sizeof(int), from), *q = omp_target_alloc(N * sizeof(int), to);
    CHECK(p && q);
    for (int i = 0; i < N; i++)
        a[i] = i * 3;
    CHECK_EQUAL(omp_target_memcpy(p, a, N * sizeof(int), 0, 0, from, host), 0);
    CHECK_EQUAL(omp_target_memcpy(q, p, N * sizeof(int), 0, 0, to, from), 0);
#pragma omp target is_device_ptr(q) device(to)
    for (int i = 0; i < N; i++)
        q[i]++;
    CHECK_EQUAL(omp_target_memcpy(b, q, (N - 10) * sizeof(int), 0, 40, host, to), 0);
    int bad = 0;
    for (int i = 0; i < N - 10; i++)
        bad += b[i] != (i + 10) * 3 + 1;
    CHECK_EQUAL(bad, 0);
    CHECK_EQUAL(b[N - 1], 0);
    omp_target_free(p, from);
    omp_target_free(q, to);
    free(a);
    free(b);
}

static void check_rect(int device)
{
    int host = omp_get_initial_device(), from[6][8], to[4][4] = {{0}};
    size_t volume[2] = {2, 3}, to_offset[2] = {1, 1}, from_offset[2] = {2, 4};
    size_t to_size[2] = {4, 4}, from_size[2] = {6, 8};
    for (int i = 0; i < 48; i++)
        from[0][i] = i;
    int *p = omp_target_alloc(sizeof(from), device);
    omp_target_memcpy(p, from, sizeof(from), 0, 0, device, host);
    CHECK_EQUAL(omp_target_memcpy_rect(to, p, sizeof(int), 2, volume, to_offset, from_offset,
                                       to_size, from_size, host, device),
                0);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int inside = i >= 1 && i < 3 && j >= 1 && j < 4;
            CHECK_EQUAL(to[i][j], inside ? (i + 1) * 8 + j + 3 : 0);
        }
    omp_target_free(p, device);
}

static void check_associate(int device)
{
    int a[100] = {0}, seen = 0;
    int *p = omp_target_alloc(sizeof(a), device);
    CHECK_EQUAL(omp_target_associate_ptr(a, p, sizeof(a), 0, device), 0);
    CHECK(omp_target_is_present(a, device));
#pragma omp target device(device) map(alloc : a)
    a[50] = 51;
#pragma omp target device(device) map(alloc : a) map(from : seen)
    seen = a[50];
    CHECK_EQUAL(seen, 51);
    CHECK_EQUAL(a[50], 0);
    CHECK_EQUAL(omp_target_disassociate_ptr(a, device), 0);
    CHECK(!omp_target_is_present(a, device));
    omp_target_memcpy(a, p, sizeof(a), 0, 0, omp_get_initial_device(), device);
    CHECK_EQUAL(a[50], 51);
    omp_target_free(p, device);
}

int main(void)
{
    int count = check_devices();
    for (int d = 0; d < count; d++) {
        check_copies(d, (d + 1) % count);
        check_rect(d);
        check_associate(d);
    }
    CHECK(omp_target_alloc(0, 0) == NULL || 1);
    omp_target_free(NULL, 0);
    /* Many blocks, freed in another order than allocated. */
    char *blocks[500];
    for (int i = 0; i < 500; i++) {
        blocks[i] = omp_target_alloc((size_t)(i * 37 % 5000 + 1), 0);
        CHECK(blocks[i]);
    }
    for (int i = 0; i < 500; i++)
        omp_target_free(blocks[i * 7 % 500], 0);
    return finish("memory");
}

/* test: reference=no needs=own from=19 flags22=-DUIDS flags23=-DUIDS
 * The host by its numbers: in functions -1 is the host as well as the number behind the last
 * device. omp_target_memset on all of them. Names of devices lead back to their numbers. */
#include "check.h"

#ifdef UIDS /* from 22 on */
const char *omp_get_uid_from_device(int number);
int omp_get_device_from_uid(const char *uid);
#endif

enum { BYTES = 100000 };

static void copies(int device, int host)
{
    static char from[BYTES], to[BYTES];
    char *there = omp_target_alloc(BYTES, device), *here = omp_target_alloc(BYTES, host);
    memset(from, device + 1, BYTES);
    CHECK(there && here);
    CHECK_EQUAL(omp_target_memcpy(here, from, BYTES, 0, 0, host, omp_get_initial_device()), 0);
    CHECK_EQUAL(memcmp(here, from, BYTES), 0);
    CHECK_EQUAL(omp_target_memcpy(there, here, BYTES, 0, 0, device, host), 0);
    CHECK_EQUAL(omp_target_memcpy(to, there, BYTES, 0, 0, host, device), 0);
    CHECK_EQUAL(memcmp(to, from, BYTES), 0);
    CHECK_EQUAL(omp_target_is_present(from, host), 1);
    CHECK_EQUAL(omp_target_is_present(from, device), 0);
    CHECK(omp_get_mapped_ptr(from, host) == from);
    CHECK(omp_target_associate_ptr(from, there, BYTES, 0, host) != 0);
    omp_target_free(here, host);
    omp_target_free(there, device);
}

void *omp_target_memset(void *address, int value, size_t bytes, int device);

static void fills(int device)
{
    static unsigned char back[BYTES + 3];
    unsigned char *there = omp_target_alloc(BYTES + 3, device);
    int wrong = 0;
    CHECK(omp_target_memset(there, 7, BYTES + 3, device) == there);
    CHECK(omp_target_memset(there + 1, 300 + device, BYTES, device) == there + 1);
    CHECK_EQUAL(omp_target_memcpy(back, there, BYTES + 3, 0, 0, -1, device), 0);
    for (int i = 1; i <= BYTES; i++)
        wrong += back[i] != (unsigned char)(300 + device);
    CHECK_EQUAL(wrong, 0);
    CHECK_EQUAL(back[0] + back[BYTES + 1] + back[BYTES + 2], 21);
    omp_target_free(there, device);
}

int main(void)
{
    int count = check_devices(), host = 0;
    for (int device = 0; device < count; device++) {
        copies(device, -1);
        copies(device, count);
        fills(device);
    }
    fills(-1);
    omp_set_default_device(count);
#pragma omp target map(from : host)
    host = omp_is_initial_device();
    CHECK_EQUAL(host, 1);
#ifdef UIDS
    for (int i = 0; i <= count; i++) {
        char uid[200];
        snprintf(uid, sizeof(uid), "%s", omp_get_uid_from_device(i));
        CHECK_EQUAL(omp_get_device_from_uid(uid), i);
    }
    CHECK(strcmp(omp_get_uid_from_device(-1), "HOST") == 0);
#endif
    return finish("initial");
}

/* test: needs=worker reference=no stderr=device.0
 * A copy that runs past its block is refused, or one with memory of the program that may not be
 * used, and the next one works. Constants, which compilers map there and back, stay as they are. */
#include "check.h"

#include <sys/mman.h>

enum { PAGE = 4096, MOST = 64 * PAGE };

static const double few[4] = {1, 2, 3, 4};
static const double many[20000] = {1, 2, [19999] = 3};

static void blocks(int host)
{
    char data[300] = {0};
    void *p = omp_target_alloc(200, 0);
    CHECK(omp_target_memcpy(p, data, 300, 0, 0, 0, host) != 0);
    CHECK(omp_target_memcpy(p, data, 200, 0, 0, 0, host) == 0);
    omp_target_free(p, 0);
    CHECK(omp_target_memcpy(p, data, 100, 0, 0, 0, host) != 0);
}

/* The last of the pages that have `bytes` may not be used so. */
static void pages(int host, size_t bytes, int rights)
{
    size_t room = (bytes + PAGE - 1) / PAGE * PAGE;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *p = omp_target_alloc(bytes, 0), *at = memory + room - bytes;
    mprotect(memory + room - PAGE, PAGE, rights);
    CHECK((omp_target_memcpy(p, at, bytes, 0, 0, 0, host) == 0) == (rights != PROT_NONE));
    CHECK(omp_target_memcpy(at, p, bytes, 0, 0, host, 0) != 0);
    mprotect(memory + room - PAGE, PAGE, PROT_READ | PROT_WRITE);
    CHECK(omp_target_memcpy(at, p, bytes, 0, 0, host, 0) == 0);
    omp_target_free(p, 0);
    munmap(memory, room);
}

static void constants(void)
{
    double sum = 0;
    for (int round = 0; round < 2; round++) {
#pragma omp target map(tofrom : sum)
        for (int i = 0; i < 20000; i++)
            sum += many[i] + few[i % 4];
#pragma omp target map(tofrom : sum) map(tofrom : few)
        sum += few[3];
    }
    CHECK(sum == 2 * (6 + 50000 + 4));
}

int main(void)
{
    int host = omp_get_initial_device();
    check_devices();
    blocks(host);
    for (size_t bytes = 8; bytes <= MOST; bytes *= 32) {
        pages(host, bytes, PROT_READ);
        pages(host, bytes, PROT_NONE);
    }
    constants();
    return finish("bad_copy");
}

/* test: opened=reopen libs=-ldl needs=own
 * A library with regions that is opened, used and closed again and again: its variables begin anew
 * each time, on all devices, and where they were other data can be mapped. The last time it stays
 * open, and regions run on. */
#include <dlfcn.h>
#include "check.h"

enum { ROUNDS = 5, LENGTH = 1000 };

static int sum(int *data, int device)
{
    int all = 0;
#pragma omp target map(to : data[:LENGTH]) map(tofrom : all) device(device)
    for (int i = 0; i < LENGTH; i++)
        all += data[i];
    return all;
}

int main(int argc, char **argv)
{
    int count = check_devices(), data[LENGTH];
    char path[1000];
    (void)argc;
    for (int i = 0; i < LENGTH; i++)
        data[i] = i;
    snprintf(path, sizeof(path), "%s.opened.so", argv[0]);
    for (int round = 0; round < ROUNDS; round++) {
        void *library = dlopen(path, RTLD_NOW);
        CHECK(library);
        if (!library)
            break;
        int (*next)(int) = (int (*)(int))dlsym(library, "reopen_next");
        int (*total)(int) = (int (*)(int))dlsym(library, "reopen_total");
        for (int d = 0; d < count; d++) {
            CHECK_EQUAL(total(d), 1 + 2 + 3 + 4);
            CHECK_EQUAL(next(d), 41);
            CHECK_EQUAL(next(d), 42);
        }
        if (round == ROUNDS - 1)
            break;
        CHECK_EQUAL(dlclose(library), 0);
        CHECK(!dlopen(path, RTLD_NOW | RTLD_NOLOAD));
        for (int d = 0; d < count; d++)
            CHECK_EQUAL(sum(data, d), LENGTH * (LENGTH - 1) / 2);
    }
    for (int d = 0; d < count; d++)
        CHECK_EQUAL(sum(data, d), LENGTH * (LENGTH - 1) / 2);
    return finish("reopen");
}

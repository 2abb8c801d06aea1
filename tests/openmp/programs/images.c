/* test: reference=not-18 linked=images_linked opened=images_opened libs=-ldl
 * Several images: the program's own, one of a linked library, one of a library opened later. */
#include <dlfcn.h>
#include "check.h"

int linked_run(int device, int x);

#pragma omp declare target
static int same_name(int x)
{
    return x + 1;
}
#pragma omp end declare target

int main(int argc, char **argv)
{
    int count = check_devices(), x = 0;
    (void)argc;
#pragma omp target map(from : x)
    x = same_name(1);
    CHECK_EQUAL(x, 2);
    for (int d = 0; d < count; d++)
        CHECK_EQUAL(linked_run(d, 5), 15);
    char path[1000];
    snprintf(path, sizeof(path), "%s.opened.so", argv[0]);
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library);
    if (library) {
        int (*run)(int, int) = (int (*)(int, int))dlsym(library, "opened_run");
        for (int d = 0; d < count; d++)
            CHECK_EQUAL(run(d, 7), 701 + d);
    }
    CHECK_EQUAL(linked_run(count - 1, 6), 16);
    return finish("images");
}

/* test: tier=few
 * A kernel that takes long does not stop the other devices, nor transfers to them: it makes a
 * file longer and lasts until that is gone, which is after them. Either waits for the other only so
 * long. */
#include "check.h"

#include <sys/stat.h>

enum { MOST_MS = 20000 };

static void wait_for_kernel(const char *path)
{
    struct stat info;
    int waited = 0;

    while (waited++ < MOST_MS && stat(path, &info) == 0 && info.st_size == 0)
        usleep(1000);
    CHECK(waited < MOST_MS);
}

int main(void)
{
    static char data[4 << 20];
    char path[] = "/tmp/long_kernel-XXXXXX";
    int count = check_devices(), file = mkstemp(path), seen = -1;

    CHECK(file >= 0);
    if (count < 2 || !test_is_remote())
        unlink(path);
#pragma omp target nowait map(to : path) map(tofrom : seen) depend(out : seen)
    for (seen = 0; seen < MOST_MS && truncate(path, 1) == 0; seen++)
        usleep(1000);
    if (count > 1) {
        wait_for_kernel(path);
        for (int i = 0; i < 10; i++) {
#pragma omp target map(tofrom : data) device(1)
            data[i] = 1;
        }
    }
    unlink(path);
#pragma omp taskwait
    CHECK(seen >= 0 && seen < MOST_MS);
    return finish("long_kernel");
}

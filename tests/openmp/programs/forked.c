/* test: needs=worker reference=no stderr=forked.by.one.that.is.connected
 * A child process that uses the devices of its parent fails with a line, and its parent goes on. */
#include <sys/wait.h>
#include "check.h"

static int region(int x)
{
#pragma omp target map(tofrom : x)
    x++;
    return x;
}

int main(void)
{
    check_devices();
    int x = 1;
#pragma omp target enter data map(to : x)
    CHECK_EQUAL(region(1), 2);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        region(2);
        _exit(0); /* libomp 16 hangs in a child that calls exit() */
    }
    int status = 0;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0));
    CHECK_EQUAL(region(3), 4);
#pragma omp target exit data map(from : x)
    CHECK_EQUAL(x, 1);
    return finish("forked");
}

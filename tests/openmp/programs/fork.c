/* test:
 * Child processes do not take the devices along. */
#include <sys/wait.h>
#include "check.h"

int main(void)
{
    check_devices();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(5); /* libomp 16 hangs in a child that calls exit() */
    int status = 0;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    CHECK_EQUAL(system("exit 6") >> 8, 6);
    int x = 1;
#pragma omp target map(tofrom : x)
    x++;
    CHECK_EQUAL(x, 2);
    return finish("fork");
}

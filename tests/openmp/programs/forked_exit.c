/* test: from=19
 * A child process may do what the host does, and end by exit(), which its parent does not notice.
 * (Those of older libomp hang.) */
#include <sys/wait.h>
#include "check.h"

int main(void)
{
    check_devices();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int x = 4;
#pragma omp target map(tofrom : x) device(omp_get_initial_device())
        x++;
        exit(x);
    }
    int status = 0;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    int x = 1;
#pragma omp target map(tofrom : x)
    x++;
    CHECK_EQUAL(x, 2);
    return finish("forked_exit");
}

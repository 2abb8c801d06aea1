/* test: needs=worker;mpi reference=no stderr=has.become.another.program.by.exec
 * A program that becomes another one has left its workers without a word: omprma-run says it. */
#include "check.h"

int main(void)
{
    check_devices();
    if (finish("replaced") != 0)
        return 1;
    fflush(stdout);
    execl("/bin/sleep", "sleep", "1", (char *)NULL);
    return 2;
}

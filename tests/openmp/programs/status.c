/* test: status=3
 * The exit status of main reaches the shell. */
#include "check.h"

int main(void)
{
    check_devices();
    return finish("status") ? 1 : 3;
}

/* test: linked=equal needs=own
 * Kernels of one name in the program and in a library: each calls its own. LLVM's own runtime takes
 * one of them for both (seen with 14 to 22, local device). */
#include "check.h"

#define EQUAL_VALUE 1
#include "equal.h"

int part_value(int device);
int part_count(int device);
int part_sum(int device);

int main(void)
{
    int count = check_devices();
    for (int round = 1; round <= 3; round++)
        for (int d = 0; d < count; d++) {
            CHECK_EQUAL(equal_value(d), 1);
            CHECK_EQUAL(part_value(d), 100);
            CHECK_EQUAL(equal_count(d), 1 + round);
            CHECK_EQUAL(part_count(d), 100 + 100 * round);
            CHECK_EQUAL(part_sum(d), 1000);
            CHECK_EQUAL(equal_sum(d), 10);
        }
    return finish("equal");
}

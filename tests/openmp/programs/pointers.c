/* test: reference=no from=19
 * Functions that are called through pointers (declare target indirect): pointers that a region gets
 * by itself, and pointers inside of data. The local device calls the host's functions. Of the
 * devices of one worker only the first can be given pointers inside of data. */
#include "check.h"

#pragma omp begin declare target indirect
static int calls;
int add(int x)
{
    calls++;
    return x + 1;
}
int twice(int x)
{
    calls++;
    return 2 * x;
}
#pragma omp end declare target

struct step {
    int (*run)(int);
    int result;
};

int main(void)
{
    int count = check_devices();
    int (*own)(int) = twice;
    struct step steps[3] = {{add, 0}, {twice, 0}, {add, 0}};
    for (int device = 0; device < count; device++) {
        int result = 0, made = 0;
#pragma omp target device(device) map(from : result)
        result = own(21);
        CHECK_EQUAL(result, 42);
#pragma omp target device(device) map(tofrom : steps) map(from : made)
        {
            int value = 5;
            for (int i = 0; i < 3; i++)
                value = steps[i].result = steps[i].run(value);
            made = calls;
        }
        CHECK_EQUAL(steps[0].result, 6);
        CHECK_EQUAL(steps[1].result, 12);
        CHECK_EQUAL(steps[2].result, 13);
        CHECK_EQUAL(made, 4);
    }
    return finish("pointers");
}

/* test: reference=no
 * Device globals with constructors and destructors; a region in the destructor of a host global.
 * The stock plugin of LLVM 14 crashes at the end. */
#include "check.h"

#pragma omp declare target
struct counter {
    int value;
    counter() : value(40)
    {
    }
    ~counter()
    {
        value = 0;
    }
    int next()
    {
        return ++value;
    }
};
counter global;
#pragma omp end declare target

struct at_end {
    ~at_end()
    {
        int x = 0;
#pragma omp target map(tofrom : x)
        x = 77;
        printf("at the end %d\n", x);
    }
};
static at_end ending;

int main()
{
    int count = check_devices();
    for (int d = 0; d < count; d++) {
        int x = 0;
#pragma omp target map(from : x) device(d)
        {
            global.next();
            x = global.next();
        }
        CHECK_EQUAL(x, 42);
    }
    CHECK_EQUAL(global.value, 40);
    return finish("cxx_globals");
}

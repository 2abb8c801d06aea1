/* test: from=16
 * The same data mapped by several threads at once. Not before LLVM 16: libomptarget 14 and 15 free
 * the data under another thread's feet, with the local device too. */
#include "check.h"

int main(void)
{
    check_devices();
    static int shared[1000];
    int wrong = 0;
    for (int i = 0; i < 1000; i++)
        shared[i] = i;
#pragma omp parallel for num_threads(6) reduction(+ : wrong)
    for (int t = 0; t < 60; t++) {
        int sum = 0;
#pragma omp target map(to : shared) map(tofrom : sum)
        for (int i = 0; i < 1000; i++)
            sum += shared[i];
        wrong += sum != 499500;
    }
    CHECK_EQUAL(wrong, 0);
    return finish("threads_shared");
}

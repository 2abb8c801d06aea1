/* test: reference=no
 * declare target link: mapped when needed. The stock plugins of LLVM 14 and 15 crash on it. */
#include "check.h"

int table[500];
double scale = 2;
#pragma omp declare target link(table, scale)

#pragma omp declare target
static int table_sum(void)
{
    int sum = 0;
    for (int i = 0; i < 500; i++)
        sum += table[i];
    return sum;
}
#pragma omp end declare target

int main(void)
{
    int count = check_devices();
    for (int i = 0; i < 500; i++)
        table[i] = i;
    for (int d = 0; d < count; d++) {
        int sum = 0;
#pragma omp target device(d) map(tofrom : table) map(to : scale) map(from : sum)
        {
            sum = table_sum() * (int)scale;
            table[1]++;
        }
        CHECK_EQUAL(sum, 499 * 500 + 2 * d);
        CHECK_EQUAL(table[1], 2 + d);
    }
    return finish("link");
}

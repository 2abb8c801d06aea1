/* test: tier=all
 * declare target: variables and functions, on every device its own copy. */
#include "check.h"

#pragma omp declare target
int counter = 5;
double weights[3] = {0.5, 1.5, 2.5};
static int hidden = 9;
struct point {
    int x, y;
} origin = {3, 4};
const char *names[2] = {"zero", "one"};

static int square(int x)
{
    return x * x;
}

int count_up(void)
{
    static int calls; /* lives on the device */
    return ++calls;
}

int (*chosen)(int) = square;
#pragma omp end declare target

int main(void)
{
    int count = check_devices();
    for (int d = 0; d < count; d++) {
        int sum = 0, calls = 0;
        char letter = 0;
#pragma omp target device(d) map(from : sum, calls, letter)
        {
            sum = counter + hidden + origin.x * origin.y + square(3) + chosen(4);
            sum += (int)(weights[0] + weights[1] + weights[2]);
            letter = names[1][1];
            counter += d + 1;
            count_up();
            calls = count_up();
        }
        CHECK_EQUAL(sum, 5 + 9 + 12 + 9 + 16 + 4);
        CHECK_EQUAL(letter, 'n');
        if (test_is_remote()) /* stock's devices are one process and may share its code */
            CHECK_EQUAL(calls, 2);
    }
    for (int d = 0; d < count; d++) {
#pragma omp target update from(counter) device(d)
        if (test_is_remote() || d == 0)
            CHECK_EQUAL(counter, 5 + d + 1);
    }
    CHECK_EQUAL(count_up(), 1); /* the host's own */
    return finish("globals");
}

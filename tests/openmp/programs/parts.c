/* test: needs=own
 * target update of parts of every rank: some of several rows, some elements of rows, with steps.
 * LLVM's own runtime copies too little of nearly all of them (seen with 14 to 22, local device). */
#include "check.h"

enum { A = 5, B = 6, C = 7, D = 8 };
static int m[A][B][C][D];

#define EACH                                                                                       \
    for (int a = 0; a < A; a++)                                                                    \
        for (int b = 0; b < B; b++)                                                                \
            for (int c = 0; c < C; c++)                                                            \
                for (int d = 0; d < D; d++)

static void begin(void)
{
    EACH m[a][b][c][d] = 1 + 1000 * a + 100 * b + 10 * c + d;
#pragma omp target enter data map(to : m)
#pragma omp target
    EACH m[a][b][c][d] *= -1;
}

static void end(void)
{
#pragma omp target exit data map(delete : m)
}

/* Negative is what came from the device. */
#define COUNT_WRONG(inside)                                                                        \
    do {                                                                                           \
        int wrong = 0;                                                                             \
        EACH wrong += (m[a][b][c][d] < 0) != (inside);                                             \
        CHECK_EQUAL(wrong, 0);                                                                     \
        end();                                                                                     \
    } while (0)

static void check_from(void)
{
    begin();
#pragma omp target update from(m [1:2] [2:3])
    COUNT_WRONG(a >= 1 && a < 3 && b >= 2 && b < 5);
    begin();
#pragma omp target update from(m [1:2] [2:3] [1:4])
    COUNT_WRONG(a >= 1 && a < 3 && b >= 2 && b < 5 && c >= 1 && c < 5);
    begin();
#pragma omp target update from(m [1:2] [2:3] [1:4] [3:2])
    COUNT_WRONG(a >= 1 && a < 3 && b >= 2 && b < 5 && c >= 1 && c < 5 && d >= 3 && d < 5);
    begin();
#pragma omp target update from(m [0:A] [0:B] [0:C] [3:2])
    COUNT_WRONG(d >= 3 && d < 5);
    begin();
#pragma omp target update from(m [2:1] [0:B] [3:1] [2:3])
    COUNT_WRONG(a == 2 && c == 3 && d >= 2 && d < 5);
}

static void check_steps(void)
{
    begin();
#pragma omp target update from(m [0:2] [0:3:2])
    COUNT_WRONG(a < 2 && b % 2 == 0);
    begin();
#pragma omp target update from(m [1:2] [1:2:3])
    COUNT_WRONG(a >= 1 && a < 3 && (b == 1 || b == 4));
    begin();
#pragma omp target update from(m [1:2] [1:2] [0:C] [1:3:2])
    COUNT_WRONG(a >= 1 && a < 3 && b >= 1 && b < 3 && (d == 1 || d == 3 || d == 5));
}

static void check_to(void)
{
    int sum = 0;
    begin();
    EACH m[a][b][c][d] = 1;
#pragma omp target update to(m [1:2] [2:3] [1:4] [3:2])
#pragma omp target map(tofrom : sum)
    EACH sum += m[a][b][c][d] == 1;
    CHECK_EQUAL(sum, 2 * 3 * 4 * 2);
    end();
}

int main(void)
{
    check_from();
    check_steps();
    check_to();
    return finish("parts");
}

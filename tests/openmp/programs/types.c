/* test: libs=-lm
 * Unusual types: complex, long double, 128 bits, bit fields, unions, variable length arrays. */
#include <complex.h>
#include <stdint.h>
#include "check.h"

union word {
    uint64_t u;
    double d;
    char bytes[8];
};
struct fields {
    unsigned low : 3, middle : 12, high : 17;
};
enum color { RED, GREEN = 77 };

static void check_vla(int rows, int columns)
{
    double m[rows][columns];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            m[i][j] = i * columns + j;
    double sum = 0;
#pragma omp target map(tofrom : m, sum)
    {
        double row[columns];
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                row[j] = m[i][j];
                m[i][j] = -m[i][j];
            }
            for (int j = 0; j < columns; j++)
                sum += row[j];
        }
    }
    CHECK(sum == (rows * columns - 1) * (rows * columns) / 2.0);
    CHECK(m[rows - 1][columns - 1] == -(rows * columns - 1));
}

int main(void)
{
    double complex z = 3 + 4 * I, w = 0;
    float complex c = 1 - 2 * I;
    long double l = 1.0L / 3;
    __int128 big = (__int128)1 << 100;
    union word word = {.d = 1.5};
    struct fields fields = {5, 4000, 100000};
    enum color color = GREEN;
    char text[] = "some text";
    int(*matrix)[4] = malloc(sizeof(int[3][4]));
    check_devices();
    memset(matrix, 0, sizeof(int[3][4]));
#pragma omp target map(tofrom                                                                      \
                       : w, l, big, word, fields, color, text, c) firstprivate(z)                  \
    map(tofrom                                                                                     \
        : matrix [0:3])
    {
        w = z * z;
        c = conjf(c);
        l *= 3;
        big += 7;
        word.bytes[0] ^= 1;
        fields.middle++;
        color = color == GREEN ? RED : GREEN;
        text[0] = 'S';
        matrix[2][3] = 23;
    }
    CHECK(creal(w) == -7 && cimag(w) == 24 && cimagf(c) == 2);
    CHECK(l == 1.0L / 3 * 3);
    CHECK((uint64_t)(big >> 64) == UINT64_C(1) << 36 && (uint64_t)big == 7);
    CHECK_EQUAL(word.u, UINT64_C(0x3ff8000000000001));
    CHECK(fields.low == 5 && fields.middle == 4001 && fields.high == 100000);
    CHECK(color == RED && strcmp(text, "Some text") == 0 && matrix[2][3] == 23);
    check_vla(17, 31);
    check_vla(1, 1);
    return finish("types");
}

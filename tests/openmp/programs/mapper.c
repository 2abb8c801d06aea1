/* test:
 * declare mapper, also nested and for arrays of structures. */
#include "check.h"

struct vector {
    int length;
    double *data;
};
#pragma omp declare mapper(struct vector v) map(v, v.data [0:v.length])

struct pair {
    struct vector left, right;
    int tag;
};
#pragma omp declare mapper(struct pair p) map(p.tag) map(p.left, p.right)

static struct vector vector_make(int length, double first)
{
    struct vector v = {length, malloc((size_t)length * sizeof(double))};
    for (int i = 0; i < length; i++)
        v.data[i] = first + i;
    return v;
}

int main(void)
{
    check_devices();
    struct vector v = vector_make(100, 1);
    double *host_data = v.data;
#pragma omp target map(tofrom : v)
    for (int i = 0; i < v.length; i++)
        v.data[i] *= 2;
    CHECK(v.data == host_data && v.data[99] == 200);

    struct vector many[3] = {vector_make(10, 0), vector_make(20, 100), vector_make(30, 200)};
#pragma omp target map(tofrom : many [0:3])
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < many[k].length; i++)
            many[k].data[i] += k;
    CHECK(many[0].data[9] == 9 && many[1].data[0] == 101 && many[2].data[29] == 231);

    struct pair p = {vector_make(5, 1), vector_make(6, 10), 7};
#pragma omp target map(tofrom : p)
    {
        p.left.data[4] = p.right.data[5];
        p.tag++;
    }
    CHECK(p.left.data[4] == 15 && p.tag == 8);
    return finish("mapper");
}

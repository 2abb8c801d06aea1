/* test: tier=all
 * Regions allocate memory and keep its address in structures that are mapped; later ones find it
 * there. With OMPRMA_PLACEMENT=auto they have to come to the worker that has it. */
#include "check.h"

enum { COUNT = 6 };

struct vector {
    long count, *values, others[6];
};

// clang-format off

static void vector_make(struct vector *vector)
{
#pragma omp target map(tofrom : vector[0:1])
    {
        vector->values = malloc(sizeof(long) * vector->count);
        for (long i = 0; i < vector->count; i++)
            vector->values[i] = vector->count + i;
    }
}

static long vectors_sum(struct vector *one, struct vector *other)
{
    long sum = 0;
#pragma omp target map(tofrom : one[0:1], other[0:1], sum)
    {
        for (long i = 0; i < one->count; i++)
            sum += one->values[i];
        for (long i = 0; i < other->count; i++)
            sum += other->values[i];
    }
    return sum;
}

static void vector_free(struct vector *vector)
{
#pragma omp target map(tofrom : vector[0:1])
    free(vector->values);
#pragma omp target exit data map(delete : vector[0:1])
    free(vector);
}

int main(void)
{
    struct vector *vectors[COUNT];
    check_devices();
    for (int i = 0; i < COUNT; i++) {
        struct vector *vector = vectors[i] = calloc(1, sizeof(*vector));
        vector->count = i + 1;
#pragma omp target enter data map(to : vector[0:1])
    }
    for (int i = 0; i < COUNT; i++)
        vector_make(vectors[i]);
    for (long i = 0; i < COUNT; i++) {
        long one = i + 1, other = (i + 1) % COUNT + 1;
        CHECK_EQUAL(vectors_sum(vectors[i], vectors[(i + 1) % COUNT]),
                    one * one + one * (one - 1) / 2 + other * other + other * (other - 1) / 2);
    }
    for (int i = 0; i < COUNT; i++)
        vector_free(vectors[i]);
    return finish("owned");
}

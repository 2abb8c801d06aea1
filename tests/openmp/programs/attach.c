/* test:
 * Pointers inside mapped structures are attached to mapped data; nested maps; linked lists. */
#include "check.h"

struct buffer {
    int bytes;
    unsigned char *data;
    struct buffer *next;
};

int main(void)
{
    check_devices();
    struct buffer first = {100, malloc(100), NULL};
    for (int i = 0; i < 100; i++)
        first.data[i] = (unsigned char)i;
    unsigned char *was = first.data;
#pragma omp target map(tofrom : first) map(tofrom : first.data [0:100])
    for (int i = 0; i < first.bytes; i++)
        first.data[i]++;
    CHECK(first.data == was && first.data[99] == 100);

    /* The structure first, what it points to later. */
    struct buffer *list = calloc(1, sizeof(*list));
    list->bytes = 10;
    list->data = calloc(10, 1);
#pragma omp target enter data map(to : list [0:1])
#pragma omp target enter data map(to : list->data [0:10])
#pragma omp target
    list->data[3] = 33;
#pragma omp target update from(list->data [0:10])
    CHECK_EQUAL(list->data[3], 33);
#pragma omp target exit data map(delete : list->data [0:10])
#pragma omp target exit data map(delete : list [0:1])

    /* Rows of a ragged matrix. */
    double *rows[8];
    double total = 0;
    for (int i = 0; i < 8; i++) {
        rows[i] = malloc(sizeof(double) * (size_t)(i + 1));
        for (int j = 0; j <= i; j++)
            rows[i][j] = i * 10 + j;
    }
#pragma omp target enter data map(to : rows)
    for (int i = 0; i < 8; i++) {
        double **row = rows;
#pragma omp target enter data map(to : row[i] [0:i + 1])
    }
#pragma omp target map(tofrom : total)
    for (int i = 0; i < 8; i++)
        total += rows[i][i];
    CHECK(total == 28 * 11);
    return finish("attach");
}

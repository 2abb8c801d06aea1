/* test: tier=all merge=yes
 * What host and regions print appears in program order, on both streams. */
#include "check.h"

#pragma omp declare target
/* A region would get the variable `stderr` of the host, a pointer that means nothing there. */
static void complain(const char *text, int i)
{
    fprintf(stderr, "target %s %d\n", text, i);
}

static void flush(void)
{
    fflush(stdout);
}
#pragma omp end declare target

int main(void)
{
    for (int i = 0; i < 5; i++) {
        printf("host %d\n", i);
#pragma omp target firstprivate(i)
        {
            printf("target %d", i);
            printf(", second half\n");
        }
        printf("host again %d\n", i);
    }
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        fprintf(stderr, "host error %d\n", i);
#pragma omp target firstprivate(i)
        {
            complain("error", i);
            puts("target out");
            flush();
            complain("error again", i);
        }
        fflush(stdout);
        printf("host out %d\n", i);
        fflush(stdout);
    }
    /* More than any message or pipe holds at once. */
#pragma omp target
    for (int i = 0; i < 20000; i++)
        printf("line %d of many\n", i);
    printf("end\n");
    return 0;
}

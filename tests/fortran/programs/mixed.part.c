/* mixed.part.c: device code in C in the same image as that of mixed.f90. */
void in_order(int *order, int n);

void in_order(int *order, int n)
{
    int at = 0;

#pragma omp target parallel for ordered schedule(static, 1) num_threads(4) map(tofrom              \
                                                                               : at)               \
    map(from                                                                                       \
        : order [0:n])
    for (int i = 0; i < n; i++) {
#pragma omp ordered
        order[at++] = i;
    }
}

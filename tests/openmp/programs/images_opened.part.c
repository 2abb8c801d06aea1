/* images_opened.part.c: the library that images.c opens. */
#pragma omp declare target
int opened_table[3] = {1, 2, 3};
static int same_name(int x)
{
    return x * 100;
}
#pragma omp end declare target

int opened_run(int device, int x);

int opened_run(int device, int x)
{
    opened_table[0] = device + 1;
#pragma omp target update to(opened_table) device(device)
#pragma omp target map(tofrom : x) device(device)
    x = same_name(x) + opened_table[0];
    return x;
}

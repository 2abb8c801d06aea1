/* images_linked.part.c: the linked library of images.c. */
#pragma omp declare target
static int same_name(int x)
{
    return x + 10;
}
#pragma omp end declare target

int linked_run(int device, int x);

int linked_run(int device, int x)
{
#pragma omp target map(tofrom : x) device(device)
    x = same_name(x);
    return x;
}

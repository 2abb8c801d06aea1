/* reopen.part.c: the library that reopen.c opens. */
#pragma omp declare target
int reopen_counter = 40;
int reopen_numbers[4] = {1, 2, 3, 4};
#pragma omp end declare target

int reopen_next(int device);
int reopen_total(int device);

int reopen_next(int device)
{
    int x = 0;
#pragma omp target map(from : x) device(device)
    x = ++reopen_counter;
    return x;
}

/* The variable is changed here and there, and lost with the library. */
int reopen_total(int device)
{
    int x = 0;
#pragma omp target map(from : x) device(device)
    {
        x = reopen_numbers[0] + reopen_numbers[1] + reopen_numbers[2] + reopen_numbers[3];
        reopen_numbers[0] = 100;
    }
#pragma omp target update from(reopen_numbers) device(device)
    return reopen_numbers[0] == 100 ? x : -1;
}

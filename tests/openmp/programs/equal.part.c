/* equal.part.c: the linked library of equal.c. */
#define EQUAL_VALUE 100
#include "equal.h"

int part_value(int device);
int part_count(int device);
int part_sum(int device);

int part_value(int device)
{
    return equal_value(device);
}

int part_count(int device)
{
    return equal_count(device);
}

int part_sum(int device)
{
    return equal_sum(device);
}

/* test: needs=own
 * The end of a parallel region, and each barrier in it, waits for nowait regions of explicit tasks
 * that have not waited for them. LLVM's do not. */
#include "check.h"

enum { ROUNDS = 5, TASKS = 6, THREADS = 4, MANY = 1200 };

/* Some of it after a while. */
#pragma omp declare target
static void later(int *value, int number)
{
    usleep(number % 3 * 2000);
    *value = number + 1;
}
#pragma omp end declare target

// clang-format off
static void start_one(int *value, int number, int devices)
{
#pragma omp target nowait map(from : value[0:1]) device(number % devices)
    later(value, number);
}

static void start_tasks(int *values, int devices)
{
    for (int i = 0; i < TASKS; i++)
#pragma omp task firstprivate(i)
        start_one(&values[i], i, devices);
}
// clang-format on

static void check_all(int *values)
{
    for (int i = 0; i < TASKS; i++) {
        CHECK_EQUAL(values[i], i + 1);
        values[i] = 0;
    }
}

/* By the end of the region, of one with a barrier, of a loop; by the end of a taskgroup. */
static void at_end(int devices)
{
    int values[TASKS] = {0};
#pragma omp parallel num_threads(THREADS)
#pragma omp master
    start_tasks(values, devices);
    check_all(values);
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp barrier
#pragma omp master
#pragma omp task
        start_tasks(values, devices);
    }
    check_all(values);
#pragma omp parallel for num_threads(THREADS)
    for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
        start_one(&values[i], i, devices);
    }
    check_all(values);
#pragma omp parallel num_threads(THREADS)
#pragma omp master
    {
#pragma omp taskgroup
        start_tasks(values, devices);
        check_all(values);
    }
}

/* By each thread, in regions within regions. */
static void nested(int devices)
{
    int values[THREADS][TASKS] = {0};
#pragma omp parallel num_threads(2)
    {
        int mine = omp_get_thread_num();
#pragma omp parallel num_threads(2)
#pragma omp master
        start_tasks(values[mine], devices);
        check_all(values[mine]);
#pragma omp task
        start_one(&values[mine + 2][0], 0, devices);
    }
    CHECK_EQUAL(values[2][0], 1);
    CHECK_EQUAL(values[3][0], 1);
}

/* Barriers by name, and those of constructs; every second one with nothing to wait for. */
static void at_barriers(int devices)
{
    int values[TASKS] = {0}, wrong = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp single
        start_tasks(values, devices);
        for (int i = 0; i < TASKS; i++)
            wrong += values[i] != i + 1;
#pragma omp barrier
#pragma omp master
        {
            memset(values, 0, sizeof(values));
            start_tasks(values, devices);
        }
#pragma omp barrier
        for (int i = 0; i < TASKS; i++)
            wrong += values[i] != i + 1;
#pragma omp barrier
#pragma omp master
        memset(values, 0, sizeof(values));
#pragma omp barrier
    }
    CHECK_EQUAL(wrong, 0);
}

static void between_barriers(int *values, int devices)
{
#pragma omp task
    start_tasks(values, devices);
#pragma omp barrier
    check_all(values);
#pragma omp task
    start_tasks(values, devices);
}

/* By a thread alone, in a region that the runtime knows, and, by if(0), in one that it does not. */
static void alone(int devices)
{
    int values[TASKS] = {0};
#pragma omp parallel num_threads(1)
    for (int round = 0; round < ROUNDS; round++)
        between_barriers(values, devices);
    check_all(values);
#pragma omp parallel num_threads(2) if (devices < 0)
    between_barriers(values, devices);
    check_all(values);
}

/* As many variables as there is no room for without more memory. */
static void with_many(void)
{
    int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12;
    int m = 13, n = 14, o = 15, p = 16, q = 17, r = 18, sum = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp atomic
        sum += a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r;
#pragma omp barrier
#pragma omp master
        a = b = c = d = e = f = g = h = i = j = k = l = m = n = o = p = q = r = 0;
    }
    CHECK_EQUAL(sum, THREADS * 171);
    CHECK_EQUAL(a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r, 0);
}

/* Many regions inside of one that has something in flight all the while, and inside of a construct
 * that the host computes. */
static void in_one(int devices)
{
    int values[TASKS] = {0}, sum = 0, sums[MANY] = {0};
#pragma omp parallel num_threads(2)
#pragma omp master
    {
#pragma omp task
        start_tasks(values, devices);
        for (int i = 0; i < MANY; i++) {
#pragma omp target parallel for nowait if (0) map(tofrom : sums [i:1]) num_threads(2)
            for (int j = 0; j < 4; j++)
#pragma omp atomic
                sums[i]++;
#pragma omp parallel num_threads(2) reduction(+ : sum)
            sum++;
        }
    }
    check_all(values);
    for (int i = 0; i < MANY; i++)
        CHECK_EQUAL(sums[i], 4);
    CHECK(sum >= MANY);
}

/* A lock is held over a region while a task that wants it waits for a thread. */
static void with_lock(int devices)
{
    int values[TASKS] = {0}, count = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp task shared(count)
        {
            omp_set_lock(&lock);
            count++;
            omp_unset_lock(&lock);
        }
#pragma omp master
        {
            omp_set_lock(&lock);
#pragma omp parallel num_threads(2)
#pragma omp master
#pragma omp task
            start_tasks(values, devices);
            check_all(values);
            omp_unset_lock(&lock);
        }
    }
    CHECK_EQUAL(count, 2 * ROUNDS);
    omp_destroy_lock(&lock);
}

/* In a final task each task is over before its maker goes on: of a device, of the host, in a chain.
 */
static void in_final(int devices)
{
    int wrong = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task final(1) shared(wrong) firstprivate(i)
        {
            int value = 0, host = 0, last = 0;
#pragma omp target nowait map(from : value) device(i % devices)
            later(&value, i + 1);
            last = value == i + 2;
#pragma omp target nowait map(from : host) device(devices)
            later(&host, i);
            last += host == i + 1;
#pragma omp target nowait depend(inout : value) map(tofrom : value) device(i % devices)
            value *= 2;
#pragma omp target nowait depend(inout : value) map(tofrom : value) device(i % devices)
            value++;
            last += value == 2 * (i + 2) + 1;
#pragma omp atomic
            wrong += 3 - last;
        }
    }
    CHECK_EQUAL(wrong, 0);
}

int main(void)
{
    int devices = check_devices();
    omp_set_max_active_levels(2);
    for (int round = 0; round < ROUNDS; round++) {
        at_end(devices);
        nested(devices);
    }
    at_barriers(devices);
    alone(devices);
    in_one(devices);
    with_lock(devices);
    with_many();
    in_final(devices);
    return finish("nowait_region");
}

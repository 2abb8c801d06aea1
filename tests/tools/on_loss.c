/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* on_loss.c: what on_loss.sh runs: a device is lost at a place that the words say, by a signal to
 * its worker (which must be on this machine) or by a fault in a kernel (signal 0). Ends with status
 * 5, and a line of what came out. */
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 6, LOSS = 3, LARGE = 200000, SMALL = 100, DEVICES = 4, VICTIM = 2 };

static double large[DEVICES][LARGE], small[DEVICES][SMALL];
static int wrong, on_host;

static void check(const char *what, double got, double wanted)
{
    if (got == wanted)
        return;
    printf("wrong: %s is %.0f instead of %.0f\n", what, got, wanted);
    wrong++;
}

static int worker_of(int device)
{
    int pid = 0;
#pragma omp target device(device) map(from : pid)
    pid = getpid();
    return pid;
}

static void lose(int number)
{
    if (number > 0) {
        kill(worker_of(VICTIM), number);
        usleep(300000); /* it dies some time after */
        return;
    }
#pragma omp target device(VICTIM)
    if (!omp_is_initial_device())
        abort();
}

/* The worker ends, or stops, while its region runs; `alarm` does not come with a stopped process.
 */
static void lose_during(int number, double *part, double *few)
{
    int pid = worker_of(VICTIM), host = 0;
#pragma omp target device(VICTIM) map(tofrom : part[:LARGE], few[:SMALL], host) nowait
    {
        host = omp_is_initial_device();
        for (int i = 0; i < LARGE; i++)
            part[i] += 1;
        for (int i = 0; i < SMALL; i++)
            few[i] += 1;
        if (!host)
            sleep(2);
    }
    usleep(300000);
    kill(pid, number);
#pragma omp taskwait
    on_host += host;
}

static void add(int device)
{
    double *part = large[device], *few = small[device];
    int host = 0;
#pragma omp target device(device) map(tofrom : part[:LARGE], few[:SMALL], host)
    {
        for (int i = 0; i < LARGE; i++)
            part[i] += 1;
        for (int i = 0; i < SMALL; i++)
            few[i] += 1;
        host = omp_is_initial_device();
    }
    on_host += host;
}

/* Nothing stays on a device between two regions, so nothing is lost with it. */
static void fresh(int number, int during)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int device = 0; device < DEVICES; device++) {
            if (round == LOSS && device == VICTIM && during) {
                lose_during(number, large[device], small[device]);
                continue;
            }
            if (round == LOSS && device == VICTIM)
                lose(number);
            add(device);
        }
    for (int device = 0; device < DEVICES; device++) {
        check("the first", large[device][0], ROUNDS);
        check("the last", large[device][LARGE - 1], ROUNDS);
        check("a small one", small[device][SMALL - 1], ROUNDS);
    }
}

/* What the device alone had; `anew`: the program gives it again. */
static void kept(int number, int anew)
{
    double *part = large[VICTIM];
#pragma omp target enter data map(to : part[:LARGE]) device(VICTIM)
    add(VICTIM);
    lose(number);
    if (anew) {
        worker_of(VICTIM); /* by now it is known */
#pragma omp target update to(part[:LARGE]) device(VICTIM)
    }
    add(VICTIM);
#pragma omp target exit data map(from : part[:LARGE]) device(VICTIM)
    check("what was given anew", part[LARGE - 1], 1);
}

/* Functions say that they fail, and those of other devices do not. */
static void functions(int number)
{
    double *at[DEVICES], value = 7, back = 0;
    for (int device = 0; device < DEVICES; device++)
        at[device] = omp_target_alloc(sizeof(value), device);
    lose(number);
    add(VICTIM);
    check("a copy to the lost", omp_target_memcpy(at[VICTIM], &value, 8, 0, 0, VICTIM, 4) != 0, 1);
    check("memory of the lost", omp_target_alloc(8, VICTIM) != NULL, 0);
    check("a copy", omp_target_memcpy(at[0], &value, 8, 0, 0, 0, 4), 0);
    check("to the lost", omp_target_memcpy(at[VICTIM], at[0], 8, 0, 0, VICTIM, 0) != 0, 1);
    check("an exchange", omp_target_memcpy(at[3], at[0], 8, 0, 0, 3, 0), 0);
    check("a copy back", omp_target_memcpy(&back, at[3], 8, 0, 0, 4, 3), 0);
    check("what came back", back, value);
}

static void *kill_soon(void *pid)
{
    usleep(50000);
    kill(*(int *)pid, SIGKILL);
    return NULL;
}

/* The workers of all others, while the first one copies to them; it goes on. */
static void copied(void)
{
    size_t bytes = 4 << 20;
    void *from = omp_target_alloc(bytes, 0);
    for (int device = 1; device < DEVICES; device++) {
        void *to = omp_target_alloc(bytes, device);
        int pid = worker_of(device);
        pthread_t killer;
        pthread_create(&killer, NULL, kill_soon, &pid);
        while (omp_target_memcpy(to, from, bytes, 0, 0, device, 0) == 0)
            ;
        pthread_join(killer, NULL);
        add(0);
    }
    check("what the first one computes", large[0][0], DEVICES - 1);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    int number = count > 2 ? atoi(words[2]) : 0;
    if (omp_get_num_devices() != DEVICES)
        return 4;
    if (strcmp(what, "fresh") == 0)
        fresh(number, 0);
    else if (strcmp(what, "during") == 0)
        fresh(number, 1);
    else if (strcmp(what, "functions") == 0)
        functions(number);
    else if (strcmp(what, "copied") == 0)
        copied();
    else
        kept(number, strcmp(what, "anew") == 0);
    printf("%s, host %s\n", wrong ? "wrong" : "right", on_host ? "helped" : "idle");
    return 5;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * random.c: random programs with real workers; see tests/random/random.h.
 *
 * - random SEED SECONDS [THREADS]: under omprma-run: programs of this seed and those after it
 * - random SEED part OPERATIONS: under omprma-run: parts of one, for example 0-3,7, again and
 *   again
 * - random SEED shrink COMMAND...: finds the shortest part that fails; COMMAND starts this program
 *   on workers, its arguments are added to it
 *
 * The number of devices is part of what a seed means. random.sh chooses settings.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "tests/random/random.h"

enum {
    PATIENCE_S = 40,
    GLOBAL_BYTES = 300000,
    PART_RUNS = 30, /* of a part, before it is taken to be well */
    WORDS_MOST = 60,
    KEPT_MOST = 8 * RANDOM_OPERATIONS_MOST,
};

static const omprma_addr_t hole = 0x123000; /* nothing is ever mapped this low */

/* What a program of this seed may use. */
static void choose(uint64_t seed, int devices, struct random_limits *limits)
{
    uint64_t draw = seed * UINT64_C(0x9e3779b97f4a7c15) + 7;

    for (int i = 0; i < 8; i++)
        random_draw(&draw);
    *limits = (struct random_limits){
        .devices = devices,
        .threads = random_below(&draw, 2) ? 1 : 1 + (int)random_below(&draw, RANDOM_THREADS),
        .operations = 20 + (int)random_below(&draw, 200),
        .most = random_below(&draw, 4) ? 200 << 10 : 1 << 20,
        .failures = random_below(&draw, 2) && random_may_fail(),
        .global_bytes = GLOBAL_BYTES,
        .hole = hole,
    };
}

static void run(const struct random_program *program, struct random_limits *limits)
{
    static struct random_symbols symbols[RANDOM_DEVICES];

    for (int i = 0; i < limits->devices; i++) {
        if (!symbols[i].sum)
            symbols[i] = (struct random_symbols){
                .fill = symbol_at(i, "put_value", 0),
                .fill_context = symbol_at(i, "put_value_context", 0),
                .add = symbol_at(i, "add", 0),
                .copy = symbol_at(i, "copy", 0),
                .sum = symbol_at(i, "sum", 0),
                .nap = symbol_at(i, "nap", 0),
                .global = symbol_at(i, "global", GLOBAL_BYTES),
            };
        limits->symbols[i] = symbols[i];
    }
    random_execute(program, limits, PATIENCE_S);
}

static void run_many(struct random_program *program, uint64_t seed, int seconds)
{
    time_t end = time(NULL) + seconds;
    struct random_limits limits;
    uint64_t first = seed;

    do {
        choose(seed, omprma_device_count(), &limits);
        random_generate(program, &limits, seed);
        run(program, &limits);
    } while (++seed && time(NULL) < end);
    printf("random programs of the seeds %llu to %llu: as expected\n", (unsigned long long)first,
           (unsigned long long)seed - 1);
}

static void run_part(struct random_program *program, uint64_t seed, const char *kept)
{
    struct random_limits limits;

    choose(seed, omprma_device_count(), &limits);
    random_generate(program, &limits, seed);
    check(random_keep(program, kept));
    for (int i = 0; i < PART_RUNS; i++)
        run(program, &limits);
}

/* ---- shrinking: this program stands outside and starts the job for each part ---- */

struct job {
    char **command;
    int words;
    char *seed;
};

static int run_job(const struct job *job, const struct random_program *program, bool quiet)
{
    char *words[WORDS_MOST + 5], kept[KEPT_MOST];
    int count = 0, status;
    pid_t pid;

    random_list_kept(program, kept, sizeof(kept));
    for (; count < job->words; count++)
        words[count] = job->command[count];
    words[count++] = job->seed;
    words[count++] = (char[]){"part"};
    words[count++] = kept;
    words[count] = NULL;
    pid = fork();
    check(pid >= 0);
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);

        if (quiet)
            dup2(null, STDERR_FILENO);
        execvp(words[0], words);
        _exit(127);
    }
    check(waitpid(pid, &status, 0) == pid && status >> 8 != 127);
    return status;
}

static bool part_fails(const struct random_program *program, void *data)
{
    return run_job(data, program, true) != 0;
}

/* A number in the command: of an option of omprma-run. */
static int option_of(const struct job *job, const char *option)
{
    for (int i = 0; i + 1 < job->words; i++)
        if (strcmp(job->command[i], option) == 0)
            return atoi(job->command[i + 1]);
    return 1;
}

static void shrink(struct random_program *program, struct job *job)
{
    uint64_t seed = strtoull(job->seed, NULL, 10);
    struct random_limits limits;
    char kept[KEPT_MOST];

    check(job->words > 0 && job->words < WORDS_MOST);
    choose(seed, option_of(job, "-n") * option_of(job, "--devices-per-worker"), &limits);
    random_generate(program, &limits, seed);
    if (!part_fails(program, job)) {
        printf("the program of seed %s does not fail by itself\n", job->seed);
        return;
    }
    random_shrink(program, part_fails, job);
    random_list_kept(program, kept, sizeof(kept));
    printf("the shortest part of seed %s that fails: %s\n", job->seed, kept);
    fflush(stdout);
    run_job(job, program, false);
}

int main(int count, char **words)
{
    struct random_program *program = malloc(sizeof(*program));
    uint64_t seed;

    check(program);
    if (count < 3) {
        fprintf(stderr, "usage: random SEED SECONDS | part OPERATIONS | shrink COMMAND...\n");
        return 2;
    }
    seed = strtoull(words[1], NULL, 10);
    if (strcmp(words[2], "shrink") == 0) {
        struct job job = {words + 3, count - 3, words[1]};

        shrink(program, &job);
        free(program);
        return 0;
    }
    check_ok(omprma_init());
    check(omprma_device_count() > 0 && omprma_device_count() <= RANDOM_DEVICES);
    if (strcmp(words[2], "part") == 0 && count == 4)
        run_part(program, seed, words[3]);
    else
        run_many(program, seed, atoi(words[2]));
    omprma_finalize();
    free(program);
    return 0;
}

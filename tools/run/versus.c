/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * versus.c: each run is a process of its own, which runs the program as without --versus and writes
 * its statistics into a folder. Programs of several processes leave a file each, which add up.
 */
#include "tools/run/versus.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/table.h"
#include "tools/launch/list.h"
#include "tools/launch/outcome.h"
#include "tools/launch/paths.h"

enum mode { ONE_SIDED, TWO_SIDED, MODES };
enum { TURNS = 2, CELL_BYTES = 32 };

static const char *const mode_names[MODES] = {"one-sided", "two-sided"};

/* Runs that differ by less are alike, however little their turns differ. */
static const double differ = 1.05;

/* Of less than this nothing is said. */
static const double short_us = 1000;

/* A target construct, or data that belongs to none. */
struct construct {
    char *name;
    double calls;               /* of one turn */
    double now_us, now_data_us; /* of this turn */
    double us[MODES];           /* the shorter of its turns; 0: it was not there */
    double data_us[MODES];
};

struct comparison {
    char *folder;
    struct construct *constructs;
    size_t count;
    double run_us[MODES];                   /* without start-up; the shorter of its turns */
    double least_us[MODES], most_us[MODES]; /* all regions of a turn */
    char *paths[MODES];                     /* how data travelled */
};

/* ---- a run ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t running;

/* What the terminal sends reaches the run as well. */
static void hand_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code != SI_KERNEL && running)
        kill(running, number);
}

static const int handed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { HANDED_ON = sizeof(handed_on) / sizeof(handed_on[0]) };

static void hand_on_signals(void)
{
    struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (int i = 0; i < HANDED_ON; i++)
        sigaction(handed_on[i], &action, NULL);
}

/* The user sees what the program prints once. */
static void leave_streams(void)
{
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (none < 0)
        return;
    dup2(none, STDIN_FILENO);
    dup2(none, STDOUT_FILENO);
    close(none);
}

__attribute__((noreturn)) static void run(const struct launch *launch, enum mode mode, bool first,
                                          const char *file)
{
    for (int i = 0; i < HANDED_ON; i++)
        signal(handed_on[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setenv("OMPRMA_DATA", mode_names[mode], 1);
    setenv("OMPRMA_STATS_FILE", file, 1);
    setenv(CONFIG_OPTION_PREFIX "STATS_FILE", "--versus", 1);
    if (!first)
        leave_streams();
    exit(launch_run(launch));
}

/* Its wait status; -1: there is no process. */
static int wait_for_run(const struct launch *launch, enum mode mode, bool first, const char *file)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run(launch, mode, first, file);
    if (child < 0) {
        log_write(LOG_ERROR, "--versus: no process: %s", strerror(errno));
        return -1;
    }
    running = child;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    running = 0;
    return status;
}

/* ---- what it has told ----------------------------------------------------------------------- */

static struct construct *construct_named(struct comparison *comparison, const char *name)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (strcmp(comparison->constructs[i].name, name) == 0)
            return &comparison->constructs[i];
    size_t bytes = (comparison->count + 1) * sizeof(struct construct);
    struct construct *constructs = realloc(comparison->constructs, bytes);
    if (!constructs)
        return NULL;
    comparison->constructs = constructs;
    constructs[comparison->count] = (struct construct){.name = text_make("%s", name)};
    return &constructs[comparison->count++];
}

static double number_of(const cJSON *object, const char *name)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* The first call of each loads code and touches memory, whatever the mode. */
static void add_region(struct comparison *comparison, enum mode mode, bool first,
                       const cJSON *region)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(region, "region"));
    struct construct *construct = name ? construct_named(comparison, name) : NULL;
    double us = number_of(region, "under_way_us") - number_of(region, "first_us");
    if (!construct)
        return;
    if (mode == ONE_SIDED && first)
        construct->calls += number_of(region, "count");
    construct->now_us += us > 0 ? us : 0;
    construct->now_data_us += number_of(region, "data_us");
}

static cJSON *read_json(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    cJSON *json = NULL;
    if (file && getdelim(&text, &room, '\0', file) > 0)
        json = cJSON_Parse(text);
    if (file)
        fclose(file);
    free(text);
    return json;
}

static double add_file(struct comparison *comparison, enum mode mode, bool first, const char *path)
{
    cJSON *json = read_json(path), *region;
    const char *way = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "data_path"));
    double us = json ? number_of(json, "run_us") - number_of(json, "start_up_us") : 0;
    cJSON_ArrayForEach(region, cJSON_GetObjectItemCaseSensitive(json, "regions"))
    {
        add_region(comparison, mode, first, region);
    }
    if (way && !comparison->paths[mode])
        comparison->paths[mode] = text_make("%s", way);
    cJSON_Delete(json);
    return us;
}

static bool is_shorter(double new_us, double old_us)
{
    return old_us <= 0 || new_us < old_us;
}

static void take_shorter(struct construct *construct, enum mode mode)
{
    if (!is_shorter(construct->now_us, construct->us[mode]))
        return;
    construct->us[mode] = construct->now_us;
    construct->data_us[mode] = construct->now_data_us;
}

/* All files of a turn; false: there is none. */
static bool add_turn(struct comparison *comparison, enum mode mode, bool first)
{
    char *pattern = text_make("%s/*.json", comparison->folder);
    double longest = 0;
    glob_t found;
    for (size_t i = 0; i < comparison->count; i++)
        comparison->constructs[i].now_us = comparison->constructs[i].now_data_us = 0;
    bool any = glob(pattern, 0, NULL, &found) == 0;
    for (size_t i = 0; any && i < found.gl_pathc; i++) {
        double us = add_file(comparison, mode, first, found.gl_pathv[i]);
        longest = us > longest ? us : longest;
        unlink(found.gl_pathv[i]);
    }
    if (any)
        globfree(&found);
    free(pattern);
    double sum = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        sum += comparison->constructs[i].now_us;
        take_shorter(&comparison->constructs[i], mode);
    }
    if (is_shorter(sum, comparison->least_us[mode]))
        comparison->least_us[mode] = sum;
    if (sum > comparison->most_us[mode])
        comparison->most_us[mode] = sum;
    if (is_shorter(longest, comparison->run_us[mode]))
        comparison->run_us[mode] = longest;
    return any;
}

/* ---- table ---------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
    {"region", 16, true, 0},    {"calls", 7, false, 3}, {"one-sided", 9, false, 0},
    {"two-sided", 9, false, 0}, {"ratio", 6, false, 1}, {"data: one-sided", 15, false, 5},
    {"two-sided", 9, false, 4},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static double difference(const struct construct *construct)
{
    return construct->us[TWO_SIDED] - construct->us[ONE_SIDED];
}

static double size_of(double value)
{
    return value < 0 ? -value : value;
}

static int compare(const void *a, const void *b)
{
    double x = size_of(difference(a)), y = size_of(difference(b));
    return x > y ? -1 : x < y;
}

static void print_row(const struct table *table, const struct construct *construct)
{
    char cells[COLUMNS][CELL_BYTES] = {""};
    const char *row[COLUMNS];
    for (int i = 1; i < COLUMNS; i++)
        row[i] = cells[i];
    row[0] = construct->name;
    snprintf(cells[1], CELL_BYTES, "%.0f", construct->calls);
    for (int mode = 0; mode < MODES; mode++) {
        snprintf(cells[2 + mode], CELL_BYTES, "%.2f", construct->us[mode] / 1e3);
        snprintf(cells[5 + mode], CELL_BYTES, "%.2f", construct->data_us[mode] / 1e3);
    }
    if (construct->us[ONE_SIDED] > 0 && construct->us[TWO_SIDED] > 0)
        snprintf(cells[4], CELL_BYTES, "%.2f", construct->us[TWO_SIDED] / construct->us[ONE_SIDED]);
    table_print_row(table, row, NULL);
}

/* The construct in which most of the difference lies, where it lies in one. */
static void print_where(const struct comparison *comparison, double total)
{
    const struct construct *most = comparison->constructs;
    if (comparison->count && difference(most) / total > 0.5)
        fprintf(stderr, "; %.0f %% of the difference lies in %s",
                difference(most) / total > 1 ? 100 : 100 * difference(most) / total, most->name);
}

/* How many times longer than its shorter turn a mode's longer one took, of the mode where it is
 * more. */
static double noise(const struct comparison *comparison)
{
    double most = 1;
    for (int mode = 0; mode < MODES; mode++) {
        double least_us = comparison->least_us[mode], most_us = comparison->most_us[mode];
        if (least_us > 0 && most_us / least_us > most)
            most = most_us / least_us;
    }
    return most;
}

static void print_winner(const struct comparison *comparison, const double sum[MODES])
{
    double ratio = sum[TWO_SIDED] / sum[ONE_SIDED], times = ratio < 1 ? 1 / ratio : ratio;
    double turns = noise(comparison);
    if (times < differ) {
        fprintf(stderr, "alike\n");
    } else if (times <= turns) {
        fprintf(stderr,
                "within the noise\nomprma: turns of the same mode differ %.2f times, so no mode is "
                "named: compare on a quiet machine, or let the program run longer\n",
                turns);
    } else {
        fprintf(stderr, "%s is %.2f times faster", mode_names[ratio > 1 ? ONE_SIDED : TWO_SIDED],
                times);
        print_where(comparison, sum[TWO_SIDED] - sum[ONE_SIDED]);
        fprintf(stderr, "\n");
    }
}

static void print_words(const struct comparison *comparison)
{
    double sum[MODES] = {0};
    for (size_t i = 0; i < comparison->count; i++)
        for (int mode = 0; mode < MODES; mode++)
            sum[mode] += comparison->constructs[i].us[mode];
    fprintf(stderr,
            "omprma: all regions: one-sided %.3f s, two-sided %.3f s: ", sum[ONE_SIDED] / 1e6,
            sum[TWO_SIDED] / 1e6);
    if (sum[ONE_SIDED] < short_us && sum[TWO_SIDED] < short_us)
        fprintf(stderr, "too short to compare; let regions run more often\n");
    else if (sum[ONE_SIDED] <= 0 || sum[TWO_SIDED] <= 0)
        fprintf(stderr, "not the same regions\n");
    else
        print_winner(comparison, sum);
    fprintf(stderr, "omprma: run without start-up: one-sided %.3f s, two-sided %.3f s\n",
            comparison->run_us[ONE_SIDED] / 1e6, comparison->run_us[TWO_SIDED] / 1e6);
}

static void print(struct comparison *comparison)
{
    struct table table;
    for (int mode = 0; mode < MODES; mode++)
        if (comparison->paths[mode])
            fprintf(stderr, "omprma: %s: %s\n", mode_names[mode], comparison->paths[mode]);
    fprintf(stderr,
            "omprma: %d runs each, in turns; ms in the shorter one, without the first call of each "
            "region\n",
            TURNS);
    if (comparison->count)
        qsort(comparison->constructs, comparison->count, sizeof(struct construct), compare);
    table_open(&table, stderr, "omprma:   ", columns, COLUMNS, table_terminal_width(STDERR_FILENO));
    table_print_titles(&table);
    for (size_t i = 0; i < comparison->count; i++)
        print_row(&table, &comparison->constructs[i]);
    print_words(comparison);
}

/* ---- all ------------------------------------------------------------------------------------ */

static int run_all(struct comparison *comparison, const struct launch *launch)
{
    char *file = text_make("%s/run.json", comparison->folder);
    int status = 0;
    for (int turn = 0; turn < TURNS * MODES && status == 0; turn++) {
        enum mode mode = turn % MODES;
        status = wait_for_run(launch, mode, turn == 0, file);
        if (status == 0 && !add_turn(comparison, mode, turn < MODES)) {
            log_write(LOG_ERROR, "--versus: nothing is known of the %s run", mode_names[mode]);
            status = -1;
        } else if (status != 0 && status != -1) {
            log_write(LOG_ERROR,
                      "--versus: the %s run did not end with status 0, so nothing is compared",
                      mode_names[mode]);
        }
    }
    free(file);
    return status;
}

static void clear(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++)
        free(comparison->constructs[i].name);
    free(comparison->constructs);
    for (int mode = 0; mode < MODES; mode++)
        free(comparison->paths[mode]);
    path_remove_tree(comparison->folder);
    free(comparison->folder);
}

int versus_run(const struct launch *launch)
{
    struct comparison comparison = {.folder = NULL};
    if (path_make_folder("omprma-versus", &comparison.folder) != OMPRMA_OK) {
        log_write(LOG_ERROR, "--versus: %s", error_text());
        return EXIT_OWN;
    }
    hand_on_signals();
    int status = run_all(&comparison, launch);
    if (status == 0)
        print(&comparison);
    clear(&comparison);
    if (status == -1)
        return EXIT_OWN;
    if (WIFSIGNALED(status)) {
        signal(SIGINT, SIG_DFL);
        outcome_end_alike(status);
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

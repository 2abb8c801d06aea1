/* test_launch_verdict.c: what mpirun says, separated from the workers' lines and put in words. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/launch/verdict.h"

#define FRAME "--------------------------------------------------------------------------\n"

static const char killed[] =
    "worker line\n" FRAME "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted.\n" FRAME FRAME
    "mpirun noticed that process rank 2 with PID 0 on node n7 exited on signal 9 (Killed).\n" FRAME
    "half";

/* Feeds `text` in pieces; gives what was passed on. */
static void feed(const char *text, size_t piece, struct verdict *verdict, char *passed, size_t room)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    struct stream stream = {.out = ends[1]};
    *verdict = (struct verdict){0};
    for (size_t at = 0, size = strlen(text); at < size; at += piece)
        stream_feed(&stream, text + at, piece < size - at ? piece : size - at, verdict);
    stream_end(&stream);
    ssize_t bytes = read(ends[0], passed, room - 1);
    passed[bytes > 0 ? bytes : 0] = 0;
    close(ends[0]);
    close(ends[1]);
}

static void separates(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 7, 4096};
    for (size_t i = 0; i < 3; i++) {
        struct verdict verdict;
        char passed[256], line[512];
        feed(killed, pieces[i], &verdict, passed, sizeof(passed));
        assert_string_equal(passed, "worker line\nhalf");
        assert_int_equal(verdict.kind, VERDICT_SIGNAL);
        assert_int_equal(verdict.rank, 2);
        verdict_word(&verdict, 0, line, sizeof(line));
        assert_non_null(strstr(line, "worker 1 on n7 was killed by signal 9 (Killed)"));
    }
}

static void statuses(void **state)
{
    (void)state;
    struct verdict verdict = {0};
    char line[512];
    verdict_read(&verdict, "mpirun detected that one or more processes exited\n"
                           "  Process name: [[35210,1],3]\n  Exit code:    7\n");
    assert_int_equal(verdict.kind, VERDICT_STATUS);
    verdict_word(&verdict, 0, line, sizeof(line));
    assert_non_null(strstr(line, "worker 2 ended early with status 7"));
}

static void hosts_win(void **state)
{
    (void)state;
    struct verdict verdict = {0};
    char line[512];
    verdict_read(&verdict, "ORTE was unable to reliably\n   start one or more daemons.\n");
    assert_int_equal(verdict.kind, VERDICT_OTHER);
    verdict_word(&verdict, 0, line, sizeof(line));
    assert_string_equal(line, "mpirun: ORTE was unable to reliably start one or more daemons.");
    verdict_host(&verdict, "n9: ssh: no route");
    verdict_host(&verdict, "n8: later");
    verdict_read(&verdict, "process rank 1 exited on signal 15 (Terminated)");
    verdict_word(&verdict, 0, line, sizeof(line));
    assert_string_equal(line, "cannot start workers on host n9: ssh: no route");
}

static void silence(void **state)
{
    (void)state;
    struct verdict verdict = {0};
    char line[512];
    verdict_word(&verdict, 9, line, sizeof(line));
    assert_non_null(strstr(line, "mpirun was killed by signal 9"));
    verdict_word(&verdict, 5 << 8, line, sizeof(line));
    assert_non_null(strstr(line, "status 5"));
}

/* Neither a line nor a message without end may run over. */
static void long_input(void **state)
{
    (void)state;
    static char text[40000];
    struct verdict verdict;
    char passed[256];
    memset(text, 'x', sizeof(text) - 1);
    memcpy(text, FRAME, sizeof(FRAME) - 1);
    feed(text, 4096, &verdict, passed, sizeof(passed));
    assert_string_equal(passed, "");
    for (size_t i = sizeof(FRAME); i < sizeof(text) - 1; i += 50)
        text[i] = '\n';
    feed(text, 4096, &verdict, passed, sizeof(passed));
    assert_string_equal(passed, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separates), cmocka_unit_test(statuses),   cmocka_unit_test(hosts_win),
        cmocka_unit_test(silence),   cmocka_unit_test(long_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

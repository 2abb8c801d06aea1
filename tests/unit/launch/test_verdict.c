/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_verdict.c: what mpirun says, separated from the workers' lines and put in words.
 * Covers: verdict.c launcher_hydra.c launcher_openmpi_words.c words.c */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tools/launch/launcher.h"
#include "tools/launch/verdict.h"

#define FRAME "--------------------------------------------------------------------------\n"

static const char killed[] =
    "worker line\n" FRAME "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted.\n" FRAME FRAME
    "mpirun noticed that process rank 2 with PID 0 on node n7 exited on signal 9 (Killed).\n" FRAME
    "half";

static struct verdict from_openmpi4(void)
{
    return (struct verdict){.dialect = launcher_openmpi4.dialect, .connected = true};
}

/* Feeds `text` in pieces to a copy of `stream`; gives what was passed on. */
static void feed_to(struct stream stream, const char *text, size_t piece, struct verdict *verdict,
                    char *passed, size_t room)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    stream.out = ends[1];
    *verdict = from_openmpi4();
    for (size_t at = 0, size = strlen(text); at < size; at += piece)
        stream_feed(&stream, text + at, piece < size - at ? piece : size - at, verdict);
    stream_end(&stream);
    ssize_t bytes = read(ends[0], passed, room - 1);
    passed[bytes > 0 ? bytes : 0] = 0;
    close(ends[0]);
    close(ends[1]);
}

static void feed(const char *text, size_t piece, struct verdict *verdict, char *passed, size_t room)
{
    feed_to((struct stream){.from_mpirun = true}, text, piece, verdict, passed, room);
}

TEST(separates)
{
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

TEST(statuses)
{
    struct verdict verdict = from_openmpi4();
    char line[512];
    verdict_read(&verdict, "mpirun detected that one or more processes exited\n"
                           "  Process name: [[35210,1],3]\n  Exit code:    7\n");
    assert_int_equal(verdict.kind, VERDICT_STATUS);
    verdict_word(&verdict, 0, line, sizeof(line));
    assert_non_null(strstr(line, "worker 2 ended early with status 7"));
    verdict = from_openmpi4();
    verdict_read(&verdict,
                 "mpirun has exited due to process rank 4 with PID 0 on\n"
                 "node n7 exiting improperly. There are three reasons this could occur:\n");
    verdict_word(&verdict, 0, line, sizeof(line));
    assert_non_null(strstr(line, "worker 3 on n7 ended early with status 0"));
}

TEST(hosts_win)
{
    struct verdict verdict = from_openmpi4();
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

/* Open MPI 4.1.4 under ulimit -u. */
TEST(limit_on_processes)
{
    struct verdict verdict = from_openmpi4();
    char line[512];
    verdict_read(
        &verdict,
        "mpirun was unable to launch the specified application as it encountered an error:\n"
        "\nError: system limit exceeded on number of processes that can be started\n"
        "Node: n7\n\nwhen attempting to start process rank 1.\n\n"
        "This can be resolved by either asking the system administrator for that node to\n"
        "increase the system limit, or by rearranging your processes to place fewer of "
        "them\non that node.\n");
    verdict_word(&verdict, 0, line, sizeof(line));
    assert_string_equal(line, "cannot start workers on host n7: system limit exceeded on number of "
                              "processes that can be started; raise the limit (ulimit -u, pids.max "
                              "of the control group)");
}

TEST(silence)
{
    struct verdict verdict = from_openmpi4();
    char line[512];
    verdict_word(&verdict, 9, line, sizeof(line));
    assert_non_null(strstr(line, "mpirun was killed by signal 9"));
    verdict_word(&verdict, 5 << 8, line, sizeof(line));
    assert_non_null(strstr(line, "status 5"));
}

/* Lines of Open MPI 4.1.4 on hosts without a route to each other. */
static const char unreachable[] =
    "[[14959,1],2][../../../../../../opal/mca/btl/tcp/btl_tcp_endpoint.c:793:"
    "mca_btl_tcp_endpoint_start_connect] from s2b to: s2a Unable to connect to the peer 10.78.21.2 "
    "on port 1024: Network is unreachable\n\n"
    "[s2b:22189] ../../../../../../ompi/mca/pml/ob1/pml_ob1_sendreq.c:190 FATAL\n"
    "[[14959,1],1][../../../../../../opal/mca/btl/tcp/btl_tcp_endpoint.c:793:"
    "mca_btl_tcp_endpoint_start_connect] from s2a to: s2b Unable to connect to the peer 10.78.22.2 "
    "on port 1024: Network is unreachable\n\n"
    "[s2a:22187] ../../../../../../ompi/mca/pml/ob1/pml_ob1_sendreq.c:190 FATAL\nown words\n";

/* Where packets vanish. */
static const char vanishing[] =
    FRAME "WARNING: Open MPI failed to TCP connect to a peer MPI process.  This\n"
          "should not happen.\n\nYour Open MPI job may now hang or fail.\n\n"
          "  Local host: s2a\n  PID:        9052\n"
          "  Message:    connect() to 10.78.22.2:1024 failed\n"
          "  Error:      Operation now in progress (115)\n" FRAME
          "[vm:09034] 1 more process has sent help message help-mpi-btl-tcp.txt / client connect "
          "fail\n"
          "[vm:09034] Set MCA parameter \"orte_base_help_aggregate\" to 0 to see all help / error "
          "messages\n \n \n"
          "Set the PMIX_AGGREGATE_HELP attribute to false when spawning the job to see all help / "
          "error messages\n"
          "[vm:44921] PMIX ERROR: PMIX_ERR_INIT in file ../../../src/rml/oob/oob_tcp_sendrecv.c at "
          "line 608\n";

#define NETWORK_ADVICE                                                                             \
    "; name the network that connects all hosts, --mpi-arg --mca --mpi-arg btl_tcp_if_include "    \
    "--mpi-arg NETWORK, or, if only workers cannot reach each other, set "                         \
    "OMPRMA_EXCHANGE=application"

TEST(networks)
{
    struct verdict verdict;
    char passed[1024], line[1024];
    feed(unreachable, 4096, &verdict, passed, sizeof(passed));
    assert_string_equal(passed, "own words\n");
    verdict_word(&verdict, 255 << 8, line, sizeof(line));
    assert_string_equal(line, "host s2b cannot reach host s2a: connect() to 10.78.21.2 failed: "
                              "Network is unreachable" NETWORK_ADVICE);
    feed(vanishing, 7, &verdict, passed, sizeof(passed));
    assert_string_equal(passed, "");
    verdict_word(&verdict, 0, line, sizeof(line));
    assert_string_equal(line, "host s2a cannot reach another host: connect() to 10.78.22.2:1024 "
                              "failed: Operation now in progress (115)" NETWORK_ADVICE);
}

/* Two processes that wrote at the same time. */
TEST(networks_mixed)
{
#define CONNECT "opal/mca/btl/tcp/btl_tcp_endpoint.c:793:mca_btl_tcp_endpoint_start_connect] from "
    static const char first[] = "[[12807,1],2][" CONNECT "s2b [[12807,1],1][" CONNECT "s2a ";
    static const char fails[] = "Unable to connect to the peer 10.78.20.3 on port 1024: Invalid "
                                "argument\n\n";
    static const struct {
        const char *between, *who;
    } mixed[] = {{"to: s2b ", "host s2a cannot reach host s2b"},
                 {"to: s2a to: s2b ", "a host cannot reach another host"},
                 {"to: s2a ", "a host cannot reach another host"},
                 {"\nto: s2b ", "a host cannot reach another host"},
                 {"\n\n", "a host cannot reach another host"}};
    for (size_t i = 0; i < sizeof(mixed) / sizeof(mixed[0]); i++) {
        struct verdict verdict;
        char text[1024], passed[1024], line[1024];
        snprintf(text, sizeof(text), "%s%s%s", first, mixed[i].between, fails);
        feed(text, 4096, &verdict, passed, sizeof(passed));
        assert_string_equal(passed, "");
        verdict_word(&verdict, 255 << 8, line, sizeof(line));
        snprintf(text, sizeof(text), "%s: connect() to 10.78.20.3 failed: Invalid argument%s",
                 mixed[i].who, NETWORK_ADVICE);
        assert_string_equal(line, text);
    }
}

/* A lost connection is why a process ended with a status, but not why one was killed. */
TEST(networks_in_order)
{
    static const char status[] = "Process name: [[35210,1],3]\n  Exit code:    7\n";
    static const char fatal[] = "[h:1] ompi/mca/pml/ob1/pml_ob1_sendreq.c:190 FATAL\n";
    struct verdict verdict = from_openmpi4();
    assert_false(verdict_read_line(&verdict, fatal)); /* not understood alone */
    verdict_read(&verdict, status);
    assert_true(verdict_read_line(&verdict, unreachable));
    assert_int_equal(verdict.kind, VERDICT_NETWORK);
    assert_true(verdict_read_line(&verdict, fatal));
    verdict_read(&verdict, status);
    assert_int_equal(verdict.kind, VERDICT_NETWORK);
    verdict_read(&verdict, "process rank 2 with PID 0 on node n7 exited on signal 9 (Killed).");
    assert_int_equal(verdict.kind, VERDICT_SIGNAL);
    assert_true(verdict_read_line(&verdict, unreachable));
    assert_int_equal(verdict.kind, VERDICT_SIGNAL);
    /* A program's own words about peers. */
    verdict = from_openmpi4();
    assert_false(verdict_read_line(&verdict, "] from here: Unable to connect to the peer\n"));
    assert_int_equal(verdict.kind, VERDICT_NONE);
}

TEST(given_up)
{
    struct verdict verdict;
    char passed[256], line[512];
    feed(FRAME
         "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\nwith errorcode 1.\n" FRAME
         "[vm:949] [[28491,0],0] ORTE_ERROR_LOG: Out of resource in file "
         "../../../orte/util/show_help.c at line 501\n",
         4096, &verdict, passed, sizeof(passed));
    assert_string_equal(passed, "");
    verdict_word(&verdict, 1 << 8, line, sizeof(line));
    assert_non_null(strstr(line, "the program has ended the run"));
    verdict = from_openmpi4();
    verdict_read(&verdict, "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\n");
    verdict_word(&verdict, 1 << 8, line, sizeof(line));
    assert_non_null(strstr(line, "worker 2 has ended the run"));
}

/* mpirun does not say who was killed before MPI had started in it, but ends with the status. */
TEST(killed_before_mpi)
{
    struct verdict verdict = from_openmpi4();
    char line[512];
    verdict_word(&verdict, 134 << 8, line, sizeof(line));
    assert_non_null(strstr(line, "one was killed by signal 6 (Aborted) before MPI had started"));
    verdict_word(&verdict, 200 << 8, line, sizeof(line));
    assert_non_null(strstr(line, "mpirun ended with status 200 and said nothing"));
    verdict_word(&verdict, 9, line, sizeof(line));
    assert_non_null(strstr(line, "mpirun was killed by signal 9"));
    verdict.strange = "/other/mpirun";
    verdict_word(&verdict, 134 << 8, line, sizeof(line));
    assert_non_null(strstr(line, "one was killed by signal 6 (Aborted) before MPI had started"));
}

/* Open MPI 4.1.4: lines of the program's process, and what mpirun says. */
TEST(second_init)
{
    struct verdict verdict;
    char passed[1024], line[512];
    static const char words[] =
        "[vm:09844] *** An error occurred in MPI_Init\n"
        "[vm:09844] *** reported by process [1230831617,0]\n"
        "[vm:09844] *** on a NULL communicator\n"
        "[vm:09844] *** Unknown error\n"
        "[vm:09844] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n"
        "[vm:09844] ***    and potentially your MPI job)\n";
    feed(words, 4096, &verdict, passed, sizeof(passed));
    assert_string_equal(passed, "");
    assert_int_equal(verdict.kind, VERDICT_TWICE);
    verdict_read(&verdict, "Process name: [[35210,1],3]\n  Exit code:    7\n");
    verdict_word(&verdict, 1 << 8, line, sizeof(line));
    assert_non_null(strstr(line, "the program has called MPI_Init, but"));
    /* Open MPI 5, where a worker has died before: it is the first one. */
    verdict = from_openmpi4();
    verdict.connected = false;
    assert_false(verdict_read_line(&verdict, "[vm:09844] *** An error occurred in MPI_Init\n"));
    assert_int_equal(verdict.kind, VERDICT_NONE);
    verdict = from_openmpi4();
    verdict_read(&verdict, "Open MPI has detected that this process has attempted to initialize\n"
                           "MPI (via MPI_INIT or MPI_INIT_THREAD) more than once.  This is\n"
                           "erroneous.\n");
    assert_int_equal(verdict.kind, VERDICT_TWICE);
    /* Such lines about anything else are the user's. */
    feed(words + sizeof("[vm:09844] *** An error occurred in MPI_Init"), 4096, &verdict, passed,
         sizeof(passed));
    assert_string_equal(passed, words + sizeof("[vm:09844] *** An error occurred in MPI_Init"));
}

/* Open MPI repeats these until the process is ended. */
TEST(words_about_dead_peers)
{
    struct verdict verdict;
    char passed[1024];
    feed("[n7:8780] Read -1, expected 8388608, errno = 3\n"
         "[n7:8781] Wrote -1, expected 4194304, errno = 3\n"
         "[n7:8781] Wrote -1, expected 4194304, errno = 1\n"
         "[n7:8781] Wrote -1, expected 4194304, errno = 38\n"
         "[n7:8781] Read -1, expected 4194304, errno = 3, and more\n"
         "[n7:8781] Wrote it\nRead -1, expected 8, errno = 3\n",
         4096, &verdict, passed, sizeof(passed));
    assert_string_equal(passed, "[n7:8781] Wrote -1, expected 4194304, errno = 1\n"
                                "[n7:8781] Wrote -1, expected 4194304, errno = 38\n"
                                "[n7:8781] Read -1, expected 4194304, errno = 3, and more\n"
                                "[n7:8781] Wrote it\nRead -1, expected 8, errno = 3\n");
    assert_int_equal(verdict.kind, VERDICT_NONE);
}

/* What Open MPI says inside the program explains why MPI does not start; mpirun does not know. */
TEST(words_of_the_program)
{
    static const char help[] = FRAME "It looks like MPI_INIT failed for some reason\n" FRAME;
    struct verdict verdict;
    char text[2048], passed[2048];
    snprintf(text, sizeof(text), "%s%s%s", help, "[n7:8780] Read -1, expected 8388608, errno = 3\n",
             "after\n" FRAME "unfinished");
    feed_to((struct stream){0}, text, 7, &verdict, passed, sizeof(passed));
    snprintf(text, sizeof(text), "%s%s", help, "after\n" FRAME "unfinished");
    assert_string_equal(passed, text);
    assert_int_equal(verdict.kind, VERDICT_NONE);
    feed_to((struct stream){0}, unreachable, 7, &verdict, passed, sizeof(passed));
    assert_string_equal(passed, "own words\n");
    assert_int_equal(verdict.kind, VERDICT_NETWORK);
}

/* A line of dashes of a worker's own, or of an mpirun that was killed. */
TEST(unclosed_frame)
{
    struct verdict verdict;
    char passed[256];
    feed("before\n" FRAME "one\n\ntwo\nhalf", 7, &verdict, passed, sizeof(passed));
    assert_string_equal(passed, "before\none\n\ntwo\nhalf");
    assert_int_equal(verdict.kind, VERDICT_NONE);
    feed_to((struct stream){.from_mpirun = true, .verbose = true}, FRAME "one\nhalf", 7, &verdict,
            passed, sizeof(passed));
    assert_string_equal(passed, FRAME "one\nhalf"); /* once */
}

/* Neither a line nor a message without end may run over. */
TEST(long_input)
{
    static char text[40000], passed[40000];
    struct verdict verdict;
    memset(text, 'x', sizeof(text) - 1);
    memcpy(text, FRAME, sizeof(FRAME) - 1);
    feed(text, 4096, &verdict, passed, sizeof(passed));
    assert_in_range(strspn(passed, "x"), 8000, sizeof(text));
    for (size_t i = sizeof(FRAME); i < sizeof(text) - 1; i += 50)
        text[i] = '\n';
    feed(text, 4096, &verdict, passed, sizeof(passed));
    assert_in_range(strspn(passed, "x\n"), 8000, sizeof(text));
}

/* ---- other launchers ---- */

static void word_of(const struct launcher *launcher, const char *text, const char *wanted)
{
    struct verdict verdict = {.dialect = launcher->dialect, .worker = "/opt/omprma-worker"};
    struct stream stream = {.from_mpirun = true};
    char line[512];
    stream.out = open("/dev/null", O_WRONLY);
    stream_feed(&stream, text, strlen(text), &verdict);
    stream_end(&stream);
    close(stream.out);
    verdict_word(&verdict, 1 << 8, line, sizeof(line));
    assert_non_null(strstr(line, wanted));
}

/* Words of 5.0.7, which breaks lines where they are full. */
TEST(openmpi5)
{
    word_of(&launcher_openmpi5,
            FRAME "prterun noticed that process rank 2 with PID 21819 on node vm exited on\n"
                  "signal 9 (Killed).\n" FRAME,
            "worker 1 on vm was killed by signal 9 (Killed)");
    word_of(&launcher_openmpi5,
            FRAME "prterun detected that one or more processes exited with non-zero status,\n"
                  "thus causing the job to be terminated. The first process to do so was:\n\n"
                  "   Process name: [prterun-vm-22187@1,2]\n   Exit code:    3\n" FRAME,
            "worker 1 ended early with status 3");
}

/* A frame that follows words, and hosts between which there is no way. */
TEST(openmpi5_unreachable)
{
    static const char text[] =
        "Error in MPI_Isend(94266852207756, 1, 0x7f8d149576c0, 2, -33, 140243912606528) (-12)" FRAME
        "At least one pair of MPI processes are unable to reach each other for\n"
        "MPI communications.  This means that no Open MPI device has indicated\n\n"
        "  Process 1 ([[21937,1],3]) is on host: n3\n"
        "  Process 2 ([[21937,1],2]) is on host: n2\n"
        "  BTLs attempted: self sm tcp\n" FRAME FRAME
        "prterun has exited due to process rank 3 with PID 23284 on node n3 calling\n"
        "\"abort\". This may have caused other processes in the application to be\n" FRAME;
    word_of(&launcher_openmpi5, text, "host n3 cannot reach host n2: no network leads there; name");
    word_of(&launcher_openmpi5, strstr(text, FRAME "prterun"), "worker 2 has ended the run");
    struct verdict verdict;
    char passed[256];
    feed(text, 7, &verdict, passed, sizeof(passed));
    assert_string_equal(passed, "");
}

#define NO_LIBRARY                                                                                 \
    "/opt/omprma-worker: error while loading shared libraries: libffi.so.8: cannot open shared "   \
    "object file: No such file or directory\n"

#define HYDRA_LINE                                                                                 \
    "===================================================================================\n"
#define HYDRA_FRAME                                                                                \
    HYDRA_LINE "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"                        \
               "=   PID 7 RUNNING AT n3\n=   EXIT CODE: 9\n" HYDRA_LINE

/* A worker that ends before it has started MPI: launchers may not know which one it was. */
TEST(early_ends)
{
    word_of(&launcher_hydra, NO_LIBRARY, "a worker could not start; see the lines above");
    word_of(&launcher_hydra, "omprma: error: no memory\n", "a worker could not start");
    word_of(&launcher_hydra, NO_LIBRARY "[mpiexec@vm] Exit codes: [vm] 0,9 [n2] 32512,9\n",
            "worker 1 on n2 ended early with status 127");
    word_of(&launcher_hydra, "[mpiexec@vm] Exit codes: [vm] 0,256\n", "mpirun ended with status 1");
    word_of(&launcher_hydra, HYDRA_FRAME "[mpiexec@vm] Exit codes: [vm] 9 [n3] 9,9\n",
            "a worker on n3 was killed by signal 9");
    word_of(&launcher_openmpi4, NO_LIBRARY, "a worker could not start");
    /* Of somebody else, who may go on. */
    word_of(&launcher_openmpi4, "a" NO_LIBRARY, "mpirun ended with status 1");
    word_of(&launcher_openmpi4, "numactl: error while loading shared libraries: x\n",
            "mpirun ended with status 1");
}

/* What processes say whose connection to prterun is gone is not for users; the rest is. */
TEST(openmpi5_asides)
{
    static const char aside[] = "[n3:00000] *** An error occurred in Socket closed\n"
                                "[n3:00000] *** reported by process [3530031105,2]\n"
                                "[n3:00000] *** on a NULL communicator\n"
                                "[n3:00000] *** Unknown error\n"
                                "[n3:00000] *** MPI_ERRORS_ARE_FATAL (processes in this\n"
                                "[n3:00000] ***    and MPI will try to terminate your MPI job\n";
    static const char own[] = "[n3:00000] *** An error occurred in MPI_Send\n"
                              "[n3:00000] *** reported by process [3530031105,2]\n";
    struct verdict verdict;
    char text[1024], passed[1024];
    snprintf(text, sizeof(text), "%swords\n%s%s", aside, own,
             "[vm:12100] plm:ssh: Warning: setpgid(12113,12113) failed in parent with errno=13\n");
    feed(text, 7, &verdict, passed, sizeof(passed));
    snprintf(text, sizeof(text), "words\n%s", own);
    assert_string_equal(passed, text);
}

/* PRTE sends a zero behind what it has to say; stderr has none otherwise at the start of a line. */
TEST(openmpi5_zeros)
{
    struct verdict verdict = from_openmpi4();
    struct stream stream = {.from_mpirun = true};
    int ends[2];
    char passed[16];
    assert_int_equal(pipe(ends), 0);
    stream.out = ends[1];
    stream_feed(&stream, "a\n\0b\n\0", 6, &verdict);
    stream_end(&stream);
    assert_int_equal(read(ends[0], passed, sizeof(passed)), 4);
    assert_memory_equal(passed, "a\nb\n", 4);
    close(ends[0]);
    close(ends[1]);
}

/* Lines of hydra's own are left out of stdout, however the bytes come; a prompt comes at once. */
TEST(own_lines_on_stdout)
{
    static const char all[] = "x = [mpiexec@vm] Exit codes: \n[mpiexec@vm] Exit codes: [vm] 0,9\n"
                              "[mpiexec@vm] other\n[mpi\n\n[mpiexec@vm] Exit codes: [vm] 0\n> ";
    static const size_t pieces[] = {1, 7, sizeof(all) - 1};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        int ends[2];
        char passed[256];
        struct sieve sieve;
        assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
        sieve = (struct sieve){.out = ends[1]};
        for (size_t at = 0, size = sizeof(all) - 1; at < size; at += pieces[i])
            assert_true(sieve_feed(&sieve, launcher_hydra.dialect, all + at,
                                   pieces[i] < size - at ? pieces[i] : size - at));
        passed[read(ends[0], passed, sizeof(passed) - 1)] = 0;
        assert_string_equal(passed,
                            "x = [mpiexec@vm] Exit codes: \n[mpiexec@vm] other\n[mpi\n\n> ");
        sieve_feed(&sieve, launcher_hydra.dialect, "\n[mpi", 5);
        assert_int_equal(read(ends[0], passed, sizeof(passed)), 1);
        sieve_end(&sieve);
        assert_int_equal(read(ends[0], passed, sizeof(passed)), 4);
        close(ends[0]);
        close(ends[1]);
    }
}

/* What passes of all that comes on stdout, however its bytes come. */
static void check_sieve(const struct dialect *dialect, const char *all, const char *wanted)
{
    const size_t size = strlen(all), pieces[] = {1, 5, 7, size};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        int ends[2];
        char passed[512];
        assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
        struct sieve sieve = {.out = ends[1]};
        for (size_t at = 0; at < size; at += pieces[i])
            assert_true(sieve_feed(&sieve, dialect, all + at,
                                   pieces[i] < size - at ? pieces[i] : size - at));
        passed[read(ends[0], passed, sizeof(passed) - 1)] = 0;
        assert_string_equal(passed, wanted);
        close(ends[0]);
        close(ends[1]);
    }
}

/* A frame and what belongs to it, with the blank line before it and a list of several hosts; not
 * what only begins so. */
TEST(frames_on_stdout)
{
#define LINE "===================================================================================\n"
    static const char all[] =
        "a\n\n" LINE
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   EXIT CODE: 9\n" LINE
        "[mpiexec@vm] Exit codes: [vm] 0\n[h2] 0,9\n[h3] 9\n"
        "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"
        "This typically refers to a problem with your application.\nThis is mine\n"
        "\n" LINE "=   mine\n[h2] 0\n" LINE "\n\nb";
    check_sieve(launcher_hydra.dialect, all,
                "a\nThis is mine\n\n" LINE "=   mine\n[h2] 0\n" LINE "\n\nb");
}

/* The one message that mpirun of Open MPI 6 has on stdout; not what only begins so. */
TEST(openmpi6_on_stdout)
{
#undef LINE
#define LINE "------------------------------------------------------------\n"
    static const char all[] =
        "a\n" LINE "A daemon failed to report back after being spawned. This could\n"
        "be due to several factors\n\n  Remote host:   nosuchhost\n" LINE "--\n" LINE
        "A table\n" LINE LINE "b";
    check_sieve(launcher_openmpi5.dialect, all, "a\n--\n" LINE "A table\n" LINE LINE "b");
}

/* What 6 says of parameters of 5 is no reason for anything. */
TEST(openmpi6_deprecated)
{
    struct verdict verdict = {.dialect = launcher_openmpi5.dialect};
    char line[256];
    verdict_read(&verdict, "A deprecated MCA variable value was specified in the environment or\n"
                           "on the command line.\n\n  Deprecated variable: a\n");
    verdict_word(&verdict, 9, line, sizeof(line));
    assert_string_equal(line, "mpirun was killed by signal 9 (Killed)");
}

/* Words of 4.0.2. */
TEST(hydra)
{
#define DOUBLE                                                                                     \
    "===================================================================================\n"
    static const char ended[] =
        "\n" DOUBLE "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
        "=   PID 32487 RUNNING AT vm\n=   EXIT CODE: 9\n"
        "=   CLEANING UP REMAINING PROCESSES\n"
        "=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n" DOUBLE;
    char text[1024];
    word_of(&launcher_hydra, ended, "a worker on vm ended early with status 9");
    snprintf(text, sizeof(text), "%s%s", ended,
             "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"
             "This typically refers to a problem with your application.\n");
    word_of(&launcher_hydra, text, "a worker on vm was killed by signal 9 (Killed)");
    static const char *const ends[][2] = {
        {"[vm] 0,0,9,0", "worker 1 on vm was killed by signal 9 (Killed)"},
        {"[vm] 0,0,9,9", "a worker on vm was killed by signal 9 (Killed)"},
        {"[vm] 0,9,768,0", "worker 1 on vm ended early with status 3"},
        {"[vm] 0\n[n7] 9,0\n", "worker 0 on n7 was killed by signal 9 (Killed)"},
        {"[vm] 0\n[n7] 9,0\n[n8] 9\n", "a worker on vm was killed by signal 9 (Killed)"},
        {"[vm] 0,9 [n7] 11,9", "worker 1 on n7 was killed by signal 11 (Segmentation fault)"},
        {"[vm] 9,0,0", "a worker on vm was killed by signal 9 (Killed)"},
        {"[vm] 15", "omprma-run's own process in the job was killed by signal 15 (Terminated)"},
        {"", "a worker on vm was killed by signal 9 (Killed)"},
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(text, sizeof(text), "%s[mpiexec@vm] Exit codes: %s\n%s", ended, ends[i][0],
                 "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n");
        word_of(&launcher_hydra, text, ends[i][1]);
    }
    word_of(&launcher_hydra,
            "Abort(7) on node 2 (rank 2 in comm 0): application called "
            "MPI_Abort(MPI_COMM_WORLD, 7) - process 2\n",
            "worker 1 has ended the run");
    word_of(&launcher_hydra,
            "[mpiexec@vm] match_arg (lib/utils/args.c:166): unrecognized argument nonsense\n"
            "[mpiexec@vm] main (ui/mpich/mpiexec.c:149): error parsing parameters\n",
            "mpirun: unrecognized argument nonsense");
    word_of(&launcher_hydra,
            "[mpiexec@vm] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed\n"
            "[mpiexec@vm] main (ui/mpich/mpiexec.c:325): process manager error waiting for "
            "completion\n",
            "mpirun: a process ended at its start, before mpiexec could see how; run with -v");
    word_of(
        &launcher_hydra,
        "[1795778897.098424] [n3:56   :0]            sock.c:334  UCX  ERROR   connect(fd=29, "
        "dest_addr=10.211.0.2:36369) failed: No route to host\n"
        "Abort(138536975) on node 3: Fatal error in internal_Init_thread: Other MPI error, error "
        "stack:\nMPII_Init_thread(265).........: \n",
        "host n3 cannot reach another host: connect() to 10.211.0.2 failed: No route to host");
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_output.c: what is printed comes back whole, once, and in order. Every case runs in a child
 * process, since capturing cannot be undone.
 * Covers: worker/output.c */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "tests/unit/image_fixture.h"
#include "worker/native/crash.h"
#include "worker/native/image.h"
#include "worker/output.h"

enum { MIB = 1 << 20 };

static int log_fd;   /* the child's real stderr */
static bool flushed; /* of the last output_take() */

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            dprintf(log_fd, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void in_child(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        alarm(100);
        if (output_capture(false, &log_fd))
            _exit(2);
        body();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Takes one run and compares. */
static bool taken(enum output_stream stream, const char *expected)
{
    char text[256] = "";
    enum output_stream from = 0;
    size_t n = output_take(&from, text, sizeof(text) - 1, &flushed);
    if (n == strlen(expected) && from == stream && !strcmp(text, expected))
        return true;
    dprintf(log_fd, "took %zu bytes of stream %d: \"%s\", not \"%s\"\n", n, (int)from, text,
            expected);
    return false;
}

static bool nothing_left(void)
{
    char text[16];
    enum output_stream from;
    return !output_pending() && !output_take(&from, text, sizeof(text), &flushed);
}

/* Takes all there is; returns the bytes, and how many were '\n'. */
static size_t take_all(size_t *lines)
{
    static char text[65536];
    enum output_stream from;
    size_t n, total = 0;
    while ((n = output_take(&from, text, sizeof(text), &flushed))) {
        total += n;
        for (size_t i = 0; lines && i < n; i++)
            *lines += text[i] == '\n';
    }
    return total;
}

/* ---- one thread ---- */

static void print_and_take(void)
{
    int fd;
    REQUIRE(nothing_left());
    printf("%s %d\n", "one", 1);
    REQUIRE(output_pending());
    REQUIRE(taken(OUTPUT_STDOUT, "one 1\n"));
    REQUIRE(nothing_left());
    puts("two");
    putchar('3');
    fwrite("four", 1, 4, stdout);
    REQUIRE(taken(OUTPUT_STDOUT, "two\n3four"));
    fputs("e", stderr);
    REQUIRE(output_pending());
    errno = ENOENT;
    perror("why");
    REQUIRE(taken(OUTPUT_STDERR, "ewhy: No such file or directory\n"));
    REQUIRE(nothing_left());
    REQUIRE(fileno(stdout) == 1 && fileno(stderr) == 2);
    REQUIRE(output_capture(false, &fd) == OMPRMA_ERR_ARGUMENT);
}

static void print_in_order(void)
{
    for (int i = 0; i < 3; i++) {
        printf("out %d ", i);
        printf("and more\n");
        fflush(stdout);
        fprintf(stderr, "err %d ", i);
        fprintf(stderr, "and more\n");
    }
    char expected[64];
    for (int i = 0; i < 3; i++) {
        snprintf(expected, sizeof(expected), "out %d and more\n", i);
        REQUIRE(taken(OUTPUT_STDOUT, expected));
        REQUIRE(flushed);
        snprintf(expected, sizeof(expected), "err %d and more\n", i);
        REQUIRE(taken(OUTPUT_STDERR, expected));
    }
    REQUIRE(nothing_left());
}

/* As in one process: what stdout still buffers comes after what stderr wrote at once. */
static void keep_buffered_text_back(void)
{
    printf("late\n");
    fprintf(stderr, "early\n");
    REQUIRE(taken(OUTPUT_STDERR, "early\n"));
    REQUIRE(taken(OUTPUT_STDOUT, "late\n"));
    REQUIRE(!flushed);
    REQUIRE(nothing_left());
}

static void take_in_small_parts(void)
{
    char all[2000], got[2000], part[7];
    size_t at = 0, n;
    enum output_stream from;
    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = (char)('a' + i % 23);
    for (size_t i = 0; i < sizeof(all); i += 100) {
        fwrite(all + i, 1, 100, stdout);
        fflush(stdout);
    }
    while ((n = output_take(&from, part, sizeof(part), &flushed))) {
        REQUIRE(n <= sizeof(part) && at + n <= sizeof(got));
        memcpy(got + at, part, n);
        at += n;
    }
    REQUIRE(at == sizeof(all) && !memcmp(all, got, at));
    REQUIRE(nothing_left());
}

static void drain_descriptors(void)
{
    REQUIRE(write(1, "raw\n", 4) == 4);
    REQUIRE(!output_pending());
    output_drain_fds();
    REQUIRE(output_pending());
    REQUIRE(taken(OUTPUT_STDOUT, "raw\n"));
    REQUIRE(system("echo child; echo error >&2") == 0);
    printf("before\n");
    output_drain_fds();
    REQUIRE(taken(OUTPUT_STDOUT, "before\nchild\n"));
    REQUIRE(taken(OUTPUT_STDERR, "error\n"));
    output_drain_fds();
    REQUIRE(nothing_left());
}

TEST(captures)
{
    in_child(print_and_take);
    in_child(print_in_order);
    in_child(keep_buffered_text_back);
    in_child(take_in_small_parts);
    in_child(drain_descriptors);
}

/* ---- much, and from several threads ---- */

static void keep_ten_mebibytes(void)
{
    static char line[1024];
    memset(line, 'x', sizeof(line) - 1);
    for (int i = 0; i < 10 * 1024; i++)
        printf("%s\n", line);
    size_t lines = 0;
    REQUIRE(take_all(&lines) == 10 * MIB);
    REQUIRE(lines == 10 * 1024);
}

static _Atomic size_t written;

static void *write_blocks(void *mebibytes)
{
    static char block[MIB];
    memset(block, 'b', sizeof(block));
    for (size_t i = 0; i < *(size_t *)mebibytes; i++) {
        fwrite(block, 1, sizeof(block), stdout);
        written += sizeof(block);
    }
    fflush(stdout);
    return NULL;
}

static void wait_at_the_limit(void)
{
    pthread_t thread;
    size_t mebibytes = 80, total = 0;
    REQUIRE(!pthread_create(&thread, NULL, write_blocks, &mebibytes));
    for (int i = 0; i < 500 && written < 60 * MIB; i++)
        sleep_ms(10);
    sleep_ms(300);
    REQUIRE(written >= 60 * MIB && written <= 64 * MIB);
    for (int i = 0; i < 1000 && total < mebibytes * MIB; i++) {
        total += take_all(NULL);
        sleep_ms(5);
    }
    REQUIRE(total == mebibytes * MIB); /* in half the time that a writer would wait */
    REQUIRE(!pthread_join(thread, NULL));
    REQUIRE(nothing_left());
}

static void tell_what_is_lost(void)
{
    static char text[65536];
    struct timespec before, after;
    size_t mebibytes = 80, total = 0, n;
    unsigned long long lost = 0;
    enum output_stream from;
    clock_gettime(CLOCK_MONOTONIC, &before);
    write_blocks(&mebibytes); /* nobody takes */
    clock_gettime(CLOCK_MONOTONIC, &after);
    REQUIRE(after.tv_sec - before.tv_sec >= 9 && after.tv_sec - before.tv_sec <= 15);
    while ((n = output_take(&from, text, sizeof(text) - 1, &flushed))) {
        text[n] = 0;
        char *notice = strstr(text, "\nomprma: warning: ");
        if (notice) {
            REQUIRE(sscanf(notice, "\nomprma: warning: %llu bytes of output lost", &lost) == 1);
            n = (size_t)(notice - text);
        }
        total += n;
    }
    REQUIRE(lost > 15 * MIB);
    REQUIRE(total + lost == mebibytes * MIB);
    printf("again\n");
    REQUIRE(taken(OUTPUT_STDOUT, "again\n"));
    REQUIRE(nothing_left());
}

static void *write_pipe(void *unused)
{
    static char block[65536];
    memset(block, 'p', sizeof(block));
    for (int i = 0; i < 48; i++)
        for (size_t at = 0; at < sizeof(block);) {
            ssize_t n = write(1, block + at, sizeof(block) - at);
            REQUIRE(n > 0);
            at += (size_t)n;
        }
    return unused;
}

static void let_the_pipe_fill(void)
{
    pthread_t thread;
    size_t total = 0;
    REQUIRE(!pthread_create(&thread, NULL, write_pipe, NULL));
    for (int i = 0; i < 1000 && total < 3 * MIB; i++) {
        output_drain_fds();
        total += take_all(NULL);
        sleep_ms(2);
    }
    REQUIRE(total == 3 * MIB);
    REQUIRE(!pthread_join(thread, NULL));
}

enum { THREADS = 4, LINES = 5000 };

static void *print_lines(void *number)
{
    for (int i = 0; i < LINES; i++)
        printf("thread %d line %05d\n", *(int *)number, i);
    return NULL;
}

static void print_from_threads(void)
{
    static char text[THREADS * LINES * 32];
    pthread_t threads[THREADS];
    int numbers[THREADS], next[THREADS] = {0}, number, line, length;
    size_t at = 0;
    enum output_stream from;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        REQUIRE(!pthread_create(&threads[i], NULL, print_lines, &numbers[i]));
    }
    for (int i = 0; i < 20; i++) {
        at += output_take(&from, text + at, sizeof(text) - at - 1, &flushed);
        sleep_ms(1);
    }
    for (int i = 0; i < THREADS; i++)
        REQUIRE(!pthread_join(threads[i], NULL));
    for (size_t n = 1; n; at += n)
        n = output_take(&from, text + at, sizeof(text) - at - 1, &flushed);
    /* each thread's lines are whole and in order */
    for (char *line_at = text; *line_at; line_at += length) {
        length = 0;
        REQUIRE(sscanf(line_at, "thread %d line %d%n", &number, &line, &length) == 2);
        REQUIRE(line_at[length++] == '\n' && number >= 0 && number < THREADS);
        REQUIRE(line == next[number]++);
    }
    for (int i = 0; i < THREADS; i++)
        REQUIRE(next[i] == LINES);
}

TEST(bounds_what_it_keeps)
{
    in_child(keep_ten_mebibytes);
    in_child(wait_at_the_limit);
    in_child(let_the_pipe_fill);
    in_child(print_from_threads);
}

TEST(tells_losses)
{
    in_child(tell_what_is_lost);
}

/* ---- a thread that crashed inside stdio ---- */

static struct crash crash;

static void *crash_in_printf(void *unused)
{
    const char *volatile nowhere = (const char *)0x10;
    REQUIRE(!crash_thread());
    crash_enter_kernel(1, &crash);
    printf("step 1\n");
    printf("step 2 %s\n", nowhere);
    return unused;
}

static void *crash_in_fwrite(void *unused)
{
    const char *volatile nowhere = (const char *)0x10;
    REQUIRE(!crash_thread());
    crash_enter_kernel(1, &crash);
    fwrite("step 1\n", 1, 7, stdout);
    fwrite(nowhere, 1, MIB, stdout);
    return unused;
}

static void survive(void *(*body)(void *))
{
    char text[64] = "";
    enum output_stream from;
    pthread_t thread;
    REQUIRE(!crash_install(NULL));
    REQUIRE(!pthread_create(&thread, NULL, body, NULL));
    for (int i = 0; i < 500 && !crash_happened(&crash, NULL); i++)
        sleep_ms(10);
    REQUIRE(crash_happened(&crash, NULL));
    output_expect_stuck();
    output_drain_fds();
    REQUIRE(output_take(&from, text, sizeof(text) - 1, &flushed) >= 7);
    REQUIRE(!strncmp(text, "step 1\n", 7));
    fputs("after", stderr);
    REQUIRE(taken(OUTPUT_STDERR, "after"));
}

static void survive_printf(void)
{
    survive(crash_in_printf);
}

static void survive_fwrite(void)
{
    survive(crash_in_fwrite);
}

TEST(survives_crashes_in_stdio)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their printf() looks at the arguments first, which changes where it crashes */
#endif
    in_child(survive_printf);
    in_child(survive_fwrite);
}

/* ---- C++ ---- */

static const char stream_source[] =
    "#include <iostream>\n#include <cstdio>\n"
    "extern \"C\" void mixed() { std::cout << \"a\" << 1; std::printf(\"b\"); std::cerr << \"c\";\n"
    "                          std::cout << \"d\" << std::endl; std::clog << \"e\\n\"; }\n"
    "extern \"C\" void unsynced() { std::ios_base::sync_with_stdio(false);\n"
    "                             std::cout << \"f\" << std::flush; }\n";

static void *stream_content;
static size_t stream_bytes;

static void print_with_streams(void)
{
    struct image *image;
    uint64_t mixed, unsynced;
    REQUIRE(!image_open(stream_content, stream_bytes, NULL, &image));
    REQUIRE(!image_symbol(image, "mixed", 0, &mixed));
    REQUIRE(!image_symbol(image, "unsynced", 0, &unsynced));
    ((void (*)(void))(uintptr_t)mixed)();
    REQUIRE(taken(OUTPUT_STDOUT, "a1b"));
    REQUIRE(taken(OUTPUT_STDERR, "c"));
    REQUIRE(taken(OUTPUT_STDOUT, "d\n"));
    REQUIRE(taken(OUTPUT_STDERR, "e\n"));
    /* then C++ writes to the descriptor itself */
    ((void (*)(void))(uintptr_t)unsynced)();
    output_drain_fds();
    REQUIRE(taken(OUTPUT_STDOUT, "f"));
}

TEST(captures_streams_of_cpp)
{
    stream_content = fixture_compile("c++", "cc", stream_source, "", "", &stream_bytes);
    if (!stream_content)
        skip(); /* no C++ compiler */
    in_child(print_with_streams);
    free(stream_content);
}

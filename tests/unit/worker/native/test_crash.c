/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_crash.c: faults in kernels are parked and described, others end the process as usual, and
 * guarded accesses come back. Each crash happens in a child process.
 * Covers: worker/native/crash.c worker/native/endings.c worker/native/thread_start.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include "tests/unit/cmocka_both.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/image_fixture.h"
#include "worker/native/crash.h"
#include "worker/native/image.h"

static const char kernels_source[] =
    "#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n#include <time.h>\n"
    "#include <sys/time.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
    "volatile int zero;\n"
    "void reads_null(void) { (void)*(volatile int *)0x10; }\n"
    "void writes_far(void) { *(volatile int *)0x7000dead0000 = 1; }\n"
    "void wild(void) { *(volatile int *)0xdead000000000000 = 1; }\n"
    "char bytes[96] __attribute__((aligned(64)));\n"
    "void misaligned(void) { __asm__ volatile(\"movaps %%xmm0, 8(%0)\" ::\"r\"(bytes)); }\n"
    "void divides(void) { zero = 1000 / zero; }\n"
    "void traps(void) { __builtin_trap(); }\n"
    "void aborts(void) { abort(); }\n"
    "void exits(void) { exit(3); }\n"
    "void exits_below(void) { exit(-1); }\n"
    "void exits_now(void) { _exit(0); }\n"
    "void Exits_now(void) { _Exit(4); }\n"
    "void exits_quickly(void) { quick_exit(5); }\n"
    "void ends_its_thread(void) { pthread_exit(0); }\n"
    "void waits(void) { for (;;) pause(); }\n"
    "void raises(void) { raise(SIGTERM); }\n"
    "void kills(void) { kill(getpid(), SIGUSR1); waits(); }\n"
    "void times(void) { struct itimerval t = {{0, 0}, {0, 1000}};\n"
    "                   for (setitimer(ITIMER_VIRTUAL, &t, 0);;) zero++; }\n"
    "void breaks(void) { __asm__ volatile(\"int3\"); }\n"
    "int deep(volatile char *p) { volatile char b[4096]; b[0] = *p; return deep(b) + b[0]; }\n"
    "void recurses(void) { char c = 0; zero = deep(&c); }\n"
    "static void *other(void *f) { ((void (*)(void))f)(); return 0; }\n"
    "static void fork_join(void *f) { pthread_t t; pthread_create(&t, 0, other, f);\n"
    "                                 pthread_join(t, 0); }\n"
    "void faults_in_team(void) { fork_join(reads_null); }\n"
    "void exits_in_team(void) { fork_join(exits); }\n"
    "void recurses_in_team(void) { fork_join(recurses); }\n"
    "void raises_in_team(void) { fork_join(raises); }\n"
    "void others_end(void) { fork_join(ends_its_thread); reads_null(); }\n"
    "static void in_fork(void (*f)(void), pid_t (*by)(void)) {\n"
    "    int s; pid_t p = by(); if (!p) { f(); _exit(9); } waitpid(p, &s, 0); zero = s; }\n"
    "void forks_exit(void) { in_fork(exits, fork); if (WEXITSTATUS(zero) == 3) reads_null(); }\n"
    "void forks_exit_now(void) { in_fork(exits_now, fork); if (!zero) reads_null(); }\n"
    "void vforks(void) { in_fork(exits_now, vfork); if (!zero) reads_null(); }\n"
    "void forks_fault(void) { in_fork(writes_far, fork); if (zero) reads_null(); }\n"
    "static void later(void) { struct timespec t = {0, 300000000}; nanosleep(&t, 0); }\n"
    "static void fault_late(void) { later(); reads_null(); zero++; }\n"
    "static void exit_late(void) { later(); exits(); zero++; }\n"
    "static void abort_late(void) { later(); aborts(); zero++; }\n"
    "void faults_late_in_team(void) { fork_join(fault_late); }\n"
    "void exits_late_in_team(void) { fork_join(exit_late); }\n"
    "void aborts_late_in_team(void) { fork_join(abort_late); }\n";

static void *image_content;
static size_t image_bytes;

struct report {
    char text[1024];
    volatile int wakes;
    double cpu_s; /* that the child used while it waited for 300 ms after the crash */
};

static struct report *report; /* shared with the children */
static int wake_pipe[2];

static void wake(void)
{
    report->wakes++;
    if (write(wake_pipe[1], "!", 1) != 1)
        _exit(90);
}

static struct crash crash;

static uint64_t kernel_of(const void *owner, const char *name)
{
    struct image *image;
    uint64_t address = 0;
    if (image_open(image_content, image_bytes, owner, &image) ||
        image_symbol(image, name, 0, &address))
        _exit(91);
    return address;
}

static uint64_t kernel_find(const char *name)
{
    return kernel_of(NULL, name);
}

static void *lane(void *name)
{
    uint64_t entry = kernel_find(name), bad;
    /* a guard ends with its access */
    if (crash_thread() || !guarded_probe((uint64_t)(uintptr_t)&bad, 1, false, &bad))
        _exit(92);
    crash_enter_kernel(entry, &crash);
    ((void (*)(void))(uintptr_t)entry)();
    crash_leave_kernel();
    return NULL;
}

static void lane_start(const char *name)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, lane, (void *)(uintptr_t)name))
        _exit(93);
    pthread_detach(thread);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* The service thread of a worker: waits to be woken, then goes on for 300 ms. */
static void wait_for_crash(void)
{
    struct pollfd woken = {.fd = wake_pipe[0], .events = POLLIN};
    const char *text = "";
    int ready;
    while ((ready = poll(&woken, 1, 10000)) < 0 && errno == EINTR)
        ;
    if (ready != 1)
        _exit(94);
    while (!crash_happened(&crash, &text))
        ;
    snprintf(report->text, sizeof(report->text), "%s", text);
    double before = cpu_seconds();
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    report->cpu_s = cpu_seconds() - before;
}

/* Runs `body` in a child with handlers installed; returns the child's wait status. */
static int in_child(void (*body)(const char *), const char *argument)
{
    memset(report, 0, sizeof(*report));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        alarm(30);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* parked threads take no other signal */
        if (pipe(wake_pipe) || crash_install(wake))
            _exit(95);
        signal(SIGALRM, SIG_DFL);
        body(argument);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void crash_kernel(const char *name)
{
    lane_start(name);
    wait_for_crash();
}

static void check_kernel(const char *name, const char *expected)
{
    char start[64];
    int status = in_child(crash_kernel, name);
    if (status)
        fail_msg("kernel %s: the child ended with wait status 0x%x", name, (unsigned)status);
    snprintf(start, sizeof(start), "kernel %s ", name);
    if (strncmp(report->text, start, strlen(start)) || !strstr(report->text, expected))
        fail_msg("described as: %s", report->text);
    assert_int_equal(report->wakes, 1);
    assert_true(report->cpu_s < 0.1);
}

static void describes_faults(void **state)
{
    (void)state;
    check_kernel("reads_null", "crashed: segmentation fault at address 0x10 (pc image+0x");
    check_kernel("writes_far", "crashed: segmentation fault at address 0x7000dead0000 (pc image+");
    check_kernel("misaligned", "crashed: misaligned vector of 16 bytes at address 0x");
    check_kernel("misaligned", "8 (pc image+");
    check_kernel("misaligned", "): it must lie at a multiple of 16, as its type says; allocate");
    check_kernel("wild", "crashed: segmentation fault at address (not a valid pointer) (pc image+");
    check_kernel("divides", "crashed: integer division by zero (pc image+0x");
    check_kernel("traps", "crashed: illegal instruction (pc image+0x");
    check_kernel("aborts", "called abort");
    check_kernel("recurses", ", stack overflow (pc image+0x");
}

static void describes_exit(void **state)
{
    (void)state;
    check_kernel("exits", "called exit(3)");
    check_kernel("exits_below", "called exit(-1)");
    check_kernel("exits_now", "called _exit(0)");
    check_kernel("Exits_now", "called _Exit(4)");
    check_kernel("exits_quickly", "called quick_exit(5)");
    check_kernel("ends_its_thread", "called pthread_exit(0)");
}

static void blames_the_kernel_of_foreign_threads(void **state)
{
    (void)state;
    check_kernel("faults_in_team", "segmentation fault at address 0x10");
    check_kernel("exits_in_team", "called exit(3)");
    check_kernel("raises_in_team", "raised SIGTERM, which ends");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    check_kernel("recurses_in_team", ", stack overflow (pc image+0x");
#endif
}

static void describes_signals(void **state)
{
    (void)state;
    check_kernel("raises", "raised SIGTERM, which ends its process: handle it there");
    check_kernel("kills", "raised SIGUSR1, which ends"); /* met by the service thread */
    check_kernel("times", "got SIGVTALRM, which ends");
    check_kernel("breaks", "got SIGTRAP, which ends");
}

static void killed_by_another(const char *kernel)
{
    if (kernel)
        lane_start(kernel);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    if (fork() == 0) {
        kill(getppid(), SIGTERM);
        _exit(0);
    }
    wait_for_crash();
}

static void ends_by_signals_of_others(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int status = in_child(killed_by_another, i ? "waits" : NULL);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGTERM);
    }
}

/* Processes and threads of a kernel's own end as they like; what it does then is described. */
static void lets_others_end(void **state)
{
    (void)state;
    check_kernel("others_end", "segmentation fault at address 0x10");
#ifndef __SANITIZE_ADDRESS__ /* which looks for leaks as that process exits */
    check_kernel("forks_exit", "segmentation fault at address 0x10");
#endif
    check_kernel("forks_exit_now", "segmentation fault at address 0x10");
    check_kernel("vforks", "segmentation fault at address 0x10");
    check_kernel("forks_fault", "segmentation fault at address 0x10");
}

static void come_back(const char *unused)
{
    int status;

    (void)unused;
    crash_enter_kernel(kernel_find("waits"), &crash);
    pid_t child = fork();
    crash_leave_kernel();
    if (!child)
        _exit(0);
    _exit(waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

static void ends_forks_that_come_back(void **state)
{
    (void)state;
    int status = in_child(come_back, NULL);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
}

/* Where the description begins there is memory, but not much. */
static void crash_without_room(const char *name)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
        _exit(98);
    crash_enter_kernel(kernel_find(name), (struct crash *)(void *)(pages + page - 16));
    ((void (*)(void))(uintptr_t)kernel_find(name))();
}

/* The address sanitizer takes the signal, and ends the process with a status of its own. */
static void assert_ended_by_fault(int status)
{
#ifndef __SANITIZE_ADDRESS__
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
#else
    assert_true(status != 0);
#endif
}

static void ends_where_it_cannot_describe(void **state)
{
    (void)state;
    int status = in_child(crash_without_room, "aborts");
    assert_ended_by_fault(status);
    assert_int_equal(report->wakes, 0);
}

/* Two devices, each with its own copy of the image. */
static struct crash two[2];

struct lane_of_two {
    struct crash *crash;
    const char *name;
};

static void *run_lane_of_two(void *data)
{
    const struct lane_of_two *lane_of_two = data;
    uint64_t entry = kernel_of(lane_of_two->crash->owner, lane_of_two->name);

    crash_enter_kernel(entry, lane_of_two->crash);
    ((void (*)(void))(uintptr_t)entry)();
    crash_leave_kernel();
    return NULL;
}

static void lane_of(int which, const char *name)
{
    static struct lane_of_two lanes[8];
    static int used;
    struct lane_of_two *one = &lanes[used++];
    pthread_t thread;

    *one = (struct lane_of_two){&two[which], name};
    two[which].owner = &two[which];
    if (pthread_create(&thread, NULL, run_lane_of_two, one))
        _exit(93);
    pthread_detach(thread);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

/* The kernel that was entered last is another device's. */
static void crash_in_one_of_two(const char *name)
{
    const char *text;

    lane_of(0, name);
    lane_of(1, "waits");
    for (int i = 0; i < 100 && !crash_happened(&two[0], NULL); i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    if (crash_happened(&two[1], NULL) || !crash_happened(&two[0], &text))
        _exit(96);
    snprintf(report->text, sizeof(report->text), "%s", text);
    lane_of(1, "exits"); /* also a second time */
    for (int i = 0; i < 100 && !crash_happened(&two[1], NULL); i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    _exit(crash_happened(&two[1], NULL) ? 0 : 97);
}

static void finds_the_device_of_foreign_threads(void **state)
{
    (void)state;
    assert_int_equal(in_child(crash_in_one_of_two, "faults_late_in_team"), 0);
    assert_non_null(strstr(report->text, "kernel faults_late_in_team crashed: segm"));
    assert_int_equal(in_child(crash_in_one_of_two, "exits_late_in_team"), 0);
    assert_string_equal(report->text, "kernel exits_late_in_team called exit(3)");
    assert_int_equal(in_child(crash_in_one_of_two, "aborts_late_in_team"), 0);
    assert_string_equal(report->text, "kernel aborts_late_in_team called abort");
}

static void crash_latest(const char *unused)
{
    (void)unused;
    lane_start("waits");
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    lane_start("faults_in_team");
    wait_for_crash();
    lane_start("reads_null"); /* a second crash is parked, and neither described nor told */
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    const char *text = "";
    crash_happened(&crash, &text);
    snprintf(report->text, sizeof(report->text), "%s", text);
}

static void keeps_the_first_of_several(void **state)
{
    (void)state;
    assert_int_equal(in_child(crash_latest, NULL), 0);
    assert_non_null(strstr(report->text, "kernel faults_in_team crashed"));
    assert_int_equal(report->wakes, 1);
}

static void fault_outside(const char *name)
{
    uint64_t entry = kernel_find(name);
    lane_start("waits"); /* another thread's kernel is not to blame */
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    crash_enter_kernel(entry, &crash);
    crash_leave_kernel();
    ((void (*)(void))(uintptr_t)entry)();
}

static void leaves_other_faults_alone(void **state)
{
    (void)state;
    int status = in_child(fault_outside, "reads_null");
    assert_ended_by_fault(status);
    status = in_child(fault_outside, "aborts");
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    status = in_child(fault_outside, "exits");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_int_equal(report->wakes, 0);
}

/* ---- guarded access ---- */

static char *mapped; /* two pages, the second without access */
static long page;

static int map_pages(void **state)
{
    (void)state;
    page = sysconf(_SC_PAGESIZE);
    mapped =
        mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mapped == MAP_FAILED || mprotect(mapped + page, (size_t)page, PROT_NONE);
}

static void copies_and_reports(const char *unused)
{
    (void)unused;
    char *text = report->text, *end = mapped + page;
    uint64_t bad = 1, first = (uint64_t)(uintptr_t)end;
    memset(mapped, 'm', (size_t)page);
    memset(text, 0, 100);
    bool good = guarded_copy(text, end - 100, 100, &bad) && bad == 1 && text[99] == 'm';
    for (int i = 0; i < 3; i++) { /* works again after a fault */
        bad = 1;
        good = good && !guarded_copy(text, end - 100, 164, &bad) && bad == first;
        bad = 1;
        good = good && !guarded_copy(end - 100, text, 164, &bad) && bad == first;
    }
    good = good && !guarded_copy(text, NULL, 8, &bad) && bad == 0;
    good = good && !guarded_copy(text, (void *)(UINT64_C(1) << 63), 8, &bad) && bad >> 63;
    good = good && !guarded_copy(text, mapped, SIZE_MAX - 100, &bad);
    good = good && guarded_copy(NULL, NULL, 0, &bad);
    _exit(good ? 0 : 1);
}

static void probes_and_reports(const char *unused)
{
    (void)unused;
    uint64_t start = (uint64_t)(uintptr_t)mapped, size = (uint64_t)page, bad = 1;
    memset(mapped, 'm', size);
    bool good = guarded_probe(start, size, true, &bad) && mapped[0] == 'm' && bad == 1;
    good = good && guarded_probe(start + 5, 10, true, &bad) && mapped[5] == 'm';
    good = good && !guarded_probe(start + 5, size, false, &bad) && bad == start + size;
    good = good && !guarded_probe(start + 5, size, true, &bad) && bad == start + size;
    if (mprotect(mapped, size, PROT_READ))
        _exit(2);
    good = good && guarded_probe(start, size, false, &bad);
    good = good && !guarded_probe(start + 8, 8, true, &bad) && bad == start + 8;
    good = good && !guarded_probe(8, 8, false, &bad) && bad == 8;
    good = good && !guarded_probe(start, UINT64_MAX - 8, false, &bad);
    good = good && guarded_probe(0, 0, true, &bad);
    /* a mapped file that has shrunk: SIGBUS */
    int fd = memfd_create("short", MFD_CLOEXEC);
    char *gone = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    good = good && !guarded_probe((uint64_t)(uintptr_t)gone, 1, false, &bad) &&
           bad == (uint64_t)(uintptr_t)gone;
    _exit(good ? 0 : 1);
}

static void guarded_beside_kernel(const char *unused)
{
    (void)unused;
    uint64_t bad = 0;
    lane_start("waits");
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    crash_enter_kernel(1, &crash);
    bool refused = !guarded_probe(16, 1, false, &bad);
    _exit(refused && bad == 16 && !crash_happened(&crash, NULL) ? 0 : 1);
}

static void guards_accesses(void **state)
{
    (void)state;
    assert_int_equal(in_child(copies_and_reports, NULL), 0);
    assert_int_equal(in_child(probes_and_reports, NULL), 0);
    assert_int_equal(in_child(guarded_beside_kernel, NULL), 0);
}

int main(void)
{
    report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    image_content = fixture_image(kernels_source, &image_bytes);
    if (report == MAP_FAILED || !image_content)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_faults),
        cmocka_unit_test(describes_exit),
        cmocka_unit_test(describes_signals),
        cmocka_unit_test(ends_by_signals_of_others),
        cmocka_unit_test(blames_the_kernel_of_foreign_threads),
        cmocka_unit_test(lets_others_end),
        cmocka_unit_test(ends_forks_that_come_back),
        cmocka_unit_test(ends_where_it_cannot_describe),
        cmocka_unit_test(finds_the_device_of_foreign_threads),
        cmocka_unit_test(keeps_the_first_of_several),
        cmocka_unit_test(leaves_other_faults_alone),
        cmocka_unit_test_setup(guards_accesses, map_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

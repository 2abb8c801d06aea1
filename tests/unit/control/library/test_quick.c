/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_quick.c: which settings Open MPI gets so that it starts quickly, and which are left alone;
 * what MPICH's launcher hears at the end.
 * Covers: quick.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "tests/unit/test.h"
#include "control/library/quick.h"

enum { MOST = 8 };

static struct variable {
    char name[64], value[256];
} variables[MOST];
static int count;

static const char *get(void *data, const char *name)
{
    (void)data;
    for (int i = 0; i < count; i++)
        if (strcmp(variables[i].name, name) == 0)
            return variables[i].value;
    return NULL;
}

static void set(void *data, const char *name, const char *value)
{
    (void)data;
    assert_true(count < MOST);
    snprintf(variables[count].name, sizeof(variables[count].name), "%s", name);
    snprintf(variables[count++].value, sizeof(variables[0].value), "%s", value);
}

static const struct quick_environment environment = {get, set, NULL};

static int begin(void **state)
{
    (void)state;
    count = 0;
    return 0;
}

/* What becomes of parameter mtl when two files hold these texts; "": it is left alone. */
static const char *mtl_of(const char *system, const char *user)
{
    static char value[256];
    const char *texts[] = {system, user};
    char names[2][32];

    for (int i = 0; i < 2; i++) {
        strcpy(names[i], "/tmp/test-quick-XXXXXX");
        int fd = mkstemp(names[i]);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
        close(fd);
    }
    bool found = quick_mtl((const char *const[]){names[0], names[1], NULL}, value, sizeof(value));
    unlink(names[0]);
    unlink(names[1]);
    return found ? value : "";
}

TEST(exclusions_are_kept)
{
    assert_string_equal(mtl_of("", ""), "^psm,psm2");
    assert_string_equal(mtl_of("# mtl = ofi\n mtl = ^ofi \npml=^ucx\n", ""), "^ofi,psm,psm2");
    assert_string_equal(mtl_of("mtl = ^ofi\n", "mtl=^mxm"), "^mxm,psm,psm2");
    assert_string_equal(mtl_of("mtl = ^\n", ""), "^psm,psm2");
    assert_string_equal(mtl_of("mtl_base_verbose = 5\nbtl = tcp,self\nmtl\n", ""), "^psm,psm2");
}

TEST(choices_by_name_are_left_alone)
{
    assert_string_equal(mtl_of("mtl = ofi\n", ""), "");
    assert_string_equal(mtl_of("mtl = ^ofi\n", "pml = cm\n"), "");
    assert_string_equal(mtl_of("mtl =\n", ""), "");
    char text[600];
    memset(text, 'x', sizeof(text));
    memcpy(text, "mtl=^", 5);
    text[sizeof(text) - 1] = 0;
    assert_string_equal(mtl_of(text, ""), "");
}

TEST(users_variables_win)
{
    set(NULL, "OMPI_MCA_mtl", "ofi");
    set(NULL, "OMPI_COMM_WORLD_SIZE", "2");
    quick_rank(&environment);
    assert_int_equal(count, 3);
    assert_string_equal(get(NULL, "OMPI_MCA_mtl"), "ofi");
    assert_string_equal(get(NULL, "OMPI_MCA_orte_bound_at_launch"), "1");
    count = 0;
    set(NULL, "OMPI_MCA_pml", "cm");
    quick_rank(&environment);
    assert_int_equal(count, 1);
}

TEST(users_hwloc_is_left_alone)
{
    quick_hwloc(&environment);
    assert_int_equal(count, 2);
    count = 0;
    set(NULL, "HWLOC_COMPONENTS", "no_os");
    quick_hwloc(&environment);
    assert_int_equal(count, 1);
}

TEST(workers_take_hwloc_back)
{
    unsetenv("HWLOC_COMPONENTS");
    unsetenv("HWLOC_PLUGINS_PATH");
    quick_hwloc(&quick_own);
    assert_non_null(getenv("HWLOC_COMPONENTS"));
    quick_forget_hwloc();
    assert_null(getenv("HWLOC_COMPONENTS"));
    assert_null(getenv("HWLOC_PLUGINS_PATH"));
    setenv("HWLOC_COMPONENTS", "users", 1);
    quick_forget_hwloc();
    assert_string_equal(getenv("HWLOC_COMPONENTS"), "users");
    unsetenv("HWLOC_COMPONENTS");
}

static int listen_somewhere(struct sockaddr_in *address)
{
    socklen_t bytes = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    assert_int_equal(bind(fd, (struct sockaddr *)address, bytes), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &bytes), 0);
    return fd;
}

static int connect_to(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
    return fd;
}

static int sends_at_once(int fd)
{
    int value = 0;
    socklen_t bytes = sizeof(value);

    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &bytes), 0);
    return value != 0;
}

TEST(only_mpiruns_connection_changes)
{
    struct sockaddr_in mpiruns, others;
    char uri[128];
    int listeners[] = {listen_somewhere(&mpiruns), listen_somewhere(&others)};
    int fd = connect_to(&mpiruns), other = connect_to(&others);

    unsetenv("PMIX_SERVER_URI41");
    quick_connection();
    assert_false(sends_at_once(fd));
    setenv("PMIX_SERVER_URI41", "1.0;tcp6://::1:77", 1);
    quick_connection();
    assert_false(sends_at_once(fd));
    snprintf(uri, sizeof(uri), "1.0;tcp4://127.0.0.1:%d", ntohs(mpiruns.sin_port));
    setenv("PMIX_SERVER_URI41", uri, 1);
    quick_connection();
    assert_true(sends_at_once(fd));
    assert_false(sends_at_once(other));
    unsetenv("PMIX_SERVER_URI41");
    close(fd);
    close(other);
    close(listeners[0]);
    close(listeners[1]);
}

/* Once; MPICH, which says it again, finds an answer although hydra has ended. */
TEST(hydra_is_told_the_end_and_answers)
{
    static const char end[] = "cmd=finalize\n", answer[] = "cmd=finalize_ack\n";
    struct sockaddr_in hydras;
    char port[64], words[64] = "";
    int listener = listen_somewhere(&hydras), fd = connect_to(&hydras),
        peer = accept(listener, NULL, NULL);

    snprintf(port, sizeof(port), "host.example:%d", ntohs(hydras.sin_port));
    setenv("PMI_PORT", port, 1);
    assert_int_equal(write(peer, answer, sizeof(answer) - 1), sizeof(answer) - 1);
    quick_end();
    assert_int_equal(recv(peer, words, sizeof(words) - 1, MSG_DONTWAIT), 13);
    assert_string_equal(words, "cmd=finalize\n");
    quick_end();
    assert_int_equal(recv(peer, words, sizeof(words), MSG_DONTWAIT), 0);
    close(peer);
    assert_int_equal(write(fd, end, sizeof(end) - 1), sizeof(end) - 1);
    memset(words, 0, sizeof(words));
    assert_int_equal(recv(fd, words, sizeof(words) - 1, MSG_DONTWAIT), sizeof(answer) - 1);
    assert_string_equal(words, answer);
    assert_int_equal(recv(fd, words, sizeof(words), MSG_DONTWAIT), -1); /* hydra's was read */
    unsetenv("PMI_PORT");
    quick_end();
    close(fd);
    close(listener);
}

TEST_EACH(begin, NULL)

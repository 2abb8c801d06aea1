/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_transport.c: what UCX's log says of transports and devices, in the words of two of
 * its versions, and what omprma-info makes of it.
 * Covers: launch/transport.c */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/cmocka_both.h"

#include "tools/launch/transport.h"

static char *printed(const struct transport *transport)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    assert_non_null(stream);
    transport_print(transport, stream);
    fclose(stream);
    return text;
}

static void shared_memory(void **state)
{
    struct transport transport = {0};

    (void)state;
    list_add(&transport.layers, "ucx");
    assert_true(transport_line(&transport,
                               "[1.2] [vm:1:0] ucp_worker.c:1763 UCX  INFO    ep_cfg[0]: "
                               "tag(self/memory0 cma/memory)\n"));
    assert_true(transport_line(&transport,
                               "[1.2] [vm:1:0] ucp_worker.c:1763 UCX  INFO    ep_cfg[1]: "
                               "rma(sysv/memory posix/memory) amo(sysv/memory)\n"));
    assert_false(transport_line(&transport, "[1.2] [vm:1:0] parser.c:1916 UCX  INFO  UCX_* env "
                                            "variable: UCX_TLS=rc_mlx5(no)\n"));
    char *text = printed(&transport);
    assert_non_null(strstr(text, "messages   ucx\n"));
    assert_non_null(strstr(text,
                           "UCX        messages over self/memory0, cma/memory; one-sided over "
                           "sysv/memory, posix/memory\n"));
    assert_non_null(strstr(text, "RDMA       not used; "));
    free(text);
    transport_clear(&transport);
}

static void none_of_mpi(void **state)
{
    struct transport transport = {.without_mpi = true};

    (void)state;
    char *text = printed(&transport);
    assert_non_null(strstr(text, "messages   through shared memory, between hosts by sockets, "
                                 "without MPI\nRDMA       not used; "));
    free(text);
    transport_clear(&transport);
}

static void infiniband(void **state)
{
    struct transport transport = {0};

    (void)state;
    list_add(&transport.layers, "ucx");
    assert_true(transport_line(&transport, "[1.2] [n1:1:0] ucp_worker.c:1855 UCX  INFO    "
                                           "ucp_context_0 inter-node cfg#2 "
                                           "tag(rc_mlx5/mlx5_0:1 rc_mlx5/mlx5_1:1)\n"));
    assert_true(transport_line(&transport, "UCX  INFO    ep_cfg[3]: tag(rc_mlx5/mlx5_0:1) "
                                           "rma(dc_mlx5/mlx5_0:1)\n"));
    char *text = printed(&transport);
    assert_non_null(strstr(text, "messages over rc_mlx5/mlx5_0:1, rc_mlx5/mlx5_1:1; one-sided over "
                                 "dc_mlx5/mlx5_0:1\n"));
    assert_non_null(
        strstr(text, "RDMA       used: rc_mlx5/mlx5_0:1, rc_mlx5/mlx5_1:1, dc_mlx5/mlx5_0:1; "));
    free(text);
    transport_clear(&transport);
}

/* As where components are parts of libmpi: only the names of functions tell. */
__attribute__((visibility("default"))) void mca_pml_cm_stand_in(void);
__attribute__((visibility("default"))) void ompi_mtl_psm2_stand_in(void);
__attribute__((visibility("default"))) void *mca_pml[16], *ompi_mtl;

void mca_pml_cm_stand_in(void)
{
}

void ompi_mtl_psm2_stand_in(void)
{
}

static void inside_the_library(void **state)
{
    static void *module[16] = {[1] = (void *)ompi_mtl_psm2_stand_in};
    struct transport transport = {0};

    (void)state;
    mca_pml[2] = (void *)mca_pml_cm_stand_in;
    ompi_mtl = module;
    transport_read(&transport);
    char *text = printed(&transport);
    assert_non_null(strstr(text, "messages   cm over psm2\nRDMA       used: psm2; "));
    free(text);
    transport_clear(&transport);
}

static void others(void **state)
{
    struct transport transport = {0};

    (void)state;
    list_add(&transport.layers, "ob1");
    list_add(&transport.networks, "vader");
    list_add(&transport.networks, "tcp");
    char *text = printed(&transport);
    assert_non_null(strstr(text, "messages   ob1 over vader, tcp\nRDMA       not used; "));
    free(text);
    list_add(&transport.networks, "openib");
    text = printed(&transport);
    assert_non_null(strstr(text, "RDMA       used: openib; "));
    free(text);
    transport_clear(&transport);
    assert_false(transport_is_rdma("tcp/eth0"));
    assert_false(transport_is_rdma("cma/memory"));
    assert_true(transport_is_rdma("ud_verbs/mlx4_0:1"));
}

/* A log that is the user's is left to him. */
static void users_log(void **state)
{
    struct transport transport;

    (void)state;
    setenv("UCX_LOG_LEVEL", "warn", 1);
    transport_watch(&transport);
    assert_true(transport.ucx_unknown);
    assert_null(getenv("UCX_LOG_FILE"));
    list_add(&transport.layers, "ucx");
    char *text = printed(&transport);
    assert_non_null(strstr(text, "UCX        transports not known: UCX_LOG_LEVEL"));
    free(text);
    transport_clear(&transport);
    unsetenv("UCX_LOG_LEVEL");
}

/* What is warned of in the log reaches the user; the file does not stay. */
static void own_log(void **state)
{
    struct transport transport;

    (void)state;
    setenv("UCX_LOG_FILE", "stderr", 1); /* omprma-run's, not the user's */
    transport_watch(&transport);
    assert_non_null(transport.log);
    assert_string_equal(getenv("UCX_LOG_FILE"), transport.log);
    FILE *file = fopen(transport.log, "w");
    assert_non_null(file);
    fputs("UCX  INFO    ep_cfg[0]: tag(tcp/eth0)\n", file);
    fclose(file);
    transport_read(&transport);
    assert_true(list_contains(&transport.messages, "tcp/eth0"));
    assert_null(fopen(transport.log, "r"));
    assert_string_equal(getenv("UCX_LOG_FILE"), "stderr");
    unsetenv("UCX_LOG_FILE");
    assert_null(getenv("UCX_LOG_LEVEL"));
    transport_clear(&transport);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory),
        cmocka_unit_test(none_of_mpi),
        cmocka_unit_test(infiniband),
        cmocka_unit_test(others),
        cmocka_unit_test(inside_the_library),
        cmocka_unit_test(users_log),
        cmocka_unit_test(own_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_loaded.c: which files are MPI libraries. Two in one process: tests/tools/run.sh.
 * Covers: loaded.c */
#include <stdint.h>
#include <stdlib.h>

#include "control/library/loaded.h"
#include "tests/unit/test.h"

int MPI_Finalized(int *flag); /* files of MPI alone know its header */

TEST(names_of_files)
{
    static const char *const those[] = {"/usr/lib/libmpi.so.40", "libmpi.so", "/a/libmpich.so.12",
                                        "/a/libmpi_abi.so.1", "/a/libmpi_abi_mpich.so.1.0.0"};
    static const char *const others[] = {"",
                                         "/a/libmpiP.so",
                                         "/a/libmpi.so/libother.so",
                                         "/usr/lib/libmpi_mpifh.so.40",
                                         "/a/omprma/libomprma-mpi.so",
                                         "/a/libmpichcxx.so.12"};

    for (size_t i = 0; i < sizeof(those) / sizeof(those[0]); i++)
        assert_true(loaded_is_mpi(those[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(loaded_is_mpi(others[i]));
}

TEST(one_is_right)
{
    assert_int_equal(loaded_check((const void *)(uintptr_t)&MPI_Finalized), OMPRMA_OK);
    assert_int_equal(loaded_check((const void *)(uintptr_t)&exit), OMPRMA_OK);
}

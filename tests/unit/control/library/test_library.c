/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_library.c: how MPI libraries name themselves, and which are refused.
 * Covers: library.c library_built.c */
#include <string.h>

#include "base/error.h"
#include "control/library/library.h"
#include "tests/unit/test.h"

/* The kind for which this was built, and the other one. */
static const char *own_text(void)
{
    return library_built() == LIBRARY_MPICH ? "MPICH Version:\t4.0.2" : "Open MPI v4.1.4, package";
}

static const char *other_text(void)
{
    return library_built() == LIBRARY_MPICH ? "Open MPI v4.1.4, package" : "MPICH Version:\t4.0.2";
}

TEST(names)
{
    static const struct {
        const char *text;
        enum library_kind kind;
        int version;
    } cases[] = {
        {"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", LIBRARY_OPENMPI, 40104},
        {"Open MPI v6.0.0rc2, package", LIBRARY_OPENMPI, 60000},
        {"Open MPI 5.0.7", LIBRARY_OPENMPI, 50007},
        {"Open MPI 4", LIBRARY_OPENMPI, 40000},
        {"MPICH Version:\t4.0.2", LIBRARY_MPICH, 40002},
        {"MPICH Version:      5.0.2", LIBRARY_MPICH, 50002},
        {"MPICH 4.2.1", LIBRARY_MPICH, 40201},
        {"Intel(R) MPI Library 2021.9 for Linux* OS", LIBRARY_OTHER, 0},
        {"", LIBRARY_OTHER, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct library library = library_of(cases[i].text);
        assert_int_equal(library.kind, cases[i].kind);
        assert_int_equal(library.version, cases[i].version);
    }
}

static void assert_refused(const char *text, const char *launcher, const char *first,
                           const char *second)
{
    assert_int_equal(library_check(text, launcher), OMPRMA_ERR_CONFIG);
    assert_non_null(strstr(error_text(), first));
    assert_non_null(strstr(error_text(), second));
}

TEST(another_kind_than_the_builds)
{
    assert_int_equal(library_check(own_text(), NULL), OMPRMA_OK);
    assert_int_equal(library_check("Intel(R) MPI Library 2021.9", NULL), OMPRMA_OK);
    if (library_built() == LIBRARY_OTHER) /* the standard interface goes with any */
        assert_int_equal(library_check(other_text(), NULL), OMPRMA_OK);
    else
        assert_refused(other_text(), NULL, other_text(), library_name(library_built()));
}

TEST(versions_that_are_not_known)
{
    if (library_built() == LIBRARY_MPICH)
        return;
    assert_refused("Open MPI v4.0.7, package", NULL, "Open MPI v4.0.7", "Open MPI 4.1 to 6");
    assert_refused("Open MPI v7.0.0, package", NULL, "Open MPI v7.0.0", "or a newer omprma");
}

TEST(launchers_of_another_version)
{
    if (library_built() == LIBRARY_MPICH)
        return;
    assert_int_equal(library_check(own_text(), "Open MPI 4"), OMPRMA_OK);
    assert_int_equal(library_check(own_text(), "Open MPI 4.1.6"), OMPRMA_OK);
    assert_int_equal(library_check(own_text(), ""), OMPRMA_OK);
    assert_refused(own_text(), "Open MPI 5.0.7", "Open MPI v4.1.4", "of Open MPI 5.0.7;");
    assert_refused("Open MPI v5.0.7, package", "Open MPI 4", "Open MPI v5.0.7", "of Open MPI 4;");
    assert_refused(own_text(), "MPICH 4.0.2", "Open MPI v4.1.4", "of MPICH 4.0.2;");
}

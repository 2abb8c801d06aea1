/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cmocka_both.h: cmocka's header, of version 1 or 2. */
#ifndef OMPRMA_TESTS_CMOCKA_BOTH_H
#define OMPRMA_TESTS_CMOCKA_BOTH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#undef stop /* in the way of functions of tests */

/* In version 2 the name is deprecated. All ranges here are of numbers without a sign. */
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range assert_uint_in_range
#endif

#endif

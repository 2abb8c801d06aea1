/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * policy.h: OMP_TARGET_OFFLOAD: whether regions may run on devices, or have to. libomp knows it.
 *
 * Thread: any. Blocks: while libomp starts, where a function asks it.
 */
#ifndef OMPRMA_OPENMP_SITE_POLICY_H
#define OMPRMA_OPENMP_SITE_POLICY_H

#include <stdbool.h>

/* Does this program want no devices at all? */
bool policy_is_disabled(void);

/* The same without starting libomp, which knows for sure, but main() may still set variables that
 * it reads when it starts; and a tool may ask while it starts. */
bool policy_wishes_off(void);

/* Must every region run on a device? */
bool policy_is_mandatory(void);

#endif

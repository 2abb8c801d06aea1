/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* output.h: what regions print. */
#ifndef DEVICE_OUTPUT_H
#define DEVICE_OUTPUT_H

/* Writes what print and write statements of this image have left in flang's buffer. */
void output_flush(void);

#endif

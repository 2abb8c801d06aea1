/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* output.c: what regions print. flang's own runtime is linked into the device image, with a buffer
 * of its own, and writes to descriptors. Here its text goes through the C streams of the process,
 * at the end of the region: a worker sends what is in those to the program before it says that the
 * region is over. */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/output.h"

/* What flang's runtime does before it prints that a program crashes. Of all functions that empty
 * its buffer this one is linked with print statements alone. It is absent where there are none. */
struct flang_terminator {
    const char *source;
    int line;
    void *more[6]; /* room for what other versions have here */
};
__attribute__((weak)) void flang_flush_output(const struct flang_terminator *terminator) __asm__(
    "_ZN7Fortran7runtime2io18FlushOutputOnCrashERKNS0_10TerminatorE");

void output_flush(void)
{
    if (flang_flush_output)
        flang_flush_output(&(struct flang_terminator){.source = "end of a region"});
}

/* Takes the place of libc's in the image. */
ssize_t write(int descriptor, const void *bytes, size_t count)
{
    FILE *stream = descriptor == STDOUT_FILENO ? stdout : stderr;

    if (descriptor != STDOUT_FILENO && descriptor != STDERR_FILENO)
        return syscall(SYS_write, descriptor, bytes, count);
    if (fwrite(bytes, 1, count, stream) != count || fflush(stream) != 0)
        return -1;
    return (ssize_t)count;
}

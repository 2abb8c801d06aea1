/*
 * hip_code.c: host functions in place of the kernels of hip.hip, and of those that HIP's own
 * library brings, which HIP 6 has changed: the stand-in for the HSA runtime calls them with a word
 * for each argument.
 */
#include <hip/hip_version.h>
#include <stdint.h>
#include <string.h>

static double number(uint64_t word)
{
    double value;

    memcpy(&value, &word, sizeof(value));
    return value;
}

void add_number(double *to, const double *from, uint64_t value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = from[i] + number(value);
}

void wrong(uint64_t at)
{
    *(volatile int *)(uintptr_t)at = 1;
}

#if HIP_VERSION_MAJOR < 6
/* One of the four pointers is there, and says of which width elements are. */
void __amd_rocclr_fillBufferAligned(char *bytes, char *shorts, char *ints, char *longs,
                                    const char *pattern, uint32_t elements, uint64_t offset,
                                    uint64_t count)
{
    char *to = bytes ? bytes : shorts ? shorts : ints ? ints : longs;
    size_t width = bytes ? 1 : shorts ? 2 : ints ? 4 : 8;

    for (uint64_t i = 0; i < count; i++)
        memcpy(to + (offset + i * elements) * width, pattern, elements * width);
}

/* Words of 32 bits; the last one is not whole, but the remaining bytes. */
void __amd_rocclr_copyBuffer(const char *from, char *to, uint64_t from_offset, uint64_t to_offset,
                             uint64_t count, uint32_t remain)
{
    memmove(to + to_offset, from + from_offset, (count - 1) * 4 + remain);
}
#else
/* Elements of `width` bytes; the pattern has several, and is repeated up to the end. */
void __amd_rocclr_fillBufferAligned(char *to, const char *pattern, uint32_t elements,
                                    uint32_t width, uint64_t end)
{
    for (; (uintptr_t)to < end; to += elements * width)
        memcpy(to, pattern, elements * width);
}

/* How items share the bytes comes behind, and does not matter here. */
void __amd_rocclr_copyBuffer(const char *from, char *to, uint64_t bytes)
{
    memmove(to, from, bytes);
}
#endif

void __amd_rocclr_copyBufferAligned(const char *from, char *to, uint64_t from_offset,
                                    uint64_t to_offset, uint64_t count, uint32_t width)
{
    memmove(to + to_offset * width, from + from_offset * width, count * width);
}

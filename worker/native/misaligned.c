/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * misaligned.c: decodes prefixes, opcode and operand of one x86-64 instruction, as far as it takes
 * to know whether its operand in memory has to be aligned, and computes that operand's address from
 * the registers.
 */
#include "worker/native/misaligned.h"

#include <string.h>

enum { PC = 16, ESCAPE = 0x0f, SIMD_66 = 1 /* what the prefix 66 says */ };

/* What is known of an instruction. Of the number of a register, prefixes have the fourth bit. */
struct decoded {
    const unsigned char *code;
    size_t length, at;
    bool encoded;         /* by VEX or EVEX: only moves need aligned addresses */
    bool known;           /* no prefix changes what an address is */
    unsigned simd;        /* prefix: 0 none, 1 66, 2 F3, 3 F2 */
    unsigned map, opcode; /* map: 1 0F, 2 0F 38, 3 0F 3A */
    unsigned bytes;       /* of the vector */
    unsigned base, index; /* 8: the fourth bit */
    unsigned scale;       /* of a displacement of one byte */
};

/* 0 beyond the end, which no instruction that is looked for has where it matters. */
static unsigned byte_take(struct decoded *in)
{
    unsigned byte = in->at < in->length ? in->code[in->at] : 0;
    in->at++;
    return byte;
}

/* ---- prefixes and opcode -------------------------------------------------------------------- */

/* In VEX and EVEX the fourth bits are inverted. */
static void take_vex(struct decoded *in, unsigned kind)
{
    unsigned first = byte_take(in), last = first, length = 0;
    in->encoded = true;
    in->map = 1;
    if (kind != 0xc5) {
        in->index = first & 0x40 ? 0 : 8;
        in->base = first & 0x20 ? 0 : 8;
        in->map = first & (kind == 0xc4 ? 0x1f : 7);
        last = byte_take(in);
    }
    in->simd = last & 3;
    length = kind == 0x62 ? byte_take(in) >> 5 & 3 : last >> 2 & 1;
    in->bytes = 16U << length;
    in->scale = kind == 0x62 ? in->bytes : 1;
    in->opcode = byte_take(in);
}

static void take_legacy(struct decoded *in, unsigned byte)
{
    in->bytes = 16;
    in->scale = 1;
    if (byte >> 4 == 4) {
        in->index = byte & 2 ? 8 : 0;
        in->base = byte & 1 ? 8 : 0;
        byte = byte_take(in);
    }
    in->map = byte == ESCAPE;
    in->opcode = byte_take(in);
    if (in->map && (in->opcode == 0x38 || in->opcode == 0x3a)) {
        in->map = in->opcode == 0x38 ? 2 : 3;
        in->opcode = byte_take(in);
    }
}

static void take_opcode(struct decoded *in)
{
    unsigned byte = byte_take(in);
    in->known = true;
    for (; strchr("\x66\xf2\xf3\x2e\x36\x3e\x26\x64\x65\x67", (int)byte) && byte;
         byte = byte_take(in)) {
        in->simd = byte == 0x66 ? SIMD_66 : byte == 0xf3 ? 2 : byte == 0xf2 ? 3 : in->simd;
        if (byte == 0x64 || byte == 0x65 || byte == 0x67)
            in->known = false;
    }
    if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
        take_vex(in, byte);
    else
        take_legacy(in, byte);
}

/* movaps, movapd, movdqa, movntps, movntpd, movntdq, movntdqa. */
static bool is_aligned_move(const struct decoded *in)
{
    if (in->map == 2)
        return in->opcode == 0x2a && in->simd == SIMD_66;
    if (in->map != 1)
        return false;
    if (in->opcode == 0x28 || in->opcode == 0x29 || in->opcode == 0x2b)
        return in->simd <= SIMD_66;
    return (in->opcode == 0x6f || in->opcode == 0x7f || in->opcode == 0xe7) && in->simd == SIMD_66;
}

/* Without VEX, what computes with a vector in memory needs it aligned, too. */
static bool is_arithmetic(const struct decoded *in)
{
    if (in->encoded || in->simd > SIMD_66)
        return false;
    if (in->map >= 2)
        return in->simd == SIMD_66;
    return in->map == 1 && ((in->opcode & 0xfe) == 0x14 || (in->opcode & 0xf0) == 0x50 ||
                            in->opcode == 0xc2 || in->opcode == 0xc6 ||
                            (in->simd == SIMD_66 && ((in->opcode & 0xe0) == 0x60 ||
                                                     (in->opcode >= 0xd0 && in->opcode < 0xff))));
}

/* ---- the address ---------------------------------------------------------------------------- */

static uint64_t value_of(const uint64_t *registers, unsigned number)
{
    static const unsigned char dwarf[8] = {0, 2, 1, 3, 7, 6, 4, 5};
    return registers[number < 8 ? dwarf[number] : number];
}

static uint64_t displacement(struct decoded *in, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint32_t)byte_take(in) << 8 * i;
    if (bytes == 1)
        return (uint64_t)((int64_t)(int8_t)value * in->scale);
    return (uint64_t)(int64_t)(int32_t)value;
}

/* False: the instruction has no operand in memory. */
static bool take_address(struct decoded *in, const uint64_t *registers, uint64_t *address)
{
    unsigned byte = byte_take(in), mode = byte >> 6, base = byte & 7;
    bool beside_pc = mode == 0 && base == 5;
    *address = 0;
    if (mode == 3)
        return false;
    if (base == 4) {
        unsigned sib = byte_take(in), index = (sib >> 3 & 7) + in->index;
        base = sib & 7;
        if (index != 4)
            *address = value_of(registers, index) << (sib >> 6);
    }
    bool without = mode == 0 && base == 5; /* a base */
    if (!without)
        *address += value_of(registers, base + in->base);
    *address += displacement(in, mode == 1 ? 1 : mode == 2 || without ? 4 : 0);
    if (beside_pc) { /* from the next instruction on; some have a byte more */
        bool more =
            in->map == 3 ||
            (in->map == 1 && (in->opcode == 0x70 || in->opcode == 0xc2 || in->opcode == 0xc6));
        *address += registers[PC] + in->at + more;
    }
    return true;
}

bool misaligned_find(const unsigned char *code, size_t length, const uint64_t *registers,
                     struct misaligned *found)
{
    struct decoded in = {.code = code, .length = length};
    uint64_t address;
    take_opcode(&in);
    if (!in.known || !(is_aligned_move(&in) || is_arithmetic(&in)) ||
        !take_address(&in, registers, &address) || in.at > length)
        return false;
    if (address % in.bytes == 0 || address >> 47 != 0) /* no address: that is what was wrong */
        return false;
    *found = (struct misaligned){address, in.bytes};
    return true;
}

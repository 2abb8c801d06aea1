/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_misaligned.c: instructions, as the assembler makes them, whose operand in memory has to be
 * aligned: the address that they mean is found, with each register and each way to write one.
 * Others are not.
 * Covers: misaligned.c */
#include <string.h>

#include "tests/unit/test.h"
#include "worker/native/misaligned.h"

enum { NONE = 17, PC = 16, CODE = 16 };

/* One instruction; registers as DWARF numbers them. */
struct form {
    uint8_t bytes; /* of the vector; 0: it is none of those */
    uint8_t base, index, scale;
    uint8_t length, reserved[3];
    int32_t displacement, reserved_too;
    unsigned char code[CODE];
};
extern const struct form forms[], forms_end[];

__asm__(".pushsection .rodata\n"
        ".macro form bytes, base, index, scale, displacement, code:vararg\n"
        "  .byte \\bytes, \\base, \\index, \\scale, 2f - 1f, 0, 0, 0\n"
        "  .long \\displacement, 0\n"
        "1: \\code\n"
        "2: .skip 16 - (2b - 1b), 0xcc\n"
        ".endm\n"
        ".macro beside number, base\n"
        "  form 16, \\number, 17, 0, 0, movaps (%\\base), %xmm0\n"
        "  form 16, \\number, 17, 0, 8, movapd %xmm9, 8(%\\base)\n"
        "  form 16, \\number, 17, 0, -128, movdqa -128(%\\base), %xmm15\n"
        "  form 16, \\number, 17, 0, 0x12345, movntdqa 0x12345(%\\base), %xmm2\n"
        "  form 16, \\number, 17, 0, 2, mulpd 2(%\\base), %xmm11\n"
        "  form 16, \\number, 17, 0, 2, paddd 2(%\\base), %xmm3\n"
        "  form 16, \\number, 17, 0, 2, pshufd $3, 2(%\\base), %xmm3\n"
        "  form 16, \\number, 17, 0, 2, shufps $3, 2(%\\base), %xmm3\n"
        "  form 16, \\number, 17, 0, 2, pshufb 2(%\\base), %xmm3\n"
        "  form 16, \\number, 17, 0, 2, palignr $3, 2(%\\base), %xmm3\n"
        "  form 16, \\number, 17, 0, 0, vmovaps (%\\base), %xmm12\n"
        "  form 32, \\number, 17, 0, 0, vmovaps (%\\base), %ymm1\n"
        "  form 32, \\number, 17, 0, 5, vmovntpd %ymm5, 5(%\\base)\n"
        "  form 64, \\number, 17, 0, 64, vmovaps 64(%\\base), %zmm17\n"
        "  form 64, \\number, 17, 0, 65, vmovapd 65(%\\base), %zmm7\n"
        "  form 32, \\number, 17, 0, 32, vmovdqa32 32(%\\base), %ymm18\n"
        "  form 64, \\number, 17, 0, 0, vmovntdqa (%\\base), %zmm1\n"
        "  form 0, \\number, 17, 0, 0, movups (%\\base), %xmm0\n"
        "  form 0, \\number, 17, 0, 0, movdqu %xmm9, (%\\base)\n"
        "  form 0, \\number, 17, 0, 0, movsd (%\\base), %xmm1\n"
        "  form 0, \\number, 17, 0, 0, addss (%\\base), %xmm1\n"
        "  form 0, \\number, 17, 0, 0, vmovups (%\\base), %ymm0\n"
        "  form 0, \\number, 17, 0, 0, vaddps (%\\base), %ymm0, %ymm1\n"
        "  form 0, \\number, 17, 0, 0, vmovdqu64 (%\\base), %zmm0\n"
        "  form 0, \\number, 17, 0, 0, vaddpd (%\\base), %zmm20, %zmm1\n"
        "  form 0, \\number, 17, 0, 0, mov (%\\base), %rax\n"
        "  form 0, \\number, 17, 0, 0, movaps %fs:(%\\base), %xmm0\n"
        ".endm\n"
        ".macro with number, base\n"
        "  beside \\number, \\base\n"
        "  form 16, \\number, 13, 4, 0, movntps %xmm1, (%\\base, %r13, 4)\n"
        "  form 16, \\number, 12, 2, 16, movntdq %xmm1, 16(%\\base, %r12, 2)\n"
        "  form 16, \\number, 5, 8, 1, addps 1(%\\base, %rdi, 8), %xmm3\n"
        "  form 32, \\number, 3, 8, -32, vmovdqa %ymm12, -32(%\\base, %rbx, 8)\n"
        "  form 32, \\number, 9, 1, 4096, vmovapd 4096(%\\base, %r9), %ymm5\n"
        "  form 64, \\number, 15, 4, -8192, vmovdqa64 %zmm31, -8192(%\\base, %r15, 4)\n"
        ".endm\n"
        ".balign 16\n"
        "forms:\n"
        "with 0, rax\nwith 1, rdx\nwith 2, rcx\nwith 3, rbx\nwith 4, rsi\nwith 5, rdi\n"
        "with 6, rbp\nwith 7, rsp\nwith 8, r8\nwith 9, r9\nwith 10, r10\nwith 11, r11\n"
        "with 12, r12\nwith 13, r13\nwith 14, r14\nwith 15, r15\nbeside 16, rip\n"
        "form 32, 17, 0, 8, 4, vmovaps 4(, %rax, 8), %ymm1\n"
        "form 16, 17, 17, 0, 4, movaps 4, %xmm1\n"
        "form 0, 17, 17, 0, 0, vmovaps %ymm1, %ymm2\n"
        "form 0, 17, 17, 0, 0, movaps %xmm1, %xmm2\n"
        "form 0, 17, 17, 0, 0, ret\n"
        /* mov %di, (%rax) and mov %di, (%rdx), with another instruction behind: 38 and 3a are no
         * escapes there. */
        "form 0, 0, 17, 0, 0, .byte 0x66, 0x89, 0x38, 0x48, 0x01, 0x08\n"
        "form 0, 1, 17, 0, 0, .byte 0x66, 0x89, 0x3a, 0x48, 0x01, 0x08\n"
        "forms_end:\n"
        ".popsection\n");

static uint64_t expected_of(const struct form *form, const uint64_t *registers)
{
    uint64_t address = (uint64_t)(int64_t)form->displacement;
    if (form->base != NONE)
        address += registers[form->base] + (form->base == PC ? form->length : 0);
    if (form->index != NONE)
        address += registers[form->index] * form->scale;
    return address;
}

static void check_form(const struct form *form, uint64_t step)
{
    uint64_t registers[PC + 1];
    for (unsigned i = 0; i <= PC; i++)
        registers[i] = UINT64_C(0x10000000) * (i + 1) + step;
    struct misaligned found = {0};
    uint64_t expected = expected_of(form, registers);
    bool wanted = form->bytes && expected % form->bytes != 0;
    if (misaligned_find(form->code, form->length, registers, &found) != wanted ||
        (wanted && (found.address != expected || found.bytes != form->bytes)))
        fail_msg("form %td: address %#lx, %u bytes; %#lx, %u are right", form - forms,
                 (unsigned long)found.address, found.bytes, (unsigned long)expected,
                 (unsigned)form->bytes);
    for (size_t length = 0; length < form->length; length++) /* all but an operand in the code */
        if (misaligned_find(form->code, length, registers, &found))
            assert_true(wanted && length == form->length - 1U && found.address == expected);
}

TEST(test_addresses)
{
    for (const struct form *form = forms; form < forms_end; form++)
        for (uint64_t step = 0; step < 64; step++)
            check_form(form, step);
}

/* What is no address is another fault. */
TEST(test_wild)
{
    uint64_t registers[PC + 1];
    struct misaligned found;
    for (unsigned i = 0; i <= PC; i++)
        registers[i] = UINT64_C(0xdead000000000008);
    for (const struct form *form = forms; form < forms_end; form++)
        if (form->base != NONE)
            assert_false(misaligned_find(form->code, form->length, registers, &found));
}

/* Any bytes: nothing is read behind their end. */
TEST(test_noise)
{
    uint64_t registers[PC + 1] = {0}, word = 88172645463325252;
    struct misaligned found;
    for (int i = 0; i < 100000; i++) {
        unsigned char code[CODE - 1];
        for (size_t at = 0; at < sizeof(code); at++) {
            word ^= word << 13, word ^= word >> 7, word ^= word << 17;
            code[at] = (unsigned char)word;
        }
        size_t length = word >> 32 & 15;
        if (misaligned_find(code + sizeof(code) - length, length, registers, &found))
            assert_true(found.address % found.bytes != 0);
    }
}

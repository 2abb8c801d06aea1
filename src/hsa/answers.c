/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * answers.c: a table from answers.def, which is looked through from the top: attributes are asked
 * for at the start of a program. What the worker's runtime has said is cut to the attribute's
 * bytes, or filled up with zeros, whatever release it is of.
 */
#include "hsa/answers.h"

#include <string.h>

#include "hsa/about.h"
#include "hsa/gpu.h"
#include "hsa/values.h"

enum how { TOLD, TOLD_ONLY, FIXED, BY };

static const struct row {
    enum answer_of of;
    uint32_t attribute;
    enum how how;
    unsigned bytes;
    uint64_t number; /* of FIXED, of TOLD where nothing is told */
    hsa_status_t (*by)(const struct about *about, void *value);
} rows[] = {
#define HSA_TOLD(of, attribute, asked, bytes, otherwise, words)                                    \
    {ANSWER_OF_##of, attribute, TOLD, bytes, otherwise, NULL},
#define HSA_TOLD_ONLY(of, attribute, asked, bytes, words)                                          \
    {ANSWER_OF_##of, attribute, TOLD_ONLY, bytes, 0, NULL},
#define HSA_FIXED(of, attribute, asked, bytes, number, words)                                      \
    {ANSWER_OF_##of, attribute, FIXED, bytes, number, NULL},
#define HSA_BY(of, attribute, asked, bytes, function, words)                                       \
    {ANSWER_OF_##of, attribute, BY, bytes, 0, value_##function},
#define HSA_SYMBOL(attribute, asked, words)
#include "hsa/answers.def"
};

static const struct row *row_find(enum answer_of of, uint32_t attribute)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].of == of && rows[i].attribute == attribute)
            return &rows[i];
    }
    return NULL;
}

/* Numbers are little endian, so an attribute of fewer bytes is the beginning of a longer one. */
static void write_number(void *value, unsigned bytes, uint64_t number)
{
    unsigned first = bytes < sizeof(number) ? bytes : (unsigned)sizeof(number);

    memset(value, 0, bytes);
    memcpy(value, &number, first);
}

static void write_fact(void *value, unsigned bytes, const struct hsa_fact *fact)
{
    memset(value, 0, bytes);
    memcpy(value, fact->value, fact->bytes < bytes ? fact->bytes : bytes);
}

hsa_status_t answer(enum answer_of of, const struct about *about, uint32_t attribute, void *value)
{
    const struct row *row = row_find(of, attribute);

    if (!row || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (row->how == BY)
        return row->by(about, value);
    if (row->how == FIXED) {
        write_number(value, row->bytes, row->number);
        return HSA_STATUS_SUCCESS;
    }
    const struct hsa_fact *fact = gpu_fact(
        about->gpu, of == ANSWER_OF_ISA ? HSA_OF_ISA : HSA_OF_AGENT, about->index, attribute);
    if (!fact && row->how == TOLD_ONLY)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (fact)
        write_fact(value, row->bytes, fact);
    else
        write_number(value, row->bytes, row->number);
    return HSA_STATUS_SUCCESS;
}

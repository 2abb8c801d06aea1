/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_prove.c: who knows the secret is let in; whatever is changed on the way, nobody is.
 * Covers: prove.c */
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"

#include "control/agent/prove.h"

enum { WISH = 100, MAGIC = 7, VERSION = 3 };

struct talk {
    uint8_t secret[PROVE_SECRET_BYTES];
    struct prove_opening call;
    struct prove_answer answer;
    uint8_t wish[WISH], proof[PROVE_PROOF_BYTES];
};

static void begin(struct talk *talk)
{
    for (size_t i = 0; i < sizeof(talk->secret); i++)
        talk->secret[i] = (uint8_t)(3 * i);
    memset(talk->wish, 5, sizeof(talk->wish));
    assert_true(prove_open(&talk->call, MAGIC, VERSION));
    assert_true(prove_answer(talk->secret, &talk->call, &talk->answer));
    prove_call(talk->secret, &talk->call, &talk->answer, talk->wish, WISH, talk->proof);
}

static bool caller_accepts(const struct talk *talk)
{
    return prove_accept_answer(talk->secret, &talk->call, &talk->answer);
}

static bool answerer_accepts(const struct talk *talk)
{
    return prove_accept_call(talk->secret, &talk->call, &talk->answer, talk->wish, WISH,
                             talk->proof);
}

TEST(right)
{
    struct talk talk;

    begin(&talk);
    assert_int_equal(talk.call.magic, MAGIC);
    assert_int_equal(talk.answer.opening.version, VERSION);
    assert_true(caller_accepts(&talk));
    assert_true(answerer_accepts(&talk));
}

/* Each bit of all that goes there and back, and of the secret, matters to one side or both. */
TEST(changed)
{
    struct talk talk;
    uint8_t *bytes = (uint8_t *)&talk;

    begin(&talk);
    for (size_t bit = 0; bit < 8 * sizeof(talk); bit++) {
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_false(caller_accepts(&talk) && answerer_accepts(&talk));
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    assert_true(caller_accepts(&talk) && answerer_accepts(&talk));
}

/* What was said in another talk is of no use in this one, nor what the other side has said. */
TEST(again)
{
    struct talk first, second;

    begin(&first);
    begin(&second);
    assert_memory_not_equal(first.call.nonce, second.call.nonce, PROVE_NONCE_BYTES);
    memcpy(second.answer.proof, first.answer.proof, PROVE_PROOF_BYTES);
    memcpy(second.proof, first.proof, PROVE_PROOF_BYTES);
    assert_false(caller_accepts(&second));
    assert_false(answerer_accepts(&second));
    prove_call(first.secret, &first.call, &first.answer, NULL, 0, first.proof);
    assert_memory_not_equal(first.proof, first.answer.proof, PROVE_PROOF_BYTES);
}

TEST(secret)
{
    uint8_t secret[PROVE_SECRET_BYTES];
    char text[PROVE_SECRET_TEXT + 1];

    memset(text, 'a', sizeof(text) - 1);
    text[PROVE_SECRET_TEXT] = '\0';
    assert_true(prove_read_secret(text, secret));
    assert_int_equal(secret[31], 0xaa);
    text[7] = 'g';
    assert_false(prove_read_secret(text, secret));
    text[7] = '0';
    text[PROVE_SECRET_TEXT - 1] = '\0';
    assert_false(prove_read_secret(text, secret));
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* prove.c: the hash is nettle's. Comparing takes as long whatever is compared. */
#include "control/agent/prove.h"

#include <string.h>
#include <sys/random.h>

#include <nettle/hmac.h>
#include <nettle/memops.h>

_Static_assert(PROVE_PROOF_BYTES == SHA256_DIGEST_SIZE, "a proof is a hash");

static const char answerer[] = "omprma answers", caller[] = "omprma calls";

static int digit(char text)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = text ? strchr(digits, text) : NULL;

    return at ? (int)(at - digits) : -1;
}

bool prove_read_secret(const char *text, uint8_t secret[PROVE_SECRET_BYTES])
{
    if (strlen(text) != PROVE_SECRET_TEXT)
        return false;
    for (size_t i = 0; i < PROVE_SECRET_BYTES; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool prove_open(struct prove_opening *opening, uint32_t magic, uint32_t version)
{
    opening->magic = magic;
    opening->version = version;
    return getrandom(opening->nonce, sizeof(opening->nonce), 0) == (ssize_t)sizeof(opening->nonce);
}

static void make_proof(const uint8_t *secret, const char *side, const struct prove_opening *call,
                       const struct prove_opening *answer, const void *wish, size_t bytes,
                       uint8_t proof[PROVE_PROOF_BYTES])
{
    struct hmac_sha256_ctx hash;

    hmac_sha256_set_key(&hash, PROVE_SECRET_BYTES, secret);
    hmac_sha256_update(&hash, strlen(side), (const uint8_t *)side);
    hmac_sha256_update(&hash, sizeof(*call), (const uint8_t *)call);
    hmac_sha256_update(&hash, sizeof(*answer), (const uint8_t *)answer);
    if (bytes)
        hmac_sha256_update(&hash, bytes, wish);
    hmac_sha256_digest(&hash, PROVE_PROOF_BYTES, proof);
}

bool prove_answer(const uint8_t *secret, const struct prove_opening *call,
                  struct prove_answer *answer)
{
    if (!prove_open(&answer->opening, call->magic, call->version))
        return false;
    make_proof(secret, answerer, call, &answer->opening, NULL, 0, answer->proof);
    return true;
}

bool prove_accept_answer(const uint8_t *secret, const struct prove_opening *call,
                         const struct prove_answer *answer)
{
    uint8_t proof[PROVE_PROOF_BYTES];

    make_proof(secret, answerer, call, &answer->opening, NULL, 0, proof);
    return memeql_sec(proof, answer->proof, sizeof(proof));
}

void prove_call(const uint8_t *secret, const struct prove_opening *call,
                const struct prove_answer *answer, const void *wish, size_t bytes,
                uint8_t proof[PROVE_PROOF_BYTES])
{
    make_proof(secret, caller, call, &answer->opening, wish, bytes, proof);
}

bool prove_accept_call(const uint8_t *secret, const struct prove_opening *call,
                       const struct prove_answer *answer, const void *wish, size_t bytes,
                       const uint8_t proof[PROVE_PROOF_BYTES])
{
    uint8_t mine[PROVE_PROOF_BYTES];

    make_proof(secret, caller, call, &answer->opening, wish, bytes, mine);
    return memeql_sec(mine, proof, sizeof(mine));
}

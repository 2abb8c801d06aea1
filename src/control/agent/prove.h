/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * prove.h: two processes show each other that they know the secret of a run, without saying it:
 * each answers random numbers of the other with a keyed hash (HMAC-SHA256, RFC 2104). Only bytes
 * in, bytes out; knows no socket.
 *
 * - the caller: an opening
 * - the other one: an answer, with its own opening and its proof
 * - the caller: a call, with its wish and a proof
 *
 * A proof covers both openings and says which side gives it, so none can be used again, or be sent
 * back; the caller's covers its wish. What follows is neither encrypted nor proved.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_CONTROL_AGENT_PROVE_H
#define OMPRMA_CONTROL_AGENT_PROVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROVE_SECRET_BYTES = 32, PROVE_NONCE_BYTES = 32, PROVE_PROOF_BYTES = 32 };
enum { PROVE_SECRET_TEXT = 2 * PROVE_SECRET_BYTES }; /* hexadecimal digits */

struct prove_opening {
    uint32_t magic, version;
    uint8_t nonce[PROVE_NONCE_BYTES];
};

struct prove_answer {
    struct prove_opening opening;
    uint8_t proof[PROVE_PROOF_BYTES];
};

/* From the digits of a secret; false: they are none. */
bool prove_read_secret(const char *text, uint8_t secret[PROVE_SECRET_BYTES]);

/* With new random numbers; false: there are none to be had. */
bool prove_open(struct prove_opening *opening, uint32_t magic, uint32_t version);

/* The answerer's part. False: there are no random numbers. */
bool prove_answer(const uint8_t *secret, const struct prove_opening *call,
                  struct prove_answer *answer);

/* The caller: does the answerer know the secret? */
bool prove_accept_answer(const uint8_t *secret, const struct prove_opening *call,
                         const struct prove_answer *answer);

/* The caller's proof, which covers `wish`. */
void prove_call(const uint8_t *secret, const struct prove_opening *call,
                const struct prove_answer *answer, const void *wish, size_t bytes,
                uint8_t proof[PROVE_PROOF_BYTES]);

/* The answerer: does the caller know the secret, and is this its wish? */
bool prove_accept_call(const uint8_t *secret, const struct prove_opening *call,
                       const struct prove_answer *answer, const void *wish, size_t bytes,
                       const uint8_t proof[PROVE_PROOF_BYTES]);

#endif

/*
 * contest.h: which way is the better one for one size class, by what real transfers take. The
 * current way is taken; now and then another one is tried in turns with it, and takes over when it
 * is clearly better. Pure: no clock, no MPI, nothing of devices or queues.
 *
 * Bounds: trying earns 1/128 of the time of the transfers of its class, and pays what it makes
 * transfers slower; without credit nothing is tried. Each other way is tried twice on credit at the
 * beginning, early where that is cheap, so that a wrong choice is found within 64 transfers, and
 * what has lost by a revision once, 64 transfers later, since what made it slow may be over; a
 * program of few transfers pays for that, any other one less than 1 % altogether.
 *
 * Hysteresis: the best of three transfers each way decides a round, because disturbances only add;
 * the other way must be 8 % better, twice in a row unless it is so by a quarter, and each revision
 * raises that. What takes many times what was expected does not count, unless 40 in a row do (16
 * where of some way nothing is known): another program had the processor.
 */
#ifndef OMPRMA_HOST_CONTEST_H
#define OMPRMA_HOST_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CONTEST_WAYS = 3,
    CONTEST_SAMPLES = 3, /* of each way that decide a round */
    CONTEST_TRIES = 12   /* most transfers that a round takes */
};

struct contest {
    uint8_t ways;     /* numbered from 0; below 2 there is nothing to choose */
    uint8_t current;  /* the one that is taken */
    uint8_t first;    /* the one that was chosen at start-up */
    uint8_t rival;    /* the one that is tried next */
    bool round;       /* it is being tried */
    bool has_won;     /* it was better in the last round, but not by far */
    uint8_t loser;    /* the current one before the last revision, to be looked at once on credit */
    uint8_t tried;    /* one bit each: was a rival */
    uint8_t hopeless; /* one bit each: so much slower that it waits for credit */
    uint8_t tries;    /* transfers of this round */
    uint8_t here_count, there_count;
    uint8_t disturbed;                                   /* samples in a row that were */
    float here[CONTEST_SAMPLES], there[CONTEST_SAMPLES]; /* microseconds of this round */
    float us[CONTEST_WAYS]; /* expected: at start-up, then as found in rounds; 0: unknown */
    float credit_us;
    float gain_us;   /* of one transfer, against the way that was chosen at start-up */
    uint32_t since;  /* transfers since the last round */
    uint32_t pause;  /* transfers until the next one, if there is credit */
    uint32_t rounds; /* begun so far */
    uint32_t revisions;
    uint64_t transfers;
    double gained_us; /* by revisions, so far */
    double spent_us;  /* by trying */
};

/* Starts with the way chosen and what each is expected to take (0: unknown). */
void contest_begin(struct contest *contest, int ways, int current, const double us[]);

/* Whether the next transfer would be timed, if it can be. */
bool contest_is_due(const struct contest *contest);

/* The way of the next transfer. *timed: somebody measures it; never unless it can be. */
int contest_next(struct contest *contest, bool can_time, bool *timed);

/* What a timed transfer took, as if it had the largest size of its class; those that were
 * disturbed are left out. True: another way is the current one from now on; us[] says what both
 * take. */
bool contest_sample(struct contest *contest, int way, double us);

#endif

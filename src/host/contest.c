/* contest.c: see contest.h. */
#include "host/contest.h"

enum {
    EARLY = 8,             /* transfers before a first round that is cheap, */
    AGAIN = 3,             /* before the second look at a close win, */
    LATE = 40,             /* and within how many the first rounds begin in any case */
    FIRST_ROUNDS = 2,      /* on credit, for each other way; as many again if they are cheap */
    PAUSE = 64,            /* transfers between later rounds: doubled each time, */
    PAUSE_MOST = 1 << 14,  /* up to this */
    DISTURBED_MOST = 40,   /* in a row: so it is; the scheduler needs that long to part two */
    DISTURBED_UNKNOWN = 16 /* the same where of some way nothing is known */
};

static const double cheap_us = 100;    /* what may be spent early */
static const float earned = 1.F / 128; /* share of the time of transfers that trying may cost */
static const float margin_first = 0.92F, margin_step = 0.04F, margin_least = 0.72F;
static const float clear_share = 0.75F; /* of it: so much better is believed at once */
static const float hopeless = 4; /* so many times slower, twice, is not tried again on credit */
static const float disturbed_times = 16, disturbed_us = 20; /* of what is expected, and at least */

void contest_begin(struct contest *contest, int ways, int current, const double us[])
{
    *contest = (struct contest){
        .ways = (uint8_t)ways,
        .current = (uint8_t)current,
        .first = (uint8_t)current,
        .rival = (uint8_t)(current == 0),
        .loser = CONTEST_WAYS,
        .pause = PAUSE,
    };
    for (int way = 0; way < ways; way++)
        contest->us[way] = (float)us[way];
}

static uint32_t first_rounds(const struct contest *contest)
{
    return FIRST_ROUNDS * (uint32_t)(contest->ways - 1);
}

/* ---- what trying costs ---- */

/* What one transfer by the rival costs more; what is unknown is thought to cost the same. */
static float extra(const struct contest *contest)
{
    float here = contest->us[contest->current], there = contest->us[contest->rival];

    return here > 0 && there > here ? there - here : 0;
}

static void pay(struct contest *contest, float us)
{
    contest->credit_us -= us;
    contest->spent_us += (double)us;
}

/* One disturbed sample must not make a way look so bad that it is never tried again. */
static float bounded(float before, float us)
{
    return before > 0 && us > 2 * before ? 2 * before : us;
}

/* ---- rounds ---- */

/* What lost by the last revision is looked at once, whatever that costs. */
static bool loser_is_due(const struct contest *contest)
{
    return contest->loser < contest->ways && contest->since + 1 >= PAUSE;
}

bool contest_is_due(const struct contest *contest)
{
    uint32_t first = first_rounds(contest);

    if (contest->round)
        return true;
    if (contest->has_won) /* it is thought to cost nothing */
        return contest->since + 1 >= AGAIN;
    if (loser_is_due(contest))
        return true;
    if (contest->rounds < 2 * first && contest->spent_us + (double)extra(contest) < cheap_us)
        return contest->since + 1 >= EARLY;
    if (contest->rounds < first && !(contest->hopeless >> contest->rival & 1))
        return contest->since + 1 >= LATE / first;
    return contest->since + 1 >= contest->pause && contest->credit_us >= extra(contest);
}

static void begin_round(struct contest *contest)
{
    if (!contest->has_won && loser_is_due(contest))
        contest->rival = contest->loser;
    contest->tried |= (uint8_t)(1u << contest->rival);
    contest->round = true;
    contest->rounds++;
    contest->tries = contest->here_count = contest->there_count = 0;
}

/* The next one tries the next of the others. */
static void end_round(struct contest *contest)
{
    contest->round = contest->has_won = false;
    if (contest->rival == contest->loser)
        contest->loser = CONTEST_WAYS;
    contest->since = 0;
    if (contest->rounds > first_rounds(contest) && contest->pause < PAUSE_MOST &&
        !contest->disturbed)
        contest->pause *= 2;
    do
        contest->rival = (uint8_t)((contest->rival + 1) % contest->ways);
    while (contest->rival == contest->current);
}

/* One transfer the current way, some the other way, the rest again the current one: the first of a
 * series finds data in the wrong caches. */
static bool is_rivals_turn(const struct contest *contest)
{
    return contest->here_count > 0 && contest->there_count < CONTEST_SAMPLES;
}

int contest_next(struct contest *contest, bool can_time, bool *timed)
{
    contest->transfers++;
    contest->since++;
    contest->gained_us += (double)contest->gain_us;
    contest->credit_us += contest->us[contest->current] * earned;
    *timed = can_time && contest_is_due(contest);
    if (!*timed)
        return contest->current;
    if (!contest->round)
        begin_round(contest);
    if (contest->tries++ == CONTEST_TRIES) { /* too few could be measured */
        end_round(contest);
        *timed = false;
        return contest->current;
    }
    if (!is_rivals_turn(contest))
        return contest->current;
    pay(contest, extra(contest));
    return contest->rival;
}

/* ---- samples ---- */

static float least(const float *us, int count)
{
    float value = us[0];

    for (int i = 1; i < count; i++)
        if (us[i] < value)
            value = us[i];
    return value;
}

/* How much of the current way's time the rival may need to take over. */
static float margin(const struct contest *contest)
{
    float value = margin_first - margin_step * (float)contest->revisions;

    return value < margin_least ? margin_least : value;
}

static void keep_sample(struct contest *contest, int way, float us)
{
    float before = extra(contest);

    if (way == contest->current && contest->here_count < CONTEST_SAMPLES) {
        contest->here[contest->here_count++] = us;
        contest->us[way] = least(contest->here, contest->here_count);
    } else if (way == contest->rival && contest->there_count < CONTEST_SAMPLES) {
        contest->hopeless &= (uint8_t) ~(1u << way);
        if (us > hopeless * contest->us[contest->current] &&
            contest->us[way] > hopeless * contest->us[contest->current])
            contest->hopeless |= (uint8_t)(1u << way);
        contest->there[contest->there_count++] = us;
        contest->us[way] = bounded(contest->us[way], least(contest->there, contest->there_count));
        pay(contest, extra(contest) - before);
    }
}

/* What is expected of a way may be wrong: so what is of the slowest one counts. */
static bool is_disturbed(struct contest *contest, float us)
{
    float expected = 0;
    int most = DISTURBED_MOST;

    for (int way = 0; way < contest->ways; way++) {
        if (contest->us[way] > expected)
            expected = contest->us[way];
        if (contest->us[way] <= 0)
            most = DISTURBED_UNKNOWN;
    }
    if (expected > 0 && us > disturbed_us && us > disturbed_times * expected)
        return ++contest->disturbed <= most;
    contest->disturbed = 0;
    return false;
}

static void revise(struct contest *contest)
{
    int old = contest->current;

    contest->us[old] = least(contest->here, contest->here_count);
    contest->us[contest->rival] = least(contest->there, contest->there_count);
    contest->gain_us += contest->us[old] - contest->us[contest->rival];
    if (contest->rival == contest->first)
        contest->gain_us = 0;
    contest->current = contest->rival;
    contest->revisions++;
    end_round(contest);
    contest->pause = PAUSE;
    contest->loser = (uint8_t)old; /* what made it slow may be over soon */
    contest->rival = contest->loser;
    if (contest->ways == 3) {
        uint8_t third = (uint8_t)(3 - contest->loser - contest->current);

        if (!(contest->tried >> third & 1))
            contest->rival = third;
    }
}

/* The rival has won a round: by far, or its second one in a row. */
static bool is_sure(const struct contest *contest)
{
    return contest->has_won || least(contest->there, contest->there_count) <
                                   clear_share * least(contest->here, contest->here_count);
}

static void look_again(struct contest *contest)
{
    uint8_t rival = contest->rival;

    end_round(contest);
    contest->rival = rival;
    contest->has_won = true;
}

bool contest_sample(struct contest *contest, int way, double us)
{
    if (!contest->round || (way != contest->current && way != contest->rival))
        return false;
    if (is_disturbed(contest, (float)us)) {
        if (way == contest->rival) { /* it has cost that all the same */
            pay(contest, (float)us - contest->us[way]);
            end_round(contest);
        }
        return false;
    }
    keep_sample(contest, way, (float)us);
    if (contest->here_count == 0 || contest->there_count < 2) /* the first one finds cold caches */
        return false;
    if (least(contest->there, contest->there_count) >=
        margin(contest) * least(contest->here, contest->here_count)) {
        end_round(contest); /* the current way is as good: the usual end */
        return false;
    }
    if (contest->here_count < CONTEST_SAMPLES || contest->there_count < CONTEST_SAMPLES)
        return false;
    if (!is_sure(contest)) {
        look_again(contest);
        return false;
    }
    revise(contest);
    return true;
}

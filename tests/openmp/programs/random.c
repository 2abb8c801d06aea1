/* test: args=1;100
 * Random maps against a model on the host: data regions nested in each other, enter, exit, update
 * and delete of whole arrays and parts, regions that map on the way, values of every type by value,
 * on all devices and from several threads, each with arrays of its own. Arguments: first seed,
 * number of seeds. A seed that goes wrong is printed, with its step. */
#include "bits.h"
#include "seeds.h"

#include <string.h>

enum { ARRAYS = 4, N = 256, STEPS = 120, DEPTH = 4 };

/* What an array's copy on the device must look like. */
struct model {
    int low, length;  /* the part that is mapped; length 0: none */
    int count;        /* references */
    double device[N]; /* of the part only */
};

struct player {
    unsigned seed;
    int device, depth, steps, wrong;
    double host[ARRAYS][N]; /* what the program's arrays must hold */
    double real[ARRAYS][N];
    struct model models[ARRAYS];
};

static int draw(struct player *p, int limit)
{
    return check_draw(&p->seed, limit);
}

/* A part of the array that may be mapped now: any, or inside what is. */
static void draw_part(struct player *p, int a, int *low, int *length)
{
    const struct model *m = &p->models[a];
    int from = m->length ? m->low : 0, room = m->length ? m->length : N;
    *low = from + draw(p, room);
    *length = 1 + draw(p, from + room - *low);
}

static void model_enter(struct player *p, int a, int low, int length, int to, int always)
{
    struct model *m = &p->models[a];
    int fresh = m->length == 0;
    if (fresh) {
        m->low = low;
        m->length = length;
        m->count = 0;
    }
    m->count++;
    if (to && (fresh || always))
        memcpy(m->device + low, p->host[a] + low, (size_t)length * sizeof(double));
}

static void model_leave(struct player *p, int a, int low, int length, int from, int always, int all)
{
    struct model *m = &p->models[a];
    if (m->length == 0)
        return;
    m->count = all ? 0 : m->count - 1;
    if (from && (m->count == 0 || always))
        memcpy(p->host[a] + low, m->device + low, (size_t)length * sizeof(double));
    if (m->count == 0)
        m->length = 0;
}

static void model_add(struct player *p, int a, int low, int length, double value)
{
    for (int i = low; i < low + length; i++)
        p->models[a].device[i] += value;
}

static void step(struct player *p);

static void compare(struct player *p)
{
    if (p->wrong == 0 && memcmp(p->host, p->real, sizeof(p->host)) != 0)
        p->wrong = 1 + p->steps;
}

/* The program changes its array where it is; what is mapped does not notice. */
static void change_host(struct player *p, int a)
{
    int low = draw(p, N);
    double value = draw(p, 1000);
    p->host[a][low] = p->real[a][low] = value;
}

static void enter(struct player *p, int a)
{
    double *x = p->real[a];
    int low, length, to, always = 0;
    draw_part(p, a, &low, &length);
    switch (draw(p, 3)) {
    case 0:
        to = 1;
#pragma omp target enter data device(p->device) map(to : x [low:length])
        break;
    case 1:
        to = always = 1;
#pragma omp target enter data device(p->device) map(always, to : x [low:length])
        break;
    default:
        if (p->models[a].length == 0) /* its content would be anything */
            return;
        to = 0;
#pragma omp target enter data device(p->device) map(alloc : x [low:length])
    }
    model_enter(p, a, low, length, to, always);
}

static void leave(struct player *p, int a)
{
    double *x = p->real[a];
    int low, length, from = 0, always = 0, all = 0;
    draw_part(p, a, &low, &length);
    if (p->models[a].length && p->models[a].count <= p->depth)
        return; /* data regions around this one rely on it */
    switch (draw(p, p->depth ? 3 : 4)) {
    case 0:
        from = 1;
#pragma omp target exit data device(p->device) map(from : x [low:length])
        break;
    case 1:
        from = always = 1;
#pragma omp target exit data device(p->device) map(always, from : x [low:length])
        break;
    case 2:
        from = 0;
#pragma omp target exit data device(p->device) map(release : x [low:length])
        break;
    default:
        all = 1;
#pragma omp target exit data device(p->device) map(delete : x [low:length])
    }
    model_leave(p, a, low, length, from, always, all);
}

static void update(struct player *p, int a)
{
    double *x = p->real[a];
    struct model *m = &p->models[a];
    int low, length;
    draw_part(p, a, &low, &length);
    size_t bytes = (size_t)length * sizeof(double);
    if (draw(p, 2)) {
#pragma omp target update device(p->device) to(x [low:length])
        if (m->length)
            memcpy(m->device + low, p->host[a] + low, bytes);
    } else {
#pragma omp target update device(p->device) from(x [low:length])
        if (m->length)
            memcpy(p->host[a] + low, m->device + low, bytes);
    }
}

/* With OMPRMA_PLACEMENT=auto a region must not write what it maps `to`. */
static int to_is_read(void)
{
    const char *placement = getenv("OMPRMA_PLACEMENT");
    return placement && strcmp(placement, "auto") == 0;
}

static void region(struct player *p, int a)
{
    double *x = p->real[a], value = 1 + draw(p, 100);
    int low, length;
    draw_part(p, a, &low, &length);
    switch (draw(p, to_is_read() ? 2 : 3)) {
    case 0:
#pragma omp target device(p->device) map(tofrom : x [low:length])
        for (int i = low; i < low + length; i++)
            x[i] += value;
        model_enter(p, a, low, length, 1, 0);
        model_add(p, a, low, length, value);
        model_leave(p, a, low, length, 1, 0, 0);
        break;
    case 1:
#pragma omp target device(p->device) map(always, tofrom : x [low:length])
        for (int i = low; i < low + length; i++)
            x[i] += value;
        model_enter(p, a, low, length, 1, 1);
        model_add(p, a, low, length, value);
        model_leave(p, a, low, length, 1, 1, 0);
        break;
    default:
#pragma omp target device(p->device) map(to : x [low:length])
        for (int i = low; i < low + length; i++)
            x[i] += value;
        model_enter(p, a, low, length, 1, 0);
        model_add(p, a, low, length, value);
        model_leave(p, a, low, length, 0, 0, 0);
    }
}

/* How they are passed is for the compiler to choose. */
static void values(struct player *p)
{
    struct bits bits = bits_draw(&p->seed), seen;
    uint64_t mine = bits.u64, own = 0;
    BITS_AS_VARIABLES(bits)
    memset(&seen, 0, sizeof(seen));
    if (draw(p, 2)) {
#pragma omp target device(p->device) map(tofrom : seen) map(from : own) private(mine)
        {
            BITS_SEE(seen)
            mine = u64 + 1;
            own = mine;
        }
    } else {
#pragma omp target device(p->device) map(tofrom                                                    \
                                         : seen) map(from                                          \
                                                     : own)                                        \
    firstprivate(i8, u16, i32, u64, f, d, yes, mine)
        {
            BITS_SEE(seen)
            own = ++mine;
        }
    }
    if (!p->wrong && (memcmp(&seen, &bits, sizeof(seen)) != 0 || own != u64 + 1))
        p->wrong = 1 + p->steps;
}

/* Two arrays at once, and steps inside. */
static void data_region(struct player *p)
{
    int a = draw(p, ARRAYS), b = (a + 1 + draw(p, ARRAYS - 1)) % ARRAYS;
    double *x = p->real[a], *y = p->real[b];
    int low_a, length_a, low_b, length_b;
    draw_part(p, a, &low_a, &length_a);
    draw_part(p, b, &low_b, &length_b);
    model_enter(p, a, low_a, length_a, 1, 0);
    model_enter(p, b, low_b, length_b, 1, 0);
#pragma omp target data device(p->device) map(tofrom                                               \
                                              : x [low_a:length_a]) map(to                         \
                                                                        : y [low_b:length_b])
    {
        p->depth++;
        for (int i = draw(p, 6); i > 0; i--)
            step(p);
        p->depth--;
    }
    model_leave(p, b, low_b, length_b, 0, 0, 0);
    model_leave(p, a, low_a, length_a, 1, 0, 0);
}

static void step(struct player *p)
{
    int a = draw(p, ARRAYS);
    if (p->wrong || p->steps++ > STEPS)
        return;
    switch (draw(p, 9)) {
    case 0:
    case 1:
        enter(p, a);
        break;
    case 2:
        leave(p, a);
        break;
    case 3:
        update(p, a);
        break;
    case 4:
        change_host(p, a);
        break;
    case 5:
    case 6:
        region(p, a);
        break;
    case 7:
        values(p);
        break;
    default:
        if (p->depth < DEPTH)
            data_region(p);
    }
    compare(p);
}

static int play(unsigned seed, int device)
{
    static __thread struct player player;
    struct player *p = &player;
    memset(p, 0, sizeof(*p));
    p->seed = seed * 2654435761u + (unsigned)device;
    p->device = device;
    for (int i = 0; i < ARRAYS * N; i++)
        p->host[0][i] = p->real[0][i] = i;
    while (p->steps < STEPS && !p->wrong)
        step(p);
    for (int a = 0; a < ARRAYS; a++) {
        double *x = p->real[a];
        if (p->models[a].length == 0)
            continue;
        int low = p->models[a].low, length = p->models[a].length;
#pragma omp target exit data device(p->device) map(delete : x [low:length])
        if (!p->wrong && omp_target_is_present(&x[low], p->device))
            p->wrong = 1 + p->steps;
    }
    if (p->wrong)
        fprintf(stderr, "seed %u on device %d: wrong after step %d\n", seed, device, p->wrong - 1);
    return p->wrong != 0;
}

int main(int argc, char **argv)
{
    return play_seeds("random", argc, argv, 100, play);
}

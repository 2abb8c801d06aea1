/* test: args=1;20 needs=own
 * Random graphs of nowait regions over blocks of omp_target_alloc and mapped arrays, which get
 * device addresses in all ways in which a region can have one by value; copies and fills by address
 * between them; blocks come and go. Against a model that does the same in the order of the program.
 * Runs with OMPRMA_PLACEMENT=named as well, where each region and copy may go to another worker.
 * Arguments: first seed, number of seeds. */
#include "seeds.h"

enum { BLOCKS = 8, N = 600, STEPS = 120, BYTES = N * sizeof(double) };

struct graph {
    unsigned seed;
    int device;
    double *block[BLOCKS];      /* device addresses, of the first half by omp_target_alloc */
    double real[BLOCKS / 2][N]; /* mapped: the other half */
    double there[BLOCKS][N];    /* the model's */
    double read[N];
};

struct some {
    double *to, *from;
    int n;
};

static int draw(struct graph *g, int limit)
{
    return check_draw(&g->seed, limit);
}

static void model_add(struct graph *g, int t, int f, double value)
{
    for (int i = 0; i < N; i++)
        g->there[t][i] = g->there[t][i] * 0.5 + g->there[f][N - 1 - i] + value;
}

static void add(struct graph *g)
{
    int t = draw(g, BLOCKS), f = draw(g, BLOCKS);
    double value = draw(g, 100), *to = g->block[t], *from = g->block[f];
    struct some some = {to, from, N};
    if (t == f)
        return;
    switch (draw(g, 5)) {
    case 0:
#pragma omp target nowait device(g->device) is_device_ptr(to, from) depend(inout                   \
                                                                           : to[0])                \
    depend(in                                                                                      \
           : from[0])
        for (int i = 0; i < N; i++)
            to[i] = to[i] * 0.5 + from[N - 1 - i] + value;
        break;
    case 1:
#pragma omp target nowait device(g->device) firstprivate(to, from) depend(inout                    \
                                                                          : to[0])                 \
    depend(in                                                                                      \
           : from[0])
        for (int i = 0; i < N; i++)
            to[i] = to[i] * 0.5 + from[N - 1 - i] + value;
        break;
    case 2: /* a pointer to what is not mapped */
#pragma omp target nowait device(g->device) depend(inout : to[0]) depend(in : from[0])
        for (int i = 0; i < N; i++)
            to[i] = to[i] * 0.5 + from[N - 1 - i] + value;
        break;
    case 3: { /* waited for: of nowait clang passes the address of what may be gone */
#pragma omp taskwait
#pragma omp target device(g->device) firstprivate(some)
        for (int i = 0; i < some.n; i++)
            some.to[i] = some.to[i] * 0.5 + some.from[some.n - 1 - i] + value;
        break;
    }
    default: {
#pragma omp taskwait
#pragma omp target device(g->device) map(to : some)
        for (int i = 0; i < some.n; i++)
            some.to[i] = some.to[i] * 0.5 + some.from[some.n - 1 - i] + value;
    }
    }
    model_add(g, t, f, value);
}

/* By its host address, or from it, to a block. */
static void add_mapped(struct graph *g)
{
    int m = draw(g, BLOCKS / 2), b = draw(g, BLOCKS / 2), back = draw(g, 2);
    double value = draw(g, 100), *x = g->real[m], *d = g->block[b], *at = g->block[BLOCKS / 2 + m];
    if (back) {
#pragma omp target nowait device(g->device) is_device_ptr(d) map(to                                \
                                                                 : x [0:N]) depend(inout           \
                                                                                   : d[0])         \
    depend(in                                                                                      \
           : at[0])
        for (int i = 0; i < N; i++)
            d[i] = d[i] * 0.5 + x[N - 1 - i] + value;
        model_add(g, b, BLOCKS / 2 + m, value);
    } else {
#pragma omp target nowait device(g->device) is_device_ptr(d) depend(inout : at[0]) depend(in : d[0])
        for (int i = 0; i < N; i++)
            x[i] = x[i] * 0.5 + d[N - 1 - i] + value;
        model_add(g, BLOCKS / 2 + m, b, value);
    }
}

/* Parts, there, back and across; waited for. */
static void copy(struct graph *g)
{
    int t = draw(g, BLOCKS), f = draw(g, BLOCKS), low = draw(g, N), count = 1 + draw(g, N - low);
    int host = omp_get_initial_device();
    size_t at = (size_t)low * sizeof(double), bytes = (size_t)count * sizeof(double);
    if (t == f) /* they would overlap */
        return;
#pragma omp taskwait
    switch (draw(g, 4)) {
    case 0:
        for (int i = 0; i < N; i++)
            g->read[i] = draw(g, 1000);
        CHECK_EQUAL(omp_target_memcpy(g->block[t], g->read, bytes, at, at, g->device, host), 0);
        memcpy(g->there[t] + low, g->read + low, bytes);
        break;
    case 1:
        CHECK_EQUAL(omp_target_memcpy(g->read, g->block[f], bytes, at, at, host, g->device), 0);
        CHECK(memcmp(g->read + low, g->there[f] + low, bytes) == 0);
        break;
    case 2:
        CHECK_EQUAL(omp_target_memcpy(g->block[t], g->block[f], bytes, 0, at, g->device, g->device),
                    0);
        memmove(g->there[t], g->there[f] + low, bytes);
        break;
    default: {
        const size_t volume[] = {20, 5}, to_at[] = {3, 2}, from_at[] = {1, 7}, shape[] = {30, 20};
        CHECK_EQUAL(omp_target_memcpy_rect(g->block[t], g->block[f], sizeof(double), 2, volume,
                                           to_at, from_at, shape, shape, g->device, g->device),
                    0);
        for (size_t i = 0; i < volume[0]; i++)
            memcpy(g->there[t] + (i + to_at[0]) * shape[1] + to_at[1],
                   g->there[f] + (i + from_at[0]) * shape[1] + from_at[1],
                   volume[1] * sizeof(double));
    }
    }
}

static void make(struct graph *g, int b)
{
    for (int i = 0; i < N; i++)
        g->there[b][i] = b + i % 5;
    g->block[b] = omp_target_alloc(BYTES, g->device);
    CHECK(g->block[b] != NULL);
    CHECK_EQUAL(omp_target_memcpy(g->block[b], g->there[b], BYTES, 0, 0, g->device,
                                  omp_get_initial_device()),
                0);
}

static void renew(struct graph *g)
{
    int b = draw(g, BLOCKS / 2);
#pragma omp taskwait
    omp_target_free(g->block[b], g->device);
    make(g, b);
}

static void steps(struct graph *g)
{
    for (int i = 0; i < STEPS; i++)
        switch (draw(g, 12)) {
        case 0:
            copy(g);
            break;
        case 1:
            renew(g);
            break;
        case 2:
        case 3:
        case 4:
            add_mapped(g);
            break;
        default:
            add(g);
        }
#pragma omp taskwait
}

static int is_wrong(const struct graph *g, unsigned seed, int b, const double *values)
{
    if (memcmp(values, g->there[b], BYTES) == 0)
        return 0;
    fprintf(stderr, "seed %u on device %d: block %d is wrong\n", seed, g->device, b);
    return 1;
}

static int play(unsigned seed, int device)
{
    static __thread struct graph graph;
    struct graph *g = &graph;
    int wrong = 0;
    g->seed = seed * 2654435761u + (unsigned)device;
    g->device = device;
    for (int b = 0; b < BLOCKS / 2; b++) {
        double *x = g->real[b];
        make(g, b);
        for (int i = 0; i < N; i++)
            x[i] = g->there[BLOCKS / 2 + b][i] = b * 3 + i % 7;
#pragma omp target enter data device(g->device) map(to : x [0:N])
#pragma omp target data device(g->device) map(alloc : x [0:N]) use_device_ptr(x)
        g->block[BLOCKS / 2 + b] = x;
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    steps(g);
    for (int b = 0; b < BLOCKS / 2; b++) {
        double *x = g->real[b];
        CHECK_EQUAL(omp_target_memcpy(g->read, g->block[b], BYTES, 0, 0, omp_get_initial_device(),
                                      g->device),
                    0);
        wrong |= is_wrong(g, seed, b, g->read);
        omp_target_free(g->block[b], g->device);
#pragma omp target exit data device(g->device) map(from : x [0:N])
        wrong |= is_wrong(g, seed, BLOCKS / 2 + b, x);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    return play_seeds("device_blocks", argc, argv, 20, play);
}

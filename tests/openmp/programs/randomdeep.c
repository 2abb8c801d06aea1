/* test: needs=own args=1;8
 * Random structures with pointers against a model on the host: entered, left, updated and computed
 * with by a mapper or member by member, as nowait constructs in chains that depend on each other,
 * on all devices and from several threads, each with structures of its own; values of every type
 * between them. Arguments: first seed,
 * number of seeds. A seed that goes wrong is printed, with its step. (LLVM's libomptarget 14 to 16
 * keeps a reference to a structure that its mapper maps, and shows the device's pointers in a
 * structure that comes back.) */
#include "bits.h"
#include "check.h"

#include <string.h>

enum { NODES = 4, MOST = 600, STEPS = 150, THREADS = 3 };

struct node {
    int count;
    double *values;
    double scale;
};
#pragma omp declare mapper(deep : struct node v) map(tofrom : v, v.values [0:v.count])

/* What a structure and its values hold on one side. */
struct side {
    double scale, values[MOST];
};

struct model {
    struct side host, device;
    int references;
};

struct player {
    unsigned seed;
    int first_device, steps, wrong;
    struct node nodes[NODES];
    double values[NODES][MOST];
    struct model models[NODES];
    struct bits bits[NODES], seen[NODES]; /* by the last region that was given some */
};

static int draw(struct player *p, int limit)
{
    return check_draw(&p->seed, limit);
}

static int device_of(const struct player *p, int n)
{
    return (p->first_device + n) % omp_get_num_devices();
}

static void model_enter(struct model *m)
{
    if (m->references++ == 0)
        m->device = m->host;
}

static void model_leave(struct model *m, int structure, int values)
{
    if (--m->references > 0)
        return;
    if (structure)
        m->host.scale = m->device.scale;
    if (values)
        memcpy(m->host.values, m->device.values, sizeof(m->host.values));
}

// clang-format off
static void enter(struct player *p, int n)
{
    struct node *x = &p->nodes[n];
#pragma omp target enter data device(device_of(p, n)) map(mapper(deep), to : x[0:1]) nowait depend(inout : x[0])
    model_enter(&p->models[n]);
}

static void leave(struct player *p, int n)
{
    struct node *x = &p->nodes[n];
    struct model *m = &p->models[n];
    if (m->references == 0)
        return;
    switch (draw(p, 3)) {
    case 0:;
#pragma omp target exit data device(device_of(p, n)) map(mapper(deep), from : x[0:1]) nowait depend(inout : x[0])
        model_leave(m, 1, 1);
        break;
    case 1:;
#pragma omp target exit data device(device_of(p, n)) map(mapper(deep), release : x[0:1]) nowait depend(inout : x[0])
        model_leave(m, 0, 0);
        break;
    default:;
#pragma omp target exit data device(device_of(p, n)) map(mapper(deep), delete : x[0:1]) nowait depend(inout : x[0])
        m->references = 0;
    }
}

static void update(struct player *p, int n)
{
    struct node *x = &p->nodes[n];
    struct model *m = &p->models[n];
    if (draw(p, 2)) {
#pragma omp target update device(device_of(p, n)) to(mapper(deep) : x[0:1]) nowait depend(inout : x[0])
        if (m->references > 0)
            m->device = m->host;
    } else {
#pragma omp target update device(device_of(p, n)) from(mapper(deep) : x[0:1]) nowait depend(inout : x[0])
        if (m->references > 0)
            m->host = m->device;
    }
}

static void compute(struct side *side, int count, double value)
{
    for (int i = 0; i < count; i++)
        side->values[i] += side->scale + value;
    side->scale += value;
}

static void region(struct player *p, int n)
{
    struct node *x = &p->nodes[n];
    struct model *m = &p->models[n];
    double value = 1 + draw(p, 100);
    int whole = draw(p, 2);
    if (whole) {
#pragma omp target device(device_of(p, n)) map(mapper(deep), tofrom : x[0:1]) nowait depend(inout : x[0]) firstprivate(value)
        {
            for (int i = 0; i < x[0].count; i++)
                x[0].values[i] += x[0].scale + value;
            x[0].scale += value;
        }
    } else {
#pragma omp target device(device_of(p, n)) map(to : x[0:1]) map(tofrom : x[0].values[0:x[0].count]) nowait depend(inout : x[0]) firstprivate(value)
        {
            for (int i = 0; i < x[0].count; i++)
                x[0].values[i] += x[0].scale + value;
            x[0].scale += value;
        }
    }
    model_enter(m);
    compute(&m->device, x->count, value);
    model_leave(m, whole, 1);
}

static void values(struct player *p, int n)
{
    struct node *x = &p->nodes[n];
    struct bits *seen = &p->seen[n];
    p->bits[n] = bits_draw(&p->seed);
    BITS_AS_VARIABLES(p->bits[n])
    void *pointer = (void *)(uintptr_t)u64;
#pragma omp target device(device_of(p, n)) map(tofrom : seen[0:1]) nowait depend(inout : x[0]) firstprivate(u64, d, f, i32, u16, i8, yes, pointer)
    {
        BITS_SEE(*seen)
        seen->u64 = (uintptr_t)pointer == u64 ? u64 : ~u64;
    }
}
// clang-format on

/* When nothing is under way, and what is mapped does not notice. */
static void change_host(struct player *p, int n)
{
    int i = draw(p, p->nodes[n].count);
    double value = draw(p, 1000);
#pragma omp taskwait
    p->values[n][i] = p->models[n].host.values[i] = value;
    p->nodes[n].scale = p->models[n].host.scale = value / 2;
}

static void compare(struct player *p)
{
#pragma omp taskwait
    for (int n = 0; n < NODES; n++) {
        const struct node *x = &p->nodes[n];
        const struct side *host = &p->models[n].host;
        if (!p->wrong && (x->values != p->values[n] || x->scale != host->scale ||
                          memcmp(x->values, host->values, sizeof(host->values)) != 0 ||
                          memcmp(&p->seen[n], &p->bits[n], sizeof(p->bits[n])) != 0))
            p->wrong = 1 + p->steps;
    }
}

static void step(struct player *p)
{
    int n = draw(p, NODES);
    switch (draw(p, 8)) {
    case 0:
        enter(p, n);
        break;
    case 1:
        leave(p, n);
        break;
    case 2:
        update(p, n);
        break;
    case 3:
        change_host(p, n);
        break;
    case 4:
        compare(p);
        break;
    case 5:
        values(p, n);
        break;
    default:
        region(p, n);
    }
}

static void start(struct player *p, unsigned seed)
{
    memset(p, 0, sizeof(*p));
    p->seed = seed * 2654435761u;
    p->first_device = (int)(seed % 7);
    for (int n = 0; n < NODES; n++) {
        p->nodes[n] = (struct node){1 + draw(p, draw(p, 2) ? 8 : MOST), p->values[n], n};
        p->models[n].host.scale = n;
        for (int i = 0; i < MOST; i++)
            p->values[n][i] = p->models[n].host.values[i] = i;
    }
}

static void end(struct player *p)
{
    for (int n = 0; n < NODES; n++) {
        struct node *x = &p->nodes[n];
        if (p->models[n].references == 0)
            continue;
#pragma omp target exit data device(device_of(p, n)) map(mapper(deep), delete : x [0:1])
        if (!p->wrong && (omp_target_is_present(x, device_of(p, n)) ||
                          omp_target_is_present(p->values[n], device_of(p, n))))
            p->wrong = 1 + p->steps;
    }
}

static int play(unsigned seed)
{
    static __thread struct player player;
    struct player *p = &player;
    start(p, seed);
    for (; p->steps < STEPS && !p->wrong; p->steps++)
        step(p);
    compare(p);
    end(p);
    if (p->wrong)
        fprintf(stderr, "seed %u: wrong at step %d\n", seed, p->wrong - 1);
    return p->wrong != 0;
}

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    int count = argc > 2 ? atoi(argv[2]) : 30, wrong = 0;
    double end = check_end(argc, argv);
    CHECK(omp_get_num_devices() > 0);
#pragma omp parallel for num_threads(THREADS) schedule(dynamic) reduction(+ : wrong)
    for (int i = 0; i < count; i++)
        if (omp_get_wtime() < end)
            wrong += play(first + (unsigned)i);
    CHECK_EQUAL(wrong, 0);
    return finish("randomdeep");
}

/* test: needs=own args=1;12
 * Random pointers in structures in arrays against a model on the host, three levels deep: a root
 * points to an array of structures, each of those to another one and to values, each of these to
 * values. Every level is entered, left, released, deleted and updated by itself, the inner before
 * the outer and after it, and more than once. Each has a count of its own: what is done to what a
 * pointer points to is not done to what holds the pointer. Arguments: first seed, number of seeds.
 * A seed that goes wrong is printed, with its step. (Under LLVM's libomptarget, with clang up to
 * 21, pointers count for what holds them.) */
#include "seeds.h"

enum { MIDS = 3, LEAVES = 2, N = 5, STEPS = 150 };

struct leaf {
    double *values, x;
};
struct mid {
    double x;
    struct leaf *leaves;
    double *values;
};
struct root {
    double x;
    struct mid *mids;
};

/* What is mapped as one. */
enum {
    ROOT,
    ALL_MIDS,
    LEAVES_OF, /* of each mid */
    VALUES_OF = LEAVES_OF + MIDS,
    LEAF_VALUES = VALUES_OF + MIDS,
    OBJECTS = LEAF_VALUES + MIDS * LEAVES
};

struct object {
    int holder, count; /* holder: has the pointer to it */
    int attached;      /* the holder's copy points to its copy */
    double host[N], device[N];
};

struct player {
    unsigned seed;
    int device, wrong, steps;
    struct root root;
    struct mid mids[MIDS];
    struct leaf leaves[MIDS][LEAVES];
    double values[MIDS][N], leaf_values[MIDS][LEAVES][N];
    struct object objects[OBJECTS];
};

static int draw(struct player *p, int limit)
{
    return check_draw(&p->seed, limit);
}

/* Which mid an object belongs to, and which of its leaves. */
static int mid_of(int o)
{
    return o < VALUES_OF     ? o - LEAVES_OF
           : o < LEAF_VALUES ? o - VALUES_OF
                             : (o - LEAF_VALUES) / LEAVES;
}

static int leaf_of(int o)
{
    return (o - LEAF_VALUES) % LEAVES;
}

static int numbers_of(int o)
{
    return o == ROOT ? 1 : o == ALL_MIDS ? MIDS : o < VALUES_OF ? LEAVES : N;
}

/* A number of an object, where it is. */
static double *number(struct player *p, int o, int i)
{
    if (o == ROOT)
        return &p->root.x;
    if (o == ALL_MIDS)
        return &p->mids[i].x;
    if (o < VALUES_OF)
        return &p->leaves[mid_of(o)][i].x;
    return o < LEAF_VALUES ? &p->values[mid_of(o)][i] : &p->leaf_values[mid_of(o)][leaf_of(o)][i];
}

static void *address(struct player *p, int o)
{
    if (o == ROOT)
        return &p->root;
    if (o == ALL_MIDS)
        return p->mids;
    return o < VALUES_OF ? (void *)p->leaves[mid_of(o)] : (void *)number(p, o, 0);
}

/* ---- the model ---- */

static void copy(double *to, const double *from)
{
    memcpy(to, from, N * sizeof(*to));
}

static void model_enter(struct player *p, int o, int to, int always)
{
    struct object *object = &p->objects[o];
    int fresh = object->count++ == 0;
    if (to && (fresh || always))
        copy(object->device, object->host);
    if (fresh)
        object->attached = object->holder >= 0;
}

static void model_leave(struct player *p, int o, int from, int always, int all)
{
    struct object *object = &p->objects[o];
    if (object->count == 0)
        return;
    object->count = all ? 0 : object->count - 1;
    if (from && (object->count == 0 || always))
        copy(object->host, object->device);
    for (int each = 0; each < OBJECTS && object->count == 0; each++)
        if (each == o || p->objects[each].holder == o)
            p->objects[each].attached = 0;
}

/* A region finds it by way of the root. */
static int is_reached(const struct player *p, int o)
{
    const struct object *object = &p->objects[o];
    return object->count > 0 && (o == ROOT || (object->attached && is_reached(p, object->holder)));
}

/* ---- constructs ---- */

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define TARGET(...) PRAGMA(omp target __VA_ARGS__)

#define TO(x) map(to : x)
#define ALWAYS_TO(x) map(always, to : x)
#define ALLOC(x) map(alloc : x)
#define FROM(x) map(from : x)
#define ALWAYS_FROM(x) map(always, from : x)
#define RELEASE(x) map(release : x)
#define DELETE(x) map(delete : x)
#define UPDATE_TO(x) to(x)
#define UPDATE_FROM(x) from(x)

/* The construct for any object. */
#define CONSTRUCT(name, directive, CLAUSE)                                                         \
    static void name(struct root *r, int o, int device)                                            \
    {                                                                                              \
        int m = mid_of(o), l = leaf_of(o);                                                         \
        if (o == ROOT) {                                                                           \
            TARGET(directive device(device) CLAUSE(r [0:1]))                                       \
        } else if (o == ALL_MIDS) {                                                                \
            TARGET(directive device(device) CLAUSE(r->mids [0:MIDS]))                              \
        } else if (o < VALUES_OF) {                                                                \
            TARGET(directive device(device) CLAUSE(r->mids[m].leaves [0:LEAVES]))                  \
        } else if (o < LEAF_VALUES) {                                                              \
            TARGET(directive device(device) CLAUSE(r->mids[m].values [0:N]))                       \
        } else {                                                                                   \
            TARGET(directive device(device) CLAUSE(r->mids[m].leaves[l].values [0:N]))             \
        }                                                                                          \
    }

CONSTRUCT(enter_to, enter data, TO)
CONSTRUCT(enter_always_to, enter data, ALWAYS_TO)
CONSTRUCT(enter_alloc, enter data, ALLOC)
CONSTRUCT(exit_from, exit data, FROM)
CONSTRUCT(exit_always_from, exit data, ALWAYS_FROM)
CONSTRUCT(exit_release, exit data, RELEASE)
CONSTRUCT(exit_delete, exit data, DELETE)
CONSTRUCT(update_to, update, UPDATE_TO)
CONSTRUCT(update_from, update, UPDATE_FROM)

static void enter(struct player *p, int o)
{
    static void (*const run[])(struct root * r, int o, int device) = {enter_to, enter_always_to,
                                                                      enter_alloc};
    int kind = draw(p, 3);
    if (kind == 2 && p->objects[o].count == 0) /* its content would be anything */
        return;
    /* clang up to 21 maps the pointers on the way; then no holder fits there any more. */
    for (int each = p->objects[o].holder; each >= 0; each = p->objects[each].holder)
        if (p->objects[each].count == 0)
            return;
    run[kind](&p->root, o, p->device);
    model_enter(p, o, kind < 2, kind == 1);
}

static void leave(struct player *p, int o)
{
    static void (*const run[])(struct root * r, int o, int device) = {exit_from, exit_always_from,
                                                                      exit_release, exit_delete};
    int kind = draw(p, 4);
    run[kind](&p->root, o, p->device);
    model_leave(p, o, kind < 2, kind == 1, kind == 3);
}

static void update(struct player *p, int o)
{
    struct object *object = &p->objects[o];
    if (draw(p, 2)) {
        update_to(&p->root, o, p->device);
        if (object->count > 0)
            copy(object->device, object->host);
    } else {
        update_from(&p->root, o, p->device);
        if (object->count > 0)
            copy(object->host, object->device);
    }
}

/* Adds to all numbers of what is reached through pointers. */
static void region(struct player *p, int o)
{
    struct root *r = &p->root;
    int m = mid_of(o), l = leaf_of(o), count = numbers_of(o);
    double value = 1 + draw(p, 100);
    if (!is_reached(p, o))
        return;
#pragma omp target device(p->device)
    for (int i = 0; i < count; i++) {
        if (o == ROOT)
            r->x += value;
        else if (o == ALL_MIDS)
            r->mids[i].x += value;
        else if (o < VALUES_OF)
            r->mids[m].leaves[i].x += value;
        else if (o < LEAF_VALUES)
            r->mids[m].values[i] += value;
        else
            r->mids[m].leaves[l].values[i] += value;
    }
    for (int i = 0; i < count; i++)
        p->objects[o].device[i] += value;
}

/* The same with a map of its own, by what the pointer says: all of it, mapped or not. */
static void region_alone(struct player *p, int o)
{
    double *x = number(p, o, 0), value = 1 + draw(p, 100);
    if (o < VALUES_OF)
        return;
    model_enter(p, o, 1, 0);
#pragma omp target device(p->device) map(tofrom : x [0:N])
    for (int i = 0; i < N; i++)
        x[i] += value;
    for (int i = 0; i < N; i++)
        p->objects[o].device[i] += value;
    model_leave(p, o, 1, 0, 0);
}

static void change_host(struct player *p, int o)
{
    int i = draw(p, numbers_of(o));
    *number(p, o, i) = p->objects[o].host[i] = draw(p, 1000);
}

/* ---- the walk ---- */

static int is_right(struct player *p, int o)
{
    for (int i = 0; i < numbers_of(o); i++)
        if (*number(p, o, i) != p->objects[o].host[i])
            return 0;
    return omp_target_is_present(address(p, o), p->device) == (p->objects[o].count > 0);
}

static int pointers_are_right(struct player *p)
{
    int right = p->root.mids == p->mids;
    for (int m = 0; m < MIDS; m++) {
        right &= p->mids[m].leaves == p->leaves[m] && p->mids[m].values == p->values[m];
        for (int l = 0; l < LEAVES; l++)
            right &= p->leaves[m][l].values == p->leaf_values[m][l];
    }
    return right;
}

static void step(struct player *p)
{
    static void (*const run[])(struct player * p,
                               int o) = {enter,  enter,  enter,  enter,        leave,      leave,
                                         update, region, region, region_alone, change_host};
    /* the outer ones often, so that the inner ones have something to lie in */
    int o = draw(p, 3) ? draw(p, OBJECTS) : draw(p, LEAVES_OF);
    run[draw(p, (int)(sizeof(run) / sizeof(run[0])))](p, o);
    for (int each = 0; each < OBJECTS; each++)
        p->wrong |= !is_right(p, each);
    p->wrong |= !pointers_are_right(p);
}

static void start(struct player *p, unsigned seed, int device)
{
    memset(p, 0, sizeof(*p));
    p->seed = seed * 2654435761u;
    p->device = device;
    p->root.mids = p->mids;
    for (int m = 0; m < MIDS; m++) {
        p->mids[m].leaves = p->leaves[m];
        p->mids[m].values = p->values[m];
        for (int l = 0; l < LEAVES; l++)
            p->leaves[m][l].values = p->leaf_values[m][l];
    }
    for (int o = 0; o < OBJECTS; o++) {
        p->objects[o].holder = o == ROOT         ? -1
                               : o == ALL_MIDS   ? ROOT
                               : o < LEAF_VALUES ? ALL_MIDS
                                                 : LEAVES_OF + mid_of(o);
        for (int i = 0; i < numbers_of(o); i++)
            *number(p, o, i) = p->objects[o].host[i] = 10 * o + i;
    }
}

static int play(unsigned seed, int device)
{
    static __thread struct player player;
    struct player *p = &player;
    start(p, seed, device);
    for (; p->steps < STEPS && !p->wrong; p->steps++)
        step(p);
    if (p->wrong)
        fprintf(stderr, "seed %u on device %d: wrong at step %d\n", seed, device, p->steps - 1);
    for (int o = 0; o < OBJECTS; o++)
        exit_delete(&p->root, o, device);
    for (int o = 0; o < OBJECTS && !p->wrong; o++)
        p->wrong |= omp_target_is_present(address(p, o), device);
    return p->wrong != 0;
}

int main(int argc, char **argv)
{
    return play_seeds("randomtree", argc, argv, 30, play);
}

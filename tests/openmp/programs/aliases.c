/* test: args=1;60 reference=no needs=own
 * aliases SEED SEEDS: constructs that name one storage more than once: by several pointers, parts
 * and the whole in any order, there and back, deleted and back. A construct counts a range once,
 * there and back, and what it ends comes back for each item that says so. Random lists go straight
 * to the runtime's functions and are compared with a model; LLVM's own runtime decides item by
 * item, and is no reference. */
#include "check.h"
#include "seeds.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARRAYS = 3,
    N = 64,
    ITEMS = 5,
    STEPS = 60,
    TO = 1,
    FROM = 2,
    ALWAYS = 4,
    DELETE = 8,
    HOLD = 0x2000
};

typedef void data_function(void *, int64_t, int32_t, void **, void **, int64_t *, int64_t *,
                           void **, void **);
data_function __tgt_target_data_begin_mapper, __tgt_target_data_end_mapper;

static struct model {
    int mapped, counts[2]; /* references, holds */
    double device[N], host[N];
} models[ARRAYS];
static double arrays[ARRAYS][N];
static unsigned state;
static int device;

struct item {
    int array, low, length, type;
};

static int draw(int limit)
{
    return check_draw(&state, limit);
}

static void model_enter(const struct item *items, int count)
{
    int counted[ARRAYS][2] = {0}, made[ARRAYS] = {0};
    for (int i = 0; i < count; i++) {
        const struct item *item = &items[i];
        struct model *m = &models[item->array];
        int hold = (item->type & HOLD) != 0;
        made[item->array] |= !m->mapped;
        m->mapped = 1;
        m->counts[hold] += !counted[item->array][hold];
        counted[item->array][hold] = 1;
        if ((item->type & TO) && (made[item->array] || (item->type & ALWAYS)))
            memcpy(m->device + item->low, m->host + item->low,
                   (size_t)item->length * sizeof(double));
    }
}

static void model_leave(const struct item *items, int count)
{
    int counted[ARRAYS][2] = {0}, before[ARRAYS], ended[ARRAYS];
    for (int a = 0; a < ARRAYS; a++)
        before[a] = models[a].mapped;
    for (int i = 0; i < count; i++) {
        struct model *m = &models[items[i].array];
        int hold = (items[i].type & HOLD) != 0, *own = &m->counts[hold];
        if (items[i].type & DELETE)
            *own = 0;
        else if (!counted[items[i].array][hold] && *own > 0)
            --*own;
        counted[items[i].array][hold] = 1;
    }
    for (int a = 0; a < ARRAYS; a++)
        ended[a] = before[a] && models[a].counts[0] == 0 && models[a].counts[1] == 0;
    for (int i = 0; i < count; i++) {
        const struct item *item = &items[i];
        struct model *m = &models[item->array];
        if (before[item->array] && (item->type & FROM) &&
            (ended[item->array] || (item->type & ALWAYS)))
            memcpy(m->host + item->low, m->device + item->low,
                   (size_t)item->length * sizeof(double));
    }
    for (int a = 0; a < ARRAYS; a++)
        models[a].mapped &= !ended[a];
}

static void draw_item(struct item *item, int entering)
{
    static const int there[] = {0, TO, TO, TO | ALWAYS, TO | HOLD, HOLD},
                     back[] = {0, FROM, FROM, FROM | ALWAYS, DELETE, FROM | HOLD, HOLD};
    int all = draw(3) == 0;
    item->array = draw(ARRAYS);
    item->low = all ? 0 : draw(N);
    item->length = all ? N : 1 + draw(N - item->low);
    item->type = entering ? there[draw(6)] : back[draw(7)];
}

/* Of an array that is not mapped yet one item names the whole, wherever it stands among its parts,
 * and fills it: what a new range holds is not known else. */
static void draw_wholes(struct item *items, int count)
{
    int first = draw(count), whole[ARRAYS] = {0};
    for (int i = 0; i < count; i++) {
        struct item *item = &items[(first + i) % count];
        if (models[item->array].mapped || whole[item->array])
            continue;
        *item = (struct item){item->array, 0, N, item->type | TO};
        whole[item->array] = 1;
    }
}

static void pass(const struct item *items, int count, data_function *function)
{
    void *bases[ITEMS], *begins[ITEMS];
    int64_t sizes[ITEMS], types[ITEMS];
    for (int i = 0; i < count; i++) {
        bases[i] = arrays[items[i].array];
        begins[i] = &arrays[items[i].array][items[i].low];
        sizes[i] = items[i].length * (int64_t)sizeof(double);
        types[i] = items[i].type;
    }
    function(NULL, device, count, bases, begins, sizes, types, NULL, NULL);
}

static void list(int entering)
{
    struct item items[ITEMS];
    int count = 1 + draw(ITEMS);
    for (int i = 0; i < count; i++)
        draw_item(&items[i], entering);
    if (entering)
        draw_wholes(items, count);
    (entering ? model_enter : model_leave)(items, count);
    pass(items, count, entering ? __tgt_target_data_begin_mapper : __tgt_target_data_end_mapper);
}

static void twice(const double *in, double *out)
{
#pragma omp target map(to : in[:N]) map(from : out[:N]) device(device)
    for (int i = 0; i < N; i++)
        out[i] = 2 * in[i];
}

static void twice_and_before(const double *in, double *out)
{
#pragma omp target map(from : out[:N]) map(to : in[:N]) device(device) nowait
    for (int i = 0; i < N; i++)
        out[i] = 2 * in[i];
#pragma omp taskwait
}

static void in_place(void)
{
    int a = draw(ARRAYS);
    (draw(2) ? twice : twice_and_before)(arrays[a], arrays[a]);
    double *at = models[a].mapped ? models[a].device : models[a].host;
    for (int i = 0; i < N; i++)
        at[i] *= 2;
}

static void host_write(void)
{
    int a = draw(ARRAYS), i = draw(N);
    arrays[a][i] = models[a].host[i] = draw(1000);
}

static int play(int seed)
{
    struct item whole[ARRAYS];
    state = (unsigned)seed * 2654435761u + 1;
    device = draw(check_devices());
    for (int step = 0; step < STEPS; step++) {
        switch (draw(5)) {
        case 0:
            in_place();
            break;
        case 1:
            host_write();
            break;
        case 2:
            list(1);
            break;
        default:
            list(0);
            break;
        }
        for (int a = 0; a < ARRAYS; a++)
            if (memcmp(arrays[a], models[a].host, sizeof(arrays[a])) != 0) {
                fprintf(stderr, "aliases: seed %d, step %d, array %d is wrong\n", seed, step, a);
                return 1;
            }
    }
    for (int a = 0; a < ARRAYS; a++) {
        models[a].counts[0] = models[a].counts[1] = models[a].mapped = 0;
        for (int hold = 0; hold < 2; hold++) {
            whole[a] = (struct item){a, 0, N, DELETE | hold * HOLD};
            pass(&whole[a], 1, __tgt_target_data_end_mapper);
        }
    }
    return 0;
}

/* ---- more items than a mapper can number ---- */

typedef struct {
    double x, y;
} point;
#pragma omp declare mapper(point p) map(p.x, p.y)

typedef struct {
    point first;
    double *more;
    double z;
} row;
#pragma omp declare mapper(row r) map(r.first, r.z) map(r.more[:2])

static int many_points(int count)
{
    point *p = calloc((size_t)count, sizeof(*p));
    int wrong = 0;
    for (int i = 0; i < count; i++)
        p[i].x = i;
#pragma omp target teams distribute parallel for map(tofrom : p[:count]) device(device)
    for (int i = 0; i < count; i++)
        p[i].y = 2 * p[i].x;
    for (int i = 0; i < count; i++)
        wrong += p[i].y != 2.0 * i;
    wrong += omp_target_is_present(p, device) || omp_target_is_present(p + count / 2, device);
    free(p);
    return wrong;
}

/* A mapper in a mapper, and pointers. */
static int many_rows(int count)
{
    row *r = calloc((size_t)count, sizeof(*r));
    double *more = calloc(2 * (size_t)count, sizeof(*more));
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        r[i].more = more + 2 * i;
        r[i].first.x = more[2 * i] = i;
    }
#pragma omp target enter data map(to : r[:count]) device(device)
#pragma omp target teams distribute parallel for device(device)
    for (int i = 0; i < count; i++) {
        r[i].first.y = r[i].z = 3 * r[i].first.x;
        r[i].more[1] = 2 * r[i].more[0];
    }
#pragma omp target exit data map(from : r[:count]) device(device)
    for (int i = 0; i < count; i++)
        wrong += r[i].first.y != 3.0 * i || r[i].z != 3.0 * i || more[2 * i + 1] != 2.0 * i ||
                 r[i].more != more + 2 * i;
    wrong += omp_target_is_present(r, device) || omp_target_is_present(more, device) ||
             omp_target_is_present(more + 2 * (count - 1), device);
    free(more);
    free(r);
    return wrong;
}

int main(int count, char **words)
{
    int seed = count > 1 ? atoi(words[1]) : 1, seeds = count > 2 ? atoi(words[2]) : 60;
    double end = check_end(count, words);
    for (int i = 0; i < seeds && omp_get_wtime() < end; i++)
        CHECK_EQUAL(play(seed + i), 0);
    /* 65,536 items and more; as messages of their own they would take minutes. */
    const char *data = getenv("OMPRMA_DATA");
    int part = data && strcmp(data, "rma") == 0 ? 20 : 1;
    CHECK_EQUAL(many_points(25000 / part), 0);
    CHECK_EQUAL(many_rows(12000 / part), 0);
    return finish("aliases");
}

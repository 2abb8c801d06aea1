/* test: args=1;40 reference=no needs=own
 * members SEED SEEDS: random maps of structures against a model by the rules of OpenMP 5.1: wholes,
 * members, what pointer members point to, by references, pointers and `this`, several pointers to
 * one storage, mappers and mappers in mappers, deleted and released, and now and then an array of
 * structures that makes 70,000 items. A construct counts each storage once, there and back; what it
 * ends comes back for each item that says so. LLVM's own runtime decides item by item, and is no
 * reference. With OMPRMA_TEST_TALK each step is said before it is done. */
#include "check.h"
#include "seeds.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

enum { ARRAYS = 3, N = 32, PARTS = 2, NODES = 6, TREES = 3, MANY = 17600, STEPS = 50 };
enum { TO = 1, FROM = 2, ALWAYS = 4, DELETE = 8 };

/* Words, all of them: the model knows each, and which of them are pointers. */
struct node {
    double x;
    double *p;
    int64_t n;
    double y;
};
#pragma omp declare mapper(node v) map(v.x, v.y) map(to : v.n) map(v.p [0:v.n])

struct tree {
    node first;
    node *list;
    int64_t n;
    double z;
};
#pragma omp declare mapper(tree t) map(t.first, t.z) map(to : t.n) map(t.list [0:t.n])

#define PRAGMA_(...) _Pragma(#__VA_ARGS__)
#define PRAGMA(...) PRAGMA_(__VA_ARGS__)

/* What a construct names; which of it depends on its form. */
struct draws {
    int lo, len, lo2, len2, deref, deref2;
    double value;
};

/* Functions of a form: there, back, and regions, which are functions of their own because clang 14
 * names kernels by function and line. */
#define REGION_OF(NAME, MAP, BODY)                                                                 \
    void NAME(SCOPE, draws d)                                                                      \
    {                                                                                              \
        BIND PRAGMA(omp target device(device) MAP)                                                 \
        {                                                                                          \
            BODY                                                                                   \
        }                                                                                          \
    }
#define FORM_STILL(NAME, BODY, ...)                                                                \
    void NAME##_enter(int kind, SCOPE, draws d)                                                    \
    {                                                                                              \
        BIND if (kind == TO)                                                                       \
        {                                                                                          \
            PRAGMA(omp target enter data device(device) map(to : __VA_ARGS__))                     \
        }                                                                                          \
        else if (kind == 0)                                                                        \
        {                                                                                          \
            PRAGMA(omp target enter data device(device) map(alloc : __VA_ARGS__))                  \
        }                                                                                          \
        else                                                                                       \
        {                                                                                          \
            PRAGMA(omp target enter data device(device) map(always, to : __VA_ARGS__))             \
        }                                                                                          \
    }                                                                                              \
    void NAME##_leave(int kind, SCOPE, draws d)                                                    \
    {                                                                                              \
        BIND if (kind == FROM)                                                                     \
        {                                                                                          \
            PRAGMA(omp target exit data device(device) map(from : __VA_ARGS__))                    \
        }                                                                                          \
        else if (kind == 0)                                                                        \
        {                                                                                          \
            PRAGMA(omp target exit data device(device) map(release : __VA_ARGS__))                 \
        }                                                                                          \
        else if (kind == DELETE)                                                                   \
        {                                                                                          \
            PRAGMA(omp target exit data device(device) map(delete : __VA_ARGS__))                  \
        }                                                                                          \
        else                                                                                       \
        {                                                                                          \
            PRAGMA(omp target exit data device(device) map(always, from : __VA_ARGS__))            \
        }                                                                                          \
    }                                                                                              \
    REGION_OF(NAME##_tofrom, map(tofrom : __VA_ARGS__), BODY)                                      \
    REGION_OF(NAME##_to, map(to : __VA_ARGS__), BODY)                                              \
    REGION_OF(NAME##_from, map(from : __VA_ARGS__), BODY)                                          \
    REGION_OF(NAME##_always, map(always, tofrom : __VA_ARGS__), BODY)
/* And updates, which may name no variable twice. */
#define FORM(NAME, BODY, ...)                                                                      \
    void NAME##_update(int kind, SCOPE, draws d)                                                   \
    {                                                                                              \
        BIND if (kind == TO)                                                                       \
        {                                                                                          \
            PRAGMA(omp target update device(device) to(__VA_ARGS__))                               \
        }                                                                                          \
        else                                                                                       \
        {                                                                                          \
            PRAGMA(omp target update device(device) from(__VA_ARGS__))                             \
        }                                                                                          \
    }                                                                                              \
    FORM_STILL(NAME, BODY, __VA_ARGS__)
/* The same of two lists, with a kind each. */
#define FORM_OF_TWO(NAME, BODY, A, B)                                                              \
    void NAME##_enter(int kind, SCOPE, draws d)                                                    \
    {                                                                                              \
        BIND if (kind == TWO(TO, 0))                                                               \
        {                                                                                          \
            PRAGMA(omp target enter data device(device) map(to : A) map(alloc : B))                \
        }                                                                                          \
        else if (kind == TWO(0, TO))                                                               \
        {                                                                                          \
            PRAGMA(omp target enter data device(device) map(alloc : A) map(to : B))                \
        }                                                                                          \
        else                                                                                       \
        {                                                                                          \
            PRAGMA(omp target enter data device(device) map(to : A) map(always, to : B))           \
        }                                                                                          \
    }                                                                                              \
    void NAME##_leave(int kind, SCOPE, draws d)                                                    \
    {                                                                                              \
        BIND if (kind == TWO(FROM, 0))                                                             \
        {                                                                                          \
            PRAGMA(omp target exit data device(device) map(from : A) map(release : B))             \
        }                                                                                          \
        else if (kind == TWO(0, FROM))                                                             \
        {                                                                                          \
            PRAGMA(omp target exit data device(device) map(release : A) map(from : B))             \
        }                                                                                          \
        else if (kind == TWO(DELETE, FROM))                                                        \
        {                                                                                          \
            PRAGMA(omp target exit data device(device) map(delete : A) map(from : B))              \
        }                                                                                          \
        else                                                                                       \
        {                                                                                          \
            PRAGMA(omp target exit data device(device) map(from : A) map(delete : B))              \
        }                                                                                          \
    }                                                                                              \
    REGION_OF(NAME##_tofrom, map(tofrom : A) map(to : B), BODY)                                    \
    REGION_OF(NAME##_to, map(to : A) map(from : B), BODY)                                          \
    REGION_OF(NAME##_from, map(from : A) map(to : B), BODY)                                        \
    REGION_OF(NAME##_always, map(to : A) map(always, tofrom : B), BODY)
#define TWO(A, B) ((A) | (B) << 8)
#define BIND                                                                                       \
    int lo = d.lo, len = d.len, lo2 = d.lo2, len2 = d.len2, deref = d.deref, deref2 = d.deref2;    \
    double value = d.value;                                                                        \
    (void)lo, (void)len, (void)lo2, (void)len2, (void)deref, (void)deref2, (void)value;
#define ADD(AT, FIRST, COUNT)                                                                      \
    for (int k = FIRST; k < FIRST + COUNT; k++)                                                    \
        AT[k] += value;
#define ADD_IF(YES, AT, FIRST, COUNT)                                                              \
    if (YES) {                                                                                     \
        ADD(AT, FIRST, COUNT)                                                                      \
    }

static int device;

#define SCOPE int
struct part {
    double x;
    double *p;
    double y;
    double *q;
    double z;

    FORM(self, x += value; z += value; ADD_IF(deref, p, lo, len), x, z, p [lo:len])
    FORM(self_pair, x += value; z += value;
         ADD_IF(deref, p, lo, len) ADD_IF(deref2, q, lo2, len2), q [lo2:len2], z, x, p [lo:len])
};
#undef SCOPE

#define SCOPE double *x
FORM(array, ADD(x, lo, len), x [lo:len])
FORM_STILL(twice, ADD(x, lo, len) ADD(x, lo2, len2), x [lo:len], x [0:N], x [lo2:len2])
#undef SCOPE
#define SCOPE double *&r
FORM(reference, ADD(r, lo, len), r [lo:len])
#undef SCOPE
#define SCOPE double *x, double *&r
FORM_STILL(aliases, ADD(x, lo, len) ADD(r, lo2, len2), x [lo:len], r [lo2:len2])
#undef SCOPE
#define SCOPE part &s
FORM(whole, s.x += value; s.y += value; s.z += value;, s)
FORM(members, s.x += value; s.y += value;, s.x, s.y)
FORM(pointee, ADD_IF(deref, s.p, lo, len), s.p [lo:len])
FORM_STILL(both, s.y += value; ADD_IF(deref, s.p, lo, len), s, s.p [lo:len])
FORM_STILL(pair, s.x += value; ADD_IF(deref, s.p, lo, len) ADD_IF(deref2, s.q, lo2, len2),
                               s.p [lo:len], s.q [lo2:len2], s)
#undef SCOPE
#define SCOPE part *t
FORM(arrow, t->x += value; t->z += value; ADD_IF(deref, t->p, lo, len), t->x, t->p [lo:len], t->z)
FORM_STILL(arrow_whole, t->z += value; ADD_IF(deref2, t->q, lo2, len2), t [0:1], t->q [lo2:len2])
#undef SCOPE

#define SCOPE part &s
FORM_OF_TWO(whole_pointee, s.y += value; ADD_IF(deref, s.p, lo, len), s, s.p [lo:len])
FORM_OF_TWO(pointee_whole, s.y += value; ADD_IF(deref, s.p, lo, len), s.p [lo:len], s)
#undef SCOPE
#define SCOPE part &s, double *x
FORM_OF_TWO(aliased_pointee, ADD(x, lo2, len2) ADD_IF(deref, s.p, lo, len), x [lo2:len2],
            s.p [lo:len])
#undef SCOPE
#define SCOPE double *x, double *&r
FORM_OF_TWO(aliases_of_two, ADD(x, lo, len) ADD(r, lo2, len2), x [lo:len], r [lo2:len2])
#undef SCOPE
#define SCOPE part &s
void implicit_region(SCOPE, draws d)
{
    BIND PRAGMA(omp target device(device))
    {
        s.x += value;
        ADD_IF(deref, s.p, lo, len)
    }
}
#undef SCOPE

/* How many numbers a node has, by where it stands. */
#define NUMBERS(I) (1 + (I)*7 % 4)
#define EACH_NODE(V, FIRST, COUNT)                                                                 \
    for (int i = FIRST; i < FIRST + COUNT; i++) {                                                  \
        V[i].x += value;                                                                           \
        V[i].y += value;                                                                           \
        if (deref)                                                                                 \
            for (int k = 0; k < NUMBERS(i); k++)                                                   \
                V[i].p[k] += value;                                                                \
    }
#define EACH_TREE(W, FIRST, COUNT)                                                                 \
    for (int i = FIRST; i < FIRST + COUNT; i++) {                                                  \
        W[i].z += value;                                                                           \
        W[i].first.x += value;                                                                     \
        if (deref)                                                                                 \
            for (int k = 0; k < 1 + i % 3; k++)                                                    \
                W[i].list[k].y += value;                                                           \
    }
#define SCOPE node *v
FORM(nodes, EACH_NODE(v, lo, len), v [lo:len])
#undef SCOPE
#define SCOPE node *v, double *x
FORM_OF_TWO(nodes_numbers, EACH_NODE(v, lo, len) ADD(x, 0, lo2), v [lo:len], x [0:lo2])
#undef SCOPE
#define SCOPE node &v
FORM(node_alone, v.x += value;, v)
#undef SCOPE
#define SCOPE tree *w
FORM(trees, EACH_TREE(w, lo, len), w [lo:len])
#undef SCOPE
#define SCOPE tree &w
FORM(tree_alone, w.z += value;, w)
#undef SCOPE

/* ---- the model ------------------------------------------------------------------------------ */

struct world {
    double arrays[ARRAYS][N];
    part parts[PARTS];
    node nodes[NODES];
    double numbers[NODES][4];
    node listed[TREES][3];
    double listed_numbers[TREES][3][4];
    tree trees[TREES];
    double tree_numbers[TREES][4];
    double *pointers[ARRAYS]; /* for references */
    node many[MANY];
    double many_numbers[MANY][4];
};
enum { FEW = offsetof(world, many) };

static world *real, *host; /* what the program has, and what it must have */
static std::vector<char> is_pointer(sizeof(world) / 8);
static unsigned state, instances;

static int draw(int limit)
{
    return check_draw(&state, limit);
}

struct range {
    size_t words;
    long count;
    unsigned instance;
    std::vector<double> values;
    std::vector<char> known;
};
static std::map<size_t, range> ranges; /* by their first word */

struct item {
    size_t word, words;
    bool counts; /* else it is a member of one that does */
    int type;
};
struct bond {
    size_t pointer, pointee;
};
static std::vector<item> items;
static std::vector<bond> bonds;
static std::map<size_t, std::pair<unsigned, unsigned>> attached;
static std::vector<size_t> unknown; /* words that have come back with any value */

static size_t word_of(const void *at)
{
    return (size_t)((const char *)at - (const char *)real) / 8;
}

static void name(const void *at, size_t bytes, int type, bool counts = true)
{
    items.push_back({word_of(at), bytes / 8, counts, type});
}

static void member(const void *at, int type)
{
    name(at, 8, type, false);
}

static void points(double *const &p, int lo, int len, int type)
{
    name(p + lo, (size_t)len * 8, type);
    bonds.push_back({word_of(&p), word_of(p + lo)});
}

static range *range_at(size_t word, size_t words, size_t *begin = nullptr)
{
    auto each = ranges.upper_bound(word);
    if (each == ranges.begin())
        return nullptr;
    --each;
    if (begin)
        *begin = each->first;
    return word + words <= each->first + each->second.words ? &each->second : nullptr;
}

static bool overlaps(size_t word, size_t words)
{
    auto each = ranges.lower_bound(word + words);
    return each != ranges.begin() && (--each)->first + each->second.words > word;
}

/* Each storage lies in one that is mapped, or apart from all, and so do the new ones of the list.
 */
static bool is_sound()
{
    std::map<size_t, size_t> fresh;
    for (const item &i : items)
        if (i.counts && !range_at(i.word, i.words)) {
            if (overlaps(i.word, i.words))
                return false;
            size_t &words = fresh[i.word];
            words = words > i.words ? words : i.words;
        }
    size_t end = 0;
    for (auto &each : fresh) {
        if (each.first < end && each.first + each.second > end)
            return false;
        end = each.first + each.second > end ? each.first + each.second : end;
    }
    return true;
}

static bool was_made(size_t word, unsigned before)
{
    range *r = range_at(word, 1);
    return r && r->instance > before;
}

/* Of a part of a range. */
static void model_take(const item &i, size_t begin, const range &r)
{
    for (size_t w = i.word; w < i.word + i.words; w++)
        if (!r.known[w - begin])
            unknown.push_back(w);
        else if (!is_pointer[w])
            ((double *)host)[w] = r.values[w - begin];
}

static void model_fill(const item &i, size_t begin, range &r)
{
    for (size_t w = i.word; w < i.word + i.words; w++) {
        r.values[w - begin] = ((double *)host)[w];
        r.known[w - begin] = 1;
    }
}

static void model_enter()
{
    unsigned before = instances;
    std::map<size_t, size_t> fresh;
    std::map<range *, bool> counted;
    for (const item &i : items)
        if (i.counts && !range_at(i.word, i.words)) {
            size_t &words = fresh[i.word];
            words = words > i.words ? words : i.words;
        }
    for (auto &each : fresh)
        if (!range_at(each.first, each.second))
            ranges[each.first] = {each.second, 0, ++instances, std::vector<double>(each.second),
                                  std::vector<char>(each.second)};
    for (const item &i : items) {
        size_t begin = 0;
        range *r = range_at(i.word, i.words, &begin);
        if (!r)
            continue; /* a pointer on the way */
        if (i.counts && !counted[r]) {
            counted[r] = true;
            r->count++;
        }
        if ((i.type & TO) && (r->instance > before || (i.type & ALWAYS)))
            model_fill(i, begin, *r);
    }
    for (const bond &b : bonds)
        if (was_made(b.pointer, before) || was_made(b.pointee, before)) {
            range *pointer = range_at(b.pointer, 1), *pointee = range_at(b.pointee, 1);
            if (pointer && pointee)
                attached[b.pointer] = {pointer->instance, pointee->instance};
        }
}

static bool is_attached(const double *const &p, int lo, int len)
{
    range *pointer = range_at(word_of(&p), 1);
    range *pointee = range_at(word_of(p + lo), (size_t)len);
    auto each = attached.find(word_of(&p));
    return pointer && pointee && each != attached.end() &&
           each->second.first == pointer->instance && each->second.second == pointee->instance;
}

static void model_update()
{
    for (const item &i : items) {
        size_t begin = 0;
        range *r = range_at(i.word, i.words, &begin);
        if (r && (i.type & TO))
            model_fill(i, begin, *r);
        if (r && (i.type & FROM))
            model_take(i, begin, *r);
    }
}

static void model_leave()
{
    std::map<range *, bool> counted;
    for (const item &i : items) {
        range *r = i.counts ? range_at(i.word, i.words) : nullptr;
        if (!r)
            continue;
        if (i.type & DELETE)
            r->count = 0;
        else if (!counted[r] && r->count > 0)
            r->count--;
        counted[r] = true;
    }
    for (const item &i : items) {
        size_t begin = 0;
        range *r = range_at(i.word, i.words, &begin);
        if (r && (i.type & FROM) && (r->count == 0 || (i.type & ALWAYS)))
            model_take(i, begin, *r);
    }
    for (auto each = ranges.begin(); each != ranges.end();)
        each = each->second.count == 0 ? ranges.erase(each) : std::next(each);
}

static void model_add(const void *at, int count, double value)
{
    for (size_t w = word_of(at); w < word_of(at) + (size_t)count; w++) {
        size_t begin = 0;
        range *r = range_at(w, 1, &begin);
        if (r)
            r->values[w - begin] += value;
    }
}

/* ---- steps ---------------------------------------------------------------------------------- */

enum construct { ENTER, LEAVE, REGION, UPDATE };

static void draw_part(int *lo, int *len)
{
    bool all = draw(3) == 0;
    *lo = all ? 0 : draw(N);
    *len = all ? N : 1 + draw(N - *lo);
}

static void name_node(node *v, int i, int type)
{
    member(&v[i].x, type);
    member(&v[i].y, type);
    member(&v[i].n, type & ~FROM);
    points(v[i].p, 0, (int)v[i].n, type);
}

static void name_nodes(node *v, int lo, int len, int type, bool counts = true)
{
    name(v + lo, (size_t)len * sizeof(node), type & DELETE, counts);
    for (int i = lo; i < lo + len; i++)
        name_node(v, i, type);
}

static void name_trees(tree *w, int lo, int len, int type)
{
    name(w + lo, (size_t)len * sizeof(tree), type & DELETE);
    for (int i = lo; i < lo + len; i++) {
        name_node(&w[i].first, 0, type);
        member(&w[i].z, type);
        member(&w[i].n, type & ~FROM);
        bonds.push_back({word_of(&w[i].list), word_of(w[i].list)});
        name_nodes(w[i].list, 0, (int)w[i].n, type);
    }
}

/* What each construct does to the model, and then really. */
#define RUN(NAME, SUBJECT)                                                                         \
    do {                                                                                           \
        if (what == UPDATE) {                                                                      \
            if (!is_sound())                                                                       \
                return;                                                                            \
            say(#NAME, what, kind, d);                                                             \
            model_update();                                                                        \
            NAME##_update(kind, SUBJECT, d);                                                       \
            return;                                                                                \
        }                                                                                          \
        RUN_STILL(NAME, SUBJECT);                                                                  \
    } while (0)
#define RUN_STILL(NAME, SUBJECT)                                                                   \
    do {                                                                                           \
        if (what == UPDATE || !is_sound())                                                         \
            return;                                                                                \
        say(#NAME, what, kind, d);                                                                 \
        if (what == LEAVE) {                                                                       \
            model_leave();                                                                         \
            NAME##_leave(kind, SUBJECT, d);                                                        \
            return;                                                                                \
        }                                                                                          \
        model_enter();                                                                             \
        if (what == ENTER)                                                                         \
            NAME##_enter(kind, SUBJECT, d);                                                        \
    } while (0)
#define THEN_REGION(NAME, SUBJECT)                                                                 \
    if (what == REGION) {                                                                          \
        if (kind == (TO | FROM) || kind == TWO(TO | FROM, TO))                                     \
            NAME##_tofrom(SUBJECT, d);                                                             \
        else if (kind == TO || kind == TWO(TO, FROM))                                              \
            NAME##_to(SUBJECT, d);                                                                 \
        else if (kind == FROM || kind == TWO(FROM, TO))                                            \
            NAME##_from(SUBJECT, d);                                                               \
        else                                                                                       \
            NAME##_always(SUBJECT, d);                                                             \
        model_leave();                                                                             \
    }

static bool talks;

static void say(const char *form, construct what, int kind, const draws &d)
{
    static const char *const words[] = {"enter", "leave", "region", "update"};
    if (talks)
        fprintf(stderr, "%s %s kind %d [%d:%d] [%d:%d]\n", words[what], form, kind, d.lo, d.len,
                d.lo2, d.len2);
}

static void step_array(construct what, int kind, draws d)
{
    int a = draw(ARRAYS), form = draw(4);
    double *x = real->arrays[a], *&r = real->pointers[draw(ARRAYS)];
    if (form == 0) {
        name(x + d.lo, (size_t)d.len * 8, kind);
        RUN(array, x);
        model_add(x + d.lo, what == REGION ? d.len : 0, d.value);
        THEN_REGION(array, x)
    } else if (form == 1) {
        name(x + d.lo, (size_t)d.len * 8, kind);
        name(x, N * 8, kind);
        name(x + d.lo2, (size_t)d.len2 * 8, kind);
        RUN_STILL(twice, x);
        model_add(x + d.lo, what == REGION ? d.len : 0, d.value);
        model_add(x + d.lo2, what == REGION ? d.len2 : 0, d.value);
        THEN_REGION(twice, x)
    } else if (form == 2) {
        name(r + d.lo, (size_t)d.len * 8, kind);
        RUN(reference, r);
        model_add(r + d.lo, what == REGION ? d.len : 0, d.value);
        THEN_REGION(reference, r)
    } else {
        name(x + d.lo, (size_t)d.len * 8, kind);
        name(r + d.lo2, (size_t)d.len2 * 8, kind);
#define BOTH x, r
        RUN_STILL(aliases, BOTH);
        model_add(x + d.lo, what == REGION ? d.len : 0, d.value);
        model_add(r + d.lo2, what == REGION ? d.len2 : 0, d.value);
        THEN_REGION(aliases, BOTH)
    }
}

static void add_pointees(const part &s, draws &d, bool p, bool q)
{
    d.deref = p && is_attached(s.p, d.lo, d.len);
    d.deref2 = q && is_attached(s.q, d.lo2, d.len2);
    model_add(s.p + d.lo, d.deref ? d.len : 0, d.value);
    model_add(s.q + d.lo2, d.deref2 ? d.len2 : 0, d.value);
}

static void step_part(construct what, int kind, draws d)
{
    part &s = real->parts[draw(PARTS)], *t = &s;
    double add;
    switch (draw(9)) {
    case 0:
        name(&s, sizeof(s), kind);
        RUN(whole, s);
        add = what == REGION ? d.value : 0;
        model_add(&s.x, 1, add), model_add(&s.y, 1, add), model_add(&s.z, 1, add);
        THEN_REGION(whole, s)
        break;
    case 1:
        name(&s.x, 24, kind & DELETE);
        member(&s.x, kind), member(&s.y, kind);
        RUN(members, s);
        add = what == REGION ? d.value : 0;
        model_add(&s.x, 1, add), model_add(&s.y, 1, add);
        THEN_REGION(members, s)
        break;
    case 2:
        points(s.p, d.lo, d.len, kind);
        RUN(pointee, s);
        if (what == REGION)
            add_pointees(s, d, true, false);
        THEN_REGION(pointee, s)
        break;
    case 3:
        name(&s, sizeof(s), kind);
        points(s.p, d.lo, d.len, kind);
        RUN_STILL(both, s);
        if (what == REGION)
            model_add(&s.y, 1, d.value), add_pointees(s, d, true, false);
        THEN_REGION(both, s)
        break;
    case 4:
        name(&s, sizeof(s), kind);
        points(s.p, d.lo, d.len, kind), points(s.q, d.lo2, d.len2, kind);
        RUN_STILL(pair, s);
        if (what == REGION)
            model_add(&s.x, 1, d.value), add_pointees(s, d, true, true);
        THEN_REGION(pair, s)
        break;
    case 5:
        name(&s, sizeof(s), kind & DELETE);
        member(&s.x, kind), member(&s.z, kind);
        points(s.p, d.lo, d.len, kind);
        RUN(arrow, t);
        if (what == REGION)
            model_add(&s.x, 1, d.value), model_add(&s.z, 1, d.value),
                add_pointees(s, d, true, false);
        THEN_REGION(arrow, t)
        break;
    case 6:
        name(&s, sizeof(s), kind);
        points(s.q, d.lo2, d.len2, kind);
        RUN_STILL(arrow_whole, t);
        if (what == REGION)
            model_add(&s.z, 1, d.value), add_pointees(s, d, false, true);
        THEN_REGION(arrow_whole, t)
        break;
    case 7:
        name(&s, sizeof(s), kind & DELETE);
        member(&s.x, kind), member(&s.z, kind);
        points(s.p, d.lo, d.len, kind);
        RUN(s.self, 0);
        if (what == REGION)
            model_add(&s.x, 1, d.value), model_add(&s.z, 1, d.value),
                add_pointees(s, d, true, false);
        THEN_REGION(s.self, 0)
        break;
    default:
        name(&s, sizeof(s), kind & DELETE);
        member(&s.x, kind), member(&s.z, kind);
        points(s.p, d.lo, d.len, kind), points(s.q, d.lo2, d.len2, kind);
        RUN(s.self_pair, 0);
        if (what == REGION)
            model_add(&s.x, 1, d.value), model_add(&s.z, 1, d.value),
                add_pointees(s, d, true, true);
        THEN_REGION(s.self_pair, 0)
    }
}

static bool nodes_are_attached(node *v, int lo, int len)
{
    for (int i = lo; i < lo + len; i++)
        if (!is_attached(v[i].p, 0, 1))
            return false;
    return true;
}

static void add_nodes(node *v, draws &d)
{
    d.deref = nodes_are_attached(v, d.lo, d.len);
    for (int i = d.lo; i < d.lo + d.len; i++) {
        model_add(&v[i].x, 1, d.value), model_add(&v[i].y, 1, d.value);
        model_add(v[i].p, d.deref ? NUMBERS(i) : 0, d.value);
    }
}

static void step_nodes(construct what, int kind, draws d, bool many)
{
    node *v = many ? real->many : real->nodes;
    d.lo = draw(NODES);
    d.len = many ? MANY - d.lo : 1 + draw(NODES - d.lo);
    if (!many && draw(3) == 0) {
        d.len = 1;
        name_nodes(v, d.lo, 1, kind);
        RUN(node_alone, v[d.lo]);
        model_add(&v[d.lo].x, 1, what == REGION ? d.value : 0);
        THEN_REGION(node_alone, v[d.lo])
        return;
    }
    name_nodes(v, d.lo, d.len, kind);
    RUN(nodes, v);
    if (what == REGION)
        add_nodes(v, d);
    THEN_REGION(nodes, v)
}

static void step_trees(construct what, int kind, draws d)
{
    tree *w = real->trees;
    d.lo = draw(TREES);
    d.len = 1 + draw(TREES - d.lo);
    if (draw(3) == 0) {
        d.len = 1;
        name_trees(w, d.lo, 1, kind);
        RUN(tree_alone, w[d.lo]);
        model_add(&w[d.lo].z, 1, what == REGION ? d.value : 0);
        THEN_REGION(tree_alone, w[d.lo])
        return;
    }
    name_trees(w, d.lo, d.len, kind);
    RUN(trees, w);
    if (what == REGION) {
        d.deref = 1;
        for (int i = d.lo; i < d.lo + d.len; i++)
            d.deref &= is_attached(*(double *const *)&w[i].list, 0, 1);
        for (int i = d.lo; i < d.lo + d.len; i++) {
            model_add(&w[i].z, 1, d.value), model_add(&w[i].first.x, 1, d.value);
            for (int k = 0; d.deref && k < w[i].n; k++)
                model_add(&w[i].list[k].y, 1, d.value);
        }
    }
    THEN_REGION(trees, w)
}

#define SUBJECT_ALIASED s, x
#define SUBJECT_NUMBERS v, v[d.lo].p

static void step_two(construct what, int kind, draws d)
{
    part &s = real->parts[draw(PARTS)];
    double *x = real->arrays[draw(ARRAYS)], *&r = real->pointers[draw(ARRAYS)];
    node *v = real->nodes;
    int first = kind & 255, second = kind >> 8;
    switch (draw(5)) {
    case 0:
        name(&s, sizeof(s), first);
        points(s.p, d.lo, d.len, second);
        RUN_STILL(whole_pointee, s);
        if (what == REGION)
            model_add(&s.y, 1, d.value), add_pointees(s, d, true, false);
        THEN_REGION(whole_pointee, s)
        break;
    case 1:
        points(s.p, d.lo, d.len, first);
        name(&s, sizeof(s), second);
        RUN_STILL(pointee_whole, s);
        if (what == REGION)
            model_add(&s.y, 1, d.value), add_pointees(s, d, true, false);
        THEN_REGION(pointee_whole, s)
        break;
    case 2:
        name(x + d.lo2, (size_t)d.len2 * 8, first);
        points(s.p, d.lo, d.len, second);
        RUN_STILL(aliased_pointee, SUBJECT_ALIASED);
        model_add(x + d.lo2, what == REGION ? d.len2 : 0, d.value);
        if (what == REGION)
            add_pointees(s, d, true, false);
        THEN_REGION(aliased_pointee, SUBJECT_ALIASED)
        break;
    case 3:
        name(x + d.lo, (size_t)d.len * 8, first);
        name(r + d.lo2, (size_t)d.len2 * 8, second);
        RUN_STILL(aliases_of_two, BOTH);
        model_add(x + d.lo, what == REGION ? d.len : 0, d.value);
        model_add(r + d.lo2, what == REGION ? d.len2 : 0, d.value);
        THEN_REGION(aliases_of_two, BOTH)
        break;
    default:
        d.lo = draw(NODES);
        d.len = 1 + draw(NODES - d.lo);
        d.lo2 = (int)v[d.lo].n;
        name_nodes(v, d.lo, d.len, first);
        name(v[d.lo].p, (size_t)d.lo2 * 8, second);
        RUN_STILL(nodes_numbers, SUBJECT_NUMBERS);
        if (what == REGION)
            add_nodes(v, d), model_add(v[d.lo].p, d.lo2, d.value);
        THEN_REGION(nodes_numbers, SUBJECT_NUMBERS)
    }
}

/* A region that names nothing maps what it uses, there and back. */
static void step_implicit(draws d)
{
    part &s = real->parts[draw(PARTS)];
    name(&s, sizeof(s), TO | FROM);
    if (!is_sound())
        return;
    say("implicit", REGION, 0, d);
    model_enter();
    model_add(&s.x, 1, d.value), add_pointees(s, d, true, false);
    implicit_region(s, d);
    model_leave();
}

static void step()
{
    static const int kinds[][4] = {{TO, TO, 0, TO | ALWAYS},
                                   {FROM, 0, DELETE, FROM | ALWAYS},
                                   {TO | FROM, TO, FROM, TO | FROM | ALWAYS},
                                   {TO, FROM, TO, FROM}};
    static const int of_two[][4] = {
        {TWO(TO, 0), TWO(0, TO), TWO(TO, TO | ALWAYS), TWO(TO, 0)},
        {TWO(FROM, 0), TWO(0, FROM), TWO(DELETE, FROM), TWO(FROM, DELETE)},
        {TWO(TO | FROM, TO), TWO(TO, FROM), TWO(FROM, TO), TWO(TO, TO | FROM | ALWAYS)},
        {0, 0, 0, 0}};
    construct what = (construct)(draw(10) * 4 / 11);
    int k = draw(4), kind = kinds[what][k], which = draw(11);
    draws d = {};
    d.value = 1 + draw(9);
    draw_part(&d.lo, &d.len);
    draw_part(&d.lo2, &d.len2);
    items.clear();
    bonds.clear();
    if (which < 2)
        step_array(what, kind, d);
    else if (which < 5)
        step_part(what, kind, d);
    else if (which < 7)
        step_nodes(what, kind, d, draw(150) == 0);
    else if (which < 8)
        step_trees(what, kind, d);
    else if (which < 9)
        step_implicit(d);
    else if (what != UPDATE)
        step_two(what, of_two[what][k], d);
}

static void point(double *&p, double *at)
{
    p = at;
    is_pointer[word_of(&p)] = 1;
}

static void node_make(node &v, double *numbers, int index)
{
    point(v.p, numbers);
    v.n = NUMBERS(index);
}

static void world_make()
{
    real = (world *)calloc(1, sizeof(world));
    host = (world *)malloc(sizeof(world));
    for (size_t w = 0; w < FEW / 8; w++)
        ((double *)real)[w] = (double)w;
    for (int i = 0; i < ARRAYS; i++)
        point(real->pointers[i], real->arrays[draw(ARRAYS)]);
    for (int i = 0; i < PARTS; i++) {
        point(real->parts[i].p, real->arrays[draw(ARRAYS)]);
        point(real->parts[i].q, real->arrays[draw(ARRAYS)]);
    }
    for (int i = 0; i < NODES; i++)
        node_make(real->nodes[i], real->numbers[i], i);
    for (int i = 0; i < MANY; i++)
        node_make(real->many[i], real->many_numbers[i], i);
    for (int i = 0; i < TREES; i++) {
        node_make(real->trees[i].first, real->tree_numbers[i], 1);
        for (int k = 0; k < 3; k++)
            node_make(real->listed[i][k], real->listed_numbers[i][k], k);
        real->trees[i].list = real->listed[i];
        is_pointer[word_of(&real->trees[i].list)] = 1;
        real->trees[i].n = 1 + i % 3;
    }
    memcpy(host, real, sizeof(world));
}

/* Nobody has anything mapped, and the device has none of it. */
static int world_end()
{
    int wrong = 0;
    while (!ranges.empty()) {
        auto first = ranges.begin();
        double *at = (double *)real + first->first;
        size_t words = first->second.words;
#pragma omp target exit data device(device) map(delete : at [0:words])
        if (omp_target_is_present(at, device))
            fprintf(stderr, "members: %zu words at %zu are there yet\n", words, first->first),
                wrong++;
        ranges.erase(first);
    }
    attached.clear();
    free(host);
    return wrong; /* a place that pointers in it had on the device may be another's: it stays */
}

static int play(unsigned seed)
{
    int wrong = 0;
    state = seed * 2654435761u + 1;
    device = draw(check_devices());
    world_make();
    for (int s = 0; s < STEPS && !wrong; s++) {
        unknown.clear();
        step();
        for (size_t w : unknown) /* pointers have to stay what they are */
            ((double **)(is_pointer[w] ? real : host))[w] =
                ((double **)(is_pointer[w] ? host : real))[w];
        if (memcmp(real, host, sizeof(world)) == 0)
            continue;
        for (size_t w = 0; w < sizeof(world) / 8 && wrong < 5; w++)
            if (((uint64_t *)real)[w] != ((uint64_t *)host)[w])
                fprintf(stderr, "members: seed %u, step %d: word %zu is %g, not %g\n", seed, s, w,
                        ((double *)real)[w], ((double *)host)[w]),
                    wrong++;
    }
    if (wrong)
        fprintf(stderr, "members: words: parts %zu nodes %zu numbers %zu trees %zu\n",
                offsetof(world, parts) / 8, offsetof(world, nodes) / 8,
                offsetof(world, numbers) / 8, offsetof(world, trees) / 8);
    return wrong + world_end();
}

int main(int count, char **words)
{
    int seed = count > 1 ? atoi(words[1]) : 1, seeds = count > 2 ? atoi(words[2]) : 40;
    double end = check_end(count, words);
    talks = getenv("OMPRMA_TEST_TALK") != NULL;
    for (int i = 0; i < seeds && omp_get_wtime() < end; i++)
        CHECK_EQUAL(play((unsigned)(seed + i)), 0);
    return finish("members");
}

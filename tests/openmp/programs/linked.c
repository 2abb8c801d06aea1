/* test: tier=all args=1;4
 * Lists whose nodes are mapped one by one, and whose links regions store: a region that walks along
 * a list names its first node only. With OMPRMA_PLACEMENT=auto the nodes may be on several workers
 * by then. In random order, against a model on the host. Arguments: first seed, number of seeds. */
#include "check.h"

enum { NODES = 12, ROUNDS = 6 };

struct node {
    long value;
    struct node *next;
    long others[6];
};

struct list {
    struct node *nodes[NODES];
    long values[NODES]; /* the model's */
    int order[NODES];
};

// clang-format off

/* Each on its own, so that they are dealt out. */
static void list_enter(struct list *list)
{
    for (int i = 0; i < NODES; i++) {
        struct node *node = list->nodes[i] = calloc(1, sizeof(*node));
        node->value = list->values[i] = 1L << i;
        list->order[i] = i;
#pragma omp target enter data map(to : node[0:1])
    }
}

static void list_leave(struct list *list)
{
    for (int i = 0; i < NODES; i++) {
        struct node *node = list->nodes[i];
#pragma omp target exit data map(delete : node[0:1])
        free(node);
    }
}

static void list_mix(struct list *list, unsigned *seed)
{
    for (int i = NODES - 1; i > 0; i--) {
        int other = check_draw(seed, i + 1), swapped = list->order[i];
        list->order[i] = list->order[other];
        list->order[other] = swapped;
    }
}

static void link_now(struct node *node, struct node *next)
{
#pragma omp target map(tofrom : node[0:1]) map(tofrom : next[:0])
    node->next = next;
}

static void link_later(struct node *node, struct node *next)
{
#pragma omp target nowait map(tofrom : node[0:1]) map(tofrom : next[0:1]) depend(inout : node[0], next[0])
    node->next = next;
}

static void list_link(struct list *list, int later)
{
    for (int i = 0; i + 1 < NODES; i++)
        (later ? link_later : link_now)(list->nodes[list->order[i]], list->nodes[list->order[i + 1]]);
#pragma omp taskwait
    struct node *last = list->nodes[list->order[NODES - 1]];
#pragma omp target map(tofrom : last[0:1])
    last->next = NULL;
}

static void list_add(struct list *list)
{
    for (int i = 0; i < NODES; i++) {
        struct node *node = list->nodes[i];
        list->values[i] += 1000 * i;
#pragma omp target nowait map(tofrom : node[0:1]) depend(inout : node[0]) firstprivate(i)
        node->value += 1000 * i;
    }
#pragma omp taskwait
}

/* Both ends of a list count differently, and what the walk writes is seen by the next one. */
static void list_walk(struct list *list)
{
    struct node *first = list->nodes[list->order[0]];
    long sum = 0, right = 0;
    for (int i = 0; i < NODES; i++) {
        right = 3 * right + list->values[list->order[i]];
        list->values[list->order[i]]++;
    }
#pragma omp target map(from : sum) map(tofrom : first[:0])
    {
        sum = 0;
        for (struct node *node = first; node; node = node->next)
            sum = 3 * sum + node->value++;
    }
    CHECK_EQUAL(sum, right);
}

// clang-format on

static void run(unsigned seed)
{
    struct list list;
    list_enter(&list);
    for (int round = 0; round < ROUNDS; round++) {
        list_mix(&list, &seed);
        list_link(&list, (int)((seed + (unsigned)round) % 2));
        list_add(&list);
        list_walk(&list);
    }
    list_leave(&list);
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    int seeds = argc > 2 ? atoi(argv[2]) : 1;
    check_devices();
    for (int i = 0; i < seeds; i++)
        run(seed + (unsigned)i);
    return finish("linked");
}

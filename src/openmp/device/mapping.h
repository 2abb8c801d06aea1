/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mapping.h: the table of a device that says which host range corresponds to which device memory.
 * Ordered by host address, so that a look-up costs the logarithm of the number of ranges. Only
 * keeps the books: it moves nothing and allocates no device memory. Knows nothing of omprma but the
 * type of an address.
 *
 * A program maps the same variables with every region. So a range that goes may stay as a vacant
 * one, with its memory, until it comes again or its place is needed; nobody finds it meanwhile. The
 * table's owner gives the memory back, through a function.
 *
 * Thread: the owner of a table serialises all calls on it. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_DEVICE_MAPPING_H
#define OMPRMA_OPENMP_DEVICE_MAPPING_H

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <omprma/omprma.h>

#include "openmp/device/suballoc.h"

struct work;
struct pinned;
LIST_HEAD(pinned_list, pinned);

/* Counts of globals and of associated memory: nothing changes them. */
#define COUNT_INFINITE UINT64_MAX

/* A pointer in mapped memory whose device copy points to device memory: to where the range has what
 * the host's copy points to. When that was overwritten by what came back, it gets its value back.
 * Fortran's descriptors are longer than one pointer, so there are `bytes` of them. */
struct attached {
    RB_ENTRY(attached) link;
    uintptr_t pointer; /* on the host */
    size_t bytes;
    const struct mapped *to; /* NULL: nothing is there, and the device's copy is NULL */
    uint64_t to_number;      /* that range's; another one: it was taken out */
    bool due;                /* the device does not have it yet */
    unsigned char host_value[];
};
RB_HEAD(attached_tree, attached);

/* Which deal (place/deal.h) it was entered in, 0: in none, and the first region that used it, the
 * last that may have written it, 0: none. */
struct dealt {
    uint64_t deal, used_by, written_by;
};

/* How a range lies in the graph of regions (place/graph.h): how many regions there are in the
 * longest chain that ends with its writer, and in that which ends with any of its users; the site
 * where it was written first, 0: it was not; and which sites had to have its value. */
struct vertex {
    uint64_t written, read, seat, had;
};

struct mapped {
    uintptr_t begin, end;  /* host range */
    uint64_t number;       /* never the same again in its table; 0: it was taken out */
    RB_ENTRY(mapped) link; /* beside what a look-up compares */
    omprma_addr_t device;  /* corresponds to begin */
    uint64_t present;      /* sites that have its present value, see place/copies.h; 0: the first */
    uint64_t settled;      /* sites with its value as of all works that are over, see remains.h */
    uint64_t settled_by;   /* number of the last of these works that wrote it */
    uint64_t digest;       /* of the program's memory when that had a value of it, */
    uint64_t digest_of;    /* the one by this work: `settled_by` then */
    bool has_digest;       /* false: it never had */
    bool blank;            /* when it was made it was given nothing */
    int lost_with;         /* the site, + 1, while nothing was said of the loss; 0: it was */
    struct dealt dealt;    /* this and the next three: where there are several sites */
    uint64_t home;         /* the one on which a region wrote it last; while none has, those on
                            * which regions have read it */
    bool written;          /* by a region */
    struct vertex vertex;
    uint64_t used_by;       /* number of the last work that has noted a use of it, or of the last */
    size_t use;             /* plan that has it (place/lineage.h), and which one that is */
    struct suballoc memory; /* its own; none: the table's owner has not allocated it */
    uint64_t references, holds;
    uint64_t ways; /* counts references that only pass through pointers in this range (see way.c),
                    * but not those that came while it was mapped for itself */
    struct pinned_list pins; /* of works under way that use it */
    struct work *writer;     /* the last work that moved its data, if that is still writer_number */
    uint64_t writer_number;
    bool variable; /* of an image; each site has its own, see place/variables.h */
    bool vacant;   /* nobody's; only its place and its memory are there */
    bool writable; /* what came back was not constant, see leave.c */
    bool pointed;  /* a vacant one: its memory still has pointers that were attached in it */
    bool lost; /* the device had its values, and is lost, see loss.h; of several, all that did */
    TAILQ_ENTRY(mapped) link_vacant;
    uint64_t made_by;                   /* number of the work that made it */
    uint64_t entered_by[2], left_by[2]; /* of those that counted in `references` and `holds` last */
    uint64_t ended_by;                  /* of the one with which nobody had it mapped any more */
    uintptr_t base;                     /* of the variable that it is a part of */
    const char *name;                   /* ";name;file;line;column;;" or NULL; the program's */
    struct attached_tree pointers;
    struct mapped *next_spare;
};
RB_HEAD(mapped_tree, mapped);
TAILQ_HEAD(mapped_list, mapped);

/* A range that a work uses: it stays in the table until the work is over. */
struct pinned {
    struct pinned *next;     /* of the work */
    LIST_ENTRY(pinned) link; /* of the range */
    struct work *work;
    uint64_t number; /* of the work */
    int site;        /* its index */
    struct mapped *mapped;
    uintptr_t begin; /* where pointers get their host values back; `bytes` may be 0 */
    size_t bytes;
    bool sent;            /* the host gave some of its values */
    bool given;           /* or all */
    bool points;          /* pointers in it were attached */
    bool writes;          /* the work may write it there, see place/copies.h, */
    bool brings;          /* the work has another site's copy brought, */
    struct work *bringer; /* by this one, NULL: by itself, */
    int64_t until_ns;     /* and it is expected to be here then; by clock_ns() */
    bool gone;            /* the work is over, or its site is lost: nothing comes of it any more */
    bool guessed;   /* no clause of the work names it, but it may be found there through memory */
    bool retrieved; /* all or some of them were to come back, */
    bool whole;     /* and all did */
};

/* Two ranges that follow each other in the table; NULL: there is none on that side. */
struct gap {
    struct mapped *before, *after;
};

struct mapping {
    struct mapped_tree tree;
    struct gap near[2];        /* where look-ups ended, see mapping_at() */
    size_t count;              /* without vacant ones */
    omprma_addr_t low, high;   /* device memory of all that there ever were lies between */
    uint64_t made;             /* numbers given so far */
    struct mapped *spare;      /* for the next ranges */
    struct mapped_list vacant; /* the oldest first */
    size_t vacant_count;
    void (*give)(void *owner, const struct suballoc *part); /* back, the memory of a vacant one */
    void *owner;
};

/* An empty one. */
void mapping_init(struct mapping *mapping, void (*give)(void *owner, const struct suballoc *part),
                  void *owner);

/* How a range lies in the table. */
enum overlap {
    OVERLAP_NONE,
    OVERLAP_INSIDE, /* of `found` */
    OVERLAP_PARTLY  /* with `found`, beyond one or both of its ends */
};

/* *found: that range, or the first of those that it overlaps, or NULL. Vacant ones do not count. */
enum overlap mapping_find(struct mapping *mapping, uintptr_t begin, size_t bytes,
                          struct mapped **found);

/* The last range that begins at or before the address, vacant or not; NULL: none does. Lists name
 * one range after the other, and constructs look each of them up several times: that takes no walk
 * through the tree. */
struct mapped *mapping_at(struct mapping *mapping, uintptr_t address);

/* Exactly this range, vacant or not; NULL: there is none. `guess`: what it was the last time, by
 * now perhaps another range, or none; NULL: not known. */
static inline struct mapped *mapping_exact(struct mapping *mapping, uintptr_t begin, size_t bytes,
                                           struct mapped *guess)
{
    struct mapped *at = guess && guess->begin == begin ? guess : mapping_at(mapping, begin);
    return at && at->begin == begin && at->end - begin == bytes ? at : NULL;
}

/* A new range, which must overlap none; one reference, or one hold. NULL: no memory. */
struct mapped *mapping_add(struct mapping *mapping, uintptr_t begin, size_t bytes,
                           omprma_addr_t device, bool hold);

/* The same for a range that is there as a vacant one, with its memory: as if it were new. NULL: it
 * is not. */
struct mapped *mapping_add_again(struct mapping *mapping, uintptr_t begin, size_t bytes, bool hold);

/* The same for one that was found, and is vacant. */
static inline void mapping_revive(struct mapping *mapping, struct mapped *vacant, bool hold)
{
    TAILQ_REMOVE(&mapping->vacant, vacant, link_vacant);
    mapping->vacant_count--;
    mapping->count++;
    vacant->vacant = vacant->lost = vacant->has_digest = vacant->blank = false;
    vacant->lost_with = 0;
    vacant->settled = 0;
    vacant->base = vacant->begin;
    vacant->references = hold ? 0 : 1;
    vacant->holds = hold ? 1 : 0;
    vacant->ways = 0;
    vacant->name = NULL;
    vacant->writer = NULL;
}

/* Takes it out with its pointers; it is gone for everybody. */
void mapping_remove(struct mapping *mapping, struct mapped *mapped);

/* The same for one that may come again. Its memory is the table's, which may give it back at once.
 */
void mapping_vacate(struct mapping *mapping, struct mapped *mapped);

/* Gives the memory of all vacant ranges back. False: there are none. */
bool mapping_forget(struct mapping *mapping);

/* Takes out ranges that are there only for pointers in them, and that no work uses now, where a
 * larger one is to be that contains them; that is to have their pointers, which are due. False:
 * others lie there, or they reach beyond it, and nothing is done. */
bool mapping_take_ways(struct mapping *mapping, uintptr_t begin, size_t bytes,
                       struct attached_tree *pointers);

void pointers_free(struct attached_tree *pointers);

/* The same for one that counts cannot take out; when works use it, the last of them does. */
void mapping_drop(struct mapping *mapping, struct mapped *mapped);

/* The first range, and the one after another; NULL at the end. */
struct mapped *mapping_first(const struct mapping *mapping);
struct mapped *mapping_next(struct mapped *mapped);

/* ---- counts --------------------------------------------------------------------------------- */

/* A construct counts each range once there and once back, however many of its items name it: they
 * are told by the number of its work. */
void mapped_enter(struct mapped *mapped, bool hold, uint64_t work);

/* A clause has it mapped. */
static inline bool mapped_is_named(const struct mapped *mapped)
{
    return mapped->references > 0 || mapped->holds > 0;
}

/* Of one that was made this moment: it was not for a clause, but for a pointer in it. */
static inline void mapped_make_way(struct mapped *mapped)
{
    mapped->references = mapped->holds = 0;
    mapped->ways = 1;
}

/* One that was there; and `times` exits. */
static inline void mapped_enter_way(struct mapped *mapped)
{
    mapped->ways += !mapped_is_named(mapped);
}

static inline void mapped_leave_way(struct mapped *mapped, uint64_t times)
{
    mapped->ways -= times < mapped->ways ? times : mapped->ways;
}

/* A clause, or a way. */
static inline bool mapped_is_wanted(const struct mapped *mapped)
{
    return mapped_is_named(mapped) || mapped->ways > 0;
}

/* An exit; `all`: the references become none, unless they are infinite, and so do ways. */
void mapped_leave(struct mapped *mapped, bool hold, bool all, uint64_t work);

/* Nobody has it mapped or needs it any more. */
static inline bool mapped_is_over(const struct mapped *mapped)
{
    return !mapped_is_wanted(mapped) && LIST_EMPTY(&mapped->pins);
}

/* A construct under way has made it itself: it comes from the host, or is made once more. */
static inline bool mapped_is_being_made(const struct mapped *mapped)
{
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->number == mapped->made_by)
        return true;
    return false;
}

/* The same as mapped_is_over(), but for works that do not name it. */
bool mapped_is_left_over(const struct mapped *mapped);

/* Of the variable that a range at `begin` is a part of: a base that is no address before it is not
 * that variable's. */
static inline uintptr_t mapping_base(uintptr_t base, uintptr_t begin)
{
    return base && base < begin ? base : begin;
}

static inline omprma_addr_t mapped_address(const struct mapped *mapped, uintptr_t host)
{
    return mapped->device + (host - mapped->begin);
}

/* ---- pointers ------------------------------------------------------------------------------- */

/* From now on the device's copy of [pointer, pointer + bytes) points into this range, or to nothing
 * (NULL). It is due, unless it did before and the host's value is the same too. False: no memory.
 */
bool mapped_attach(struct mapped *mapped, uintptr_t pointer, size_t bytes,
                   const struct mapped *pointee);

/* What the device's copy has to be. False: what it pointed to was taken out. */
bool attached_value(const struct attached *pointer, unsigned char *value);

static inline bool mapped_has_pointers(const struct mapped *mapped)
{
    return !RB_EMPTY(&mapped->pointers);
}

/* Small ones with whole words are looked into for addresses that regions leave there, see
 * place/stored.h. */
static inline bool mapped_is_searched(const struct mapped *mapped)
{
    enum { LEAST_BYTES = 8, MOST_BYTES = 4096 };
    size_t bytes = mapped->end - mapped->begin;
    return !mapped->variable && bytes >= LEAST_BYTES && bytes <= MOST_BYTES;
}

/* Calls for every attached pointer that lies in the range. */
void mapped_each_pointer(struct mapped *mapped, uintptr_t begin, size_t bytes,
                         void (*call)(struct attached *pointer, void *context), void *context);

/* The one whose device memory has this byte; NULL: none. Looks at all of them, but for an address
 * that is far from each. */
struct mapped *mapping_of_device(const struct mapping *mapping, omprma_addr_t address);

/* ---- words ---------------------------------------------------------------------------------- */

/* "\"x[0:5]\" (20 bytes at 0x7ff0, mapped at app.c:12)", in `text`. */
enum { RANGE_WORDS = 512 };
const char *range_words(const struct mapped *mapped, char text[RANGE_WORDS]);

/* The range whose device memory begins nearest below a device address, and not far from it. NULL:
 * there is none. */
const struct mapped *mapping_below(struct mapping *mapping, omprma_addr_t address);

#endif

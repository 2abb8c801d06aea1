/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wavefront.c: local alignment of two sequences after Smith and Waterman. The score table is cut
 * into blocks; a block needs the last row of the block above and the last column of the block to
 * its left, so blocks on one anti-diagonal are independent. Each is a `target nowait`, the depend
 * clauses name the two borders, and the front runs over all devices by itself. Columns of blocks
 * stay on one device: of each block only the border to the right travels. The host computes the
 * whole table once more for comparison.
 *
 * Build: clang -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu wavefront.c -o wavefront
 * Run:   omprma-run -n 4 ./wavefront [LENGTH_A LENGTH_B [BLOCK]]
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { MATCH = 2, MISMATCH = -1, GAP = -2 };

typedef struct best {
    int score, end_a, end_b; /* where the best local alignment ends, counted from 1 */
    long total;              /* all scores of the table added up: shows a single wrong one */
} best_t;

#pragma omp declare target
/*
 * Scores a block of `rows` by `columns`. `row` holds the scores above the block and receives those
 * of its last row, `column` the scores left of it and receives those of its last column. `corner`
 * is the score diagonally above its first cell. Returns the best cell, counted from 1.
 */
static best_t block_score(const char *a, const char *b, int rows, int columns, int *row,
                          int *column, int corner)
{
    best_t best = {0, 0, 0, 0};
    for (int i = 0; i < rows; i++) {
        int diagonal = corner, left = column[i];
        corner = column[i];
        for (int j = 0; j < columns; j++) {
            int above = row[j];
            int score = diagonal + (a[i] == b[j] ? MATCH : MISMATCH);
            int gap = (above > left ? above : left) + GAP;
            score = score > gap ? score : gap;
            score = score > 0 ? score : 0;
            if (score > best.score)
                best = (best_t){score, i + 1, j + 1, best.total};
            best.total += score;
            diagonal = above;
            left = row[j] = score;
        }
        column[i] = left;
    }
    return best;
}
#pragma omp end declare target

/* Whether x is the better result; among equals the one that ends first, so that the answer does
 * not depend on the order of the blocks. */
static int better(best_t x, best_t y)
{
    if (x.score != y.score)
        return x.score > y.score;
    return x.end_a != y.end_a ? x.end_a < y.end_a : x.end_b < y.end_b;
}

static best_t align_on_host(const char *a, int length_a, const char *b, int length_b)
{
    int *row = calloc((size_t)length_b, sizeof *row);
    best_t best = {0, 0, 0, 0};
    for (int i = 0; row && i < length_a; i++) {
        int left = 0;
        best_t last = block_score(a + i, b, 1, length_b, row, &left, 0);
        last.end_a = i + 1;
        last.total += best.total;
        if (better(last, best))
            best = last;
        best.total = last.total;
    }
    free(row);
    return best;
}

static best_t align_on_devices(const char *a, int length_a, const char *b, int length_b, int block)
{
    int devices = omp_get_num_devices();
    int down = (length_a + block - 1) / block, across = (length_b + block - 1) / block;
    int *row = calloc((size_t)length_b, sizeof *row);
    int *column = calloc((size_t)length_a, sizeof *column);
    int *corner = calloc((size_t)(down + 1) * (size_t)(across + 1), sizeof *corner);
    best_t *bests = calloc((size_t)down * (size_t)across, sizeof *bests);
    best_t best = {-1, 0, 0, 0};
    if (!row || !column || !corner || !bests)
        goto release;

    for (int y = 0; y < across; y++) {
        int *above = row + y * block;
        const char *text = b + y * block;
        int columns = y < across - 1 ? block : length_b - y * block;
        /* clang-format off */
#pragma omp target enter data device(y % devices) map(to : above[:columns], text[:columns]) \
    nowait depend(out : *above)
        /* clang-format on */
    }
    for (int x = 0; x < down; x++)
        for (int y = 0; y < across; y++) {
            int *above = row + y * block, *left = column + x * block;
            const char *pattern = a + x * block, *text = b + y * block;
            int rows = x < down - 1 ? block : length_a - x * block;
            int columns = y < across - 1 ? block : length_b - y * block;
            int *diagonal = corner + x * (across + 1) + y; /* written by the block before last */
            int *next = diagonal + across + 2;
            best_t *found = bests + x * across + y;
            /* clang-format off */
#pragma omp target device(y % devices) nowait depend(inout : *above, *left) \
    map(to : pattern[:rows], text[:columns], diagonal[:1]) \
    map(tofrom : above[:columns], left[:rows]) map(from : found[:1], next[:1])
            /* clang-format on */
            {
                found[0] = block_score(pattern, text, rows, columns, above, left, diagonal[0]);
                next[0] = above[columns - 1];
            }
        }
#pragma omp taskwait
    for (int y = 0; y < across; y++) {
        int *above = row + y * block;
        const char *text = b + y * block;
        int columns = y < across - 1 ? block : length_b - y * block;
#pragma omp target exit data device(y % devices) map(delete : above[:columns], text[:columns])
    }

    best.score = 0;
    for (int x = 0; x < down; x++)
        for (int y = 0; y < across; y++) {
            best_t here = bests[x * across + y];
            here.end_a += x * block;
            here.end_b += y * block;
            here.total += best.total;
            if (here.score > 0 && better(here, best))
                best = here;
            best.total = here.total;
        }

release:
    free(row);
    free(column);
    free(corner);
    free(bests);
    return best;
}

/* b is a with letters changed, dropped and doubled here and there: a relative, not a stranger. */
static void make_sequences(char *a, int length_a, char *b, int length_b)
{
    unsigned seed = 12345;
    for (int i = 0; i < length_a; i++) {
        seed = seed * 1664525u + 1013904223u;
        a[i] = "ACGT"[seed >> 30];
    }
    for (int i = 0, from = 0; i < length_b; i++) {
        seed = seed * 1664525u + 1013904223u;
        unsigned dice = seed >> 24;
        b[i] = dice < 24 ? "ACGT"[dice & 3] : a[from % length_a];
        from += dice < 32 ? 2 : dice < 40 ? 0 : 1;
    }
}

int main(int argc, char **argv)
{
    int length_a = argc > 2 ? atoi(argv[1]) : 8192, length_b = argc > 2 ? atoi(argv[2]) : 8192;
    int block = argc > 3 ? atoi(argv[3]) : 512;
    if (length_a < 1 || length_b < 1 || block < 1 || omp_get_num_devices() < 1) {
        fprintf(stderr, omp_get_num_devices() ? "usage: wavefront [LENGTH_A LENGTH_B [BLOCK]]\n"
                                              : "wavefront: there is no device\n");
        return 1;
    }
    char *a = malloc((size_t)length_a), *b = malloc((size_t)length_b);
    if (!a || !b) {
        fprintf(stderr, "wavefront: no memory for %d + %d letters\n", length_a, length_b);
        exit(1);
    }
    make_sequences(a, length_a, b, length_b);

    double start = omp_get_wtime();
    best_t found = align_on_devices(a, length_a, b, length_b, block);
    double seconds = omp_get_wtime() - start;
    best_t expected = align_on_host(a, length_a, b, length_b);
    int failed = found.score != expected.score || found.end_a != expected.end_a ||
                 found.end_b != expected.end_b || found.total != expected.total;
    printf("wavefront: %d x %d in blocks of %d on %d devices in %.3f s, %.3g cells/s\n", length_a,
           length_b, block, omp_get_num_devices(), seconds,
           (double)length_a * (double)length_b / seconds);
    printf("wavefront: best score %d, ends at (%d, %d), all scores add up to %ld\n", found.score,
           found.end_a, found.end_b, found.total);
    printf("wavefront: on the host %d at (%d, %d), %ld: %s\n", expected.score, expected.end_a,
           expected.end_b, expected.total, failed ? "FAILED" : "ok");
    free(a);
    free(b);
    return failed;
}

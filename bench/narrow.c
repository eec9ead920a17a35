/* narrow.c - what the narrow phase costs per pair, for every couple of convex shapes, beside libccd
 * and Bullet on the same pairs where they are installed. Prints a table and writes narrow.csv.
 *
 *     cairn_bench_narrow FOLDER [PAIRS]     PAIRS of each couple, default 2000 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "math/vec.h"
#include "narrow.h"
#include "tests/problems/random_shapes.h"

enum { POOL = 32 };

/* Signed distances of all pairs: seconds, and how far they are from ours, relative to the size of
 * each pair. Negative: Bullet is not installed. */
typedef struct bullet_answers {
    double seconds, median_error, worst_error;
} bullet_answers;

static void fail(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

/* Random pairs of a couple; about one in five overlaps. */
static void draw_pairs(const cairn_shape *pool, int dimension, cairn_bench_pairs *p)
{
    uint64_t state = 99;
    p->overlapping = 0;
    for (int k = 0; k < p->count; k++) {
        for (int i = 0; i < 2; i++) {
            const cairn_shape *shape = &pool[i * POOL + (int)(cairn_random_next(&state) % POOL)];
            p->at[k][i] = draw_collider(shape, dimension, 2.8, &state);
            p->at[k][i].reach = 0.05;
            cairn_convex_make(&p->at[k][i], &p->convex[k][i]);
        }
        cairn_couple c = cairn_couple_make(&p->convex[k][0], &p->convex[k][1], dimension);
        cairn_distance d;
        if (!cairn_distance_find(&c, 1e9, &d))
            fail("a distance was not found");
        p->overlapping += d.gap < p->convex[k][0].rounding + p->convex[k][1].rounding;
    }
}

/* Gap and witness points as a step needs them: only within reach. */
static double witnesses_seconds(const cairn_bench_pairs *p, int dimension)
{
    cairn_witness found[CAIRN_WITNESSES];
    double start = cairn_bench_seconds();
    for (int k = 0; k < p->count; k++) {
        bool swapped;
        if (cairn_witnesses_find(&p->at[k][0], &p->at[k][1], dimension, &swapped, found) < 0)
            fail("a pair was not resolved");
    }
    return cairn_bench_seconds() - start;
}

/* The signed distance of all pairs, however far. */
static double distance_seconds(const cairn_bench_pairs *p, int dimension)
{
    double start = cairn_bench_seconds(), sum = 0;
    for (int k = 0; k < p->count; k++) {
        cairn_couple c = cairn_couple_make(&p->convex[k][0], &p->convex[k][1], dimension);
        cairn_distance d;
        cairn_distance_find(&c, 1e9, &d);
        sum += d.gap;
    }
    if (!(sum == sum))
        fail("a gap is not a number");
    return cairn_bench_seconds() - start;
}

/* ---- Bullet ---------------------------------------------------------------------------------- */

static void support(const void *shape, const double direction[3], double point[3])
{
    cairn_vec3 d = { direction[0], direction[1], direction[2] };
    cairn_vec3 p = cairn_convex_support(shape, d);
    point[0] = p.x;
    point[1] = p.y;
    point[2] = p.z;
}

static cairn_bullet_shape shape_of(const cairn_convex *c)
{
    return (cairn_bullet_shape){ c, { c->x.x, c->x.y, c->x.z }, c->rounding };
}

/* |its distance - ours| over the size of the pair. */
static double error_of(const cairn_convex *a, const cairn_convex *b, double gap)
{
    cairn_couple c = cairn_couple_make(a, b, 3);
    cairn_distance d;
    cairn_distance_find(&c, 1e9, &d);
    return fabs(gap - (d.gap - a->rounding - b->rounding)) / c.size;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Bullet on the same pairs, in 3D, and how far its distances are from ours. */
static bullet_answers measure_bullet(const cairn_bench_pairs *pairs)
{
    double *number = cairn_bullet_distance ? calloc((size_t)pairs->count, sizeof *number) : NULL;
    if (!number)
        return (bullet_answers){ -1, -1, -1 };
    double start = cairn_bench_seconds();
    for (int k = 0; k < pairs->count; k++) {
        cairn_bullet_shape a = shape_of(&pairs->convex[k][0]), b = shape_of(&pairs->convex[k][1]);
        number[k] = cairn_bullet_distance(&a, &b, support);
    }
    bullet_answers out = { cairn_bench_seconds() - start, 0, 0 };
    for (int k = 0; k < pairs->count; k++)
        number[k] = error_of(&pairs->convex[k][0], &pairs->convex[k][1], number[k]);
    qsort(number, (size_t)pairs->count, sizeof *number, by_size);
    out.median_error = number[pairs->count / 2];
    out.worst_error = number[pairs->count - 1];
    free(number);
    return out;
}

/* ---- the table ------------------------------------------------------------------------------- */

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* The best of three runs each, so that other programs disturb less. */
static void measure(const char *names[2], int dimension, const cairn_bench_pairs *p, FILE *csv)
{
    double best[5] = { 1e9, 1e9, 1e9, 1e9, 1e9 };
    bullet_answers bullet = { -1, -1, -1 };
    for (int run = 0; run < 3; run++) {
        best[0] = smaller(best[0], witnesses_seconds(p, dimension));
        best[1] = smaller(best[1], distance_seconds(p, dimension));
        cairn_bench_times peer = { -1, -1 };
        if (cairn_bench_ccd)
            peer = cairn_bench_ccd(p);
        best[2] = smaller(best[2], dimension == 3 ? peer.gjk : -1);
        best[3] = smaller(best[3], dimension == 3 ? peer.mpr : -1);
        if (dimension == 3)
            bullet = measure_bullet(p);
        best[4] = smaller(best[4], bullet.seconds);
    }
    double ns = 1e9 / p->count, share = 100.0 * p->overlapping / p->count;
    printf("%dD %-14s %-14s %7.0f%% %10.0f %10.0f", dimension, names[0], names[1], share,
           ns * best[0], ns * best[1]);
    if (best[2] >= 0)
        printf(" %10.0f %10.0f %8.2f", ns * best[2], ns * best[3], best[1] / best[2]);
    if (best[4] >= 0)
        printf(" %10.0f %8.2f %9.1e %9.1e", ns * best[4], best[1] / best[4], bullet.median_error,
               bullet.worst_error);
    printf("\n");
    fprintf(csv, "%d,%s,%s,%d,%d,%.1f,%.1f,%.1f,%.1f,%.1f,%.3e,%.3e\n", dimension, names[0],
            names[1], p->count, p->overlapping, ns * best[0], ns * best[1],
            best[2] < 0 ? -1 : ns * best[2], best[3] < 0 ? -1 : ns * best[3],
            best[4] < 0 ? -1 : ns * best[4], bullet.median_error, bullet.worst_error);
}

static void run_couple(cairn_shape_kind first, cairn_shape_kind second, int dimension,
                       cairn_bench_pairs *p, FILE *csv)
{
    uint64_t state = 5;
    cairn_shape pool[2 * POOL];
    const char *names[2] = { cairn_shape_record((int)first)->name,
                             cairn_shape_record((int)second)->name };
    for (int k = 0; k < 2 * POOL; k++)
        pool[k] = draw_shape(k < POOL ? first : second, dimension, &state);
    draw_pairs(pool, dimension, p);
    measure(names, dimension, p, csv);
    for (int k = 0; k < 2 * POOL; k++)
        cairn_geometry_release(pool[k].geometry);
}

static void run_dimension(int dimension, cairn_bench_pairs *p, FILE *csv)
{
    const cairn_shape_kind *kinds = dimension == 2 ? convex_kinds_2d : convex_kinds_3d;
    int count = dimension == 2 ? KINDS_2D : KINDS_3D;
    for (int i = 0; i < count; i++)
        for (int j = i; j < count; j++)
            run_couple(kinds[i], kinds[j], dimension, p, csv);
}

int main(int argc, char **argv)
{
    cairn_bench_pairs p = { .count = argc > 2 ? atoi(argv[2]) : 2000 };
    char path[512];
    if (argc < 2 || p.count < 1) {
        fprintf(stderr, "usage: cairn_bench_narrow FOLDER [PAIRS]\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/narrow.csv", argv[1]);
    FILE *csv = fopen(path, "w");
    p.at = calloc((size_t)p.count, sizeof *p.at);
    p.convex = calloc((size_t)p.count, sizeof *p.convex);
    if (!csv || !p.at || !p.convex)
        fail("no memory or no file");
    fprintf(csv, "dimension,first,second,pairs,overlapping,witnesses_ns,distance_ns,ccd_gjk_ns,"
                 "ccd_mpr_ns,bullet_ns,bullet_median_error,bullet_worst_error\n");
    printf("narrow phase, ns a pair: witnesses within reach; distance of any pair; libccd: overlap "
           "and depth by GJK and EPA, by MPR, distance over libccd's GJK; Bullet: distance by GJK "
           "and EPA, ours over it, median and worst of its error over the size\n");
    run_dimension(3, &p, csv);
    run_dimension(2, &p, csv);
    fclose(csv);
    free(p.at);
    free(p.convex);
    return 0;
}

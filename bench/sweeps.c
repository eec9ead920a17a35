/* sweeps.c - the cost of one sweep of accelerated Gauss-Seidel over contacts of balls on a lattice,
 * and of solids with oblique arms and unequal moments, scalar and in batches, against the bytes it
 * must move and the stream rate measured beside it.
 *
 * Bytes of a sweep, every number read or written once, f bytes a number:
 *     contact  two indices, n, shift, mu; r and r_previous read and written:   8 + 17 f
 *     body     v and v_previous for the extrapolation, v for the sweep:        48 f
 *     without friction: 8 + 8 f and 24 f; solids, with their rows and W: 8 + 49 f and 52 f.
 * Beside it the judge, on stored rows and on contacts of balls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host/batch.h"
#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "bench.h"
#include "problem/judge.h"
#include "tests/problems/random_problem.h"

typedef struct kind {
    const char *name;
    const cairn_sweeps *sweeps;
    bool smooth, solid;
    int number; /* bytes of a number; 0: not counted */
} kind;

static const kind kinds[] = {
    { "scalar", &cairn_sweeps_scalar, false, false, 0 },
    { "double", &cairn_sweeps_f64, false, false, 8 },
    { "float", &cairn_sweeps_f32, false, false, 4 },
    { "double no friction", &cairn_sweeps_f64, true, false, 8 },
    { "float no friction", &cairn_sweeps_f32, true, false, 4 },
    { "scalar solids", &cairn_sweeps_scalar, false, true, 0 },
    { "double solids", &cairn_sweeps_general_f64, false, true, 8 },
    { "float solids", &cairn_sweeps_general_f32, false, true, 4 },
};

enum { KINDS = sizeof kinds / sizeof kinds[0], REPEATS = 25 };

static double bytes_of(const kind *k, const cairn_problem *p)
{
    double f = k->number, contact = 8 + (k->solid ? 49 : k->smooth ? 8 : 17) * f;
    double body = (k->solid ? 52 : k->smooth ? 24 : 48) * f;
    return k->number ? contact * p->contacts + body * p->blocks : 0;
}

/* Unequal moments, and arms that are not along the normal: W_jj becomes full. */
static void make_solids(lattice_problem *l)
{
    for (int i = 0; i < l->p.blocks; i++) {
        l->mass_inverse[6 * i + 4] *= 1.7;
        l->mass_inverse[6 * i + 5] *= 0.6;
    }
    for (int row = 0; row < 6 * l->p.contacts; row++) {
        int j = row / 6, block = l->block[row / 3];
        double *H = l->H + 6 * (size_t)row;
        if (block < 0)
            continue;
        cairn_vec3 aside = cairn_scale(0.2, l->tangent[j]), e = { H[0], H[1], H[2] };
        cairn_vec3 turn = cairn_rotate_back(l->q[block], cairn_cross(aside, e));
        H[3] += turn.x;
        H[4] += turn.y;
        H[5] += turn.z;
    }
}

/* Seconds of one sweep: the best of some rounds of some sweeps. */
static double sweep_seconds(const kind *k, const cairn_problem *p, int threads)
{
    cairn_arena arena = { 0 };
    cairn_system system;
    void *state;
    double *r = calloc(3 * (size_t)p->contacts, sizeof(double)), best = INFINITY;
    cairn_parallel_threads(threads);
    if (!r || cairn_system_create(p, &arena, &system) != CAIRN_OK ||
        k->sweeps->begin(&system, &arena, r, p->v_free, &state) != CAIRN_OK || !state)
        bench_fail(k->name, CAIRN_NO_MEMORY);
    int sweeps = 1 + 40000 / p->contacts; /* short, so that the least disturbed one counts */
    for (int round = 0; round < REPEATS; round++) {
        double start = cairn_clock_seconds();
        for (int i = 0; i < sweeps; i++)
            k->sweeps->sweep(state, CAIRN_LAW_CONVEX, (cairn_momentum){ 0.5, 0.2 });
        best = fmin(best, (cairn_clock_seconds() - start) / sweeps);
    }
    cairn_parallel_threads(1);
    cairn_arena_destroy(&arena);
    free(r);
    return best;
}

/* Bytes a second of a = a c + b over as much memory as a sweep walks through, in pages as large as
 * those of a sweep. */
static double stream_rate(double bytes)
{
    size_t count = (size_t)(bytes / 2 / sizeof(float)) + 64, passes = 1 + (size_t)(4e6 / bytes);
    float *a = cairn_memory_resize(NULL, count, sizeof *a);
    double best = INFINITY;
    if (!a)
        bench_fail("memory", CAIRN_NO_MEMORY);
    for (size_t i = 0; i < count; i++)
        a[i] = 1;
    for (int round = 0; round < REPEATS; round++) {
        double start = cairn_clock_seconds();
        for (size_t k = 0; k < passes; k++)
            for (size_t i = 0; i < count; i++)
                a[i] = a[i] * 0.999f + 0.001f;
        best = fmin(best, (cairn_clock_seconds() - start) / (double)passes);
    }
    double rate = a[count / 2] > 0 ? 2 * (double)(count * sizeof *a) / best : 0;
    cairn_memory_free(a);
    return rate;
}

/* Seconds of one judgement of a problem that was judged before: impulses after some sweeps. */
static double judge_seconds(const cairn_problem *p)
{
    cairn_arena arena = { 0 };
    cairn_system system;
    cairn_norms norms = { 0 };
    cairn_judgement judgement;
    void *state;
    double *r = calloc(3 * (size_t)p->contacts, sizeof(double)), best = INFINITY;
    double *u = calloc(3 * (size_t)p->contacts, sizeof(double));
    double *v = calloc(6 * (size_t)p->blocks, sizeof(double));
    if (!r || !u || !v || cairn_system_create(p, &arena, &system) != CAIRN_OK ||
        cairn_sweeps_f32.begin(&system, &arena, r, p->v_free, &state) != CAIRN_OK || !state)
        bench_fail("judge", CAIRN_NO_MEMORY);
    for (int i = 0; i < 20; i++)
        cairn_sweeps_f32.sweep(state, CAIRN_LAW_CONVEX, (cairn_momentum){ 0.5, 0.2 });
    cairn_sweeps_f32.unload(state, r);
    for (int round = 0; round < REPEATS; round++) {
        double start = cairn_clock_seconds();
        cairn_judge_again(p, CAIRN_LAW_CONVEX, r, v, u, &norms, &judgement);
        best = fmin(best, cairn_clock_seconds() - start);
    }
    free(r);
    free(u);
    free(v);
    cairn_arena_destroy(&arena);
    return best;
}

/* The judge on both forms of the rows, in sweeps in float. */
static void measure_judge(lattice_problem *l, double scalar, FILE *csv)
{
    static const kind sweep = { "float", &cairn_sweeps_f32, .number = 4 };
    const cairn_problem balls = lattice_of_balls(l), *const forms[2] = { &l->p, &balls };
    static const char *const names[2] = { "judge of rows", "judge of balls" };
    double one = sweep_seconds(&sweep, &l->p, 1);
    for (int k = 0; k < 2; k++) {
        double seconds = judge_seconds(forms[k]);
        printf("%9d %-20s %8.2f %8.1f   as long as %.1f sweeps in float\n", l->p.contacts, names[k],
               1e9 * seconds / l->p.contacts, scalar / seconds, seconds / one);
        fprintf(csv, "%d,%d,%s,%.6g,,,,\n", l->p.contacts, l->p.blocks, names[k],
                1e9 * seconds / l->p.contacts);
    }
    fflush(stdout);
}

static void measure(const cairn_problem *p, const kind *k, double *scalar, FILE *csv)
{
    double seconds = sweep_seconds(k, p, 1), bytes = bytes_of(k, p);
    double two = k->number ? sweep_seconds(k, p, 2) : NAN;
    double stream = k->number ? stream_rate(bytes) : NAN;
    if (!k->number)
        *scalar = seconds;
    printf("%9d %-20s %8.2f %8.1f %8.0f %8.1f %7.0f %% %8.2f\n", p->contacts, k->name,
           1e9 * seconds / p->contacts, *scalar / seconds, bytes / p->contacts, stream / 1e9,
           100 * bytes / seconds / stream, seconds / two);
    fprintf(csv, "%d,%d,%s,%.6g,%.6g,%.6g,%.6g,%.6g\n", p->contacts, p->blocks, k->name,
            1e9 * seconds / p->contacts, bytes, bytes / seconds / 1e9, stream / 1e9, seconds / two);
    fflush(stdout);
}

void bench_sweeps(const char *folder, int most)
{
    FILE *csv = bench_table(folder, "sweeps.csv",
                            "contacts,bodies,kind,ns_per_contact,bytes,gb_per_s,stream_gb_per_s,"
                            "two_threads");
    printf("sweeps, one thread; last column: two threads against one\n%9s %-20s %8s %8s %8s %8s "
           "%9s %8s\n",
           "contacts", "", "ns each", "x scalar", "B each", "stream", "share", "threads");
    for (int n = 7; 3 * n * n * n <= most + most / 5; n = (int)(2.154 * n + 0.5)) {
        cairn_arena arena = { 0 };
        lattice_problem l;
        double scalar = 0;
        if (!make_lattice_problem(n, 0.3, &arena, &l))
            bench_fail("memory", CAIRN_NO_MEMORY);
        for (int k = 0; k < KINDS; k++) {
            for (int j = 0; j < l.p.contacts; j++)
                l.mu[j] = kinds[k].smooth ? 0 : 0.3;
            if (kinds[k].solid && !kinds[k - 1].solid) { /* the last one with balls */
                measure_judge(&l, scalar, csv);
                make_solids(&l);
            }
            measure(&l.p, &kinds[k], &scalar, csv);
        }
        cairn_arena_destroy(&arena);
    }
    printf("\n");
    fclose(csv);
}

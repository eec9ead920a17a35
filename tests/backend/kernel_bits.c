/* kernel_bits.c - a program that prints a hash of what each kind of sweep and the judge make of
 * lattices of balls and of solids, all bits of it. test_arm.sh compares two processor families by
 * it; it needs no library but C's. */
#include <stdio.h>
#include <stdlib.h>

#include "backend/host/host.h"
#include "problem/judge.h"
#include "tests/problems/random_problem.h"

typedef struct trial {
    const char *name;
    const cairn_sweeps *sweeps;
    double mu;
    cairn_law law;
    bool solids;
} trial;

static const trial trials[] = {
    { "scalar, convex", &cairn_sweeps_scalar, 0.3, CAIRN_LAW_CONVEX, false },
    { "scalar, exact", &cairn_sweeps_scalar, 0.3, CAIRN_LAW_COULOMB, false },
    { "float, convex", &cairn_sweeps_f32, 0.3, CAIRN_LAW_CONVEX, false },
    { "float, exact", &cairn_sweeps_f32, 0.3, CAIRN_LAW_COULOMB, false },
    { "float, no friction", &cairn_sweeps_f32, 0, CAIRN_LAW_CONVEX, false },
    { "double, convex", &cairn_sweeps_f64, 0.3, CAIRN_LAW_CONVEX, false },
    { "double, exact", &cairn_sweeps_f64, 0.3, CAIRN_LAW_COULOMB, false },
    { "double, no friction", &cairn_sweeps_f64, 0, CAIRN_LAW_CONVEX, false },
    { "solids, scalar, exact", &cairn_sweeps_scalar, 0.3, CAIRN_LAW_COULOMB, true },
    { "solids, float, convex", &cairn_sweeps_general_f32, 0.3, CAIRN_LAW_CONVEX, true },
    { "solids, float, exact", &cairn_sweeps_general_f32, 0.3, CAIRN_LAW_COULOMB, true },
    { "solids, double, convex", &cairn_sweeps_general_f64, 0.3, CAIRN_LAW_CONVEX, true },
    { "solids, double, exact", &cairn_sweeps_general_f64, 0.3, CAIRN_LAW_COULOMB, true },
};

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "kernel_bits: %s\n", what);
    exit(EXIT_FAILURE);
}

/* FNV-1a */
static uint64_t hash_of(uint64_t hash, size_t count, const double *x)
{
    const unsigned char *bytes = (const unsigned char *)x;
    for (size_t i = 0; i < count * sizeof *x; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

/* The impulses after some sweeps from nothing, what the judge says of them, and the last note. */
static uint64_t hash_sweeps(const trial *t, const cairn_problem *p, cairn_arena *arena)
{
    cairn_system system;
    cairn_judgement judgement;
    cairn_sweep noted = { 0, 0 };
    void *state = NULL;
    cairn_status status = cairn_system_create(p, arena, &system);
    require(status == CAIRN_OK, "no system");
    double *r = cairn_arena_doubles(arena, system.r_count);
    double *u = cairn_arena_doubles(arena, system.r_count);
    double *v = cairn_arena_doubles(arena, system.v_count);
    require(r && u && v, "no memory");
    status = t->sweeps->begin(&system, arena, r, p->v_free, &state);
    require(status == CAIRN_OK && state, "no sweeps");
    for (int k = 0; k < 12; k++) {
        noted = t->sweeps->sweep(state, t->law, (cairn_momentum){ k % 6 ? 0.7 : 0, 0.25 });
        if (k == 8)
            t->sweeps->refresh(state);
    }
    t->sweeps->unload(state, r);
    cairn_judge(p, t->law, r, v, u, &judgement);
    const double told[3] = { noted.change2, noted.uphill, judgement.asked.relative };
    uint64_t hash = hash_of(UINT64_C(14695981039346656037), system.r_count, r);
    return hash_of(hash_of(hash_of(hash, system.r_count, u), system.v_count, v), 3, told);
}

int main(void)
{
    static const int sizes[] = { 6, 15 }; /* some hundred contacts, and enough to be cut up */
    for (size_t k = 0; k < 2 * sizeof trials / sizeof trials[0]; k++) {
        const trial *t = &trials[k / 2];
        cairn_arena arena = { 0 };
        lattice_problem l;
        require(make_lattice_problem(sizes[k % 2], t->mu, &arena, &l), "no memory");
        for (int i = 0; i < l.p.blocks && t->solids; i++)
            l.mass_inverse[6 * i + 4] *= 1.7;
        cairn_problem balls = lattice_of_balls(&l);
        printf("%s, %d contacts: %016llx\n", t->name, l.p.contacts,
               (unsigned long long)hash_sweeps(t, t->solids ? &l.p : &balls, &arena));
        cairn_arena_destroy(&arena);
    }
    return EXIT_SUCCESS;
}

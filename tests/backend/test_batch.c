/* test_batch.c - contacts of balls in batches, rows beside them, and systems of normal impulses. */
#include <math.h>
#include <string.h>

#include "backend/host/batch.h"
#include "backend/host/host.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "problem/cut.h"
#include "problem/judge.h"
#include "problem/operator.h"
#include "tests/check.h"
#include "tests/problems/random_problem.h"
#include "tests/problems/worlds.h"

/* ==== test_batch: contacts of balls in batches: the same problem, solved by wide sweeps ======= */

static const cairn_vec3 zero = { 0, 0, 0 };

/* The one-step problem of a heap of balls in a cylinder that has just begun to settle. */
static const cairn_problem *heap_problem(cairn_world **world, double mu)
{
    *world = new_heap(3, mu, 6);
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    advance(*world, &options, 40);
    return cairn_world_problem(*world, NULL);
}

typedef struct sweeping {
    double *r, *v, *u;
    cairn_sweep noted; /* by the last sweep */
    cairn_judgement judgement;
} sweeping;

/* `count` sweeps from nothing by one kind of sweeps, judged in double. */
static sweeping sweep_from_zero(const cairn_problem *p, const cairn_sweeps *sweeps, cairn_law law,
                                int count, cairn_arena *arena)
{
    sweeping out;
    cairn_system system;
    void *state;
    CHECK_OK(cairn_system_create(p, arena, &system));
    out.r = cairn_arena_doubles(arena, system.r_count);
    out.v = cairn_arena_doubles(arena, system.v_count);
    out.u = cairn_arena_doubles(arena, system.r_count);
    memcpy(out.v, p->v_free, system.v_count * sizeof(double));
    CHECK_OK(sweeps->begin(&system, arena, out.r, out.v, &state));
    CHECK(state != NULL);
    for (int k = 0; k < count; k++) {
        out.noted = sweeps->sweep(state, law, (cairn_momentum){ k % 50 ? 0.5 : 0, 0 });
        if (k == 7)
            sweeps->refresh(state);
    }
    sweeps->unload(state, out.r);
    cairn_judge(p, law, out.r, out.v, out.u, &out.judgement);
    return out;
}

static void check_sweeps(double mu, cairn_law law)
{
    cairn_world *world;
    const cairn_problem *p = heap_problem(&world, mu);
    cairn_arena arena = { 0 };
    CHECK(p->contacts > 60 && p->contacts % CAIRN_BATCH != 0);
    sweeping exact = sweep_from_zero(p, &cairn_sweeps_scalar, law, 4000, &arena);
    sweeping wide = sweep_from_zero(p, &cairn_sweeps_f64, law, 4000, &arena);
    sweeping narrow = sweep_from_zero(p, &cairn_sweeps_f32, law, 4000, &arena);
    CHECK(exact.judgement.asked.relative < 1e-9);
    CHECK(wide.judgement.asked.relative < 1e-9);
    CHECK(narrow.judgement.asked.relative < 1e-3); /* velocities are not refreshed here */
    for (int i = 0; law == CAIRN_LAW_CONVEX && i < p->blocks * 6; i++)
        CHECK_NEAR(wide.v[i], exact.v[i], 1e-7);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

TEST(wide_sweeps_solve_what_scalar_ones_solve)
{
    check_sweeps(0.3, CAIRN_LAW_CONVEX);
    check_sweeps(0.3, CAIRN_LAW_COULOMB);
    check_sweeps(0, CAIRN_LAW_CONVEX);
}

/* Balls that fly side by side, all but the same: squares of such velocities are 0 in float. */
TEST(open_contacts_have_no_impulse_however_slowly_they_slide)
{
    cairn_arena arena = { 0 };
    lattice_problem lattice;
    CHECK(make_lattice_problem(6, 0.3, &arena, &lattice));
    for (int j = 0; j < lattice.p.contacts; j++)
        lattice.b[j] = 1;
    for (int i = 0; i < 6 * lattice.p.blocks; i++)
        lattice.v_free[i] = i % 6 < 3 ? 0 : 1e-25 * (i % 7);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        const sweeping narrow =
            sweep_from_zero(&lattice.p, &cairn_sweeps_f32, (cairn_law)law, 3, &arena);
        for (int i = 0; i < 3 * lattice.p.contacts; i++)
            CHECK(narrow.r[i] == 0);
    }
    cairn_arena_destroy(&arena);
}

/* Without friction the sweeps drop tangential impulses of the start, and what these did to v. */
TEST(a_start_with_tangential_impulses_ends_without_them)
{
    cairn_world *world;
    const cairn_problem *p = heap_problem(&world, 0);
    cairn_arena arena = { 0 };
    cairn_system system;
    cairn_judgement judgement;
    void *state;
    CHECK_OK(cairn_system_create(p, &arena, &system));
    double *r = cairn_arena_doubles(&arena, system.r_count);
    double *v = cairn_arena_doubles(&arena, system.v_count);
    double *u = cairn_arena_doubles(&arena, system.r_count);
    for (size_t i = 0; i < system.r_count; i++)
        r[i] = 0.01 * (double)(1 + i % 3);
    cairn_judge(p, CAIRN_LAW_CONVEX, r, v, u, &judgement);
    CHECK_OK(cairn_sweeps_f64.begin(&system, &arena, r, v, &state));
    for (int k = 0; k < 3000; k++)
        cairn_sweeps_f64.sweep(state, CAIRN_LAW_CONVEX, (cairn_momentum){ k % 50 ? 0.5 : 0, 0 });
    cairn_sweeps_f64.unload(state, r);
    cairn_judge(p, CAIRN_LAW_CONVEX, r, v, u, &judgement);
    CHECK(judgement.asked.relative < 1e-9);
    CHECK_NEAR(r[1], 0, 0);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

/* Rounding taken out of v is no move: momentum must not repeat it. */
TEST(velocities_made_anew_do_not_disturb_momentum)
{
    cairn_world *world;
    const cairn_problem *p = heap_problem(&world, 0.3);
    cairn_arena arena = { 0 };
    cairn_system system;
    cairn_judgement judgement;
    void *state;
    CHECK_OK(cairn_system_create(p, &arena, &system));
    double *r = cairn_arena_doubles(&arena, system.r_count);
    double *v = cairn_arena_doubles(&arena, system.v_count);
    double *u = cairn_arena_doubles(&arena, system.r_count);
    CHECK_OK(cairn_sweeps_f32.begin(&system, &arena, r, p->v_free, &state));
    for (int k = 1; k <= 4000; k++) {
        cairn_sweeps_f32.sweep(state, CAIRN_LAW_CONVEX, (cairn_momentum){ k % 400 ? 0.97 : 0, 0 });
        if (k % 50 == 0)
            cairn_sweeps_f32.refresh(state);
    }
    cairn_sweeps_f32.unload(state, r);
    cairn_judge(p, CAIRN_LAW_CONVEX, r, v, u, &judgement);
    CHECK(judgement.asked.relative < 1e-4);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

/* |e|, or the largest share in a problem with scales, as the sweeps measure it after 20 of them,
 * over what the judge finds. */
static double measured_share(const cairn_problem *p, const cairn_sweeps *sweeps, cairn_law law,
                             cairn_arena *arena)
{
    cairn_system system;
    cairn_judgement judgement;
    cairn_norms norms = { 0 };
    void *state;
    CHECK_OK(cairn_system_create(p, arena, &system));
    double *r = cairn_arena_doubles(arena, system.r_count);
    double *v = cairn_arena_doubles(arena, system.v_count);
    double *u = cairn_arena_doubles(arena, system.r_count);
    CHECK_OK(sweeps->begin(&system, arena, r, p->v_free, &state));
    for (int k = 0; k < 20; k++)
        sweeps->sweep(state, law, (cairn_momentum){ .beta = k % 10 ? 0.5 : 0 });
    cairn_measured measured = sweeps->measure(state, law), again = sweeps->measure(state, law);
    CHECK_NEAR(again.error, measured.error, 0); /* nothing has moved */
    sweeps->unload(state, r);
    cairn_judge_again(p, law, r, v, u, &norms, &judgement);
    CHECK(judgement.asked.whole > 1e-3);
    CHECK_NEAR(measured.share, 0, p->scale ? INFINITY : 0);
    if (p->scale)
        return measured.share / cairn_residual_share(judgement.asked.relative);
    return measured.error / (judgement.asked.relative * cairn_norms_scale(&norms, law));
}

TEST(sweeps_measure_the_residual_that_the_judge_finds)
{
    static const int sizes[] = { 8, 15 }; /* the second in slabs */
    for (int k = 0; k < 6; k++) {
        cairn_arena arena = { 0 };
        lattice_problem l;
        cairn_law law = k / 2 == 1 ? CAIRN_LAW_COULOMB : CAIRN_LAW_CONVEX;
        bool smooth = k / 2 == 2;
        CHECK(make_lattice_problem(sizes[k % 2], smooth ? 0 : 0.3, &arena, &l));
        cairn_problem balls = lattice_of_balls(&l);
        double wide = measured_share(&balls, &cairn_sweeps_f64, law, &arena);
        double narrow = measured_share(&balls, &cairn_sweeps_f32, law, &arena);
        CHECK_NEAR(wide, 1, smooth ? 0.02 : 1e-12);
        CHECK(wide <= 1 + 1e-12); /* without friction w_N stands for w */
        CHECK_NEAR(narrow, wide, 1e-4);
        cairn_arena_destroy(&arena);
    }
}

/* Scales from 0.01 to 1 m/s; where w |r| is larger it counts, up to half of C. */
TEST(sweeps_measure_the_share_that_the_judge_finds)
{
    static const int sizes[] = { 8, 15 };
    for (int k = 0; k < 6; k++) {
        cairn_arena arena = { 0 };
        lattice_problem l;
        cairn_law law = k / 2 == 1 ? CAIRN_LAW_COULOMB : CAIRN_LAW_CONVEX;
        CHECK(make_lattice_problem(sizes[k % 2], k / 2 == 2 ? 0 : 0.3, &arena, &l));
        cairn_problem balls = lattice_of_balls(&l);
        double *scale = cairn_arena_doubles(&arena, (size_t)balls.contacts);
        double *most = cairn_arena_doubles(&arena, (size_t)balls.contacts);
        for (int j = 0; j < balls.contacts; j++) {
            scale[j] = 0.01 + 0.01 * (j % 100);
            most[j] = scale[j] * (1 + j % 7);
        }
        balls.scale = scale;
        balls.most = most;
        CHECK_NEAR(measured_share(&balls, &cairn_sweeps_f64, law, &arena), 1, 1e-9);
        CHECK_NEAR(measured_share(&balls, &cairn_sweeps_f32, law, &arena), 1, 1e-3);
        cairn_arena_destroy(&arena);
    }
}

/* Whether a body of a batch is one of another. */
static bool share_a_body(const cairn_batches *s, int one, int other)
{
    bool shared = false;
    for (int i = 0; i < 4 * CAIRN_BATCH * CAIRN_BATCH; i++) {
        int32_t body = s->bodies[2 * one * CAIRN_BATCH + i / (2 * CAIRN_BATCH)];
        shared = shared || (body < s->p->blocks &&
                            body == s->bodies[2 * other * CAIRN_BATCH + i % (2 * CAIRN_BATCH)]);
    }
    return shared;
}

/* A sweep begins a batch before it has ended the one before; the last of a group is begun only. */
static void check_order(const cairn_problem *p, double least_filled)
{
    cairn_arena arena = { 0 };
    cairn_batches s;
    int held = 0;
    CHECK_OK(cairn_batches_create(p, &arena, &s));
    CHECK(s.usable);
    for (int group = 0; group <= s.pieces.count; group++) {
        int last = s.start[group + 1] - 1;
        CHECK((last - s.start[group]) % 2 == 0);
        for (int k = s.start[group]; k < last; k++)
            CHECK(!share_a_body(&s, k, k + 1));
        for (int i = 0; i < CAIRN_BATCH; i++)
            CHECK_INT(s.contact[last * CAIRN_BATCH + i], -1);
    }
    for (int lane = 0; lane < s.count * CAIRN_BATCH; lane++)
        held += s.contact[lane] >= 0;
    CHECK_INT(held, p->contacts);
    CHECK(held > least_filled * CAIRN_BATCH * s.count);
    cairn_arena_destroy(&arena);
}

TEST(neighbouring_batches_share_no_body_and_groups_end_with_an_empty_one)
{
    static const int sizes[] = { 4, 8, 15 }; /* the last in slabs */
    static const double least_filled[] = { 0.6, 0.85, 0.9 };
    for (int k = 0; k < 3; k++) {
        cairn_arena arena = { 0 };
        lattice_problem l;
        CHECK(make_lattice_problem(sizes[k], 0.3, &arena, &l));
        check_order(&l.p, least_filled[k]);
        cairn_arena_destroy(&arena);
    }
}

/* 1408 contacts of 200 balls, 14 each, two of them with 40 more: beyond the window. */
TEST(batches_of_a_crowd_are_in_order)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(8, 0.3, &arena, &l));
    cairn_problem p = lattice_of_balls(&l);
    CHECK_INT(p.contacts, 1408);
    for (int j = 0; j < p.contacts; j++) {
        int a = j < 80 ? j / 40 : (int)(200 * cairn_random_uniform(&l.state));
        l.block[2 * j] = a;
        l.block[2 * j + 1] = (a + 1 + (int)(199 * cairn_random_uniform(&l.state))) % 200;
    }
    check_order(&p, 0.4);
    cairn_arena_destroy(&arena);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* A lattice whose blocks are numbered at random: there are contacts between any two slabs. */
static lattice_problem shuffled_lattice(int n, cairn_arena *arena)
{
    lattice_problem l;
    CHECK(make_lattice_problem(n, 0.3, arena, &l));
    int32_t *number = cairn_arena_take(arena, (size_t)l.p.blocks, sizeof *number);
    for (int i = 0; i < l.p.blocks; i++) { /* i changes places with one before it */
        int other = (int)((i + 1) * cairn_random_uniform(&l.state));
        number[i] = number[other];
        number[other] = i;
    }
    for (int i = 0; i < 2 * l.p.contacts; i++)
        if (l.block[i] >= 0)
            l.block[i] = number[l.block[i]];
    stand_lattice_upright(&l);
    return l;
}

/* The slab of a body, or of the wall and of padding that have their records after the bodies. */
static int slab_of_record(const cairn_batches *s, int record)
{
    int slab = 0;
    if (record >= s->p->blocks)
        return (record - s->p->blocks) / CAIRN_WALL_RECORDS;
    while (record >= s->first[slab + 1])
        slab++;
    return slab;
}

static void check_groups(const cairn_batches *s)
{
    for (int g = 0; g < s->pieces.count; g++) {
        const int *part = s->pieces.part[g];
        CHECK(g < s->slabs ? part[0] == g && part[1] == g : part[0] < part[1]);
        for (int i = 2 * CAIRN_BATCH * s->start[g]; i < 2 * CAIRN_BATCH * s->start[g + 1]; i++) {
            int slab = slab_of_record(s, s->bodies[i]);
            CHECK(slab == part[0] || slab == part[1]);
        }
    }
}

/* 40,896 contacts in 8 slabs, of which each two meet; 9,675 in 4. Pieces that share no part run at
 * the same time, so a record that a group writes must be of its own slabs. */
TEST(groups_keep_to_the_bodies_of_their_slabs)
{
    static const int sizes[] = { 24, 15 }, slabs[] = { 8, 4 }, pieces[] = { 36, 10 };
    for (int k = 0; k < 2; k++)
        for (int general = 0; general < 2; general++) {
            cairn_arena arena = { 0 };
            lattice_problem l = shuffled_lattice(sizes[k], &arena);
            cairn_batches s;
            CHECK_OK(general ? cairn_batches_create_general(&l.p, &arena, &s)
                             : cairn_batches_create(&l.p, &arena, &s));
            CHECK(s.usable);
            CHECK_INT(s.slabs, slabs[k]);
            CHECK_INT(s.pieces.count, pieces[k]);
            CHECK(s.first[0] == 0 && s.first[s.slabs] == l.p.blocks);
            check_groups(&s);
            cairn_arena_destroy(&arena);
        }
}

/* Parts that a problem asks for, more and fewer than its size would have, also no power of two. In
 * the lattice as it is numbered only neighbours meet: few pieces beside the parts themselves. */
TEST(a_problem_is_cut_into_the_parts_it_asks_for)
{
    static const int parts[] = { 1, 2, 3, 7, 40 };
    for (int k = 0; k < 5; k++)
        for (int general = 0; general < 2; general++) {
            cairn_arena arena = { 0 };
            lattice_problem l, shuffled = shuffled_lattice(15, &arena);
            cairn_batches s;
            CHECK(make_lattice_problem(15, 0.3, &arena, &l));
            l.p.parts = shuffled.p.parts = parts[k];
            CHECK_OK(general ? cairn_batches_create_general(&shuffled.p, &arena, &s)
                             : cairn_batches_create(&shuffled.p, &arena, &s));
            CHECK(s.usable);
            CHECK_INT(s.slabs, parts[k]);
            CHECK(s.first[0] == 0 && s.first[s.slabs] == l.p.blocks);
            check_groups(&s);
            CHECK_OK(cairn_batches_create_general(&l.p, &arena, &s));
            CHECK(s.usable && s.pieces.count >= parts[k] && s.pieces.count < 3 * parts[k]);
            check_groups(&s);
            cairn_arena_destroy(&arena);
        }
}

/* What a member does in a pass: r rims, c cores, x groups with another member, s a message to it, w
 * waiting for one. */
typedef struct diary {
    const cairn_batches *s;
    char events[64];
    size_t answer; /* bytes of the next message                   */
    int late;      /* how often a message has not arrived yet     */
} diary;

static void note(diary *d, char event)
{
    size_t length = strlen(d->events);
    if (length + 1 < sizeof d->events)
        d->events[length] = event;
}

static cairn_status note_send(void *context, int to, const void *bytes, size_t count)
{
    (void)to, (void)bytes, (void)count;
    note(context, 's');
    return CAIRN_OK;
}

static cairn_status note_wait(void *context, int from, const void **bytes, size_t *count)
{
    static const char zeros[1 << 16];
    diary *d = context;
    (void)from;
    note(d, 'w');
    *bytes = zeros;
    *count = d->answer;
    return CAIRN_OK;
}

static bool note_look(void *context, int from)
{
    diary *d = context;
    (void)from;
    return d->late-- <= 0;
}

static void note_group(int begin, int end, void *context)
{
    diary *d = context;
    for (int k = begin; k < end; k++)
        note(d, k < d->s->slabs ? 'r' : k < 2 * d->s->slabs ? 'c' : 'x');
}

/* Member 0 of two with parts 0 and 1 of four, which are slices of a lattice of 12^3: parts 1 and 2
 * meet, and so do 0 and 1, 2 and 3. In round 1 it has the border of its own parts, in round 3 that
 * of parts 1 and 2. Its cores come between the message that it sends and the one that it waits for,
 * as long as that one has not arrived. */
TEST(cores_are_computed_between_sending_and_receiving)
{
    diary d = { .answer = sizeof(int64_t) }; /* sums over the members, at first */
    cairn_link link = { .members = 2, .send = note_send, .receive = note_wait, .context = &d };
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_batches s;
    CHECK(make_lattice_problem(12, 0.3, &arena, &l));
    uint16_t *part = cairn_arena_take(&arena, (size_t)l.p.blocks, sizeof *part);
    for (int i = 0; i < l.p.blocks; i++)
        part[i] = (uint16_t)(4 * i / l.p.blocks);
    const cairn_cutting by = { 4, part, NULL, &link };
    CHECK_OK(cairn_problem_cut(&l.p, &by, &arena));
    CHECK_INT(l.p.cut->borders, 1);
    CHECK_OK(cairn_batches_create_general(&l.p, &arena, &s));
    CHECK(s.usable);
    float *v = cairn_arena_take(&arena, 8 * (size_t)l.p.blocks, sizeof *v);
    memset(v, 0, 8 * (size_t)l.p.blocks * sizeof *v);
    const cairn_records records = { v, 32, 24 };
    memset(d.events, 0, sizeof d.events);
    d.s = &s;
    d.answer = 24 * (size_t)l.p.cut->border[0].ins;
    cairn_batches_pass(&s, note_group, &d, &records);
    CHECK_OK(link.status);
    CHECK_TEXT(d.events, "rrxsccwx");
    static const char *const expected[] = { "rrxswxcc", "rrxscwxc", "rrxsccwx", "rrxsccwx" };
    link.arrived = note_look;
    cairn_parallel_threads(1);
    for (int late = 0; late < 4; late++) {
        memset(d.events, 0, sizeof d.events);
        d.late = late;
        cairn_batches_pass(&s, note_group, &d, &records);
        CHECK_TEXT(d.events, expected[late]);
    }
    memset(d.events, 0, sizeof d.events);
    cairn_batches_pass(&s, note_group, &d, NULL);
    CHECK_TEXT(d.events, "rrxxcc");
    cairn_arena_destroy(&arena);
}

/* 20,160 contacts in the lower half of 24 layers, of which three have 4,464; the balls above touch
 * nothing and move on with the last slab. */
TEST(slabs_have_as_much_work_as_each_other)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_batches s;
    CHECK(make_lattice_problem(24, 0.3, &arena, &l));
    int half = l.p.blocks / 2, kept = 0;
    for (int j = 0; j < l.p.contacts; j++)
        if (l.block[2 * j] < half && l.block[2 * j + 1] < half) {
            l.block[2 * kept] = l.block[2 * j];
            l.block[2 * kept + 1] = l.block[2 * j + 1];
            l.normal[kept++] = l.normal[j];
        }
    cairn_problem p = lattice_of_balls(&l);
    p.contacts = kept;
    CHECK_OK(cairn_batches_create(&p, &arena, &s));
    CHECK(s.usable && s.slabs == 4);
    for (int slab = 0; slab < 3; slab++)
        CHECK(s.start[slab + 1] - s.start[slab] > 4464 / CAIRN_BATCH);
    cairn_arena_destroy(&arena);
}

/* 12 sweeps and velocities made anew, on any number of threads. */
TEST(threads_do_not_change_a_bit)
{
    static const cairn_sweeps *const kinds[] = { &cairn_sweeps_f32, &cairn_sweeps_f64,
                                                 &cairn_sweeps_general_f32 };
    static const int threads[] = { 2, 3, 8 }, parts[] = { 0, 0, 0, 5, 24 };
    const int sweeps = CHECKED ? 4 : 12;
    cairn_arena arena = { 0 };
    lattice_problem l = shuffled_lattice(24, &arena);
    for (int trial = 0; trial < 5; trial++) {
        int kind = trial % 3;
        l.p.parts = parts[trial];
        cairn_parallel_threads(1);
        sweeping one = sweep_from_zero(&l.p, kinds[kind], CAIRN_LAW_CONVEX, sweeps, &arena);
        for (int k = 0; k < 3; k++) {
            cairn_parallel_threads(threads[k]);
            sweeping other = sweep_from_zero(&l.p, kinds[kind], CAIRN_LAW_CONVEX, sweeps, &arena);
            CHECK(memcmp(one.r, other.r, 3 * (size_t)l.p.contacts * sizeof(double)) == 0);
            CHECK(memcmp(&one.noted, &other.noted, sizeof one.noted) == 0);
        }
    }
    cairn_parallel_threads(1);
    cairn_arena_destroy(&arena);
}

/* One sweep without momentum from r and its velocities. */
static void sweep_once(cairn_system *system, const cairn_sweeps *sweeps, cairn_arena *arena,
                       double *r)
{
    double *v = cairn_arena_doubles(arena, system->v_count);
    void *state;
    cairn_problem_velocity(system->p, r, v);
    CHECK_OK(sweeps->begin(system, arena, r, v, &state));
    sweeps->sweep(state, CAIRN_LAW_CONVEX, (cairn_momentum){ 0 });
    sweeps->unload(state, r);
}

/* With beta (1 + gamma) and a point gamma/(1 + gamma) of the way to y, the third sweep starts from
 * y = z + beta (z - z_before) + beta gamma (z - y_before), z what the second one found. */
TEST(a_sweep_starts_further_on_by_a_part_of_what_the_last_one_changed)
{
    static const cairn_sweeps *const kinds[] = { &cairn_sweeps_scalar, &cairn_sweeps_f64 };
    const double beta = 0.8, gamma = 0.25;
    const cairn_momentum momentum = { beta * (1 + gamma), gamma / (1 + gamma) };
    for (int k = 0; k < 2; k++) {
        cairn_world *world;
        const cairn_problem *p = heap_problem(&world, 0.3);
        cairn_arena arena = { 0 };
        cairn_system system;
        void *state;
        CHECK_OK(cairn_system_create(p, &arena, &system));
        double *z[4]; /* z[0] = 0, then the impulses after each sweep */
        for (int i = 0; i < 4; i++)
            z[i] = cairn_arena_doubles(&arena, system.r_count);
        CHECK_OK(kinds[k]->begin(&system, &arena, z[0], p->v_free, &state));
        for (int i = 1; i < 4; i++) {
            kinds[k]->sweep(state, CAIRN_LAW_CONVEX, momentum);
            kinds[k]->unload(state, z[i]);
        }
        for (size_t i = 0; i < system.r_count; i++) {
            double before = z[1][i] + beta * (1 + gamma) * z[1][i];
            z[0][i] = z[2][i] + beta * (z[2][i] - z[1][i]) + beta * gamma * (z[2][i] - before);
        }
        sweep_once(&system, kinds[k], &arena, z[0]);
        for (size_t i = 0; i < system.r_count; i++)
            CHECK_NEAR(z[0][i], z[3][i], 1e-11);
        cairn_arena_destroy(&arena);
        cairn_world_destroy(world);
    }
}

/* No body twice in a batch, and every contact once. */
TEST(batches_hold_every_contact_once_and_no_body_twice)
{
    cairn_world *world;
    const cairn_problem *p = heap_problem(&world, 0.3);
    cairn_arena arena = { 0 };
    cairn_batches batches;
    int seen = 0;
    CHECK_OK(cairn_batches_create(p, &arena, &batches));
    CHECK(batches.usable);
    for (int k = 0; k < batches.count; k++)
        for (int i = 0; i < CAIRN_BATCH; i++) {
            const int32_t *bodies = batches.bodies + 2 * (k * CAIRN_BATCH);
            seen += batches.contact[k * CAIRN_BATCH + i] >= 0;
            for (int j = 0; j < 2 * CAIRN_BATCH; j++)
                for (int m = 0; m < 2; m++)
                    CHECK(j == 2 * i + m || bodies[j] != bodies[2 * i + m] ||
                          bodies[j] >= p->blocks);
        }
    CHECK_INT(seen, p->contacts);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

/* ---- the same bits -------------------------------------------------------------------------- */

enum { BATCHES = 4, BODIES = 80 }; /* and an empty batch */

typedef struct example {
    cairn_batch_f32 f32[BATCHES + 1];
    cairn_batch_f64 f64[BATCHES + 1];
    float mu32[16 * (BATCHES + 1)], v32[8 * BODIES];
    float r32[48 * (BATCHES + 1)], before32[48 * (BATCHES + 1)];
    double mu64[16 * (BATCHES + 1)], v64[8 * BODIES];
    double r64[48 * (BATCHES + 1)], before64[48 * (BATCHES + 1)];
    cairn_share_f32 share32[BATCHES];
    cairn_share_f64 share64[BATCHES];
    cairn_sweep noted[2];
    cairn_batch_errors errors[2];
} example;

static void fill_example(example *e, bool smooth)
{
    uint64_t state = 3;
    memset(e, 0, sizeof *e);
    for (int k = 0; k < BATCHES; k++)
        for (int i = 0; i < CAIRN_BATCH; i++) {
            double x = cairn_random_uniform(&state) - 0.5, y = cairn_random_uniform(&state) - 0.5;
            double z = cairn_random_uniform(&state) + 0.1, l = sqrt(x * x + y * y + z * z);
            const double n[3] = { x / l, y / l, z / l };
            int first = k % 2 * 40 + k / 2; /* bodies of the last but one batch */
            e->f32[k].a[i] = e->f64[k].a[i] = first + i;
            e->f32[k].b[i] = e->f64[k].b[i] = first + i + CAIRN_BATCH;
            for (int c = 0; c < 3; c++)
                e->f32[k].n[c][i] = (float)(e->f64[k].n[c][i] = n[c]);
            e->f32[k].shift[i] = (float)(e->f64[k].shift[i] = -cairn_random_uniform(&state));
            e->share32[k].scale[i] = (float)(e->share64[k].scale[i] = 0.1 + 0.01 * i);
            e->share32[k].most[i] = (float)(e->share64[k].most[i] = 0.05 * i);
            e->share32[k].w[i] = (float)(e->share64[k].w[i] = 12);
        }
    for (int i = 0; i < 16 * BATCHES; i++)
        e->mu32[i] = (float)(e->mu64[i] = 0.4);
    for (int i = 0; i < 8 * BODIES; i++) {
        double value = (i % 8) % (smooth ? 4 : 8) < (smooth ? 3 : 6)
                           ? cairn_random_uniform(&state) - 0.5
                           : 1 + i % 8;
        e->v32[i] = (float)(e->v64[i] = value);
    }
}

/* law 0: Coulomb, 1: convex, 2: no friction */
static void run_example(example *e, cairn_width width, int law)
{
    bool smooth = law == 2;
    const cairn_batch_kernels_f32 *narrow = cairn_batch_kernels_f32_of(width);
    const cairn_batch_kernels_f64 *wide = cairn_batch_kernels_f64_of(width);
    fill_example(e, smooth);
    for (int k = 0; k < 5; k++) {
        cairn_pass_f32 one = { e->f32, e->mu32, law,         { 0.3, 0.25 },
                               e->v32, e->r32,  e->before32, e->share32 };
        cairn_pass_f64 other = { e->f64, e->mu64, law,         { 0.3, 0.25 },
                                 e->v64, e->r64,  e->before64, e->share64 };
        one.mu = smooth ? NULL : one.mu;
        other.mu = smooth ? NULL : other.mu;
        narrow->sweep(&one, 0, BATCHES, &e->noted[0]);
        wide->sweep(&other, 0, BATCHES, &e->noted[1]);
        if (k % 2) {
            narrow->add_up(&one, 0, BATCHES);
            wide->add_up(&other, 0, BATCHES);
        } else {
            narrow->sweep(&one, 0, BATCHES, &e->noted[0]);
            wide->sweep(&other, 0, BATCHES, &e->noted[1]);
        }
        narrow->measure(&one, 0, BATCHES, &e->errors[0]);
        wide->measure(&other, 0, BATCHES, &e->errors[1]);
    }
}

TEST(all_instruction_sets_give_the_same_bits)
{
    static example narrow, wide;
    for (int law = 0; law < 3; law++)
        for (int width = 1; width <= (int)cairn_width_best(); width++) {
            run_example(&narrow, CAIRN_WIDTH_BASELINE, law);
            run_example(&wide, (cairn_width)width, law);
            CHECK(memcmp(narrow.r32, wide.r32, sizeof wide.r32) == 0);
            CHECK(memcmp(narrow.r64, wide.r64, sizeof wide.r64) == 0);
            CHECK(memcmp(narrow.v32, wide.v32, sizeof wide.v32) == 0);
            CHECK(memcmp(narrow.v64, wide.v64, sizeof wide.v64) == 0);
            CHECK(memcmp(narrow.noted, wide.noted, sizeof wide.noted) == 0);
            CHECK(memcmp(narrow.errors, wide.errors, sizeof wide.errors) == 0);
            CHECK(wide.errors[0].share2 > 0 && wide.errors[1].share2 > 0);
            CHECK(wide.noted[0].change2 > 0 && wide.noted[1].change2 > 0);
        }
}

/* ---- what is not for batches ---------------------------------------------------------------- */

/* One ball among many walls: batches would hold one contact each. */
TEST(a_ball_with_very_many_contacts_is_swept_one_by_one)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    cairn_arena arena = { 0 };
    cairn_batches batches;
    add_ball(world, 0.5, zero, zero);
    for (int k = 0; k < 300; k++) {
        double angle = 2 * M_PI * k / 300;
        cairn_vec3 at = { 0.6 * cos(angle), 0.6 * sin(angle), 0 };
        cairn_shape wall = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
        wall.axis = (cairn_vec3){ -at.x, -at.y, 0 };
        add_wall(world, wall, at);
    }
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    options.margin = 0.2;
    advance(world, &options, 1);
    const cairn_problem *p = cairn_world_problem(world, NULL);
    CHECK_INT(p->contacts, 300);
    CHECK_OK(cairn_batches_create(p, &arena, &batches));
    CHECK(!batches.usable);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

/* Unequal moments of inertia: not a ball. */
TEST(unequal_moments_are_not_a_ball)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_batches batches;
    CHECK(make_lattice_problem(8, 0.3, &arena, &l));
    CHECK_OK(cairn_batches_create(&l.p, &arena, &batches));
    CHECK(batches.usable);
    l.mass_inverse[5] *= 2;
    CHECK_OK(cairn_batches_create(&l.p, &arena, &batches));
    CHECK(!batches.usable);
    cairn_arena_destroy(&arena);
}

/* From stored rows of turned balls and from normals alone: float sweeps see the same numbers. */
TEST(rows_that_are_stored_and_normals_make_the_same_batches)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(8, 0.3, &arena, &l));
    cairn_problem balls = lattice_of_balls(&l);
    sweeping stored = sweep_from_zero(&l.p, &cairn_sweeps_f64, CAIRN_LAW_CONVEX, 60, &arena);
    sweeping compact = sweep_from_zero(&balls, &cairn_sweeps_f64, CAIRN_LAW_CONVEX, 60, &arena);
    CHECK(stored.judgement.asked.relative < 0.1);
    for (int i = 0; i < 3 * l.p.contacts; i++)
        CHECK_NEAR(compact.r[i], stored.r[i], 1e-12);
    CHECK_NEAR(compact.judgement.asked.relative, stored.judgement.asked.relative, 1e-11);
    cairn_arena_destroy(&arena);
}

/* A contact that is not one of balls keeps all out of batches. */
TEST(some_stored_rows_among_balls_are_not_for_batches)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_batches batches;
    CHECK(make_lattice_problem(8, 0.3, &arena, &l));
    cairn_problem both = lattice_of_both(&l);
    CHECK_OK(cairn_batches_create(&both, &arena, &batches));
    CHECK(!batches.usable);
    cairn_arena_destroy(&arena);
}

GROUP(test_batch)
{
    RUN(CASE(wide_sweeps_solve_what_scalar_ones_solve),
        CASE(open_contacts_have_no_impulse_however_slowly_they_slide),
        CASE(a_start_with_tangential_impulses_ends_without_them),
        CASE(velocities_made_anew_do_not_disturb_momentum),
        CASE(a_sweep_starts_further_on_by_a_part_of_what_the_last_one_changed),
        CASE(sweeps_measure_the_residual_that_the_judge_finds),
        CASE(sweeps_measure_the_share_that_the_judge_finds),
        CASE(batches_hold_every_contact_once_and_no_body_twice),
        CASE(neighbouring_batches_share_no_body_and_groups_end_with_an_empty_one),
        CASE(groups_keep_to_the_bodies_of_their_slabs),
        CASE(a_problem_is_cut_into_the_parts_it_asks_for),
        CASE(cores_are_computed_between_sending_and_receiving),
        CASE(slabs_have_as_much_work_as_each_other), CASE(threads_do_not_change_a_bit),
        CASE(batches_of_a_crowd_are_in_order), CASE(all_instruction_sets_give_the_same_bits),
        CASE(a_ball_with_very_many_contacts_is_swept_one_by_one),
        CASE(unequal_moments_are_not_a_ball),
        CASE(rows_that_are_stored_and_normals_make_the_same_batches),
        CASE(some_stored_rows_among_balls_are_not_for_batches));
}

/* ==== test_batch_special: rows with bounds beside batches: each block is solved exactly ======= */

/* Two points of mass 1 and 1/3 on a line in 2D; block 1 holds their distance and pushes body a along y
 * with at most 0.5 N s, block 0 is a contact. */
typedef struct special_example {
    cairn_problem p;
    double mass_inverse[6], v_free[6], H[24], lower[4], upper[4], compliance[4], mu[2], b[2];
    int32_t block[4];
    uint8_t bounded[2];
} special_example;

static void fill(special_example *e)
{
    *e = (special_example){ .mass_inverse = { 1, 1, 1, 3, 3, 3 },
                            .v_free = { 2, -5, 0, -2, 0, 0 },
                            .lower = { 0, 0, -INFINITY, -0.5 },
                            .upper = { 0, 0, INFINITY, 0.5 },
                            .block = { 0, 1, 0, 1 },
                            .bounded = { 0, 1 } };
    e->H[12] = 1;  /* block 1, side a: x */
    e->H[16] = 1;  /*                  y */
    e->H[18] = -1; /* side b: x          */
    e->p = (cairn_problem){ .dimension = 2,
                            .block_size = 3,
                            .blocks = 2,
                            .contacts = 2,
                            .mass_inverse = e->mass_inverse,
                            .v_free = e->v_free,
                            .block = e->block,
                            .H = e->H,
                            .mu = e->mu,
                            .b = e->b,
                            .bounded = e->bounded,
                            .lower = e->lower,
                            .upper = e->upper,
                            .compliance = e->compliance };
}

/* x: 2 - (-2) = 4 m/s apart, over 1 + 3: r = -1. y: -5 m/s would take 5 N s, and gets 0.5. */
TEST(a_block_is_solved_exactly_within_its_bounds)
{
    cairn_arena arena = { 0 };
    special_example e;
    cairn_special_rows s;
    double v[2][6] = { { 2, -5, 0 }, { -2, 0, 0 } }, change[2], force[3], r[4] = { 7, 7, 0, 0 };
    fill(&e);
    CHECK_OK(cairn_special_create(&e.p, &arena, &s));
    CHECK_INT(s.count, 1);
    CHECK_INT(s.contact[0], 1);
    cairn_special_load(&s, r);
    cairn_special_forget(&s);
    cairn_special_solve(&s, 0, (cairn_momentum){ 0 }, v, change);
    CHECK_NEAR(change[0], -1, 1e-14);
    CHECK_NEAR(change[1], 0.5, 1e-14);
    cairn_special_force(&s, 0, 1, change, force);
    CHECK_NEAR(force[0], 1, 1e-14); /* on b, along x */
    CHECK_NEAR(force[1], 0, 1e-14);
    cairn_special_unload(&s, r);
    CHECK_NEAR(r[2], -1, 1e-14);
    CHECK_NEAR(r[0], 7, 0); /* the contact is not its business */
    cairn_arena_destroy(&arena);
}

/* From r = 2 before r = 1 with beta = 1/2 the block starts at 0.5; velocities go with it, and what
 * is added leads to the same -1 in all. The next move counts from half way between 1 and 0.5. */
TEST(momentum_is_where_a_block_starts_from)
{
    cairn_arena arena = { 0 };
    special_example e;
    cairn_special_rows s;
    double change[2], r[4] = { 0, 0, 2, 0 }, next[4] = { 0, 0, 1, 0 };
    double v[2][6] = { { 2 + 0.5, -5, 0 }, { -2 - 3 * 0.5, 0, 0 } };
    fill(&e);
    CHECK_OK(cairn_special_create(&e.p, &arena, &s));
    cairn_special_load(&s, r);
    cairn_special_forget(&s);
    cairn_special_load(&s, next);
    cairn_special_solve(&s, 0, (cairn_momentum){ 0.5, 0.5 }, v, change);
    CHECK_NEAR(change[0], -1.5, 1e-14);
    CHECK_NEAR(s.r[0], -1, 1e-14);
    CHECK_NEAR(s.previous[0], 0.75, 0);
    CHECK(s.noted.change2 > 0);
    cairn_arena_destroy(&arena);
}

GROUP(test_batch_special)
{
    RUN(CASE(a_block_is_solved_exactly_within_its_bounds),
        CASE(momentum_is_where_a_block_starts_from));
}

/* ==== test_normals: systems of normal impulses against the products with whole ones =========== */

/* The gradient of a system of normals is the normal part of the whole one, and so is v. */
static void compare_with_whole(const cairn_problem *p, cairn_arena *arena)
{
    cairn_system whole;
    size_t contacts = (size_t)p->contacts;
    CHECK_OK(cairn_system_create(p, arena, &whole));
    CHECK_OK(cairn_normals_find(&whole));
    double *r = cairn_arena_doubles(arena, whole.r_count),
           *g = cairn_arena_doubles(arena, whole.r_count);
    double *n = cairn_arena_doubles(arena, contacts), *n_g = cairn_arena_doubles(arena, contacts);
    double *v = cairn_arena_doubles(arena, whole.v_count),
           *n_v = cairn_arena_doubles(arena, whole.v_count);
    for (int j = 0; j < p->contacts; j++)
        n[j] = j % 3 == 0 ? 0 : sin((double)j);
    cairn_normals_unpack(p, n, r);
    cairn_host_gradient(&whole, r, v, g);
    cairn_normals_gradient(&whole, n, n_v, n_g);
    for (size_t i = 0; i < whole.v_count; i++)
        CHECK_NEAR(n_v[i], v[i], 1e-13);
    for (int j = 0; j < p->contacts; j++)
        CHECK_NEAR(n_g[j], g[j * p->dimension], 1e-12);
}

TEST(gradients_are_the_normal_part_of_whole_ones)
{
    cairn_arena arena = { 0 };
    for (int dimension = 2; dimension <= 3; dimension++) {
        random_problem random;
        make_random_problem(&random, dimension, 18, 15, 3);
        memset(random.mu, 0, sizeof random.mu);
        compare_with_whole(&random.p, &arena);
        random.block[9] = random.block[8]; /* a contact of a body with itself */
        random.p.w = NULL;
        random.p.b = NULL;
        compare_with_whole(&random.p, &arena);
    }
    cairn_arena_destroy(&arena);
}

TEST(contacts_of_balls_need_no_rows)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(3, 0, &arena, &l));
    cairn_problem balls = lattice_of_balls(&l), both = lattice_of_both(&l);
    compare_with_whole(&balls, &arena);
    compare_with_whole(&both, &arena);
    cairn_arena_destroy(&arena);
}

TEST(threads_change_no_bit_of_a_gradient)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_system s;
    double *v[2], *g[2];
    CHECK(make_lattice_problem(14, 0, &arena, &l));
    cairn_problem balls = lattice_of_balls(&l);
    CHECK_OK(cairn_system_create(&balls, &arena, &s));
    CHECK_OK(cairn_normals_find(&s));
    size_t contacts = (size_t)balls.contacts;
    double *r = cairn_arena_doubles(&arena, contacts);
    for (size_t j = 0; j < contacts; j++)
        r[j] = sin((double)j);
    for (int k = 0; k < 2; k++) {
        v[k] = cairn_arena_doubles(&arena, s.v_count);
        g[k] = cairn_arena_doubles(&arena, contacts);
        cairn_parallel_threads(k ? 3 : 1);
        cairn_normals_gradient(&s, r, v[k], g[k]);
    }
    cairn_parallel_threads(1);
    CHECK(v[0][0] != 0 && g[0][0] != 0);
    CHECK(memcmp(v[0], v[1], s.v_count * sizeof(double)) == 0);
    CHECK(memcmp(g[0], g[1], contacts * sizeof(double)) == 0);
    cairn_arena_destroy(&arena);
}

TEST(one_contact_with_friction_or_bounds_asks_for_whole_impulses)
{
    random_problem random;
    uint8_t bounded[4] = { 0 };
    make_random_problem(&random, 3, 6, 4, 3);
    memset(random.mu, 0, sizeof random.mu);
    CHECK(cairn_problem_is_normal(&random.p));
    random.p.bounded = bounded;
    CHECK(cairn_problem_is_normal(&random.p));
    bounded[3] = 1;
    CHECK(!cairn_problem_is_normal(&random.p));
    bounded[3] = 0;
    random.mu[2] = 0.1;
    CHECK(!cairn_problem_is_normal(&random.p));
    random.mu[2] = 0;
    random.p.spinning = 1;
    CHECK(!cairn_problem_is_normal(&random.p));
}

TEST(normals_go_out_and_in)
{
    const cairn_problem p = { .dimension = 3, .contacts = 2 };
    double r[6] = { 1, 2, 3, 4, 5, 6 }, n[2];
    cairn_normals_pack(&p, r, n);
    CHECK(n[0] == 1 && n[1] == 4);
    cairn_normals_unpack(&p, n, r);
    CHECK(r[0] == 1 && r[1] == 0 && r[2] == 0 && r[3] == 4 && r[4] == 0 && r[5] == 0);
}

/* -2 goes to 0, 3 stays; NaN is not hidden */
TEST(projection_is_the_positive_part)
{
    const cairn_problem p = { .contacts = 3 };
    const cairn_system s = { .p = &p };
    double r[3] = { -2, 3, NAN };
    cairn_normals_project(&s, r);
    CHECK(r[0] == 0 && r[1] == 3 && isnan(r[2]));
}

GROUP(test_normals)
{
    RUN(CASE(gradients_are_the_normal_part_of_whole_ones), CASE(contacts_of_balls_need_no_rows),
        CASE(threads_change_no_bit_of_a_gradient),
        CASE(one_contact_with_friction_or_bounds_asks_for_whole_impulses),
        CASE(normals_go_out_and_in), CASE(projection_is_the_positive_part));
}

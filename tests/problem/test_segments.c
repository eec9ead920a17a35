/* test_segments.c - contacts by kind, parts of problems, and what is no problem. */
#include "cairn/cairn.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "tests/check.h"
#include "tests/problems/hard_problems.h"
#include "tests/problems/random_problem.h"

/* ==== test_segments: contacts by kind: found once, and never those of another problem ========= */

/* Two balls of 1 kg and radius 0.5, blocks 0 and 1. The contacts in turn: ball 0 on the floor and
 * on ball 1, both of balls; a stored row of each with a wall; one that acts on nothing; a joint. */
typedef struct example {
    double mass_inverse[12], v_free[12], H[3 * 36], b[6], mu[6], radius[2], lower[18], upper[18];
    cairn_vec3 normal[6], tangent[6];
    int32_t block[12], rows[6];
    uint8_t bounded[6];
    cairn_problem p;
} example;

static void make(example *e)
{
    *e = (example){ .radius = { 0.5, 0.5 },
                    .block = { 0, -1, 0, 1, 0, -1, 1, -1, -1, -1, 0, 1 },
                    .rows = { -1, -1, 0, 1, -1, 2 },
                    .bounded = { 0, 0, 0, 0, 0, 1 },
                    .mu = { 0, 0, 0, 0.3, 0.3, 0.3 } };
    for (int i = 0; i < 12; i++)
        e->mass_inverse[i] = i % 6 < 3 ? 1 : 10;
    for (int i = 0; i < 6; i++) {
        e->normal[i] = (cairn_vec3){ 0, 0, 1 };
        e->tangent[i] = (cairn_vec3){ 1, 0, 0 };
    }
    for (int k = 0; k < 3; k++)
        e->H[36 * k + 2] = 1; /* u_N is the upward velocity of side a */
    e->p = (cairn_problem){ .dimension = 3,
                            .block_size = 6,
                            .blocks = 2,
                            .contacts = 6,
                            .mass_inverse = e->mass_inverse,
                            .v_free = e->v_free,
                            .block = e->block,
                            .H = e->H,
                            .normal = e->normal,
                            .tangent = e->tangent,
                            .radius = e->radius,
                            .rows = e->rows,
                            .b = e->b,
                            .mu = e->mu,
                            .bounded = e->bounded,
                            .lower = e->lower,
                            .upper = e->upper };
}

static void check_segment(const cairn_segment *s, cairn_contact_kind kind, int begin, int count,
                          bool friction)
{
    CHECK_INT(s->kind, kind);
    CHECK_INT(s->begin, begin);
    CHECK_INT(s->count, count);
    CHECK_INT(s->friction, friction);
}

TEST(six_contacts_are_four_segments)
{
    example e;
    cairn_segment s[4];
    make(&e);
    CHECK_OK(cairn_problem_check(&e.p, NULL));
    CHECK_INT(cairn_problem_segments(&e.p, s, 4), 4);
    check_segment(&s[0], CAIRN_KIND_BALLS, 0, 2, false);
    check_segment(&s[1], CAIRN_KIND_GENERAL, 2, 2, true);
    check_segment(&s[2], CAIRN_KIND_LONE, 4, 1, true);
    check_segment(&s[3], CAIRN_KIND_ROWS, 5, 1, false); /* mu of rows is not looked at */
    CHECK_INT(cairn_problem_segments(&e.p, s, 1), 4);   /* no more than one is written */
}

TEST(a_walk_is_cut_at_both_ends_whether_segments_are_known_or_not)
{
    example e;
    cairn_arena arena = { 0 };
    make(&e);
    for (int known = 0; known < 2; known++) {
        cairn_walk w = cairn_walk_over(&e.p, 1, 3);
        CHECK(cairn_walk_next(&w));
        check_segment(&w.now, CAIRN_KIND_BALLS, 1, 1, false);
        CHECK(cairn_walk_next(&w));
        CHECK_INT(w.now.kind, CAIRN_KIND_GENERAL);
        CHECK_INT(w.now.begin, 2);
        CHECK_INT(w.at, 3);
        CHECK(!cairn_walk_next(&w));
        CHECK(cairn_problem_has(&e.p, CAIRN_KIND_ROWS) && cairn_problem_has_friction(&e.p));
        CHECK(!cairn_problem_has(&e.p, CAIRN_KIND_ROLLING));
        CHECK(!cairn_problem_is_all(&e.p, CAIRN_KIND_BALLS));
        CHECK_OK(cairn_problem_find_segments(&e.p, &arena));
        CHECK(e.p.segments != NULL);
    }
    CHECK_OK(cairn_problem_check(&e.p, NULL));
    cairn_arena_destroy(&arena);
}

TEST(wrong_segments_are_refused)
{
    example e;
    cairn_arena arena = { 0 };
    cairn_segment items[4];
    cairn_error error;
    make(&e);
    CHECK_OK(cairn_problem_find_segments(&e.p, &arena));
    cairn_segments wrong = *e.p.segments;
    memcpy(items, wrong.item, sizeof items);
    items[1].kind = CAIRN_KIND_BALLS;
    wrong.item = items;
    e.p.segments = &wrong;
    CHECK_INT(cairn_problem_check(&e.p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "contacts from 2 on are 2 of kind 0, expected 2 of kind 1");
    cairn_arena_destroy(&arena);
}

/* A copy with other friction: what the first one was found to be does not count for it. */
TEST(a_copy_with_other_arrays_is_looked_at_anew)
{
    example e;
    cairn_arena arena = { 0 };
    make(&e);
    memset(e.mu, 0, sizeof e.mu);
    CHECK_OK(cairn_problem_find_segments(&e.p, &arena));
    CHECK(!cairn_problem_has_friction(&e.p));
    const double rough[6] = { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 };
    cairn_problem copy = e.p;
    copy.mu = rough;
    CHECK(cairn_problem_has_friction(&copy));
    copy = e.p;
    copy.contacts = 5;
    CHECK(!cairn_problem_has(&copy, CAIRN_KIND_ROWS));
    const cairn_segments *first = e.p.segments;
    CHECK_OK(cairn_problem_find_segments(&e.p, &arena));
    CHECK(e.p.segments == first); /* still those */
    CHECK_OK(cairn_problem_find_segments(&copy, &arena));
    CHECK(copy.segments != first && copy.segments->count == 3);
    cairn_arena_destroy(&arena);
}

TEST(a_world_of_balls_poses_one_segment_and_disks_one_of_stored_rows)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_world *world;
        const cairn_problem p = settled_heap(dimension, 0.3, 4, 100, &world);
        CHECK(p.segments != NULL);
        CHECK_INT(p.segments->count, 1);
        check_segment(p.segments->item, dimension == 3 ? CAIRN_KIND_BALLS : CAIRN_KIND_GENERAL, 0,
                      p.contacts, true);
        CHECK_OK(cairn_problem_check(&p, NULL));
        cairn_world_destroy(world);
    }
}

/* With or without segments, u and the judgement have the same bits. */
TEST(segments_change_no_bit)
{
    example e;
    cairn_arena arena = { 0 };
    double r[18], v[12], u[2][18];
    cairn_judgement said[2];
    make(&e);
    for (int i = 0; i < 18; i++)
        r[i] = 0.1 * (i % 5);
    for (int known = 0; known < 2; known++) {
        cairn_problem_apply(&e.p, r, v, u[known]);
        cairn_judge(&e.p, CAIRN_LAW_COULOMB, r, v, u[known], &said[known]);
        CHECK_OK(cairn_problem_find_segments(&e.p, &arena));
    }
    CHECK(memcmp(u[0], u[1], sizeof u[0]) == 0);
    CHECK(said[0].asked.worst == said[1].asked.worst && said[0].asked.worst > 0);
    CHECK_INT(said[0].asked.worst_contact, said[1].asked.worst_contact);
    cairn_arena_destroy(&arena);
}

TEST(every_allocation_may_fail)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status == CAIRN_NO_MEMORY; n++) {
        example e;
        cairn_arena arena = { 0 };
        meter m = { .fail_at = n };
        make(&e);
        meter_install(&m);
        status = cairn_problem_find_segments(&e.p, &arena);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        cairn_arena_destroy(&arena);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
}

GROUP(test_segments)
{
    RUN(CASE(six_contacts_are_four_segments),
        CASE(a_walk_is_cut_at_both_ends_whether_segments_are_known_or_not),
        CASE(wrong_segments_are_refused), CASE(a_copy_with_other_arrays_is_looked_at_anew),
        CASE(a_world_of_balls_poses_one_segment_and_disks_one_of_stored_rows),
        CASE(segments_change_no_bit), CASE(every_allocation_may_fail));
}

/* ==== test_part: a part of a problem says of its contacts what the whole says of them ========= */

/* Every third contact. */
static int choose(int contacts, int32_t *out)
{
    int count = 0;
    for (int j = 1; j < contacts; j += 3)
        out[count++] = j;
    return count;
}

/* With impulses r in the part and none elsewhere, u = H M^-1 H' r + H v_free + w is the same. */
static void check_part(const cairn_problem *whole)
{
    static int32_t contacts[4096];
    static double r[3 * 4096], all[3 * 4096], u[3 * 4096], u_all[3 * 4096], v[6 * 4096],
        v_all[6 * 4096];
    cairn_arena scratch = { 0 };
    cairn_problem_part part;
    int d = whole->dimension, count = choose(whole->contacts, contacts);
    CHECK(count > 5);
    CHECK_OK(cairn_problem_take_part(whole, contacts, count, &scratch, &part));
    const cairn_problem *p = &part.problem;
    CHECK_INT(p->contacts, count);
    CHECK(p->blocks <= whole->blocks && p->blocks <= 2 * count);
    CHECK_OK(cairn_problem_check(p, NULL));
    memset(all, 0, sizeof all);
    for (int i = 0; i < d * count; i++)
        r[i] = 1e-3 * (i % 7);
    cairn_part_spread(contacts, count, d, r, all);
    cairn_problem_apply(p, r, v, u);
    cairn_problem_apply(whole, all, v_all, u_all);
    for (int k = 0; k < count; k++) {
        CHECK(p->b[k] == whole->b[contacts[k]] && p->mu[k] == whole->mu[contacts[k]]);
        for (int i = 0; i < d; i++)
            CHECK_NEAR(u[d * k + i], u_all[d * contacts[k] + i], 1e-13);
    }
    for (int k = 0; k < p->blocks; k++)
        for (int i = 0; i < p->block_size; i++)
            CHECK_NEAR(v[p->block_size * k + i], v_all[p->block_size * part.block[k] + i], 1e-13);
    cairn_arena_destroy(&scratch);
}

TEST(contacts_of_balls_disks_and_boxes_move_as_in_the_whole)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_world *world;
        const cairn_problem p = settled_heap(dimension, 0.3, 8, 150, &world);
        CHECK_INT(p.normal != NULL, dimension == 3);
        check_part(&p);
        cairn_world_destroy(world);
    }
    cairn_world *world = new_heap(3, 0.3, 4);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 0.2, 0.2, 0.2 };
    def.position = (cairn_vec3){ 5, 5, 0.1 };
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_step_options options = step_by(0.005, "convex", 1e-4);
    advance(world, &options, 60);
    const cairn_problem mixed = next_problem(world, &options);
    CHECK(mixed.normal && mixed.rows);
    check_part(&mixed);
    cairn_world_destroy(world);
}

TEST(every_allocation_for_a_part_may_fail)
{
    cairn_world *world;
    const cairn_problem p = settled_heap(3, 0.3, 4, 40, &world);
    static int32_t contacts[4096];
    int count = choose(p.contacts, contacts);
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        cairn_problem_part part;
        cairn_arena scratch = { 0 };
        meter m = { .fail_at = n };
        meter_install(&m);
        status = cairn_problem_take_part(&p, contacts, count, &scratch, &part);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        cairn_arena_destroy(&scratch);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    cairn_world_destroy(world);
}

GROUP(test_part)
{
    RUN(CASE(contacts_of_balls_disks_and_boxes_move_as_in_the_whole),
        CASE(every_allocation_for_a_part_may_fail));
}

/* ==== test_check: what is not a one-step problem is refused, with the array and entry named */

static random_problem sample(void)
{
    random_problem out;
    make_random_problem(&out, 3, 6, 4, 11);
    return out;
}

/* arrays in a copied sample point into the original: set them anew */
static cairn_status check(random_problem *sample, cairn_error *error)
{
    *error = (cairn_error){ 0 };
    sample->p.mass_inverse = sample->mass_inverse;
    sample->p.v_free = sample->v_free;
    sample->p.block = sample->block;
    sample->p.H = sample->H;
    sample->p.w = sample->w;
    sample->p.b = sample->b;
    sample->p.mu = sample->mu;
    return cairn_problem_check(&sample->p, error);
}

TEST(a_good_problem_passes)
{
    cairn_error error;
    random_problem p = sample();
    CHECK_OK(check(&p, &error));
}

TEST(sizes_are_checked)
{
    cairn_error error;
    random_problem p = sample();
    p.p.dimension = 4;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "dimension");
    p = sample();
    p.p.block_size = 7;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "block_size");
    p = sample();
    p.p.contacts = -1;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "contacts");
}

TEST(entries_are_checked)
{
    cairn_error error;
    random_problem p = sample();
    p.block[5] = 6;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "contact 2 names block 6");
    p = sample();
    p.mu[3] = -0.1;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "contact 3");
    p = sample();
    p.mass_inverse[7] = -1;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "entry 7");
    p = sample();
    p.H[40] = NAN;
    CHECK_INT(check(&p, &error), CAIRN_NOT_FINITE);
    CHECK_CONTAINS(error.message, "entry 40 of H");
    p = sample();
    p.b[1] = INFINITY;
    CHECK_INT(check(&p, &error), CAIRN_NOT_FINITE);
    CHECK_CONTAINS(error.message, "entry 1 of b");
}

TEST(missing_arrays_are_refused)
{
    cairn_error error = { 0 };
    cairn_problem p = { .dimension = 2, .block_size = 3, .blocks = 1 };
    CHECK_INT(cairn_problem_check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "missing");
    CHECK_INT(cairn_problem_check(&p, NULL), CAIRN_BAD_INPUT);
}

TEST(bounds_are_checked)
{
    cairn_error error = { 0 };
    random_problem p = sample();
    uint8_t bounded[8] = { 0, 0, 1 };
    double lower[24] = { 0 }, upper[24] = { 0 }, compliance[24] = { 0 };
    p.p.bounded = bounded;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "lower");
    CHECK_CONTAINS(error.message, "contact 2 has bounded rows");
    p.p.lower = lower;
    p.p.upper = upper;
    p.p.compliance = compliance;
    int row = 2 * p.p.dimension + 1;
    lower[row] = -INFINITY;
    upper[row] = INFINITY;
    CHECK_OK(check(&p, &error));
    lower[row] = 1;
    upper[row] = 0;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "the bounds 1 and 0");
    lower[row] = NAN;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    lower[row] = upper[row] = INFINITY;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    lower[row] = 0;
    compliance[row] = -1;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "compliance");
}

/* 2D: one tangent, one rolling component; 3D: two of each and one spinning. */
TEST(components_are_checked)
{
    static const struct {
        int dimension, rolling, spinning, directions;
        const char *key; /* NULL: good */
    } cases[] = { { 3, 1, 0, 0, NULL },        { 5, 2, 0, 0, NULL },
                  { 6, 2, 1, 0, NULL },        { 4, 0, 1, 0, NULL },
                  { 5, 0, 0, 0, "dimension" }, { 4, 1, 0, 0, "rolling" },
                  { 4, 2, 0, 0, "rolling" },   { 3, 0, 1, 0, "spinning" },
                  { 5, 2, 0, 8, "directions" } };
    double mu[1] = { 0.5 }, bad[1] = { -1 }, q[6] = { 0 };
    int64_t start[7] = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cairn_error error = { 0 };
        cairn_matrix W = { cases[i].dimension, cases[i].dimension, start, NULL, NULL };
        cairn_problem p = { .dimension = cases[i].dimension,
                            .rolling = cases[i].rolling,
                            .spinning = cases[i].spinning,
                            .directions = cases[i].directions,
                            .contacts = 1,
                            .W = &W,
                            .q = q,
                            .mu = mu };
        CHECK_INT(cairn_problem_check(&p, &error), cases[i].key ? CAIRN_BAD_INPUT : CAIRN_OK);
        CHECK_TEXT(error.key, cases[i].key ? cases[i].key : "");
        p.mu_rolling = bad;
        if (!cases[i].key && p.rolling)
            CHECK_INT(cairn_problem_check(&p, &error), CAIRN_BAD_INPUT);
    }
}

/* A problem of balls is good; each line spoils one number of it. */
TEST(contacts_of_balls_are_checked)
{
    static const struct {
        int spoil;
        const char *key;
    } cases[] = { { 0, "" },        { 1, "normal" }, { 2, "normal" }, { 3, "mass_inverse" },
                  { 4, "radius" },  { 5, "block" },  { 6, "rows" },   { 7, "H" },
                  { 8, "tangent" }, { 9, "normal" } };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        cairn_arena arena = { 0 };
        cairn_error error = { 0 };
        lattice_problem l;
        CHECK(make_lattice_problem(3, 0.3, &arena, &l));
        cairn_problem p = lattice_of_both(&l);
        int at = cases[k].spoil;
        l.normal[4].x += at == 1 ? 1e-3 : 0;
        l.tangent[4] = at == 2 ? l.normal[4] : l.tangent[4];
        l.mass_inverse[11] *= at == 3 ? 2 : 1;
        l.radius[5] = at == 4 ? -1 : l.radius[5];
        l.block[9] = at == 5 ? l.block[8] : l.block[9];
        l.rows[7] = at == 6 ? -2 : l.rows[7];
        l.H[36 * 3] = at == 7 ? NAN : l.H[36 * 3];
        p.tangent = at == 8 ? NULL : p.tangent;
        p.dimension = at == 9 ? 2 : 3;
        CHECK_INT(cairn_problem_check(&p, &error), at == 0   ? CAIRN_OK
                                                   : at == 7 ? CAIRN_NOT_FINITE
                                                             : CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, cases[k].key);
        cairn_arena_destroy(&arena);
    }
}

GROUP(test_check)
{
    RUN(CASE(a_good_problem_passes), CASE(sizes_are_checked), CASE(entries_are_checked),
        CASE(missing_arrays_are_refused), CASE(bounds_are_checked), CASE(components_are_checked),
        CASE(contacts_of_balls_are_checked));
}

/* ==== test_cut: a problem in parts ============================================================ */

/* A one-step problem in parts: spans of contacts, and borders between members. */

/* Six blocks in a row, two in each of three parts; contacts with two walls, then between
 * neighbours, as a world sorts them: 0, 2, 5 with wall 0, 1, 3 with wall 1. */
static const int32_t blocks[] = { 0, -1, 2, -1, 5, -1, 1, -1, 3, -1, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5 };
static const int32_t walls[] = { 0, 0, 0, 1, 1, -1, -1, -1, -1, -1 };
static const uint16_t parts[] = { 0, 0, 1, 1, 2, 2 };

static cairn_problem problem_in_a_row(void)
{
    return (cairn_problem){
        .dimension = 3, .block_size = 6, .blocks = 6, .contacts = 10, .block = blocks
    };
}

/* Of wall 0, of wall 1, and of the row: 1, 2, 1 spans; then 1, 1, 1; part 2 has none at wall 1. */
TEST(contacts_are_counted_by_the_part_of_their_lower_block)
{
    static const cairn_span expected[] = { { 0, 1, 0 }, { 3, 4, 0 }, { 5, 7, 0 }, { 1, 2, 1 },
                                           { 4, 5, 1 }, { 7, 9, 1 }, { 2, 3, 2 }, { 9, 10, 2 } };
    cairn_problem p = problem_in_a_row();
    cairn_arena arena = { 0 };
    const cairn_cutting by = { 3, parts, walls, NULL };
    CHECK_OK(cairn_problem_cut(&p, &by, &arena));
    CHECK_INT(p.parts, 3);
    CHECK_INT(cairn_problem_size(&p), 10);
    CHECK_INT(p.cut->contacts.count, 8);
    CHECK_INT(p.cut->borders, 0);
    for (int k = 0; k < 8; k++) {
        CHECK_INT(p.cut->contacts.span[k].begin, expected[k].begin);
        CHECK_INT(p.cut->contacts.span[k].end, expected[k].end);
        CHECK_INT(p.cut->contacts.span[k].part, expected[k].part);
    }
    cairn_arena_destroy(&arena);
}

/* What member 1 of 3 says to whoever asks: nothing comes, so that sums are its own. */
static cairn_status hear(void *context, int to, const void *bytes, size_t count)
{
    (void)context, (void)to, (void)bytes, (void)count;
    return CAIRN_OK;
}

static cairn_status say_nothing(void *context, int from, const void **bytes, size_t *count)
{
    static const int64_t zero = 0;
    (void)context, (void)from;
    *bytes = &zero;
    *count = sizeof zero;
    return CAIRN_OK;
}

/* The middle one of three members has blocks 2 and 3 and, as ghosts, 1 and 4. */
TEST(borders_are_the_blocks_that_touch_another_part)
{
    static const int32_t block[] = { 1, -1, 2, -1, 0, 1, 1, 2, 2, 3 };
    static const uint16_t part[] = { 0, 1, 1, 2 };
    cairn_link link = { .member = 1, .members = 3, .send = hear, .receive = say_nothing };
    cairn_problem p = problem_in_a_row();
    cairn_arena arena = { 0 };
    p.blocks = 4;
    p.contacts = 5;
    p.block = block;
    const cairn_cutting by = { 3, part, NULL, &link };
    CHECK_OK(cairn_problem_cut(&p, &by, &arena));
    CHECK_INT(cairn_problem_size(&p), 4); /* the one of blocks 0 and 1 is counted by member 0 */
    CHECK_INT(p.cut->contacts.others, 1);
    CHECK_INT(p.cut->borders, 2);
    for (int k = 0; k < 2; k++) {
        const cairn_border *b = &p.cut->border[k];
        CHECK_INT(b->member, 2 * k);
        CHECK_INT(b->part, 1);
        CHECK_INT(b->other, 2 * k);
        CHECK_INT(b->outs, 1);
        CHECK_INT(b->out[0], 1 + k);
        CHECK_INT(b->ins, 1);
        CHECK_INT(b->in[0], 3 * k);
    }
    cairn_arena_destroy(&arena);
}

/* Contacts 3, 6 and 8: blocks 1 to 4, of all three parts. */
TEST(a_part_of_a_problem_keeps_the_parts_of_its_blocks)
{
    static const int32_t chosen[] = { 3, 6, 8 };
    static const double numbers[36] = { 0 }, mu[10] = { 0 };
    static const cairn_vec3 directions[10] = { { 0, 0, 0 } };
    static const uint16_t expected[] = { 0, 1, 1, 2 };
    cairn_problem p = problem_in_a_row();
    cairn_problem_part part;
    cairn_arena arena = { 0 };
    p.mass_inverse = p.v_free = p.radius = numbers;
    p.mu = mu;
    p.normal = p.tangent = directions;
    const cairn_cutting by = { 3, parts, walls, NULL };
    CHECK_OK(cairn_problem_cut(&p, &by, &arena));
    CHECK_OK(cairn_problem_take_part(&p, chosen, 3, &arena, &part));
    CHECK_INT(part.problem.blocks, 4);
    for (int i = 0; i < 4; i++)
        CHECK_INT(part.problem.cut->part[i], expected[i]);
    CHECK_INT(part.problem.cut->contacts.count, 3);
    CHECK_INT(cairn_problem_size(&part.problem), 3);
    cairn_arena_destroy(&arena);
}

GROUP(test_cut)
{
    RUN(CASE(contacts_are_counted_by_the_part_of_their_lower_block),
        CASE(borders_are_the_blocks_that_touch_another_part),
        CASE(a_part_of_a_problem_keeps_the_parts_of_its_blocks));
}

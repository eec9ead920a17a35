/* test_narrow_couples.c - every couple of the narrow phase at random: the gap changes with the
 * poses as the contact's Jacobian says, witnesses fit together, swapping keeps the gap. */
#include "check.h"
#include "random_shapes.h"

enum { ROUNDS = 60, POOL = 4 };

typedef struct wall {
    cairn_shape shape;
    int dimension; /* 0: both                                              */
} wall;

static const wall walls[] = {
    { { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 0, 1 } }, 3 },
    { { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 1, 0 } }, 2 },
    { { .kind = CAIRN_SHAPE_INSIDE_CYLINDER, .radius = 4, .axis = { 0, 0, 1 } }, 0 },
    { { .kind = CAIRN_SHAPE_INSIDE_CONE, .half_angle = 0.7, .axis = { 0, 0, 1 } }, 3 },
    { { .kind = CAIRN_SHAPE_INSIDE_CONE, .half_angle = 0.7, .axis = { 0, 1, 0 } }, 2 },
    { { .kind = CAIRN_SHAPE_INSIDE_BOX, .size = { 6, 5, 7 } }, 3 },
    { { .kind = CAIRN_SHAPE_INSIDE_BOX, .size = { 6, 5, 0 } }, 2 },
};

enum { WALLS = sizeof walls / sizeof walls[0] };

typedef struct answer {
    int count;
    bool swapped;
    cairn_witness w[CAIRN_WITNESSES];
} answer;

static answer find(const cairn_collider *a, const cairn_collider *b, int dimension)
{
    answer out = { 0 };
    out.count = cairn_witnesses_find(a, b, dimension, &out.swapped, out.w);
    CHECK(out.count != CAIRN_UNRESOLVED);
    CHECK(out.count <= cairn_witnesses_limit(a, b));
    return out;
}

static int deepest(const answer *a)
{
    int best = 0;
    for (int k = 1; k < a->count; k++)
        best = a->w[k].gap < a->w[best].gap ? k : best;
    return best;
}

/* Whether one point is clearly the deepest: only then its gap has a derivative. */
static bool is_alone(const answer *a)
{
    int best = deepest(a);
    for (int k = 0; k < a->count; k++)
        if (k != best && a->w[k].gap < a->w[best].gap + 5e-3)
            return false;
    return a->count > 0;
}

/* ---- the Jacobian --------------------------------------------------------------------------- */

typedef struct twist {
    cairn_vec3 v, omega;
} twist;

static cairn_collider moved(cairn_collider c, const twist *t, double h)
{
    c.x = cairn_add_scaled(c.x, h, t->v);
    c.q = cairn_quat_multiply(cairn_quat_exp(cairn_scale(h, t->omega)), c.q);
    return c;
}

static cairn_vec3 velocity_at(const cairn_collider *c, const twist *t, cairn_vec3 point)
{
    return cairn_add(t->v, cairn_cross(t->omega, cairn_sub(point, c->x)));
}

static double gap_after(const cairn_collider c[2], const twist t[2], double h, int dimension)
{
    cairn_collider a = moved(c[0], &t[0], h), b = moved(c[1], &t[1], h);
    answer now = find(&a, &b, dimension);
    CHECK(now.count > 0);
    return now.w[deepest(&now)].gap;
}

/* d(gap)/dt = n.(v_a - v_b), velocities at the witnesses. */
static void check_derivative(const cairn_collider c[2], int dimension, uint64_t *state,
                             int *counted)
{
    answer here = find(&c[0], &c[1], dimension);
    if (!is_alone(&here))
        return;
    const cairn_witness *w = &here.w[deepest(&here)];
    int a = here.swapped ? 1 : 0;
    twist t[2];
    for (int i = 0; i < 2; i++) {
        cairn_vec3 spin = dimension == 3 ? draw_unit(state, 3) : cairn_vec(0, 0, 1);
        t[i] = (twist){ draw_unit(state, dimension), spin };
    }
    cairn_vec3 u =
        cairn_sub(velocity_at(&c[a], &t[a], w->on_a), velocity_at(&c[1 - a], &t[1 - a], w->on_b));
    double h = 1e-4;
    double change = gap_after(c, t, h, dimension) - gap_after(c, t, -h, dimension);
    double size = 1 + cairn_norm(cairn_sub(w->on_a, c[1].x)) + cairn_norm(w->on_a);
    if (fabs(change / (2 * h) - cairn_dot(u, w->normal)) > 2e-4 * size)
        print_message("%dD %s - %s, gap %g\n", dimension,
                      cairn_shape_record((int)c[0].shape->kind)->name,
                      cairn_shape_record((int)c[1].shape->kind)->name, w->gap);
    CHECK_NEAR(change / (2 * h), cairn_dot(u, w->normal), 2e-4 * size);
    (*counted)++;
}

/* ---- what else holds ------------------------------------------------------------------------ */

static void check_consistent(const cairn_collider c[2], int dimension)
{
    answer here = find(&c[0], &c[1], dimension), there = find(&c[1], &c[0], dimension);
    CHECK((there.count > 0) == (here.count > 0));
    for (int k = 0; k < here.count; k++) {
        const cairn_witness *w = &here.w[k];
        cairn_vec3 off = cairn_add_scaled(cairn_sub(w->on_a, w->on_b), -w->gap, w->normal);
        double size = 1 + cairn_norm(w->on_a) + fabs(w->gap);
        CHECK_NEAR(cairn_norm(w->normal), 1, 1e-12);
        CHECK_NEAR(cairn_norm(off), 0, 1e-11 * size);
        CHECK(w->feature >= 0);
        CHECK(k == 0 || w->feature >= here.w[k - 1].feature);
        CHECK(dimension == 3 || (w->normal.z == 0 && w->on_a.z == 0));
    }
    if (here.count > 0 && here.w[deepest(&here)].gap > 1e-3)
        CHECK_NEAR(there.w[deepest(&there)].gap, here.w[deepest(&here)].gap, 1e-8);
}

static int run_couple(const cairn_shape *first, const wall *second, int dimension, double spread)
{
    uint64_t state = 7 + (uint64_t)first->kind * 100 + (uint64_t)second->shape.kind;
    int counted = 0;
    for (int k = 0; k < ROUNDS; k++) {
        cairn_collider c[2] = { draw_collider(first, dimension, spread, &state),
                                draw_collider(&second->shape, dimension, spread, &state) };
        c[0].reach = 1e6;
        check_consistent(c, dimension);
        check_derivative(c, dimension, &state, &counted);
    }
    return counted;
}

TEST(every_couple_of_bounded_shapes)
{
    uint64_t state = 17;
    for (int dimension = 2; dimension <= 3; dimension++) {
        const cairn_shape_kind *kinds = dimension == 2 ? convex_kinds_2d : convex_kinds_3d;
        int count = dimension == 2 ? KINDS_2D : KINDS_3D;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) {
                cairn_shape a = draw_shape(kinds[i], dimension, &state);
                wall b = { draw_shape(kinds[j], dimension, &state), 0 };
                CHECK(run_couple(&a, &b, dimension, 3) > ROUNDS / 3);
                cairn_geometry_release(a.geometry);
                cairn_geometry_release(b.shape.geometry);
            }
    }
}

TEST(every_bounded_shape_and_every_wall)
{
    uint64_t state = 18;
    for (int dimension = 2; dimension <= 3; dimension++) {
        const cairn_shape_kind *kinds = dimension == 2 ? convex_kinds_2d : convex_kinds_3d;
        int count = dimension == 2 ? KINDS_2D : KINDS_3D;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < WALLS; j++) {
                if (walls[j].dimension != 0 && walls[j].dimension != dimension)
                    continue;
                cairn_shape a = draw_shape(kinds[i], dimension, &state);
                CHECK(run_couple(&a, &walls[j], dimension, 2) > ROUNDS / 3);
                cairn_geometry_release(a.geometry);
            }
    }
}

int main(void)
{
    RUN(CASE(every_couple_of_bounded_shapes), CASE(every_bounded_shape_and_every_wall));
}

/* test_joint_rows.c - a row is the derivative of its defect, for every kind of joint. */
#include <math.h>

#include "check.h"
#include "math/vec.h"
#include "world/joint.h"

static double draw(uint64_t *state)
{
    return 2 * cairn_random_uniform(state) - 1;
}

static cairn_vec3 draw_vector(uint64_t *state, int dimension)
{
    cairn_vec3 v = { draw(state), draw(state), draw(state) };
    return dimension == 2 ? cairn_vec(v.x, v.y, 0) : v;
}

static cairn_vec3 draw_turn(uint64_t *state, int dimension, double size)
{
    cairn_vec3 v = cairn_scale(size, draw_vector(state, 3));
    return dimension == 2 ? cairn_vec(0, 0, v.z) : v;
}

/* A joint of a kind between two bodies with random frames; all drives at work. */
static cairn_joint random_joint(cairn_joint_kind kind, int dimension, uint64_t *state)
{
    cairn_joint j = { .alive = true, .def = cairn_joint_def_default() };
    const cairn_joint_drive busy = { .lower = -2,
                                     .upper = 3,
                                     .friction = 1,
                                     .motor = "position",
                                     .target = 0.5,
                                     .effort = 7,
                                     .stiffness = 2,
                                     .damping = 3,
                                     .rest = 0.25 };
    j.def.kind = kind;
    j.def.pitch = 0.3;
    j.def.ratio = -2;
    j.def.stiffness = j.def.damping = j.def.turn_stiffness = j.def.turn_damping = 5;
    j.def.turn = j.def.slide = busy;
    for (int side = 0; side < 2; side++) {
        j.anchor[side] = draw_vector(state, dimension);
        j.frame[side] = cairn_quat_exp(draw_turn(state, dimension, 1));
    }
    return j;
}

typedef struct motion {
    cairn_vec3 v[2], omega[2]; /* world frame */
} motion;

static cairn_joint_view moved(const cairn_joint_view *view, const motion *m, double time)
{
    cairn_joint_view out = *view;
    for (int side = 0; side < 2; side++) {
        out.x[side] = cairn_add_scaled(view->x[side], time, m->v[side]);
        out.q[side] =
            cairn_quat_multiply(cairn_quat_exp(cairn_scale(time, m->omega[side])), view->q[side]);
    }
    return out;
}

static double rate(const cairn_row *row, const motion *m)
{
    cairn_vec3 a = cairn_add(m->v[0], cairn_cross(m->omega[0], row->arm_a));
    cairn_vec3 b = cairn_add(m->v[1], cairn_cross(m->omega[1], row->arm_b));
    return cairn_dot(row->e, cairn_sub(a, b)) + cairn_dot(row->turn_a, m->omega[0]) -
           cairn_dot(row->turn_b, m->omega[1]);
}

/* Bodies placed so that the joint's frames are parallel and only free motion has happened: the
 * angle of a turning row is defined there. */
static cairn_joint_view aligned_view(const cairn_joint *j, int dimension, uint64_t *state)
{
    cairn_joint_view view = { .dimension = dimension, .h = 0.01, .gamma = 1 };
    view.q[1] = cairn_quat_exp(draw_turn(state, dimension, 1));
    view.x[1] = draw_vector(state, dimension);
    view.x[0] = draw_vector(state, dimension);
    cairn_quat frame = cairn_quat_multiply(view.q[1], j->frame[1]);
    view.q[0] = cairn_quat_multiply(frame, cairn_quat_conjugate(j->frame[0]));
    return view;
}

static void check_derivatives(cairn_joint_kind kind, int dimension, uint64_t *state)
{
    enum { ROWS = CAIRN_JOINT_ROWS };
    const double step = 1e-5;
    cairn_joint j = random_joint(kind, dimension, state);
    cairn_joint_view view = aligned_view(&j, dimension, state);
    cairn_row rows[ROWS], before[ROWS], after[ROWS];
    motion m;
    for (int side = 0; side < 2; side++) {
        m.v[side] = draw_vector(state, dimension);
        m.omega[side] = draw_turn(state, dimension, 1);
    }
    cairn_joint_view early = moved(&view, &m, -step), late = moved(&view, &m, step);
    int count = cairn_joint_rows(&j, &view, rows);
    CHECK_INT(cairn_joint_rows(&j, &early, before), count);
    CHECK_INT(cairn_joint_rows(&j, &late, after), count);
    CHECK(count > 0 && count <= ROWS);
    for (int i = 0; i < count; i++) {
        double derivative = (after[i].defect - before[i].defect) / (2 * step);
        if (kind != CAIRN_JOINT_GEAR) /* its defect is a sum over the steps */
            CHECK_NEAR(rate(&rows[i], &m), derivative, 1e-8);
    }
}

TEST(rows_are_the_derivatives_of_their_defects)
{
    uint64_t state = 7;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int kind = 0; kind < CAIRN_JOINT_COUNT; kind++)
            for (int k = 0; k < 20; k++)
                if (cairn_joint_exists((cairn_joint_kind)kind, dimension))
                    check_derivatives((cairn_joint_kind)kind, dimension, &state);
}

/* A gear adds the turning of both bodies about their own axes. */
TEST(gear_row_is_turning_of_a_plus_ratio_times_turning_of_b)
{
    cairn_joint j = { .def = { .kind = CAIRN_JOINT_GEAR, .ratio = 3 },
                      .frame = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } } };
    cairn_joint_view view = {
        .dimension = 3, .h = 1, .gamma = 1, .q = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } }
    };
    cairn_row rows[CAIRN_JOINT_ROWS];
    motion m = { .omega = { { 2, 5, 5 }, { -0.5, 5, 5 } } };
    CHECK_INT(cairn_joint_rows(&j, &view, rows), 1);
    CHECK_NEAR(rate(&rows[0], &m), 2 - 3 * 0.5, 1e-15);
}

/* Rows held by each kind alone: degrees of freedom removed. */
TEST(kinds_hold_as_many_motions_as_their_name_says)
{
    static const struct {
        cairn_joint_kind kind;
        int in_2d, in_3d;
    } expected[] = {
        { CAIRN_JOINT_BALL, -1, 3 },        { CAIRN_JOINT_FIXED, 3, 6 },
        { CAIRN_JOINT_REVOLUTE, 2, 5 },     { CAIRN_JOINT_PRISMATIC, 2, 5 },
        { CAIRN_JOINT_CYLINDRICAL, -1, 4 }, { CAIRN_JOINT_UNIVERSAL, -1, 4 },
        { CAIRN_JOINT_PLANAR, -1, 3 },      { CAIRN_JOINT_SCREW, -1, 5 },
        { CAIRN_JOINT_DISTANCE, 1, 1 },     { CAIRN_JOINT_ROPE, 1, 1 },
        { CAIRN_JOINT_GEAR, 1, 1 },         { CAIRN_JOINT_SPRING, 0, 0 },
        { CAIRN_JOINT_BUSHING, 0, 0 },
    };
    for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            cairn_joint j = { .def = cairn_joint_def_default(),
                              .anchor = { { 1, 0, 0 }, { 0, 0, 0 } },
                              .frame = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } } };
            cairn_joint_view view = {
                .dimension = dimension, .h = 1, .gamma = 1, .q = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } }
            };
            cairn_row rows[CAIRN_JOINT_ROWS];
            int count = dimension == 2 ? expected[k].in_2d : expected[k].in_3d;
            j.def.kind = expected[k].kind;
            if (count >= 0)
                CHECK_INT(cairn_joint_rows(&j, &view, rows), count);
            else
                CHECK(!cairn_joint_exists(j.def.kind, dimension));
        }
}

int main(void)
{
    RUN(CASE(rows_are_the_derivatives_of_their_defects),
        CASE(gear_row_is_turning_of_a_plus_ratio_times_turning_of_b),
        CASE(kinds_hold_as_many_motions_as_their_name_says));
}

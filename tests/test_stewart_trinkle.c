/* test_stewart_trinkle.c - four balls on a table: [ST96] 4, Table 1 and Figs 7 and 8.
 *
 * One ball is thrown, lands, rolls and hits a row of three. The numbers called computed were found
 * with another program, from the same formulas, cones with 8 edges and an iteration to 1e-10. */
#include "worlds.h"

enum { BALLS = 4, COMPONENTS = 6 * BALLS, MOST_STEPS = 800 };

/* One run to t = 1: of each ball 3 linear and 3 angular components in the world frame. */
typedef struct throw
{
    int steps;
    double v[MOST_STEPS + 1][COMPONENTS];
    double q[MOST_STEPS + 1][COMPONENTS]; /* angles: the angular velocities summed up        */
    double table, collision;              /* s: start of the step that first has an impulse  */
    double penetration;                   /* m: deepest                                      */
    double rise;                          /* J: largest rise of energy in a step             */
    int linearisations, candidates;       /* most of a step                                  */
}
throw;

static cairn_world *four_balls(void)
{
    static const double x[BALLS] = { 0, 1, 1.2 + 1e-5, 1.4 + 2e-5 };
    cairn_world *world = new_world(3, 9.81, 0.4, 0);
    cairn_vec3 zero = { 0, 0, 0 };
    for (int i = 0; i < BALLS; i++)
        add_ball(world, 0.1, (cairn_vec3){ x[i], 0, i ? 0.1 : 1 },
                 i ? zero : (cairn_vec3){ 1.5, 0.1, 0 });
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    return world;
}

/* w + 2 s (p x w) + 2 p x (p x w), q = (s, p) */
static cairn_vec3 rotated(cairn_quat q, cairn_vec3 w)
{
    double x = q.x, y = q.y, z = q.z, s = q.w;
    cairn_vec3 t = { 2 * (y * w.z - z * w.y), 2 * (z * w.x - x * w.z), 2 * (x * w.y - y * w.x) };
    return (cairn_vec3){ w.x + s * t.x + y * t.z - z * t.y, w.y + s * t.y + z * t.x - x * t.z,
                         w.z + s * t.z + x * t.y - y * t.x };
}

/* The state after step k. */
static void note(const cairn_world *world, throw *t, int k, double h)
{
    cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < BALLS; i++) {
        cairn_vec3 w = rotated(b.q[i], b.omega[i]);
        const double now[9] = { b.v[i].x, b.v[i].y, b.v[i].z, w.x,     w.y,
                                w.z,      b.x[i].x, b.x[i].y, b.x[i].z };
        memcpy(t->v[k] + 6 * i, now, 6 * sizeof(double));
        memcpy(t->q[k] + 6 * i, now + 6, 3 * sizeof(double));
        for (int c = 3; c < 6; c++)
            t->q[k][6 * i + c] = k ? t->q[k - 1][6 * i + c] + h * now[c] : 0;
    }
}

/* When the thrown ball first touches the table and the others. */
static void watch(const cairn_world *world, throw *t, double start)
{
    cairn_contacts c = cairn_world_contacts(world);
    for (int j = 0; j < c.count; j++) {
        int a = c.body[2 * j], b = c.body[2 * j + 1];
        bool thrown = a == 0 || b == 0, floor = a == BALLS || b == BALLS;
        double *event = floor ? &t->table : &t->collision;
        if (thrown && c.impulse[3 * j] > 0 && *event < 0)
            *event = start;
    }
}

static void keep_worst(const cairn_step_report *report, double energy, throw *t)
{
    t->penetration = fmax(t->penetration, report->certificate.penetration);
    t->rise = fmax(t->rise, report->energy.kinetic + report->energy.potential - energy);
    if (report->candidates > t->candidates)
        t->candidates = report->candidates;
    if (report->linearisations > t->linearisations)
        t->linearisations = report->linearisations;
}

static void throw_ball(int steps, throw *t)
{
    double h = 1.0 / steps;
    cairn_world *world = four_balls();
    cairn_step_options options = step_by(h, "stewart-trinkle", 1e-11);
    options.solver = "lemke";
    *t = (throw){ .steps = steps, .table = -1, .collision = -1, .rise = -INFINITY };
    note(world, t, 0, h);
    for (int k = 1; k <= steps; k++) {
        double energy = total_energy(world);
        cairn_step_report report = advance(world, &options, 1);
        note(world, t, k, h);
        watch(world, t, (k - 1) * h);
        keep_worst(&report, energy, t);
    }
    cairn_world_destroy(world);
}

/* The largest total variation of a component of the velocity. */
static double variation(const throw *t)
{
    double most = 0;
    for (int c = 0; c < COMPONENTS; c++) {
        double sum = 0;
        for (int k = 1; k <= t->steps; k++)
            sum += fabs(t->v[k][c] - t->v[k - 1][c]);
        most = fmax(most, sum);
    }
    return most;
}

static double distance(const double *a, const double *b)
{
    double most = 0;
    for (int c = 0; c < COMPONENTS; c++)
        most = fmax(most, fabs(a[c] - b[c]));
    return most;
}

/* Integral of |v - v_fine|, velocities being constant in a step; largest |q - q_fine|. */
static void compare(const throw *t, const throw *fine, double *velocity, double *position)
{
    int ratio = fine->steps / t->steps;
    *velocity = *position = 0;
    for (int k = 1; k <= fine->steps; k++)
        *velocity += distance(t->v[(k - 1) / ratio + 1], fine->v[k]) / fine->steps;
    for (int k = 0; k <= t->steps; k++)
        *position = fmax(*position, distance(t->q[k], fine->q[k * ratio]));
}

static throw fine, coarse; /* too large for a stack */

TEST(four_balls_vary_and_converge_as_in_table_1)
{
    static const struct row {
        int steps;
        double variation, velocity, position; /* published                     */
        double computed[3], within;           /* the same; of published errors */
        double table, collision;              /* computed                      */
    } rows[] = {
        { 50, 19.4046, 0.5050, 0.2505, { 19.4110, 0.4957, 0.2509 }, 0.10, 0.40, 0.58 },
        { 100, 19.1728, 0.3523, 0.2015, { 19.1754, 0.3507, 0.2008 }, 0.10, 0.42, 0.58 },
        { 200, 19.1702, 0.1657, 0.0838, { 19.1698, 0.1649, 0.0831 }, 0.10, 0.425, 0.58 },
        { 400, 19.0862, 0.0700, 0.0298, { 19.0870, 0.0650, 0.0331 }, 0.15, 0.425, 0.5825 },
    };
    throw_ball(800, &fine);
    CHECK_CLOSE(variation(&fine), 19.0690, 5e-4);
    CHECK_NEAR(variation(&fine), 19.0698, 2e-4);
    CHECK_NEAR(fine.table, 0.4275, 1e-9);
    CHECK_NEAR(fine.collision, 0.5825, 1e-9);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double velocity, position;
        throw_ball(rows[i].steps, &coarse);
        compare(&coarse, &fine, &velocity, &position);
        CHECK_CLOSE(variation(&coarse), rows[i].variation, 5e-4);
        CHECK_CLOSE(velocity, rows[i].velocity, rows[i].within);
        CHECK_CLOSE(position, rows[i].position, rows[i].within);
        CHECK_NEAR(variation(&coarse), rows[i].computed[0], 2e-4);
        CHECK_NEAR(velocity, rows[i].computed[1], 1e-4);
        CHECK_NEAR(position, rows[i].computed[2], 1e-4);
        CHECK_NEAR(coarse.table, rows[i].table, 1e-9);
        CHECK_NEAR(coarse.collision, rows[i].collision, 1e-9);
    }
}

TEST(four_balls_end_where_computed)
{
    static const double x[BALLS][3] = { { 0.90170663, 0.1607198, 0.1 },
                                        { 1.05132737, -0.01265437, 0.1 },
                                        { 1.25776456, -0.0159823, 0.1 },
                                        { 1.461883, 0.00288388, 0.1 } };
    throw_ball(200, &coarse);
    for (int i = 0; i < BALLS; i++)
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(coarse.q[200][6 * i + c], x[i][c], 1e-7);
}

/* 5/7 of 1.5 and 0.1 m/s, and the spin of rolling at radius 0.1 */
TEST(thrown_ball_rolls_after_it_has_landed)
{
    throw_ball(200, &coarse);
    const double *v = coarse.v[100]; /* t = 0.5 */
    CHECK_NEAR(v[0], 7.5 / 7, 1e-9);
    CHECK_NEAR(v[1], 0.5 / 7, 1e-9);
    CHECK_NEAR(v[2], 0, 1e-9);
    CHECK_NEAR(v[3], -5.0 / 7, 1e-9);
    CHECK_NEAR(v[4], 75.0 / 7, 1e-9);
}

/* seven contacts: four with the table, three between the balls; their LCP has 70 rows, as printed */
TEST(no_step_overlaps_or_gains_energy)
{
    throw_ball(200, &coarse);
    CHECK_INT(coarse.candidates, 7);
    CHECK(coarse.linearisations >= 3 && coarse.linearisations <= 10);
    CHECK(coarse.penetration <= 1e-12);
    CHECK(coarse.rise <= 1e-12);
}

int main(void)
{
    RUN(CASE(four_balls_vary_and_converge_as_in_table_1), CASE(four_balls_end_where_computed),
        CASE(thrown_ball_rolls_after_it_has_landed), CASE(no_step_overlaps_or_gains_energy));
}

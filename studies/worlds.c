/* worlds.c - the worlds of the papers, and runs of a disk on an incline and of four balls. */
#include <math.h>
#include <string.h>

#include "studies/study.h"
#include "studies/worlds.h"

/* ---- bodies with one material ---------------------------------------------------------------- */

cairn_status cairn_plain_world(int dimension, cairn_vec3 gravity, double mu, cairn_world **out)
{
    cairn_world_def def = cairn_world_def_default();
    def.dimension = dimension;
    def.gravity = gravity;
    TRY(cairn_world_create(&def, out));
    return cairn_material_create(*out, &(cairn_material_def){ .friction = mu }, NULL);
}

cairn_status cairn_add_ball(cairn_world *world, const cairn_ball *ball)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, cairn_world_dimension(world));
    def.shape.radius = ball->radius;
    def.mass = ball->mass;
    def.inertia = (cairn_vec3){ ball->inertia, ball->inertia, ball->inertia };
    if (cairn_world_dimension(world) == 2)
        def.inertia.x = def.inertia.y = 0;
    def.position = ball->x;
    def.velocity = ball->v;
    return cairn_body_create(world, &def, NULL);
}

cairn_status cairn_add_wall(cairn_world *world, cairn_vec3 normal, cairn_vec3 x)
{
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, cairn_world_dimension(world));
    def.shape.axis = normal;
    def.position = x;
    return cairn_body_create(world, &def, NULL);
}

cairn_status cairn_solved_step(cairn_world *world, const cairn_step_options *options,
                               cairn_step_report *report)
{
    TRY(cairn_world_step(world, options, report));
    return report->solve.converged ? CAIRN_OK : CAIRN_STOPPED;
}

/* ---- [BL23] 3.1 and 3.2: a disk on an incline ------------------------------------------------ */

static const double alpha = M_PI / 6, end_time = 10;

/* ---- falling on the plane -------------------------------------------------------------------- */

cairn_vec3 cairn_incline_exact(double mu, double t)
{
    double s = sin(alpha), c = cos(alpha), impact2 = 2 / c;
    if (t * t <= impact2)
        return (cairn_vec3){ 2 - 0.5 * c * t * t, 0.5 * s * t * t, 0 };
    double after = 0.5 * (t * t - impact2), before = 0.5 * s * impact2;
    if (mu < tan(alpha) / 3)
        return (cairn_vec3){ 1, before + (s - mu * c) * after, -2 * mu * c * after };
    return (cairn_vec3){ 1, before + 2.0 / 3 * s * after, -2.0 / 3 * s * after };
}

cairn_vec3 cairn_incline_exact_velocity(double mu, double t)
{
    double s = sin(alpha), c = cos(alpha);
    if (t * t <= 2 / c)
        return (cairn_vec3){ -c * t, s * t, 0 };
    if (mu < tan(alpha) / 3)
        return (cairn_vec3){ 0, (s - mu * c) * t, -2 * mu * c * t };
    return (cairn_vec3){ 0, 2.0 / 3 * s * t, -2.0 / 3 * s * t };
}

static cairn_status make_world(double mu, cairn_world **out)
{
    cairn_ball disk = { .radius = 1, .mass = 1, .x = { 0, 2, 0 } };
    TRY(cairn_plain_world(2, (cairn_vec3){ sin(alpha), -cos(alpha), 0 }, mu, out));
    TRY(cairn_add_wall(*out, (cairn_vec3){ 0, 1, 0 }, (cairn_vec3){ 0, 0, 0 }));
    return cairn_add_ball(*out, &disk);
}

static cairn_step_options options_of(const cairn_incline *in)
{
    cairn_step_options options = cairn_step_options_default();
    options.time_step = in->dt;
    options.scheme = in->scheme;
    options.solver = "pgs";
    options.tolerance = 1e-12;
    options.fixed_point_tolerance = in->fixed_point_tolerance;
    options.margin = in->margin;
    options.max_fixed_point = in->fixed_point_tolerance > 0 ? 20 : 200;
    return options;
}

static cairn_incline_state state_of(const cairn_world *world)
{
    cairn_bodies b = cairn_world_bodies(world);
    return (cairn_incline_state){ cairn_world_time(world),
                                  { b.x[1].y, b.x[1].x, b.angle[1] },
                                  { b.v[1].y, b.v[1].x, b.omega[1].z } };
}

static void add_errors(const cairn_incline_state *now, cairn_vec3 is, double dt,
                       cairn_incline_run *out)
{
    double dn = now->x.x - is.x, dy = now->x.y - is.y, da = now->x.z - is.z;
    out->x += dt * (dn * dn + dy * dy);
    out->theta += dt * da * da;
}

static cairn_status roll(cairn_world *world, const cairn_incline *in,
                         const cairn_incline_watch *watch, cairn_incline_run *out)
{
    cairn_step_options options = options_of(in);
    double mu = strcmp(in->scheme, "frictionless") == 0 ? 0 : in->mu;
    int steps = (int)round(end_time / in->dt);
    for (int k = 1; k <= steps; k++) {
        cairn_step_report report;
        TRY(cairn_solved_step(world, &options, &report));
        cairn_incline_state now = state_of(world);
        add_errors(&now, cairn_incline_exact(mu, k * in->dt), in->dt, out);
        out->mean_outer += (double)report.solve.outer_iterations / steps;
        if (watch)
            watch->see(watch->context, &now);
    }
    out->last = state_of(world).x;
    out->last_gap = out->last.x - 1;
    out->last_sliding = cairn_world_contacts(world).velocity[1];
    return CAIRN_OK;
}

cairn_status cairn_incline_roll(const cairn_incline *in, const cairn_incline_watch *watch,
                                cairn_incline_run *out)
{
    cairn_world *world = NULL;
    *out = (cairn_incline_run){ 0 };
    cairn_status status = make_world(in->mu, &world);
    if (status == CAIRN_OK)
        status = roll(world, in, watch, out);
    cairn_world_destroy(world);
    out->x = sqrt(out->x);
    out->theta = sqrt(out->theta);
    return status;
}

/* ---- at rest on the plane -------------------------------------------------------------------- */

cairn_status cairn_incline_solve(const char *solver, double increment, int64_t max_iterations,
                                 double *answer, cairn_solve_report *report)
{
    static const double Q = 0.0025, H[12] = { 1, 0, 0, 0, 0, 0 }, mu[1] = { 0 };
    static const int32_t block[2] = { 0, -1 };
    const double mass_inverse[3] = { Q, Q, 0 }, v_free[3] = { -Q * cos(alpha), 0, 0 };
    cairn_problem p = { .dimension = 2,
                        .block_size = 3,
                        .blocks = 1,
                        .contacts = 1,
                        .mass_inverse = mass_inverse,
                        .v_free = v_free,
                        .block = block,
                        .H = H,
                        .mu = mu };
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.step_length = 2;
    options.increment_tolerance = increment;
    options.tolerance = 1e-10;
    options.max_iterations = max_iterations;
    cairn_workspace *workspace;
    double r[2] = { 0, 0 }, v[3], u[2];
    TRY(cairn_workspace_create(&workspace));
    cairn_status status = cairn_solve(&p, &options, workspace, r, v, u, report);
    cairn_workspace_destroy(workspace);
    *answer = r[0];
    return status;
}

/* ---- [ST96] 4: four balls -------------------------------------------------------------------- */

static cairn_status four_balls(cairn_world **out)
{
    static const double x[BALLS] = { 0, 1, 1.2 + 1e-5, 1.4 + 2e-5 };
    TRY(cairn_plain_world(3, (cairn_vec3){ 0, 0, -9.81 }, 0.4, out));
    for (int i = 0; i < BALLS; i++) {
        cairn_ball ball = { .radius = 0.1, .mass = 1, .x = { x[i], 0, i ? 0.1 : 1 } };
        if (i == 0)
            ball.v = (cairn_vec3){ 1.5, 0.1, 0 };
        TRY(cairn_add_ball(*out, &ball));
    }
    return cairn_add_wall(*out, (cairn_vec3){ 0, 0, 1 }, (cairn_vec3){ 0, 0, 0 });
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
static void note(const cairn_world *world, cairn_throw *t, int k, double h)
{
    cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < BALLS; i++) {
        int row = cairn_body_row(world, (cairn_body_id){ (uint64_t)i });
        cairn_vec3 w = rotated(b.q[row], b.omega[row]), v = b.v[row], x = b.x[row];
        const double now[9] = { v.x, v.y, v.z, w.x, w.y, w.z, x.x, x.y, x.z };
        memcpy(t->v[k] + 6 * i, now, 6 * sizeof(double));
        memcpy(t->q[k] + 6 * i, now + 6, 3 * sizeof(double));
        for (int c = 3; c < 6; c++)
            t->q[k][6 * i + c] = k ? t->q[k - 1][6 * i + c] + h * now[c] : 0;
    }
}

/* When the thrown ball first touches the table and the others. */
static void watch(const cairn_world *world, cairn_throw *t, double start)
{
    cairn_contacts c = cairn_world_contacts(world);
    const uint64_t *uid = cairn_world_bodies(world).uid;
    for (int j = 0; j < c.count; j++) {
        uint64_t a = uid[c.body[2 * j]], b = uid[c.body[2 * j + 1]];
        bool thrown = a == 0 || b == 0, floor = a == BALLS || b == BALLS;
        double *event = floor ? &t->table : &t->collision;
        if (thrown && c.impulse[3 * j] > 0 && *event < 0)
            *event = start;
    }
}

static void keep_worst(const cairn_step_report *report, double energy, cairn_throw *t)
{
    t->penetration = fmax(t->penetration, report->certificate.penetration);
    t->rise = fmax(t->rise, report->energy.kinetic + report->energy.potential - energy);
    if (report->candidates > t->candidates)
        t->candidates = report->candidates;
    if (report->linearisations > t->linearisations)
        t->linearisations = report->linearisations;
}

static double total_energy(const cairn_world *world)
{
    double kinetic, potential;
    cairn_world_energy(world, &kinetic, &potential);
    return kinetic + potential;
}

static cairn_status throw_ball(cairn_world *world, cairn_throw *t)
{
    double h = 1.0 / t->steps;
    cairn_step_options options = cairn_step_options_default();
    options.time_step = h;
    options.scheme = "stewart-trinkle";
    options.solver = "lemke";
    options.tolerance = 1e-11;
    note(world, t, 0, h);
    for (int k = 1; k <= t->steps; k++) {
        double energy = total_energy(world);
        cairn_step_report report;
        TRY(cairn_solved_step(world, &options, &report));
        note(world, t, k, h);
        watch(world, t, (k - 1) * h);
        keep_worst(&report, energy, t);
    }
    return CAIRN_OK;
}

cairn_status cairn_balls_throw(int steps, cairn_throw *out)
{
    cairn_world *world = NULL;
    memset(out, 0, sizeof *out);
    out->steps = steps;
    out->table = out->collision = -1;
    out->rise = -INFINITY;
    cairn_status status = four_balls(&world);
    if (status == CAIRN_OK)
        status = throw_ball(world, out);
    cairn_world_destroy(world);
    return status;
}

double cairn_throw_variation(const cairn_throw *t)
{
    double most = 0;
    for (int c = 0; c < BALL_COMPONENTS; c++) {
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
    for (int c = 0; c < BALL_COMPONENTS; c++)
        most = fmax(most, fabs(a[c] - b[c]));
    return most;
}

void cairn_throw_compare(const cairn_throw *t, const cairn_throw *fine, double *velocity,
                         double *position)
{
    int ratio = fine->steps / t->steps;
    *velocity = *position = 0;
    for (int k = 1; k <= fine->steps; k++)
        *velocity += distance(t->v[(k - 1) / ratio + 1], fine->v[k]) / fine->steps;
    for (int k = 0; k <= t->steps; k++)
        *position = fmax(*position, distance(t->q[k], fine->q[k * ratio]));
}

/* ---- many balls or disks --------------------------------------------------------------------- */

static const double side = 10;

static double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * cairn_random_uniform(state);
}

/* ---- box ------------------------------------------------------------------------------------- */

static cairn_status add_box_walls(cairn_world *world)
{
    static const struct {
        cairn_vec3 normal, x;
    } walls[] = { { { 0, 0, 1 }, { 0, 0, 0 } },
                  { { 1, 0, 0 }, { 0, 0, 0 } },
                  { { -1, 0, 0 }, { 10, 0, 0 } },
                  { { 0, 1, 0 }, { 0, 0, 0 } },
                  { { 0, -1, 0 }, { 0, 10, 0 } } };
    for (int i = 0; i < 5; i++)
        TRY(cairn_add_wall(world, walls[i].normal, walls[i].x));
    return CAIRN_OK;
}

/* Drawn in the order radius, shift in x, y, z, mass. */
static cairn_status add_grain(cairn_world *world, double d, const int at[3], uint64_t *state)
{
    cairn_ball ball = { .radius = between(state, 0.8 * d / 2, 0.9 * d / 2) };
    double shift = 0.05 * d / 2;
    ball.x.x = (at[0] + 0.5) * d + between(state, -shift, shift);
    ball.x.y = (at[1] + 0.5) * d + between(state, -shift, shift);
    ball.x.z = (at[2] + 0.5) * d + between(state, -shift, shift);
    ball.mass = between(state, 1, 2);
    return cairn_add_ball(world, &ball);
}

cairn_status cairn_grains_box(int n, cairn_world **out)
{
    uint64_t state = 12345;
    TRY(cairn_plain_world(3, (cairn_vec3){ 0, 0, -1 }, 0, out));
    TRY(add_box_walls(*out));
    for (int i = 0; i < n * n * n; i++) {
        const int at[3] = { i % n, i / n % n, i / (n * n) };
        TRY(add_grain(*out, side / n, at, &state));
    }
    return CAIRN_OK;
}

double cairn_grains_box_step(int n)
{
    return 0.2 * 0.9 * side / (2 * n) / sqrt(2 * side);
}

/* ---- column ---------------------------------------------------------------------------------- */

cairn_status cairn_grains_column(int dimension, int n, double mu, cairn_world **out)
{
    uint64_t state = 1;
    double d = side / n, r = cairn_grains_column_radius(n);
    bool flat = dimension == 2;
    cairn_vec3 up = { 0, flat, !flat }, down = { 0, -flat, -!flat };
    TRY(cairn_plain_world(dimension, down, mu, out));
    TRY(cairn_add_wall(*out, up, (cairn_vec3){ 0, 0, 0 }));
    for (int i = 0; i < (flat ? n * n : n * n * n); i++) {
        int a = i % n, b = flat ? 0 : i / n % n, layer = flat ? i / n : i / (n * n);
        double x = (a + 0.5) * d + (layer == 0 ? r / 2 : 0), z = (layer + 0.5) * d;
        double y = (b + 0.5) * d + (layer == 0 ? r / 2 : 0);
        cairn_ball ball = { .radius = r, .mass = between(&state, 1, 2) };
        ball.x = flat ? (cairn_vec3){ x, z, 0 } : (cairn_vec3){ x, y, z };
        TRY(cairn_add_ball(*out, &ball));
    }
    return CAIRN_OK;
}

double cairn_grains_column_radius(int n)
{
    return side / (2 * (n + 1));
}

double cairn_grains_column_step(int n)
{
    return 0.1 * cairn_grains_column_radius(n) / sqrt(2 * side);
}

/* ---- ellipses -------------------------------------------------------------------------------- */

/* Small fixed disks side by side, their tops at y = 0. */
static cairn_status add_glued_disks(cairn_world *world)
{
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 2);
    def.shape.radius = 0.045;
    for (int i = 0; i < ELLIPSE_GLUED; i++) {
        def.position = (cairn_vec3){ 0.09 * (i - ELLIPSE_GLUED / 2), -0.045, 0 };
        TRY(cairn_body_create(world, &def, NULL));
    }
    return CAIRN_OK;
}

/* Drawn in the order horizontal semi-axis, mass. */
static cairn_status add_ellipse(cairn_world *world, int i, uint64_t *state)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 2);
    def.shape.semi_axes = (cairn_vec3){ between(state, 0.22, 0.68), 0.45, 0 };
    def.mass = between(state, 1, 2);
    def.position = (cairn_vec3){ 1.38 * (i % 10 - 4.5), 0.5 + 0.92 * (i / 10), 0 };
    return cairn_body_create(world, &def, NULL);
}

cairn_status cairn_grains_ellipses(cairn_world **out)
{
    uint64_t state = 1;
    TRY(cairn_plain_world(2, (cairn_vec3){ 0, -5, 0 }, 0, out));
    TRY(add_glued_disks(*out));
    for (int i = 0; i < ELLIPSES; i++)
        TRY(add_ellipse(*out, i, &state));
    return CAIRN_OK;
}

/* ---- shaken box ------------------------------------------------------------------------------ */

static cairn_status add_shaken_wall(cairn_world *world, const cairn_nut_box *box, cairn_vec3 normal,
                                    double x)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_driver shake = cairn_driver_default(CAIRN_DRIVER_SHAKE);
    shake.amplitude = (cairn_vec3){ 0, box->amplitude, 0 };
    shake.frequency = 1 / box->period;
    shake.start = box->settle;
    def.motion = CAIRN_MOTION_DRIVEN;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 2);
    def.shape.axis = normal;
    def.position = (cairn_vec3){ x, 0, 0 };
    def.drivers = &shake;
    def.driver_count = 1;
    return cairn_body_create(world, &def, NULL);
}

/* mass (r/0.5)^2; inertia m r^2/2, that of a disk */
static cairn_status add_disk(cairn_world *world, double radius, double x, double y)
{
    cairn_ball ball = { .radius = radius, .mass = 4 * radius * radius, .x = { x, y, 0 } };
    return cairn_add_ball(world, &ball);
}

/* Small disks row by row, 1.15 apart, not where the big one is. */
static cairn_status add_small(cairn_world *world, const cairn_nut_box *box)
{
    const double apart = 1.15, middle = box->width / 2;
    uint64_t state = box->seed;
    int across = (int)((box->width - 0.2) / apart), placed = 0;
    for (int i = 0; placed < box->disks; i++) {
        double x = 0.7 + apart * (i % across) + between(&state, 0, 0.02);
        double y = 0.6 + apart * (i / across), radius = between(&state, 0.45, 0.55);
        if (hypot(x - middle, y - box->big) < box->big + 0.56)
            continue;
        TRY(add_disk(world, radius, x, y));
        placed++;
    }
    return CAIRN_OK;
}

cairn_status cairn_grains_nut(const cairn_nut_box *box, cairn_world **out)
{
    cairn_world_def def = cairn_world_def_default();
    const cairn_material_def material = { .friction = 0.5, .restitution = box->restitution };
    def.dimension = 2;
    def.gravity = (cairn_vec3){ 0, -9.81, 0 };
    TRY(cairn_world_create(&def, out));
    TRY(cairn_material_create(*out, &material, NULL));
    TRY(add_shaken_wall(*out, box, (cairn_vec3){ 0, 1, 0 }, 0));
    TRY(add_shaken_wall(*out, box, (cairn_vec3){ 1, 0, 0 }, 0));
    TRY(add_shaken_wall(*out, box, (cairn_vec3){ -1, 0, 0 }, box->width));
    TRY(add_disk(*out, box->big, box->width / 2, box->big));
    return add_small(*out, box);
}

int cairn_grains_above(const cairn_world *world)
{
    cairn_bodies b = cairn_world_bodies(world);
    int above = 0;
    int big = cairn_body_row(world, (cairn_body_id){ NUT_BIG });
    for (int i = b.held; i < b.count; i++)
        above += b.x[i].y > b.x[big].y;
    return above;
}

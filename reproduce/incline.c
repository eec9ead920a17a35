/* incline.c - see incline.h. */
#include "reproduce/incline.h"

#include <math.h>
#include <string.h>

#include "reproduce/bodies.h"
#include "reproduce/memory.h"

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

/* four_balls.c - see four_balls.h. */
#include "reproduce/four_balls.h"

#include <math.h>
#include <string.h>

#include "reproduce/bodies.h"
#include "reproduce/memory.h"

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

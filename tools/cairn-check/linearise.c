/* linearise.c - contacts evaluated where the step ends: at q^ = q + h v^, with v^ of each body in
 * contact from the file. The step ends at h max(|v+ - v^| + R |w+ - w^|) from there, R the radius;
 * where more than one turn was allowed that is within the tolerance of the speed. */
#include "run.h"
#include "shapes.h"

enum { TOUCHED = 1, JOINED = 2 };

static void mark_touched(check_run *run)
{
    for (int body = 0; body < run->bodies.count; body++)
        run->touched[body] = 0;
    for (int k = 0; k < 2 * run->contacts.count; k++)
        run->touched[run->contacts.body[k]] = TOUCHED;
    for (int k = 0; k < run->joints_after.count; k++)
        for (int side = 0; side < 2; side++) {
            int body = run->joints.body[2 * run->joints_after.index[k] + side];
            if (body >= 0)
                run->touched[body] |= JOINED;
        }
}

static void place(check_run *run, int i)
{
    int body = run->guesses.body[i], row = run->before.row[body];
    double h = run->settings.h;
    quat q = quat_product(run->before.q[row], quat_turn(vec_times(h, run->guesses.omega[i])));
    double norm = quat_norm(q);
    run->v_eval[body] = run->guesses.v[i];
    run->omega_eval[body] = run->guesses.omega[i];
    run->x_eval[body] = vec_add(run->before.x[row], h, run->guesses.v[i]);
    run->q_eval[body] = (quat){ q.w / norm, q.x / norm, q.y / norm, q.z / norm };
}

/* Every dynamic body in contact or joined has one v^, and nobody else. */
static void count_guesses(check_run *run)
{
    static const vec zero = { 0, 0, 0 };
    double wanted = 0;
    for (int row = 0; row < run->before.count; row++) {
        int body = run->before.index[row];
        bool dynamic = run->bodies.motion[body] == CHECK_DYNAMIC;
        run->v_eval[body] = run->omega_eval[body] = zero;
        wanted += run->settings.linearisations > 0 && dynamic && run->touched[body];
    }
    check_same(run->report, check_at(run, NULL, 0, "bodies with v^"), run->guesses.count, wanted,
               0);
}

void check_place_guesses(check_run *run)
{
    mark_touched(run);
    count_guesses(run);
    for (int i = 0; i < run->guesses.count; i++) {
        int body = run->guesses.body[i];
        bool good = run->bodies.motion[body] == CHECK_DYNAMIC && run->before.row[body] >= 0;
        good = good && (i == 0 || body > run->guesses.body[i - 1]) && run->touched[body];
        check_true(run->report, check_at(run, "body", body, "v^"), good,
                   "not a dynamic body in contact or joined, in order");
        if (good && run->settings.linearisations > 0)
            place(run, i);
    }
}

/* ---- after the step ------------------------------------------------------------------------- */

/* Bounds over the surfaces of bodies. */
typedef struct bounds {
    double change, change_size, speed;
    bool complete; /* all bodies are balls */
} bounds;

static void add_body(const check_run *run, int body, bounds *b)
{
    int row = run->after.row[body];
    double radius = check_radius(run, body);
    vec v = run->after.v[row], omega = run->after.omega[row];
    double turned = vec_norm(vec_add(omega, -1, run->omega_eval[body]));
    double went = vec_norm(vec_add(v, -1, run->v_eval[body])) + radius * turned;
    b->change = fmax(b->change, went);
    b->change_size = fmax(b->change_size, vec_norm(v) + vec_norm(run->v_eval[body]) +
                                              radius * (vec_norm(omega) + turned));
    b->speed = fmax(b->speed, vec_norm(run->v_free[body]) + radius * vec_norm(omega));
    b->complete = b->complete && check_is_ball(run, body);
}

void check_linearised(check_run *run)
{
    long i = run->step - 1;
    double h = run->settings.h, turns = run->steps.linearisations[i];
    bounds b = { .complete = true };
    int most = run->settings.linearisations;
    check_between(run->report, check_at(run, NULL, 0, "linearisations"), turns, 1,
                  most > 0 ? most : 1);
    for (int k = 0; k < run->guesses.count; k++)
        if (run->after.row[run->guesses.body[k]] >= 0 &&
            run->touched[run->guesses.body[k]] & TOUCHED)
            add_body(run, run->guesses.body[k], &b);
    if (!b.complete)
        return;
    check_same(run->report, check_at(run, NULL, 0, "linearisation_error"),
               run->steps.linearisation_error[i], h * b.change, h * b.change_size);
    double most_change = fmax(run->settings.tolerance, 1e-12) * b.speed;
    if (most > 1 && run->steps.converged[i] == 1)
        check_between(run->report, check_at(run, NULL, 0, "change in the last linearisation"),
                      b.change, 0, most_change + CHECK_ROUNDING * b.change_size);
}

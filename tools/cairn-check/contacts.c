/* contacts.c - the contacts of a step: geometry from closed forms, tangents, friction and
 * restitution of the pair, and relative velocities
 *     u = (v + w x arm)_a - (v + w x arm)_b   in the frame (n, t, n x t). */
#include "run.h"
#include "shapes.h"

/* ---- geometry ------------------------------------------------------------------------------- */

static void check_geometry(check_run *run, int j)
{
    const check_contacts *c = &run->contacts;
    check_witness found[CHECK_WITNESSES];
    int a = c->body[2 * j], b = c->body[2 * j + 1], k = c->feature[j];
    int count = check_witnesses(run, a, b, run->x_eval, run->q_eval, found);
    if (count == 0) { /* at least what every contact has */
        run->report->left++;
        check_same(run->report, check_at(run, "contact", j, "|normal|"), vec_norm(c->normal[j]), 1,
                   1);
        return;
    }
    bool known = k >= 0 && k < count;
    check_true(run->report, check_at(run, "contact", j, "feature"), known,
               "the pair has no such contact");
    if (!known)
        return;
    check_same(run->report, check_at(run, "contact", j, "gap"), c->gap[j], found[k].gap,
               found[k].size);
    check_same_vec(run->report, check_at(run, "contact", j, "normal"), c->normal[j],
                   found[k].normal, found[k].turn);
    check_same_vec(run->report, check_at(run, "contact", j, "point"), c->point[j], found[k].point,
                   found[k].size * found[k].turn);
}

/* The documented tangents in 3D; on the border of two choices rounding decides. */
static vec tangent_3d(vec n, vec stored)
{
    const vec choices[3] = { vec_times(1 / hypot(n.x, n.y), (vec){ n.y, -n.x, 0 }),
                             check_perpendicular(n, false), check_perpendicular(n, true) };
    const bool doubtful[3] = { fabs(fabs(n.z) - 0.9) < 1e-9, fabs(fabs(n.z) - 0.9) < 1e-9,
                               fabs(fabs(n.x) - 0.6) < 1e-9 && fabs(n.z) > 0.9 - 1e-9 };
    int right = fabs(n.z) <= 0.9 ? 0 : 1;
    for (int k = 0; k < 3; k++)
        if (doubtful[k] && vec_norm(vec_add(stored, -1, choices[k])) < 1e-6)
            right = k;
    return choices[right];
}

static void check_tangent(check_run *run, int j)
{
    vec n = run->contacts.normal[j], stored = run->contacts.tangent[j];
    vec t = run->settings.dimension == 2 ? (vec){ -n.y, n.x, 0 } : tangent_3d(n, stored);
    check_same_vec(run->report, check_at(run, "contact", j, "tangent"), stored, t, 1);
}

/* mu falls with the sliding speed: it lies between its values a rounding further and nearer. */
static void check_mu(check_run *run, int j)
{
    const double *u = run->by_contact.velocity + (size_t)j * (size_t)run->settings.dimension;
    double speed = run->settings.dimension == 3 ? hypot(u[1], u[2]) : fabs(u[1]);
    double doubt = CHECK_ROUNDING * run->by_contact.size[j], mu = run->contacts.mu[j];
    bool moves = run->materials.vary && !run->settings.scheme->frictionless;
    double low = check_friction(run, j, moves ? speed + doubt : 0);
    double high = check_friction(run, j, moves ? fmax(0, speed - doubt) : 0);
    double slack = run->materials.vary ? 1e-14 * fabs(high) : 0;
    check_between(run->report, check_at(run, "contact", j, "mu"), mu, low - slack, high + slack);
    run->by_contact.mu[j] = run->settings.scheme->frictionless ? 0 : mu;
}

static void check_materials_of(check_run *run, int j)
{
    const check_contacts *c = &run->contacts;
    const check_materials *m = &run->materials;
    const double *tables[] = { m->friction, m->restitution, m->poisson };
    int a = run->bodies.material[c->body[2 * j]], b = run->bodies.material[c->body[2 * j + 1]];
    size_t there = (size_t)a * (size_t)m->count + (size_t)b;
    size_t back = (size_t)b * (size_t)m->count + (size_t)a;
    check_same(run->report, check_at(run, "contact", j, "restitution"), c->restitution[j],
               m->restitution[there], 0);
    check_same(run->report, check_at(run, "contact", j, "friction of the pair at rest"),
               m->friction[there], check_friction(run, j, 0), 1e-2 * m->friction[there]);
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++)
        check_same(run->report, check_at(run, "contact", j, "law of the pair, either order"),
                   tables[k][there], tables[k][back], 0);
}

/* ---- velocities ----------------------------------------------------------------------------- */

/* One side of a contact. */
typedef struct side {
    int body;
    double sign;
    vec arm;     /* m: from the centre to the witness point          */
    double size; /* m: what rounding of the arm is relative to       */
} side;

static side side_of(const check_run *run, int j, int which)
{
    const check_contacts *c = &run->contacts;
    int body = c->body[2 * j + which];
    vec on = vec_add(c->point[j], (which ? -0.5 : 0.5) * c->gap[j], c->normal[j]);
    return (side){ body, which ? -1 : 1, vec_add(on, -1, run->x_eval[body]),
                   vec_norm(c->point[j]) + vec_norm(run->x_eval[body]) };
}

/* Adds the velocity of a side's point, seen in the contact frame; returns its size. */
static double add_velocity(const check_run *run, int j, const side *s, const vec motion[2],
                           double *u)
{
    const check_contacts *c = &run->contacts;
    vec turning = quat_rotate(check_rows_q(run, s->body), motion[1]);
    vec at = vec_add(motion[0], 1, vec_cross(turning, s->arm));
    u[0] += s->sign * vec_dot(at, c->normal[j]);
    u[1] += s->sign * vec_dot(at, c->tangent[j]);
    if (run->settings.dimension == 3)
        u[2] += s->sign * vec_dot(at, vec_cross(c->normal[j], c->tangent[j]));
    return vec_norm(motion[0]) + vec_norm(turning) * s->size;
}

/* e.W e of one side for a direction e: 1/m + (R'(arm x e))' J^-1 (R'(arm x e)). */
static double compliance(const check_run *run, const side *s, vec e)
{
    double mass = run->bodies.mass[s->body];
    vec J = run->bodies.inertia[s->body];
    vec turn = quat_rotate_back(check_rows_q(run, s->body), vec_cross(s->arm, e));
    double sum = mass > 0 ? 1 / mass : 0;
    if (run->settings.dimension == 3) {
        sum += J.x > 0 ? turn.x * turn.x / J.x : 0;
        sum += J.y > 0 ? turn.y * turn.y / J.y : 0;
    }
    return sum + (J.z > 0 ? turn.z * turn.z / J.z : 0);
}

static double side_weight(const check_run *run, int j, const side *s)
{
    vec n = run->contacts.normal[j], t = run->contacts.tangent[j];
    double sum = compliance(run, s, n) + compliance(run, s, t);
    if (run->settings.dimension == 3)
        sum += compliance(run, s, vec_cross(n, t));
    return sum / run->settings.dimension;
}

static void add_side(check_run *run, int j, int which)
{
    size_t first = (size_t)j * (size_t)run->settings.dimension;
    check_derived *out = &run->by_contact;
    side s = side_of(run, j, which);
    int before = run->before.row[s.body], after = run->after.row[s.body];
    bool dynamic = run->bodies.motion[s.body] == CHECK_DYNAMIC;
    vec free[2] = { run->v_free[s.body], run->omega_free[s.body] };
    vec new[2] = { run->after.v[after], run->after.omega[after] };
    vec old[2] = { run->before.v[before], run->before.omega[before] };
    vec hit[2] = { run->hit[s.body].v, run->hit[s.body].omega };
    vec guessed[2] = { run->v_eval[s.body], run->omega_eval[s.body] };
    double normal[3] = { 0, 0, 0 };
    out->size[j] += add_velocity(run, j, &s, dynamic ? new : free, out->velocity + first);
    out->size[j] += add_velocity(run, j, &s, free, out->free + first);
    out->size[j] += add_velocity(run, j, &s, dynamic ? old : free, out->before + first);
    out->size[j] += add_velocity(run, j, &s, dynamic ? hit : free, out->compressed + first);
    out->size[j] += add_velocity(run, j, &s, dynamic ? guessed : free, normal);
    out->guess[j] += normal[0];
    if (dynamic)
        out->weight[j] += side_weight(run, j, &s);
    else
        add_velocity(run, j, &s, free, out->imposed + first);
}

static void find_velocities(check_run *run, int j)
{
    int d = run->settings.dimension;
    size_t first = (size_t)j * (size_t)d;
    check_derived *out = &run->by_contact;
    out->weight[j] = out->guess[j] = 0;
    out->size[j] = fabs(run->contacts.bias[j]);
    for (size_t i = first; i < first + (size_t)d; i++)
        out->velocity[i] = out->free[i] = out->before[i] = out->imposed[i] = out->compressed[i] = 0;
    add_side(run, j, 0);
    add_side(run, j, 1);
    for (int i = 0; i < d; i++)
        check_same(run->report,
                   check_at(run, "contact", j,
                            i ? "velocity along a tangent" : "velocity along the normal"),
                   run->contacts.velocity[first + (size_t)i], out->velocity[first + (size_t)i],
                   out->size[j]);
}

void check_contacts_of(check_run *run)
{
    int count = run->contacts.count;
    double active = 0;
    for (int j = 0; j < count; j++) {
        check_geometry(run, j);
        check_tangent(run, j);
        check_materials_of(run, j);
        find_velocities(run, j);
        check_mu(run, j);
        active += run->contacts.impulse[(size_t)j * (size_t)run->settings.dimension] > 0;
    }
    check_impact(run);
    for (int j = 0; j < count; j++)
        check_bias(run, j);
    check_same(run->report, check_at(run, NULL, 0, "candidates"),
               run->steps.candidates[run->step - 1], count, 0);
    check_same(run->report, check_at(run, NULL, 0, "active"), run->steps.active[run->step - 1],
               active, 0);
}

/* contacts.c - the contacts of a step, and where they are evaluated. */
#include "law.h"
#include "shapes.h"

/* ---- contacts -------------------------------------------------------------------------------- */

/* The contacts of a step: geometry from closed forms, tangents, friction and restitution of the
 * pair, and relative velocities
 *     u = (v + w x arm)_a - (v + w x arm)_b   in the frame (n, t, n x t). */

/* ---- geometry ------------------------------------------------------------------------------- */

static void check_gap_and_normal(check_run *run, int j)
{
    const check_contacts *c = &run->contacts;
    if (run->settings.dimension == 2) {
        check_same(run->report, check_at(run, "contact", j, "point.z in 2D"), c->point[j].z, 0, 0);
        check_same(run->report, check_at(run, "contact", j, "normal.z in 2D"), c->normal[j].z, 0,
                   0);
    }
    check_witness found[CHECK_WITNESSES];
    int a = c->body[2 * j], b = c->body[2 * j + 1], k = c->feature[j];
    vec own = run->x_eval[b];
    run->x_eval[b] = check_x_of(run, j, 1); /* of an image the pair has the same distance */
    int count = check_witnesses(run, a, b, run->x_eval, run->q_eval, found);
    run->x_eval[b] = own;
    if (count == 0) { /* at least the size of every contact */
        bool known = check_witness_points(run, j);
        run->report->gaps[known ? CHECK_BY_POINTS : CHECK_NOT_AT_ALL]++;
        check_same(run->report, check_at(run, "contact", j, "|normal|"), vec_norm(c->normal[j]), 1,
                   1);
        return;
    }
    run->report->gaps[CHECK_BY_FORMULA]++;
    bool listed = k >= 0 && k < count;
    check_true(run->report, check_at(run, "contact", j, "feature"), listed,
               "the pair has no such contact");
    if (!listed)
        return;
    check_same(run->report, check_at(run, "contact", j, "gap"), c->gap[j], found[k].gap,
               found[k].size);
    check_same_vec(run->report, check_at(run, "contact", j, "normal"), c->normal[j],
                   found[k].normal, found[k].turn);
    check_same_vec(run->report, check_at(run, "contact", j, "point"), c->point[j], found[k].point,
                   found[k].size * found[k].turn);
}

/* The documented tangents in 3D; at the border between two choices rounding decides. */
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
    double along = check_tangent_along(run, j, &t);
    check_same_vec(run->report, check_at(run, "contact", j, "tangent"), stored, t,
                   along > 0 ? 1 + 1 / along : 1);
}

/* mu falls with the sliding speed: it lies between its values one rounding above and below. */
static void check_mu(check_run *run, int j)
{
    const double *u = run->by_contact.velocity + (size_t)j * (size_t)run->settings.components;
    double speed = run->settings.dimension == 3 ? hypot(u[1], u[2]) : fabs(u[1]);
    double doubt = CHECK_ROUNDING * run->by_contact.size[j], mu = run->contacts.mu[j];
    bool moves = run->materials.vary && !run->settings.scheme->frictionless;
    double low = check_friction(run, j, moves ? speed + doubt : 0);
    double high = check_friction(run, j, moves ? fmax(0, speed - doubt) : 0);
    double slack = run->materials.vary ? 1e-14 * fabs(high) : 0;
    check_between(run->report, check_at(run, "contact", j, "mu"), mu, low - slack, high + slack);
    run->by_contact.mu[j] =
        run->settings.scheme->frictionless ? 0 : fmax(mu, run->contacts.mu_2[j]);
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
    if (!m->in_step) /* the matrix is that of the start */
        check_same(run->report, check_at(run, "contact", j, "friction of the pair at rest"),
                   m->friction[there], check_friction(run, j, 0), 1e-2 * m->friction[there]);
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++)
        check_same(run->report, check_at(run, "contact", j, "law of the pair, either order"),
                   tables[k][there], tables[k][back], 0);
}

/* ---- velocities ----------------------------------------------------------------------------- */

/* Directions of the components of a contact: sliding (tangents times D) and rotation. */
typedef struct frame {
    vec row[3], turn[3];
} frame;

static frame frame_of(const check_run *run, int j)
{
    const check_settings *s = &run->settings;
    const double *share = run->by_contact.share + 2 * j;
    vec n = run->contacts.normal[j], t = run->contacts.tangent[j], b = vec_cross(n, t);
    frame f = { .row = { n, vec_times(share[0], t), vec_times(share[1], b) } };
    f.turn[0] = s->dimension == 2 ? (vec){ 0, 0, 1 } : t;
    f.turn[1] = b;
    f.turn[s->rolling] = s->spinning ? n : f.turn[s->rolling];
    return f;
}

/* One side of a contact. */
typedef struct side {
    int body;
    double sign;
    vec arm;     /* m: from the centre to the witness point          */
    double size; /* m: size that rounding of the arm is relative to  */
} side;

static side side_of(const check_run *run, int j, int which)
{
    const check_contacts *c = &run->contacts;
    int body = c->body[2 * j + which];
    vec on = vec_add(c->point[j], (which ? -0.5 : 0.5) * c->gap[j], c->normal[j]);
    vec x = check_x_of(run, j, which);
    return (side){ body, which ? -1 : 1, vec_add(on, -1, x), vec_norm(c->point[j]) + vec_norm(x) };
}

/* Adds the velocity of a side's point, and its rotation, in the contact frame; returns its size. */
static double add_velocity(const check_run *run, const frame *f, const side *s, const vec motion[2],
                           double *u)
{
    const check_settings *set = &run->settings;
    vec turning = quat_rotate(check_rows_q(run, s->body), motion[1]);
    vec at = vec_add(motion[0], 1, vec_cross(turning, s->arm));
    int turns = set->rolling + set->spinning;
    for (int i = 0; i < set->dimension; i++)
        u[i] += s->sign * vec_dot(at, f->row[i]);
    for (int i = 0; i < turns; i++)
        u[set->dimension + i] += s->sign * vec_dot(turning, f->turn[i]);
    return vec_norm(motion[0]) + vec_norm(turning) * (s->size + (turns > 0));
}

/* e.W e of one side for a direction of rotation, and of sliding: 1/m + (R'(arm x e))' J^-1
 * (...). */
static double turning_compliance(const check_run *run, const side *s, vec e)
{
    vec turn = quat_rotate_back(check_rows_q(run, s->body), e);
    return vec_dot(turn, vec_scale(check_inverse_inertia(run, s->body), turn));
}

static double compliance(const check_run *run, const side *s, vec e)
{
    double mass = vec_dot(e, vec_scale(check_inverse_mass(run, s->body), e));
    return mass + turning_compliance(run, s, vec_cross(s->arm, e));
}

/* Adds a side to the diagonal of W. */
static void add_weight(const check_run *run, const frame *f, const side *s, double *W)
{
    const check_settings *set = &run->settings;
    for (int i = 0; i < set->dimension; i++)
        W[i] += compliance(run, s, f->row[i]);
    for (int i = 0; i < set->rolling + set->spinning; i++)
        W[set->dimension + i] += turning_compliance(run, s, f->turn[i]);
}

/* Means of the diagonal of W: plain, and with rotation converted to a speed by the length l =
 * sqrt(W_NN/(mean of W_kk)) of its part. */
static void weigh(check_run *run, int j, const double *W)
{
    const check_settings *s = &run->settings;
    double *length = run->by_contact.length + 2 * j, plain = 0, scaled = 0;
    const int first[2] = { s->dimension, s->dimension + s->rolling };
    const int count[2] = { s->rolling, s->spinning };
    for (int i = 0; i < s->dimension; i++)
        plain += W[i];
    scaled = plain;
    for (int part = 0; part < 2; part++) {
        double sum = 0;
        for (int i = first[part]; i < first[part] + count[part]; i++)
            sum += W[i];
        length[part] = W[0] > 0 && sum > 0 ? sqrt(W[0] * count[part] / sum) : 1;
        plain += sum;
        scaled += length[part] * length[part] * sum;
    }
    run->by_contact.weight[j] = plain / s->components;
    run->by_contact.scaled[j] = scaled / s->components;
}

/* Adds the contribution of one side to the velocities of contact j; W is its compliance. */
static void add_side(check_run *run, int j, int which, const frame *f, double *W)
{
    size_t first = (size_t)j * (size_t)run->settings.components;
    check_derived *out = &run->by_contact;
    side s = side_of(run, j, which);
    int before = run->before.row[s.body], after = run->after.row[s.body];
    bool dynamic = run->bodies.motion[s.body] == CHECK_DYNAMIC;
    vec free[2] = { run->v_start[s.body], run->omega_start[s.body] };
    vec new[2] = { run->after.v[after], run->after.omega[after] };
    vec old[2] = { run->before.v[before], run->omega_before[s.body] };
    vec made[2] = { run->expected[s.body].v, run->expected[s.body].omega };
    bool asleep = dynamic && run->after.asleep[after];
    vec hit[2] = { run->hit[s.body].v, run->hit[s.body].omega };
    vec guessed[2] = { run->v_eval[s.body], run->omega_eval[s.body] };
    double normal[CONE_COMPONENTS] = { 0 };
    out->size[j] += add_velocity(run, f, &s, dynamic ? new : free, out->velocity + first);
    double size = add_velocity(run, f, &s,
                               asleep    ? made
                               : dynamic ? new
                                         : free,
                               out->judged + first);
    out->size[j] += asleep ? size : 0;
    out->size[j] += add_velocity(run, f, &s, free, out->free + first);
    out->size[j] += add_velocity(run, f, &s, dynamic ? old : free, out->before + first);
    out->size[j] += add_velocity(run, f, &s, dynamic ? hit : free, out->compressed + first);
    out->size[j] += add_velocity(run, f, &s, dynamic ? guessed : free, normal);
    out->guess[j] += normal[0];
    if (dynamic)
        add_weight(run, f, &s, W);
    else
        add_velocity(run, f, &s, free, out->imposed + first);
}

double check_relative(const check_run *run, int j, const check_velocity *motion, bool imposed,
                      double *u)
{
    int m = run->settings.components;
    frame f = frame_of(run, j);
    double size = 0;
    for (int i = 0; i < m; i++)
        u[i] = imposed ? run->by_contact.imposed[(size_t)j * (size_t)m + (size_t)i] : 0;
    for (int which = 0; which < 2; which++) {
        side s = side_of(run, j, which);
        const check_velocity *its = &motion[s.body];
        if (run->bodies.motion[s.body] == CHECK_DYNAMIC)
            size += add_velocity(run, &f, &s, (const vec[2]){ its->v, its->omega }, u);
    }
    for (int i = 0; i < m; i++)
        size += imposed ? fabs(run->by_contact.imposed[(size_t)j * (size_t)m + (size_t)i]) : 0;
    return size;
}

/* Belts are included in all tangential velocities. */
static void add_belt(check_run *run, int j, int which, const frame *f)
{
    size_t first = (size_t)j * (size_t)run->settings.components;
    check_derived *out = &run->by_contact;
    double *all[] = { out->velocity, out->judged,     out->free,
                      out->before,   out->compressed, out->imposed };
    int body = run->contacts.body[2 * j + which];
    if (run->bodies.motion[body] == CHECK_DYNAMIC)
        return;
    vec belt = check_belt(run, body, run->contacts.normal[j]);
    for (int i = 1; i < run->settings.dimension; i++)
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
            all[k][first + (size_t)i] += (which ? -1 : 1) * vec_dot(belt, f->row[i]);
    out->size[j] += vec_norm(belt);
}

/* So is the velocity of an image relative to its body, along all axes. */
static void add_drift(check_run *run, int j, const frame *f)
{
    size_t first = (size_t)j * (size_t)run->settings.components;
    check_derived *out = &run->by_contact;
    double *all[] = { out->velocity, out->judged,     out->free,
                      out->before,   out->compressed, out->imposed };
    if (!run->cell.there)
        return;
    vec drift = check_drift(run, j);
    for (int i = 0; i < run->settings.dimension; i++)
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
            all[k][first + (size_t)i] -= vec_dot(drift, f->row[i]);
    out->guess[j] -= vec_dot(drift, f->row[0]);
    out->size[j] += vec_norm(drift);
}

/* The stored velocities: along unscaled tangents, and of rotation. */
static void check_velocities(check_run *run, int j)
{
    const check_settings *s = &run->settings;
    int d = s->dimension, turns = d == 3 ? 3 : 1;
    const double *u = run->by_contact.velocity + (size_t)j * (size_t)s->components;
    const double *stored = run->contacts.velocity + (size_t)j * (size_t)d;
    const double *turning = run->contacts.turning + (size_t)j * (size_t)turns;
    double size = run->by_contact.size[j];
    check_same(run->report, check_at(run, "contact", j, "velocity along the normal"), stored[0],
               u[0], size);
    for (int i = 1; i < d; i++) {
        double share = run->by_contact.share[2 * j + i - 1];
        check_same(run->report, check_at(run, "contact", j, "velocity along a tangent"), stored[i],
                   u[i] / share, size);
    }
    for (int i = 0; i < turns; i++) {
        bool spins = d == 3 && i == 2, there = spins ? s->spinning > 0 : s->rolling > 0;
        int row = d + (spins ? s->rolling : i);
        check_same(run->report, check_at(run, "contact", j, "turning"), turning[i],
                   there ? u[row] : 0, there ? size : 0);
    }
}

static void find_velocities(check_run *run, int j)
{
    int m = run->settings.components;
    size_t first = (size_t)j * (size_t)m;
    check_derived *out = &run->by_contact;
    double W[CONE_COMPONENTS] = { 0 };
    check_surface_prepare(run, j);
    frame f = frame_of(run, j);
    out->guess[j] = 0;
    out->size[j] = fabs(run->contacts.bias[j]);
    for (size_t i = first; i < first + (size_t)m; i++)
        out->velocity[i] = out->judged[i] = out->free[i] = out->before[i] = out->imposed[i] =
            out->compressed[i] = 0;
    for (int which = 0; which < 2; which++) {
        add_side(run, j, which, &f, W);
        add_belt(run, j, which, &f);
    }
    add_drift(run, j, &f);
    weigh(run, j, W);
    check_velocities(run, j);
}

void check_contacts_of(check_run *run)
{
    int count = run->contacts.count;
    double active = 0, doubtful = 0;
    for (int j = 0; j < count; j++) {
        check_gap_and_normal(run, j);
        check_tangent(run, j);
        check_materials_of(run, j);
        find_velocities(run, j);
        check_mu(run, j);
        check_surface(run, j);
        double r = run->by_contact.r[(size_t)j * (size_t)run->settings.components];
        double pull = run->settings.h * run->contacts.adhesion[j];
        bool lost = fabs(r) <= CHECK_ROUNDING * pull;
        doubtful += lost && pull > 0; /* the compensation of adhesion was subtracted and added */
        active += r > 0 && !lost;
    }
    check_chain(run);
    check_impact(run);
    for (int j = 0; j < count; j++)
        check_bias(run, j);
    check_reduced(run);
    check_same(run->report, check_at(run, NULL, 0, "candidates"),
               run->steps.candidates[run->step - 1], count, 0);
    check_between(run->report, check_at(run, NULL, 0, "active"), run->steps.active[run->step - 1],
                  active, active + doubtful);
}

/* ---- contacts where the step ends ------------------------------------------------------------ */

/* Contacts evaluated where the step ends: at q^ = q + h v^, with v^ of each body in contact from
 * the file. The step ends at a distance of h max(|v+ - v^| + R |w+ - w^|) from there, R the radius;
 * where more than one iteration was allowed this is within the tolerance of the speed. */

enum { TOUCHED = 1, JOINED = 2 };

static void mark_touched(check_run *run)
{
    for (int body = 0; body < run->bodies.count; body++)
        run->touched[body] = 0;
    for (int k = 0; k < 2 * run->contacts.count; k++)
        run->touched[run->contacts.body[k]] = TOUCHED;
    for (int k = 0; k < run->joints_after.count; k++)
        for (int end = 0; end < 2; end++) {
            int body = run->joints.body[2 * run->joints_after.index[k] + end];
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

/* Exactly the dynamic bodies in contact or on a joint have a v^. */
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
                   "not a dynamic body in contact or on a joint, or out of order");
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

/* certificate.c - the certificate of a step, in physical units, its energy ledger, and the
 * forces that probes ask for.
 *
 * With w = trace(W_jj)/d, the mean inverse mass that a contact feels:
 *     open             o = u_N + b, for the convex law u_N + b - mu |u_T|
 *     gap error        h |min(o, w r_N)|, 0 if the contact is open or pushes, not both
 *     complementarity  r_N o
 *     friction         (r_T.u_T + |r_T||u_T|)/h, 0 if friction opposes sliding
 *     dilatation       h mu |u_T| where the convex law pushes: the gap it keeps while sliding
 *     spurious work    sum r_N mu |u_T|, see below
 * Rolling and spinning friction are included: mu |u_T| + mu_R |u_R| + mu_S |u_S|. r_N is the normal
 * impulse including the part that balances adhesion (material.c). If friction is anisotropic, r_T
 * and u_T are those of the scaled tangents; dot products and work are the same.
 *
 * Spurious work: a contact that slides and pushes has u_N + b = mu |u_T| by the convex law and 0 by
 * Coulomb's. Its impulse satisfies r.(u + b n) = 0: the energy that friction takes when sliding
 * begins, mu r_N |u_T|, is returned as work r_N (u_N + b) in lifting the contact. While the speed
 * stays constant this energy is stored: normal force r_N/h times the gap h mu |u_T|. Coulomb's law
 * has none. With a sliding correction s, |u_T| - s replaces |u_T|.
 *
 * In an impact by Poisson's law r is the impulse of the decompression, and r_N in the gap error and
 * complementarity is the part of it above its least value. The penetration is computed later, in
 * penetration.c. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cone.h"
#include "problem/cut.h"
#include "problem/operator.h"
#include "world/step.h"

enum { GRAIN = 2048 }; /* contacts in one piece of parallel work */

static double tangent_norm(int d, const double *x)
{
    return d == 3 ? sqrt(x[1] * x[1] + x[2] * x[2]) : fabs(x[1]);
}

static double tangent_dot(int d, const double *x, const double *y)
{
    return x[1] * y[1] + (d == 3 ? x[2] * y[2] : 0);
}

/* The impulse to which the contact law at the end of the step refers: r without the part of earlier
 * impacts. */
static inline const double *last_impulse(const cairn_answer *answer, int j, double *room)
{
    size_t d = (size_t)answer->problem.dimension, first = (size_t)j * d;
    for (size_t i = 0; answer->compression && i < d; i++)
        room[i] = answer->r[first + i] - answer->compression[first + i];
    return answer->compression ? room : answer->r + first;
}

/* Returns the share of rolling and spinning in the lift of the convex law, and raises *against to
 * the largest deviation of their moments from opposing the motion. */
static double add_turning(const cairn_problem *p, int j, const double *r, const double *u,
                          double *against)
{
    cairn_cone_part part[CAIRN_CONE_PARTS];
    int parts = cairn_cone_parts(p, j, part);
    double lift = 0;
    for (int k = 1; k < parts; k++) {
        double speed = cairn_cone_length(&part[k], u), dot = 0;
        for (int i = part[k].first; i < part[k].first + part[k].count; i++)
            dot += r[i] * u[i];
        *against = fmax(*against, dot + cairn_cone_length(&part[k], r) * speed);
        lift += part[k].mu * speed;
    }
    return lift;
}

/* What the loop over contacts reads. */
typedef struct certify_job {
    const cairn_step *step;
    const cairn_answer *answer;
} certify_job;

/* |u_T| - s, at least 0: the sliding speed for which the convex law still lifts the contact */
static double uncorrected(const cairn_answer *answer, int dimension, int j, const double *u)
{
    double speed = cairn_sliding_speed(dimension, answer->problem.directions, u);
    return answer->s_held ? fmax(speed - answer->s_held[j], 0) : speed;
}

/* The largest gap error so far, including contact j. The error of a contact that pushes is at most
 * h |o|; if that is not above the largest so far, w is not needed. Computing w reads two body
 * records from memory, so this shortcut matters. */
static inline double largest_gap_error(const certify_job *job, int j, double open, double above,
                                       double so_far)
{
    const cairn_problem *p = &job->answer->problem;
    double h = job->step->h, error = h * (open < 0 ? -open : 0);
    if ((above > 0) & (h * open > so_far))
        error = h * cairn_smaller(open, cairn_contact_inverse_mass(p, j) * above);
    else if (above < 0)
        error = h * fabs(cairn_smaller(open, cairn_contact_inverse_mass(p, j) * above));
    return cairn_larger(so_far, error);
}

/* Add one contact. Most candidates stay open without impulse and add nothing. They are not skipped,
 * because arithmetic costs less than a branch that cannot be predicted. */
static inline void certify_contact(const certify_job *job, int j, cairn_certificate *c)
{
    const cairn_step *step = job->step;
    const cairn_answer *answer = job->answer;
    const cairn_problem *p = &answer->problem;
    int d = step->world->dimension;
    const double *u = answer->u + (size_t)j * (size_t)p->dimension;
    double room[CAIRN_MAX_DIMENSION], h = step->h;
    const double *r = last_impulse(answer, j, room);
    double above = r[0] - (answer->floor ? answer->floor[j] : 0), speed = tangent_norm(d, u);
    double against = tangent_dot(d, r, u) + tangent_norm(d, r) * speed;
    double lift = p->rolling + p->spinning ? add_turning(p, j, r, u, &against) : 0;
    if (p->directions || answer->s_held)
        speed = uncorrected(answer, d, j, u);
    lift = step->scheme->law == CAIRN_LAW_CONVEX ? lift + p->mu[j] * speed : 0;
    /* a factor of 0 or 1 instead of a branch */
    double open = u[0] + p->b[j] - lift, pushing = above > 0 ? 1 : 0;
    c->gap_error = largest_gap_error(job, j, open, above, c->gap_error);
    c->complementarity = cairn_larger(c->complementarity, fabs(above * open));
    c->friction_direction = cairn_larger(c->friction_direction, against); /* divided by h later */
    c->dilatation = cairn_larger(c->dilatation, pushing * h * lift);
    c->spurious_work += pushing * r[0] * lift;
}

/* The Coulomb residual of a polyhedral scheme is always measured with the circular cone, so that
 * schemes can be compared. */
void cairn_judge_circular(const cairn_problem *p, const double *r, double *v, double *u,
                          cairn_judgement *judgement)
{
    cairn_problem circular = *p;
    cairn_judgement exact;
    circular.directions = 0;
    cairn_judge(&circular, CAIRN_LAW_COULOMB, r, v, u, &exact);
    judgement->coulomb = exact.coulomb;
}

/* The result for one range of contacts. */
typedef struct finding {
    cairn_certificate certificate;
    cairn_energy energy;
    int active;
} finding;

static void certify_range(int begin, int end, void *context, void *value)
{
    const certify_job *job = context;
    const cairn_step *step = job->step;
    const cairn_answer *answer = job->answer;
    const cairn_problem *p = &answer->problem;
    cairn_certificate c = { 0 };
    finding *found = value;
    int active = 0;
    end = cairn_step_contacts(step, end);
    for (int j = begin; j < end; j++) {
        /* prefetch the bodies of a later contact: they are scattered in memory */
        cairn_contact_fetch(p, p->block_size, j + CAIRN_AHEAD, p->mass_inverse);
        certify_contact(job, j, &c);
        active += answer->r[(size_t)j * (size_t)p->dimension] > 0;
    }
    c.friction_direction /= step->h;
    *found = (finding){ .certificate = c, .active = active };
    /* in the same pass, because the contacts are in the cache now */
    cairn_energy_add_contacts(step, answer, begin, end, &found->energy);
}

/* Joined in the order of the ranges: the sums depend on it, the maxima do not. */
static void add_finding(void *result, const void *value)
{
    finding *all = result;
    const finding *found = value;
    const cairn_certificate *part = &found->certificate;
    cairn_certificate *c = &all->certificate;
    c->gap_error = fmax(c->gap_error, part->gap_error);
    c->complementarity = fmax(c->complementarity, part->complementarity);
    c->friction_direction = fmax(c->friction_direction, part->friction_direction);
    c->dilatation = fmax(c->dilatation, part->dilatation);
    c->spurious_work += part->spurious_work;
    all->active += found->active;
    cairn_energy_add_up(&found->energy, 1, &all->energy);
}

/* Certificate and contact energies in one pass. Sums are formed by ranges, or by the parts of the
 * world, so that they do not depend on threads or members. */
static cairn_status certify_contacts(const cairn_step *step, const cairn_answer *answer)
{
    static const finding none = { 0 };
    cairn_step_report *report = step->report;
    cairn_certificate *c = &report->certificate;
    finding found = none;
    certify_job job = { step, answer };
    const cairn_reduction all = { .count = step->world->contacts.count,
                                  .grain = GRAIN,
                                  .parted = cairn_problem_parted(&answer->problem),
                                  .work = certify_range,
                                  .join = add_finding,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    TRY(cairn_arena_reduce(&step->world->scratch, &all, &found));
    c->gap_error = found.certificate.gap_error;
    c->complementarity = found.certificate.complementarity;
    c->friction_direction = found.certificate.friction_direction;
    c->dilatation = found.certificate.dilatation;
    c->spurious_work = found.certificate.spurious_work;
    report->active = found.active;
    cairn_energy_add_up(&found.energy, 1, &report->energy);
    return CAIRN_OK;
}

/* Whether all results about the contacts are finite numbers. It is enough to test sums: a NaN, or
 * infinities of either sign, make a sum infinite or NaN. Relative errors are tested one by one:
 * where nothing closes they may be the largest number that there is. */
bool cairn_report_is_finite(const cairn_step_report *report)
{
    const cairn_certificate *c = &report->certificate;
    const cairn_energy *e = &report->energy;
    const cairn_residual *asked = &c->judgement.asked, *coulomb = &c->judgement.coulomb;
    return isfinite(asked->worst + coulomb->worst) && isfinite(asked->relative) &&
           isfinite(coulomb->relative) && /* DBL_MAX: nothing to divide by */
           isfinite(c->gap_error + c->complementarity + c->friction_direction + c->dilatation) &&
           isfinite(c->spurious_work + c->cone_violation) &&
           isfinite(e->impact_loss + e->friction_loss + e->driver_work);
}

/* The error names the contact with the largest impulse, or the first one with a NaN. */
static cairn_status refuse_impulse(const cairn_step *step, const cairn_answer *answer)
{
    size_t d = (size_t)answer->problem.dimension;
    const int32_t *body = step->world->contacts.body;
    double largest = -1;
    int worst = -1;
    for (int j = 0; j < step->world->contacts.count && !isnan(largest); j++) {
        double size = fabs(answer->r[(size_t)j * d]);
        if (size > largest || isnan(size)) {
            largest = size;
            worst = j;
        }
    }
    if (worst < 0)
        return CAIRN_NOT_FINITE;
    return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                      "the impulses of this step are too large for numbers, first of all %g N s "
                      "between body %lld and body %lld",
                      largest, cairn_row_uid(step->world, body[2 * worst]),
                      cairn_row_uid(step->world, body[2 * worst + 1]));
}

/* The judgement is that of the solver's report, from the one judge. A step with results that are
 * not finite fails here, before anything is committed. */
cairn_status cairn_step_certify(const cairn_step *step, cairn_answer *answer)
{
    cairn_step_report *report = step->report;
    cairn_certificate *c = &report->certificate;
    c->judgement = report->solve.judgement;
    c->cone_violation = c->judgement.cone_violation;
    /* with impacts the judgement with circular cones was made in impulses.c or scheme.c, before
     * their impulses were added to r */
    if (answer->problem.directions && !answer->compression) {
        cairn_judge_circular(&answer->problem, answer->r, answer->v, answer->u, &c->judgement);
        cairn_rest_hold_still(step, answer);
    }
    /* of the whole world, if several members compute it; contacts between two members count once */
    int64_t rows = answer->problem.contacts - step->world->contacts.count; /* of joints */
    rows = step->world->joints.count > 0 ? cairn_link_sum(step->world->exchange.link, rows) : 0;
    report->candidates = (int)(cairn_problem_size(&answer->problem) - rows);
    TRY(certify_contacts(step, answer));
    return cairn_report_is_finite(report) ? CAIRN_OK : refuse_impulse(step, answer);
}

/* ==== energy ================================================================================== */

/* Where the energy goes in a step; the balance is closed to rounding.
 *
 * With vm = (v~ + v+)/2 the change of kinetic energy is exactly vm.M(v+ - v~), where
 *     M (v+ - v~) = h (m g + F) + H'r.
 * v~ has the linear velocity before the step, and the angular velocity w~ that the body would have
 * after it without torques: as much energy as before (integrate.c). What a torque adds to J w is
 * h F = J (w_free - w~). Bodies that swing (swing.c) have v~ = v, and h T + h gyroscopic. Hence
 *     load work      h F.vm
 *     driver work    - sum r.w
 *     friction loss  - sum r_T.um_T      um = H vm + w
 *     impact loss    - sum r_N um_N      r_N including the pull of adhesion
 *     numerical loss h m g.(v+ - v)/2 - m g.y, of bodies that swing - h gyroscopic.vm
 *     sleep loss     vm.M v(r) of bodies that are stopped: sleep.c
 * The first part of the numerical loss is the change of potential because bodies move by h v+
 * instead of h vm; bodies that swing move by h vm. Its second part belongs to the displacement -y
 * after impacts within the step: chain.c. */

double cairn_body_kinetic(const cairn_world *world, int i, cairn_vec3 v, cairn_vec3 omega)
{
    cairn_vec3 J = world->bodies.inertia[i];
    return 0.5 * world->bodies.mass[i] * cairn_dot(v, v) +
           0.5 * cairn_dot(omega, cairn_times(J, omega));
}

/* J; of dynamic bodies only. The potential is -m g.x, 0 at the origin. */
/* Kinetic and potential energy, J. */
typedef struct energies {
    double kinetic, potential;
} energies;

/* In the order of rows. Of several members each adds its own bodies to the sums of those before it,
 * and the last one tells all. */
void cairn_world_energy(const cairn_world *world, double *kinetic, double *potential)
{
    cairn_pile_return((cairn_world *)world);
    const cairn_body_store *b = &world->bodies;
    cairn_link *link = world->exchange.link;
    energies sum = { 0, 0 };
    if (link && link->member > 0)
        cairn_link_receive_into(link, link->member - 1, &sum, sizeof sum);
    for (int i = b->held; i < b->count; i++) {
        if (!cairn_world_moves(world, i))
            continue;
        sum.kinetic += cairn_body_kinetic(world, i, b->v[i], b->omega[i]);
        sum.potential -= b->mass[i] * cairn_dot(world->gravity, b->x[i]);
    }
    bool last = !link || link->member == link->members - 1;
    if (!last)
        cairn_link_send(link, link->member + 1, &sum, sizeof sum);
    *kinetic = cairn_link_largest(link, last ? sum.kinetic : -INFINITY);
    *potential = cairn_link_largest(link, last ? sum.potential : -INFINITY);
}

static void energy_range(int begin, int end, void *context, void *value)
{
    const cairn_world *world = context;
    const cairn_body_store *b = &world->bodies;
    energies *sum = value;
    for (int i = begin < b->held ? b->held : begin; i < end; i++) {
        sum->kinetic += cairn_body_kinetic(world, i, b->v[i], b->omega[i]);
        sum->potential -= b->mass[i] * cairn_dot(world->gravity, b->x[i]);
    }
}

static void add_energies(void *result, const void *value)
{
    energies *sum = result;
    const energies *part = value;
    sum->kinetic += part->kinetic;
    sum->potential += part->potential;
}

void cairn_step_energy(cairn_world *world, double *kinetic, double *potential)
{
    cairn_pile_return(world);
    static const energies none = { 0, 0 };
    energies all = none;
    const cairn_reduction of_bodies = { .count = world->bodies.count,
                                        .parted = cairn_world_parted(world),
                                        .work = energy_range,
                                        .join = add_energies,
                                        .context = world,
                                        .neutral = &none,
                                        .size = sizeof none };
    if (!of_bodies.parted) {
        cairn_world_energy(world, kinetic, potential);
        return;
    }
    cairn_reduce(&of_bodies, NULL, &all);
    *kinetic = all.kinetic;
    *potential = all.potential;
}

/* Bodies that inlets add have the last rows, and belong to no part before the next step. Without
 * parts all rows are summed again. */
void cairn_step_add_energy(const cairn_world *world, int entered, double *kinetic,
                           double *potential)
{
    cairn_link *link = world->exchange.link;
    int count = world->bodies.count;
    energies added = { -INFINITY, -INFINITY }; /* of members that do not have these bodies */
    if (!cairn_world_parted(world)) {
        cairn_world_energy(world, kinetic, potential);
        return;
    }
    if (cairn_exchange_appends(&world->exchange)) {
        added = (energies){ 0, 0 };
        energy_range(count - entered, count, (void *)world, &added);
    }
    *kinetic += cairn_link_largest(link, added.kinetic);
    *potential += cairn_link_largest(link, added.potential);
}

/* The work of torques on a body that swings, h T.wm, and of the free rotation. */
static void add_swing(const cairn_step *step, cairn_vec3 T, const cairn_body_end *end,
                      cairn_energy *energy)
{
    cairn_vec3 omega = step->world->bodies.omega[end->body];
    cairn_vec3 wm = cairn_scale(0.5, cairn_add(end->v[1], omega));
    energy->load_work += step->h * cairn_dot(T, wm);
    energy->numerical_loss -= step->h * cairn_dot(end->swing->gyroscopic, wm);
}

/* That of torques on any other body: J (w_free - w~).(w~ + w+)/2. */
static double torque_work(const cairn_step *step, const cairn_free_motion *motion,
                          const cairn_body_end *end)
{
    int i = end->body;
    cairn_vec3 coast = motion->omega_coast[i];
    cairn_vec3 given = cairn_times(step->world->bodies.inertia[i],
                                   cairn_sub(motion->omega_free[i], coast));
    return 0.5 * cairn_dot(given, cairn_add(coast, end->v[1]));
}

/* Load work and numerical loss of one dynamic body, by the formulas above. */
void cairn_energy_add_body(const cairn_step *step, const cairn_free_motion *motion,
                           const cairn_body_end *end, cairn_energy *energy)
{
    const cairn_body_store *b = &step->world->bodies;
    int i = end->body;
    cairn_vec3 g = step->world->gravity;
    cairn_vec3 vm = cairn_scale(0.5, cairn_add(end->v[0], b->v[i]));
    double h = step->h, m = b->mass[i];
    bool loaded = cairn_loads_act(&step->world->loaded) || motion->servo_count > 0;
    if (loaded)
        energy->load_work += h * cairn_dot(motion->force[i], vm);
    if (end->swings)
        add_swing(step, motion->torque[i], end, energy);
    else if (loaded)
        energy->load_work += torque_work(step, motion, end);
    if (motion->servo_count > 0)
        cairn_servos_add_energy(step, motion, end, energy);
    double fall = end->swings ? 0 : cairn_dot(g, cairn_sub(end->v[0], b->v[i]));
    energy->numerical_loss += 0.5 * h * m * fall;
    if (end->behind)
        energy->numerical_loss -= m * cairn_dot(g, cairn_block_moving(step, i, end->behind));
}

/* H v of contact j before the step. If there is no tangential impulse, only the normal part is
 * used; for balls it does not depend on the angular velocities, since the arm is parallel to n. */
static inline void relative_before(const cairn_world *world, const cairn_answer *answer, bool balls,
                                   int j, bool slides, double *before)
{
    const cairn_problem *p = &answer->problem;
    if (slides || p->w || !balls) {
        cairn_contact_velocity(p, j, answer->r, answer->v_old, before);
        return;
    }
    const int32_t *body = world->contacts.body + 2 * (size_t)j;
    const cairn_vec3 *v = world->bodies.v; /* 24 bytes per body instead of 48 per block */
    before[0] = cairn_dot(p->normal[j], cairn_sub(v[body[0]], v[body[1]]));
}

/* The losses of one contact. Most candidates have no impulse and do no work. */
static inline void add_contact(const cairn_step *step, const cairn_answer *answer, bool balls,
                               int j, cairn_energy *energy)
{
    const double *w = answer->problem.w;
    int d = answer->problem.dimension;
    size_t first = (size_t)j * (size_t)d;
    const double *r = answer->r + first, *u = answer->u + first;
    double before[CAIRN_MAX_DIMENSION], pull = step->h * step->world->contacts.adhesion[j];
    bool slides = false;
    for (int i = 1; i < d; i++)
        slides |= r[i] != 0;
    if (!slides && r[0] == 0 && pull == 0)
        return;
    double normal = r[0] - pull;
    relative_before(step->world, answer, balls, j, slides, before);
    energy->impact_loss -= normal * 0.5 * (u[0] + before[0]);
    for (int i = 1; slides && i < d; i++)
        energy->friction_loss -= r[i] * 0.5 * (u[i] + before[i]);
    if (!w)
        return;
    energy->driver_work -= normal * w[first];
    for (int i = 1; i < d; i++)
        energy->driver_work -= r[i] * w[first + (size_t)i];
}

/* ---- sums in ranges, in order --------------------------------------------------------------- */

/* Prefetch the old velocities of the bodies of contact j, which are scattered in memory. */
CAIRN_ASKING void ask_for(const cairn_problem *p, const double *v_old, int j)
{
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * (size_t)j + (size_t)side];
        if (block >= 0)
            cairn_prefetch(v_old + (size_t)block * (size_t)p->block_size,
                           p->block_size * (int)sizeof *v_old);
    }
}

/* The sum of a range is formed separately and added once, so that its rounding depends on the range
 * alone. */
void cairn_energy_add_contacts(const cairn_step *step, const cairn_answer *answer, int begin,
                               int end, cairn_energy *energy)
{
    /* without friction relative_before does not read v_old of balls, so there is nothing to
     * prefetch */
    int last = step->scheme->frictionless ? begin : step->world->contacts.count - CAIRN_AHEAD;
    cairn_energy sum = { 0 };
    for (cairn_walk w = cairn_walk_over(&answer->problem, begin, end); cairn_walk_next(&w);)
        for (int j = w.now.begin; j < w.at; j++) {
            if (j < last)
                ask_for(&answer->problem, answer->v_old, j + CAIRN_AHEAD);
            add_contact(step, answer, w.now.kind == CAIRN_KIND_BALLS, j, &sum);
        }
    cairn_energy_add_up(&sum, 1, energy);
}

void cairn_energy_add_up(const cairn_energy *sum, int ranges, cairn_energy *energy)
{
    for (int k = 0; k < ranges; k++) {
        energy->load_work += sum[k].load_work;
        energy->numerical_loss += sum[k].numerical_loss;
        energy->impact_loss += sum[k].impact_loss;
        energy->friction_loss += sum[k].friction_loss;
        energy->driver_work += sum[k].driver_work;
        energy->motor_work += sum[k].motor_work;
        energy->damping_loss += sum[k].damping_loss;
    }
}

/* ==== probes ================================================================================== */

/* Force, torque and work on sets of bodies and on joints.
 *
 * A contact with the impulses r, in the directions e_i of its rows and with the moments r_k about
 * t_k, acts on body a with
 *     f = sum r_i e_i - h c n     (less the pull c of adhesion),   on b with -f,
 *     m = p x f + sum r_k t_k,    p: the witness point on that body, as in the rows of the problem
 *     work = f.(v + omega x (p - x) + v_s) + omega.sum r_k t_k
 * with the mean velocities of the step and the surface velocity v_s of belts. So the momenta of a
 * free body change by exactly f and m, and the work on driven bodies is - driver work of the
 * ledger. Which bodies belong to a set is marked by bits, BATCH probes at a time; a contact whose
 * bodies have the same bits adds nothing. */

enum { BATCH = 16 }; /* pushes that fit into CAIRN_VALUE bytes */

typedef struct pushes {
    cairn_push of[BATCH];
} pushes;

_Static_assert(sizeof(pushes) <= CAIRN_VALUE, "a batch is one value of a reduction");

/* A batch of probes in a step. */
typedef struct batch {
    const cairn_step *step;
    const cairn_moves *moves;
    const cairn_probe *probes;
    int count;
    uint16_t *bits; /* of each row: the probes whose set has the body */
    pushes *parts;  /* what joints do, of each part                   */
} batch;

cairn_probe cairn_probe_default(void)
{
    return (cairn_probe){ .joint = -1, .material = -1, .group = -1 };
}

void cairn_step_mean_velocity(const cairn_step *step, const cairn_moves *moves, int body,
                              cairn_vec3 velocity[2])
{
    const cairn_body_store *b = &step->world->bodies;
    const cairn_free_motion *motion = moves->motion;
    velocity[0] = velocity[1] = cairn_vec(0, 0, 0);
    if (b->motion[body] == CAIRN_MOTION_DRIVEN) {
        velocity[0] = motion->v_free[body];
        velocity[1] = motion->omega_free[body];
    } else if (cairn_step_block(step, body) >= 0) {
        cairn_vec3 v, omega;
        cairn_vec3 before = cairn_turning_before(step, motion, moves->joints, body);
        cairn_answer_velocity(step, moves->answer, body, &v, &omega);
        velocity[0] = cairn_scale(0.5, cairn_add(v, b->v[body]));
        velocity[1] = cairn_scale(0.5, cairn_add(omega, before));
    }
}

/* ---- which bodies --------------------------------------------------------------------------- */

static bool is_inside(const cairn_probe *probe, cairn_vec3 x)
{
    return x.x >= probe->low.x && x.x < probe->high.x && x.y >= probe->low.y &&
           x.y < probe->high.y && x.z >= probe->low.z && x.z < probe->high.z;
}

static bool has_body(const cairn_world *world, const cairn_probe *probe, int row)
{
    const cairn_body_store *b = &world->bodies;
    return (probe->material < 0 || b->material[row] == probe->material) &&
           (probe->group < 0 || b->group[row] == probe->group) &&
           (!probe->boxed || (row >= b->held && is_inside(probe, b->x[row])));
}

/* A list of bodies is short, everything else concerns all rows. */
static void mark_bodies(const batch *all, int k)
{
    cairn_world *world = all->step->world;
    const cairn_probe *probe = &all->probes[k];
    uint16_t bit = (uint16_t)(1u << k);
    if (probe->joint >= 0)
        return;
    for (int i = 0; i < probe->body_count; i++) {
        int row = cairn_body_row(world, (cairn_body_id){ probe->bodies[i] });
        if (row >= 0 && has_body(world, probe, row))
            all->bits[row] |= bit;
    }
    for (int row = 0; probe->body_count == 0 && row < world->bodies.count; row++)
        if (has_body(world, probe, row))
            all->bits[row] |= bit;
}

/* ---- contacts ------------------------------------------------------------------------------- */

/* What contact j does to one of its bodies. */
static cairn_push contact_push(const batch *all, int j, int side)
{
    const cairn_step *step = all->step;
    const cairn_moves *m = all->moves;
    const cairn_contact_store *c = &step->world->contacts;
    const cairn_body_store *b = &step->world->bodies;
    int d = step->world->dimension, body = c->body[2 * j + side];
    const double *r = m->answer->r + (size_t)j * (size_t)step->components;
    cairn_vec3 row[3], turn[3], velocity[2], couple = { 0, 0, 0 };
    cairn_contact_rows(c, j, row);
    cairn_contact_turns(step, j, turn);
    cairn_vec3 f = cairn_scale(r[0] - step->h * c->adhesion[j], row[0]);
    for (int i = 1; i < d; i++)
        f = cairn_add_scaled(f, r[i], row[i]);
    for (int i = 0; i < step->rolling + step->spinning; i++)
        couple = cairn_add_scaled(couple, r[d + i], turn[i]);
    f = cairn_scale(side ? -1 : 1, f);
    couple = cairn_scale(side ? -1 : 1, couple);
    cairn_vec3 arm = cairn_contact_arm(c, m->motion->x_eval, j, side);
    cairn_vec3 point = cairn_add(m->motion->x_eval[body], arm);
    cairn_step_mean_velocity(step, m, body, velocity);
    cairn_vec3 omega = cairn_rotate(b->q[body], velocity[1]);
    cairn_vec3 v = cairn_add(velocity[0], cairn_cross(omega, arm));
    if (cairn_step_block(step, body) < 0)
        v = cairn_add(v, cairn_surface_velocity(b, m->motion->q_eval[body], body, c->normal[j]));
    return (cairn_push){ f, cairn_add(cairn_cross(point, f), couple),
                         cairn_dot(f, v) + cairn_dot(couple, omega) };
}

static void add_push(cairn_push *sum, const cairn_push *push)
{
    sum->impulse = cairn_add(sum->impulse, push->impulse);
    sum->moment = cairn_add(sum->moment, push->moment);
    sum->work += push->work;
}

static void add_by_bits(unsigned bits, const cairn_push *push, pushes *sum)
{
    for (int k = 0; bits; k++, bits >>= 1)
        if (bits & 1)
            add_push(&sum->of[k], push);
}

static void push_range(int begin, int end, void *context, void *value)
{
    const batch *all = context;
    const int32_t *body = all->step->world->contacts.body;
    end = cairn_step_contacts(all->step, end);
    for (int j = begin; j < end; j++) {
        unsigned bits[2] = { all->bits[body[2 * j]], all->bits[body[2 * j + 1]] };
        unsigned either = bits[0] ^ bits[1];
        for (int side = 0; either && side < 2; side++)
            if (either & bits[side]) {
                cairn_push push = contact_push(all, j, side);
                add_by_bits(either & bits[side], &push, value);
            }
    }
}

static void add_pushes(void *result, const void *value)
{
    pushes *sum = result;
    const pushes *more = value;
    for (int k = 0; k < BATCH; k++)
        add_push(&sum->of[k], &more->of[k]);
}

/* ---- joints --------------------------------------------------------------------------------- */

/* A probe of the joint itself reads what acts on a. Its moment is that about its point, unless
 * another point is given: finish() subtracts what `about` adds. */
static void push_to_probe(const cairn_probe *probe, const cairn_joint_push *push, cairn_push *sum)
{
    cairn_push own = push->side[0];
    own.work += push->side[1].work;
    if (!probe->about_point)
        own.moment = cairn_add(push->couple, cairn_cross(probe->about, own.impulse));
    add_push(sum, &own);
}

static void visit_joint(const cairn_joint_push *push, void *context)
{
    const batch *all = context;
    const int32_t *body = all->step->world->joints.items[push->joint].body;
    unsigned bits[2] = { body[0] < 0 ? 0 : all->bits[body[0]],
                         body[1] < 0 ? 0 : all->bits[body[1]] };
    pushes *sum = &all->parts[push->part];
    for (int side = 0; side < 2; side++)
        add_by_bits((bits[0] ^ bits[1]) & bits[side], &push->side[side], sum);
    for (int k = 0; k < all->count; k++)
        if (all->probes[k].joint == (int64_t)push->joint)
            push_to_probe(&all->probes[k], push, &sum->of[k]);
}

/* In the order of the parts, if the world is cut: the sum then does not depend on members. */
static cairn_status add_joint_pushes(batch *all, pushes *sum)
{
    const cairn_exchange *x = &all->step->world->exchange;
    size_t parts = x->parts > 0 ? (size_t)x->parts : 1;
    if (!all->moves->joints->any)
        return CAIRN_OK;
    all->parts = cairn_arena_take(&all->step->world->scratch, parts, sizeof *all->parts);
    if (!all->parts)
        return CAIRN_NO_MEMORY;
    memset(all->parts, 0, parts * sizeof *all->parts);
    cairn_joints_visit(all->step, all->moves, visit_joint, all);
    if (x->link)
        cairn_link_share(x->link, x->parts, all->parts, sizeof *all->parts);
    for (size_t k = 0; k < parts; k++)
        add_pushes(sum, &all->parts[k]);
    return CAIRN_OK;
}

/* ---- readings ------------------------------------------------------------------------------- */

static cairn_probe_reading finish(const cairn_probe *probe, const cairn_push *sum, double h)
{
    cairn_vec3 moved = cairn_cross(probe->about, sum->impulse);
    return (cairn_probe_reading){ cairn_scale(1 / h, sum->impulse),
                                  cairn_scale(1 / h, cairn_sub(sum->moment, moved)), sum->work };
}

static cairn_status read_batch(batch *all, cairn_probe_reading *readings)
{
    static const pushes none = { 0 };
    cairn_world *world = all->step->world;
    size_t rows = (size_t)world->bodies.count;
    pushes sum = none;
    const cairn_reduction contacts = { .count = world->contacts.count,
                                       .grain = GRAIN,
                                       .parted = cairn_problem_parted(&all->moves->answer->problem),
                                       .work = push_range,
                                       .join = add_pushes,
                                       .context = all,
                                       .neutral = &none,
                                       .size = sizeof none };
    all->bits = cairn_arena_take(&world->scratch, rows + 1, sizeof *all->bits);
    if (!all->bits)
        return CAIRN_NO_MEMORY;
    memset(all->bits, 0, (rows + 1) * sizeof *all->bits);
    for (int k = 0; k < all->count; k++)
        mark_bodies(all, k);
    TRY(cairn_arena_reduce(&world->scratch, &contacts, &sum));
    TRY(add_joint_pushes(all, &sum));
    for (int k = 0; k < all->count; k++)
        readings[k] = finish(&all->probes[k], &sum.of[k], all->step->h);
    return CAIRN_OK;
}

cairn_status cairn_step_probe(const cairn_step *step, const cairn_free_motion *motion,
                              const cairn_mechanism *joints, const cairn_answer *answer)
{
    const cairn_moves moves = { motion, joints, answer, NULL };
    int count = step->options->probe_count;
    if (count == 0)
        return CAIRN_OK;
    cairn_probe_reading *readings =
        cairn_arena_take(&step->world->scratch, (size_t)count, sizeof *readings);
    if (!readings)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < count; k += BATCH) {
        int most = count - k < BATCH ? count - k : BATCH;
        batch all = { step, &moves, step->options->probes + k, most, NULL, NULL };
        TRY(read_batch(&all, readings + k));
    }
    step->report->readings = readings;
    return CAIRN_OK;
}

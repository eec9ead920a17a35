/* limit.c - refuses a step in which a body moves farther than linearised gaps can describe, and
 * decides whether gaps linearised at the end of the step have settled (second half of the file).
 *
 * Gaps are linear in the velocities of the step. For convex pieces that only translate this is safe
 * however far they move: along the normal n of the start they end at least g + h n.(v_a - v_b)
 * apart. It is not safe when they rotate, nor along curved walls. Also, a plane that was tangent at
 * the start may stop a body that would in fact pass by. So the step fails if a dynamic body i moves
 * by more than its size relative to a body k that it may meet (a candidate contact),
 *
 *     h |v_i - v_k - omega_k x (x_i - x_k)| + arm_i h |omega_i|  >  R_i,
 *
 * where R_i is the radius that contains it. Such a step is still accepted if its result is right:
 * no contact rotated the body (it is a ball, or no contact pushed it), its surface turned by at
 * most SLIGHT R_i, and, where the contact pushes or the bodies overlap, the true gap at the end is
 * the one that was solved for, to SLIGHT R_i. A point counts as having the size of the body that it
 * meets, at faces a hundredth of that. A body far from everything has no candidates and is not
 * tested.
 *
 * If contacts are evaluated at mid-step or at q + h v, a fast body may have no contact at all.
 * There the gaps of the start are tested, within the distance that each body moves. A body that is
 * more than half way behind a face at that time is not detected by it; such a step is refused
 * however short the motion. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"
#include "world/step.h"
#include "world/touch.h"

static const double SLIGHT = 0.1; /* of the size of a body: an error that is accepted */
static const double SPARE = 0.9;  /* safety factor of the recommended time step       */
enum { GRAIN = 2048 };            /* contacts in one piece of parallel work           */

/* What the motion of bodies in the step follows from. */
typedef struct moved {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const cairn_answer *answer;
    bool plain; /* all bodies are balls or planes */
} moved;

/* The motion of a body relative to another one in the step. */
typedef struct passage {
    int body, other;
    cairn_meeting couple; /* both, the other one as its image                               */
    double way, turn;     /* m: of its centre relative to the other; of its surface by turning */
    double size;          /* m: farthest that it may move                                      */
} passage;

/* ---- ways ----------------------------------------------------------------------------------- */

/* Velocity and angular velocity of a body in this step, both in world axes. Held bodies have those
 * of the free motion, which driven bodies follow. */
static void velocity_of(const moved *m, int i, cairn_vec3 *v, cairn_vec3 *omega)
{
    *v = m->motion->v_free[i];
    *omega = m->motion->omega_free[i];
    if (cairn_step_block(m->step, i) >= 0)
        cairn_answer_velocity(m->step, m->answer, i, v, omega);
    *omega = cairn_rotate(m->step->world->bodies.q[i], *omega);
}

/* m: bound on the motion of the surface by rotation. The test avoids infinity times 0 for unbounded
 * bodies at rest. */
static double surface_way(const cairn_step *step, int i, cairn_vec3 omega)
{
    double arm = cairn_body_arm(step->world, i), turning = cairn_norm(omega);
    return arm > 0 && turning > 0 ? arm * step->h * turning : 0;
}

/* Whether a body, or a part of a compound, is a mesh, height field or polyline. */
static bool holds_faces(const cairn_shape *shape)
{
    bool faces = cairn_shape_has_faces(shape);
    int parts = shape->kind == CAIRN_SHAPE_COMPOUND ? shape->geometry->view.part_count : 0;
    for (int i = 0; i < parts; i++)
        faces = faces || cairn_shape_has_faces(&shape->geometry->view.parts[i].shape);
    return faces;
}

/* A point has no size and counts as having that of the body k that it meets. Faces do not detect it
 * deeper than a hundredth of their edges, so there it counts as a hundredth of that. */
static double size_of(const cairn_body_store *b, int i, int k)
{
    double size = b->extent[i];
    if (size == 0)
        size = b->extent[k] * (holds_faces(cairn_body_shape(b, k)) ? 0.01 : 1);
    return size > 0 ? size : INFINITY;
}

static passage passage_of(const moved *m, cairn_meeting couple)
{
    const cairn_step *step = m->step;
    const cairn_vec3 *x = step->world->bodies.x;
    const cairn_lattice *cell = &step->world->periodic.cell;
    int i = couple.body[0], k = couple.body[1];
    cairn_vec3 v, omega, v_other, omega_other, apart = cairn_sub(x[i], x[k]);
    velocity_of(m, i, &v, &omega);
    velocity_of(m, k, &v_other, &omega_other);
    v = cairn_sub(v, v_other);
    if (cairn_image_is_other(couple.image)) {
        v = cairn_sub(v, cairn_lattice_drift(cell, couple.image));
        apart = cairn_sub(apart, cairn_lattice_shift(cell, couple.image));
    }
    if (cairn_body_arm(step->world, k) > 0) /* the rotation of a ball moves no surface */
        v = cairn_sub(v, cairn_cross(omega_other, apart));
    return (passage){ i,
                      k,
                      couple,
                      step->h * cairn_norm(v),
                      surface_way(step, i, omega),
                      size_of(&step->world->bodies, i, k) };
}

cairn_status cairn_answer_ways(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_answer *answer, double **out)
{
    const cairn_body_store *b = &step->world->bodies;
    const moved m = { step, motion, answer, false };
    double *way = *out = cairn_arena_doubles(&step->world->scratch, (size_t)b->count);
    if (!way)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < b->count; i++)
        if (b->motion[i] != CAIRN_MOTION_FIXED) {
            cairn_vec3 v, omega;
            velocity_of(&m, i, &v, &omega);
            double turn = isfinite(b->arm[i]) ? surface_way(step, i, omega) : 0;
            way[i] = step->h * cairn_norm(v) + turn;
        }
    return CAIRN_OK;
}

static inline bool is_fixed(const cairn_body_store *b, int i)
{
    return b->motion[i] == CAIRN_MOTION_FIXED;
}

/* Held bodies are not tested: their motion is prescribed, and that of the other body counts
 * relative to it. */
static bool is_far(const cairn_step *step, const passage *p)
{
    return cairn_step_block(step, p->body) >= 0 && p->way + p->turn > p->size;
}

/* ---- refusal -------------------------------------------------------------------------------- */

/* The time step in which the body would move by its size R: the root of h (s + h a) = R, with its
 * speed s and the acceleration a of forces, written without cancellation. It is no longer than the
 * motion in this step suggests. */
static double needed_step(const cairn_step *step, const cairn_free_motion *motion, const passage *p)
{
    const cairn_body_store *b = &step->world->bodies;
    int i = p->body;
    double size = p->size, arm = cairn_body_arm(step->world, i), h = step->h;
    double speed = cairn_norm(b->v[i]) + arm * cairn_norm(b->omega[i]);
    double gained = cairn_norm(cairn_sub(motion->v_free[i], b->v[i])) +
                    arm * cairn_norm(cairn_sub(motion->omega_free[i], b->omega[i]));
    double by_forces = 2 * size / (speed + sqrt(speed * speed + 4 * gained / h * size));
    return SPARE * fmin(by_forces, h * size / (p->way + p->turn));
}

/* The message names both bodies and a time step that would be short enough. */
static cairn_status refuse(const cairn_step *step, const cairn_free_motion *motion,
                           const passage *p)
{
    step->world->exchange.long_here = true;
    return cairn_fail(
        &step->world->error, CAIRN_BAD_INPUT, "run.time_step",
        "body %lld would move by %.3g m relative to body %lld in one step of %g s, further "
        "than its size of %.3g m: what happens between them cannot be told, expected "
        "at most %.2g s",
        cairn_row_uid(step->world, p->body), p->way + p->turn, cairn_row_uid(step->world, p->other),
        step->h, p->size, needed_step(step, motion, p));
}

/* ---- contacts ------------------------------------------------------------------------------- */

/* The gap at the end of the step that the solve assumed. Ahead of the start, b contains the gap. */
static double foreseen_gap(const cairn_step *step, const cairn_answer *answer, int j)
{
    double u = answer->u[(size_t)j * (size_t)answer->problem.dimension], h = step->h;
    bool at_start = cairn_scheme_ahead(step->scheme, step->linearisations) == 0;
    return at_start ? step->world->contacts.gap[j] + h * u : h * fmax(0, u + answer->problem.b[j]);
}

/* Whether the long motion of p at contact j makes the result wrong; see the top of the file.
 * cairn_arrival_gap computes the true gap at the end, the most expensive test, so it comes last. */
static cairn_status is_wrong(const moved *m, const cairn_arrival *arrival, int j, const passage *p,
                             bool *wrong)
{
    const cairn_step *step = m->step;
    const cairn_answer *answer = m->answer;
    double slight = SLIGHT * p->size, gap = INFINITY;
    double foreseen = foreseen_gap(step, answer, j), most = fmax(foreseen, 0) + slight;
    bool pushes = answer->r[(size_t)j * (size_t)answer->problem.dimension] > 0;
    *wrong = p->turn > slight || (pushes && cairn_body_arm(step->world, p->body) > 0);
    if (*wrong || (m->plain && !pushes)) /* balls and planes end no closer than predicted */
        return CAIRN_OK;
    TRY(cairn_arrival_gap(step->world, arrival, &p->couple, most + p->way + p->turn, &gap));
    bool stopped = pushes && gap > most; /* by a body that it does not touch */
    *wrong = stopped || gap < fmin(foreseen, 0) - slight;
    return CAIRN_OK;
}

/* A parallel pass marks the contacts with long motion; the few of them are then examined in order,
 * so that the same body is named whatever the threads. */
typedef struct limit_job {
    const moved *moved;
    const double *way; /* m: of each body, its own motion              */
    uint8_t *far;      /* of each contact: one of its bodies moves far */
} limit_job;

/* A quick test by the motions of the two bodies alone: neither can be far, and neither carries the
 * other along by its rotation. */
static inline bool stays_near(const limit_job *job, const cairn_meeting *couple)
{
    const cairn_step *step = job->moved->step;
    const cairn_body_store *b = &step->world->bodies;
    int i = couple->body[0], k = couple->body[1];
    double way = job->way[i] + job->way[k];
    if (cairn_image_is_other(couple->image))
        way +=
            step->h * cairn_norm(cairn_lattice_drift(&step->world->periodic.cell, couple->image));
    bool turning = (b->arm[i] > 0 && !is_fixed(b, i)) || (b->arm[k] > 0 && !is_fixed(b, k));
    return !turning && way <= b->extent[i] && way <= b->extent[k];
}

static void limit_range(int begin, int end, void *context)
{
    const limit_job *job = context;
    const cairn_step *step = job->moved->step;
    for (int j = begin; j < end; j++) {
        const cairn_meeting couple = cairn_contact_meeting(&step->world->contacts, j);
        job->far[j] = false;
        if (stays_near(job, &couple))
            continue;
        passage p = passage_of(job->moved, couple);
        passage q = passage_of(job->moved, cairn_meeting_turned(&couple));
        job->far[j] = is_far(step, &p) || is_far(step, &q);
    }
}

static cairn_status limit_contacts(const moved *m, const cairn_arrival *arrival)
{
    const cairn_step *step = m->step;
    int count = step->world->contacts.count;
    limit_job job = { m, NULL, cairn_arena_take(&step->world->scratch, (size_t)count, 1) };
    double *way;
    if (!job.far)
        return CAIRN_NO_MEMORY;
    TRY(cairn_answer_ways(step, m->motion, m->answer, &way));
    job.way = way;
    cairn_parallel_for(count, GRAIN, limit_range, &job);
    for (int j = 0; j < 2 * count; j++) {
        if (!job.far[j / 2])
            continue;
        const cairn_meeting couple = cairn_contact_meeting(&step->world->contacts, j / 2);
        passage p = passage_of(m, j & 1 ? cairn_meeting_turned(&couple) : couple);
        bool wrong = false;
        if (is_far(step, &p))
            TRY(is_wrong(m, arrival, j / 2, &p, &wrong));
        if (wrong)
            return refuse(step, m->motion, &p);
    }
    return CAIRN_OK;
}

/* ---- what was not seen ---------------------------------------------------------------------- */

/* A face detects a point no deeper than a hundredth of its edge, and must still detect it in the
 * middle of the next step. Hence a fifth of the usual size. */
static passage unseen_passage(const moved *m, cairn_meeting couple)
{
    const cairn_body_store *b = &m->step->world->bodies;
    passage p = passage_of(m, couple);
    if (b->extent[p.body] == 0 && holds_faces(cairn_body_shape(b, p.other)))
        p.size *= 0.2;
    return p;
}

/* m: by how much the gap of a witness changes over the whole step; negative when the bodies
 * approach. */
static double closing_of(const moved *m, const passage *p, cairn_vec3 from_other)
{
    cairn_vec3 v, omega, v_other, omega_other;
    velocity_of(m, p->body, &v, &omega);
    velocity_of(m, p->other, &v_other, &omega_other);
    if (cairn_image_is_other(p->couple.image))
        v = cairn_sub(v, cairn_lattice_drift(&m->step->world->periodic.cell, p->couple.image));
    return m->step->h * cairn_dot(from_other, cairn_sub(v, v_other));
}

/* A linear search; is_lost calls it last, for the rare witness that passes all other tests. */
static bool has_contact(const cairn_contact_store *c, int i, int k)
{
    for (int j = 0; j < c->count; j++) {
        const int32_t *body = c->body + 2 * (size_t)j;
        if ((body[0] == i && body[1] == k) || (body[0] == k && body[1] == i))
            return true;
    }
    return false;
}

/* Whether a body would fall through faces: it is deep behind them where contacts are evaluated,
 * moves deeper, and has no contact with them. */
static bool is_lost(const cairn_step *step, const passage *p, const cairn_witness *w,
                    double closing)
{
    const cairn_body_store *b = &step->world->bodies;
    double ahead = cairn_scheme_ahead(step->scheme, step->linearisations);
    bool deep = w->gap + ahead * closing < -0.5 * b->extent[p->body];
    return deep && closing < 0 && holds_faces(cairn_body_shape(b, p->other)) &&
           b->extent[p->body] > 0 && cairn_step_block(step, p->body) >= 0 &&
           !has_contact(&step->world->contacts, p->body, p->other);
}

/* Recommends the time step in which the centre would just reach the face. */
static cairn_status refuse_lost(const cairn_step *step, const cairn_free_motion *motion, passage *p,
                                const cairn_witness *w)
{
    double extent = step->world->bodies.extent[p->body];
    double ahead = cairn_scheme_ahead(step->scheme, step->linearisations);
    p->size = fmax(w->gap + extent, SLIGHT * extent) / ahead;
    step->world->exchange.long_here = true;
    return cairn_fail(&step->world->error, CAIRN_BAD_INPUT, "run.time_step",
                      "body %lld would be more than half way behind a face of body %lld where the "
                      "contacts of a step of %g s are found, and fall through: expected at most "
                      "%.2g s, or another scheme",
                      cairn_row_uid(step->world, p->body), cairn_row_uid(step->world, p->other),
                      step->h, needed_step(step, motion, p));
}

/* Whether, by the linear gap of the start, the bodies of a witness pass into each other
 * unnoticed. */
static bool is_missed(const cairn_step *step, const passage *p, const cairn_witness *w,
                      double closing)
{
    double gap = w->gap + closing - p->turn;
    return is_far(step, p) && gap < fmin(w->gap, 0) - SLIGHT * p->size;
}

/* Either body of the pair may be the one that moves far. The normal points from the second side to
 * the first. */
static cairn_status limit_witness(const moved *m, const cairn_meeting *pair, bool swapped,
                                  const cairn_witness *w)
{
    const cairn_step *step = m->step;
    const cairn_meeting turned = cairn_meeting_turned(pair);
    for (int k = 0; k < 2; k++) {
        passage p = unseen_passage(m, swapped == (k == 0) ? turned : *pair);
        double closing = closing_of(m, &p, cairn_scale(k == 0 ? 1 : -1, w->normal));
        if (is_missed(step, &p, w, closing))
            return refuse(step, m->motion, &p);
        if (is_lost(step, &p, w, closing))
            return refuse_lost(step, m->motion, &p, w);
    }
    return CAIRN_OK;
}

/* Finds the pairs of the start again, with the actual motions as reaches, since the contacts of the
 * step are those of another time. */
static cairn_status limit_unseen(const moved *m)
{
    cairn_world *world = m->step->world;
    const cairn_body_store *b = &world->bodies;
    cairn_layout layout;
    cairn_touches t;
    double *way;
    TRY(cairn_answer_ways(m->step, m->motion, m->answer, &way));
    TRY(cairn_world_layout_at(world, b->x, b->q, way, &layout));
    const cairn_lattice cell = cairn_lattice_for(&world->periodic.cell, 0, m->step->h);
    layout.cell = layout.cell ? &cell : NULL;
    TRY(cairn_world_touches(world, m->step->broad, &layout, &t));
    for (size_t k = 0; k < t.count; k++)
        for (int i = 0; i < t.number[k]; i++) {
            const cairn_meeting couple =
                cairn_pair_meeting(&world->pair_list, (size_t)cairn_touches_leaf(&t, k).pair);
            TRY(limit_witness(m, &couple, t.swapped[k], &t.found[t.first[k] + (size_t)i]));
        }
    return CAIRN_OK;
}

/* Most steps end at the first test, which compares the largest motion with the smallest body. At
 * velocity level contacts predict no gap that could be compared. */
cairn_status cairn_step_limit(const cairn_step *step, const cairn_free_motion *motion, bool plain,
                              const cairn_answer *answer, const cairn_arrival *arrival)
{
    const moved m = { step, motion, answer, plain };
    if (!arrival->far)
        return CAIRN_OK;
    if (cairn_scheme_ahead(step->scheme, step->linearisations) != 0)
        TRY(limit_unseen(&m));
    return step->scheme->velocity_level ? CAIRN_OK : limit_contacts(&m, arrival);
}

/* ==== gaps where the step ends ================================================================ */

/* Contacts linearised where the step ends ([ST96] 3.6).
 *
 * With gap, normal and rows at q^ = q + h v^ the problem demands
 *     g(q^) + h n(q^).(v - v^) >= 0  ⟂  r_N >= 0.
 * At first v^ is the velocity before the step, then the v that was found, until v = v^. Then the
 * gap itself satisfies the condition, g(q + h v) >= 0 ⟂ r_N >= 0, with the normal and the friction
 * plane of the new position. This is a fixed-point iteration; each iteration finds the candidates
 * again. */

static const double FINEST = 1e-12; /* relative change of velocities that counts as rounding */

/* Bounds of |v - v^|, and of the speed it is compared with, over the surface of a body. The linear
 * speed is that of the free motion, which is positive also for a body that the step brings to
 * rest. */
typedef struct comparison {
    double change, speed; /* m/s */
} comparison;

static void compare(const cairn_step *step, const cairn_free_motion *motion,
                    const cairn_answer *answer, int i, comparison *c)
{
    double extent = cairn_body_extent(step->world, i);
    cairn_vec3 v, omega;
    cairn_answer_velocity(step, answer, i, &v, &omega);
    double linear = cairn_norm(cairn_sub(v, motion->v_eval[i]));
    double angular = cairn_norm(cairn_sub(omega, motion->omega_eval[i]));
    c->change = fmax(c->change, linear + extent * angular);
    c->speed = fmax(c->speed, cairn_norm(motion->v_free[i]) + extent * cairn_norm(omega));
}

/* Whether v = v^ for all bodies with candidates, within the solver's tolerance. Bodies without
 * candidates have no gap to linearise. */
static bool is_settled(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_answer *answer)
{
    const cairn_contact_store *c = &step->world->contacts;
    comparison most = { 0, 0 };
    for (int j = 0; j < 2 * c->count; j++)
        if (cairn_step_block(step, c->body[j]) >= 0)
            compare(step, motion, answer, c->body[j], &most);
    step->report->linearisation_error = step->h * most.change;
    return most.change <= fmax(step->options->tolerance, FINEST) * most.speed;
}

/* v^ = v, and the poses at which the next attempt evaluates contacts. */
static void linearise_at_end(const cairn_step *step, const cairn_answer *answer,
                             cairn_free_motion *motion)
{
    for (int i = 0; i < step->world->bodies.count; i++) {
        if (cairn_step_block(step, i) < 0)
            continue;
        cairn_answer_velocity(step, answer, i, &motion->v_eval[i], &motion->omega_eval[i]);
        cairn_body_place(step, i, step->h, motion);
    }
}

bool cairn_step_linearised(const cairn_step *step, const cairn_answer *answer,
                           cairn_free_motion *motion)
{
    cairn_step_report *report = step->report;
    report->linearisations++;
    bool finite = isfinite(report->solve.judgement.asked.worst); /* else the step fails later */
    if (!step->linearisations || !finite || is_settled(step, motion, answer))
        return true;
    if (report->linearisations >= step->linearisations) {
        /* a single one is the linearised scheme itself, [ST96] (29) */
        report->solve.converged = report->solve.converged && step->linearisations == 1;
        return true;
    }
    linearise_at_end(step, answer, motion);
    return false;
}

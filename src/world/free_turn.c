/* free_turn.c - where a body turns to that nothing pushes in a step.
 *
 * Without impulses the angular velocity follows the implicit midpoint rule of integrate.c,
 *     J (w+ - w) = h (T - wm x J wm),    wm = (w + w+)/2,
 * which is (1 + [h wm]/2) J w+ = (1 - [h wm]/2) J w + h T with [a] b = a x b. Let
 *     C = (1 - [h wm]/2)^-1 (1 + [h wm]/2),
 * Cayley's map: the turn about wm by 2 atan(h |wm|/2). Multiplied with (1 - [h wm]/2)^-1 the rule
 * says
 *     C J w+ = J w + h (1 - [h wm]/2)^-1 T.
 * So with the orientation q C the angular momentum in space is what it was, to rounding, and a
 * torque adds h T, turned to mid-step. C falls short of the angle h |wm| by
 *     d = h |wm| - 2 atan(h |wm|/2);
 * what of it lies along the momentum, l = J w/|J w|, can be made up for without changing that:
 *     q+ = q exp(d (l.wm/|wm|) l) C.
 * The rule is of second order and, without a torque, the same when run backwards; it keeps energy
 * and angular momentum, and is exact where a body turns about a principal axis.
 *
 * A body that a contact or a joint pushes turns by exp(h w+), as in integrate.c: the gaps that the
 * step has solved for are those of h w+. */
#include <string.h>

#include "base/status.h"
#include "math/vec.h"
#include "world/step.h"

/* ---- who is not pushed ---------------------------------------------------------------------- */

/* Whether the angular velocity of a body changes by itself; else h w+ is right already. */
static bool has_own_change(const cairn_step *step, const cairn_free_motion *motion, int i)
{
    cairn_vec3 G = motion->gyroscopic[i], T = motion->torque[i];
    return cairn_step_block(step, i) >= 0 && (cairn_dot(G, G) > 0 || cairn_dot(T, T) > 0);
}

static void mark_contacts(const cairn_step *step, const cairn_answer *answer, uint8_t *pushed)
{
    const cairn_contact_store *c = &step->world->contacts;
    int d = answer->problem.dimension;
    for (int j = 0; j < c->count; j++) {
        const double *r = answer->r + (size_t)j * (size_t)d;
        bool pushes = c->adhesion[j] != 0;
        for (int i = 0; i < d; i++)
            pushes |= r[i] != 0;
        pushed[c->body[2 * j]] |= pushes;
        pushed[c->body[2 * j + 1]] |= pushes;
    }
}

static void mark_joints(const cairn_world *world, uint8_t *pushed)
{
    for (size_t k = 0; k < world->joints.count; k++)
        for (int side = 0; side < 2 && world->joints.items[k].rows > 0; side++)
            if (world->joints.items[k].body[side] >= 0)
                pushed[world->joints.items[k].body[side]] = 1;
}

cairn_status cairn_step_find_pushed(const cairn_step *step, const cairn_free_motion *motion,
                                    const cairn_answer *answer, cairn_arrival *arrival)
{
    const cairn_world *world = step->world;
    size_t count = (size_t)world->bodies.count;
    bool wanted = false;
    arrival->pushed = NULL;
    for (int i = 0; i < world->bodies.count && !wanted; i++)
        wanted = has_own_change(step, motion, i);
    if (!wanted)
        return CAIRN_OK;
    arrival->pushed = cairn_arena_take(&step->world->scratch, count, sizeof *arrival->pushed);
    if (!arrival->pushed)
        return CAIRN_NO_MEMORY;
    memset(arrival->pushed, 0, count);
    if (answer->rest.asleep) /* who is stopped */
        memcpy(arrival->pushed, answer->rest.asleep, count);
    mark_contacts(step, answer, arrival->pushed);
    mark_joints(world, arrival->pushed);
    return CAIRN_OK;
}

bool cairn_body_turns_freely(const cairn_step *step, const cairn_free_motion *motion,
                             const uint8_t *pushed, int i)
{
    return pushed && !pushed[i] && has_own_change(step, motion, i);
}

/* ---- the turn ------------------------------------------------------------------------------- */

/* x - 2 atan(x/2); where the difference would be lost in rounding, by its series. */
static double shortfall(double x)
{
    double xx = x * x;
    return x > 0.01 ? x - 2 * atan(0.5 * x) : x * xx / 12 * (1 - 0.15 * xx);
}

cairn_quat cairn_free_turn(cairn_vec3 J, cairn_vec3 omega, cairn_vec3 next, double h)
{
    cairn_vec3 way = cairn_scale(0.5 * h, cairn_add(omega, next)); /* h wm */
    cairn_vec3 l = cairn_unit(cairn_times(J, omega));
    double angle = cairn_norm(way);
    cairn_quat cayley = { 1, 0.5 * way.x, 0.5 * way.y, 0.5 * way.z };
    if (!(angle > 0))
        return cayley;
    double about_l = shortfall(angle) * cairn_dot(l, way) / angle;
    return cairn_quat_normalised(
        cairn_quat_multiply(cairn_quat_exp(cairn_scale(about_l, l)), cayley));
}

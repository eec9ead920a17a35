/* surface.c - surface laws beyond Coulomb friction with one mu (docs/friction.md). All of them
 * become data of the one-step problem, so that solvers need to know only about rolling rows:
 *
 * Anisotropic friction, mu_1 along an axis of a body and mu_2 across it: with mu the larger of
 * both, D = diag(mu_1, mu_2)/mu, r_T = D r~ and u~ = D u_T, the ellipse becomes the circle |r~| <=
 * mu r_N, and r~.u~ = r_T.u_T. So the tangent rows are multiplied by D, and the result is converted
 * back before it is stored.
 *
 * Adhesion c: r' = r + h c n obeys the contact law. -h c n acts as an external impulse (in v_free)
 * if the contact touches at the start of the step, and is subtracted from the impulse that is
 * stored.
 *
 * Rolling and spinning friction: rows of the relative angular velocity along both tangents (in 2D
 * about z) and along the normal.
 *
 * Surface velocity: its part along the contact is in w. */
#include <float.h>
#include <math.h>

#include "base/status.h"
#include "math/vec.h"
#include "problem/operator.h"
#include "world/step.h"

static const double DROWNED = 1e-9;  /* of the radius: largest motion that is rounding            */
static const double TOUCHING = 1e-5; /* of the smaller body: default gap at which adhesion pulls  */
static const double SIZELESS = 1e-3; /* m: size for this purpose if neither body has one          */
static const double UPRIGHT = 1e-6;  /* least tangential part of an axis that defines a direction */
static const double FLATTEST = 1e-6; /* of the larger mu: lower bound of the smaller one          */

cairn_surface_laws cairn_world_surface_laws(const cairn_world *world)
{
    cairn_surface_laws laws = world->materials.laws;
    laws.grouped = world->bodies.grouped;
    return laws;
}

/* ---- the law of a pair ---------------------------------------------------------------------- */

/* The direction in the contact along which c->mu acts: the projected axis of the body that has one,
 * of two the one created first, whatever their rows are. False if there is none, or if it is normal
 * to the contact; `tangent` is then unchanged. */
static bool along_axis(const cairn_world *world, const cairn_quat *q_eval, int j,
                       cairn_vec3 *tangent)
{
    const cairn_contact_store *c = &world->contacts;
    const cairn_vec3 *axes = world->bodies.friction_axis;
    const uint64_t *uid = world->bodies.uid;
    int a = c->body[2 * j], b = c->body[2 * j + 1], first = uid[a] < uid[b] ? a : b;
    int body = cairn_norm(axes[first]) > 0 ? first : a + b - first;
    double length = cairn_norm(axes[body]);
    if (length == 0)
        return false;
    cairn_vec3 axis = cairn_rotate(q_eval[body], cairn_scale(1 / length, axes[body]));
    axis = cairn_add_scaled(axis, -cairn_dot(axis, c->normal[j]), c->normal[j]);
    double left = cairn_norm(axis);
    if (left > UPRIGHT)
        *tangent = cairn_scale(1 / left, axis);
    return left > UPRIGHT;
}

static cairn_material_def law_of(const cairn_world *world, int j)
{
    const int32_t *body = world->contacts.body + 2 * (size_t)j, *material = world->bodies.material;
    return cairn_material_pair(world, material[body[0]], material[body[1]]);
}

/* Consecutive contacts mostly have the same two materials, so the last law is kept. */
static void know_law(const cairn_world *world, int a, int b, cairn_contact_law *known)
{
    if (known->a == a && known->b == b)
        return;
    *known = (cairn_contact_law){ a, b, .def = cairn_material_pair(world, a, b) };
    known->poisson = cairn_material_is_poisson(&known->def);
}

/* Sets the law of contact j, whose geometry is known; the tangent is turned to the friction axis.
 * Only columns in use have memory and are written. */
void cairn_contact_meet(cairn_world *world, const cairn_quat *q_eval, int j,
                        cairn_contact_law *known)
{
    cairn_contact_store *c = &world->contacts;
    const int32_t *body = c->body + 2 * (size_t)j, *material = world->bodies.material;
    know_law(world, material[body[0]], material[body[1]], known);
    const cairn_material_def *law = &known->def;
    c->mu[j] = c->mu_2[j] = law->friction;
    if (law->friction_2 > 0 && along_axis(world, q_eval, j, &c->tangent[j]))
        c->mu_2[j] = law->friction_2;
    if (c->set & CAIRN_CONTACTS_BOUNCE) {
        c->restitution[j] = law->restitution;
        c->poisson[j] = known->poisson;
    }
    if (c->set & CAIRN_CONTACTS_ADHERE)
        c->adhesion[j] = law->adhesion;
    if (c->set & CAIRN_CONTACTS_TURN) {
        c->mu_rolling[j] = law->rolling_friction;
        c->mu_spinning[j] = law->spinning_friction;
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

cairn_vec3 cairn_contact_bitangent(const cairn_contact_store *c, int j)
{
    return cairn_cross(c->normal[j], c->tangent[j]);
}

/* D. A share is never 0, because velocities and impulses are divided by it. */
void cairn_contact_shares(const cairn_contact_store *c, int j, double share[2])
{
    double largest = fmax(c->mu[j], c->mu_2[j]);
    bool same = c->mu[j] == c->mu_2[j];
    share[0] = same ? 1 : fmax(c->mu[j] / largest, FLATTEST);
    share[1] = same ? 1 : fmax(c->mu_2[j] / largest, FLATTEST);
}

/* Directions of the normal row and of the tangent rows, the latter multiplied by D. */
void cairn_contact_rows(const cairn_contact_store *c, int j, cairn_vec3 row[3])
{
    double share[2];
    cairn_contact_shares(c, j, share);
    row[0] = c->normal[j];
    row[1] = cairn_scale(share[0], c->tangent[j]);
    row[2] = cairn_scale(share[1], cairn_contact_bitangent(c, j));
}

/* Directions of the rows of rolling and spinning; unused ones are 0. In 2D there is one, about
 * z. */
void cairn_contact_turns(const cairn_step *step, int j, cairn_vec3 turn[3])
{
    const cairn_contact_store *c = &step->world->contacts;
    turn[0] = turn[1] = turn[2] = cairn_vec(0, 0, 0);
    if (step->rolling == 1)
        turn[0] = cairn_vec(0, 0, 1);
    if (step->rolling == 2) {
        turn[0] = c->tangent[j];
        turn[1] = cairn_contact_bitangent(c, j);
    }
    if (step->spinning)
        turn[step->rolling] = c->normal[j];
}

/* The normal part is removed: a belt moves along its surface and never into other bodies. */
cairn_vec3 cairn_surface_velocity(const cairn_body_store *bodies, cairn_quat q, int body,
                                  cairn_vec3 normal)
{
    cairn_vec3 v = cairn_rotate(q, bodies->surface_velocity[body]);
    return cairn_add_scaled(v, -cairn_dot(v, normal), normal);
}

/* ---- adhesion ------------------------------------------------------------------------------- */

/* Whether adhesion acts: the gap at the start of the step is within its range. */
static bool touches(const cairn_step *step, const cairn_free_motion *motion, int j)
{
    const cairn_contact_store *c = &step->world->contacts;
    double range = law_of(step->world, j).adhesion_range, size = INFINITY;
    for (int side = 0; side < 2; side++) {
        double extent = cairn_body_extent(step->world, c->body[2 * j + side]);
        size = extent > 0 ? fmin(size, extent) : size;
    }
    size = isfinite(size) ? size : SIZELESS;
    return cairn_contact_gap(step, motion, j) <= (range > 0 ? range : TOUCHING * size);
}

/* The impulse h c is added and subtracted again. The rounding error that remains, eps h c/m, must
 * not move a body by more than DROWNED of its radius in a step. Otherwise velocities and ledger
 * would consist of rounding errors, so the step is refused. */
static cairn_status check_pull(const cairn_step *step, int j)
{
    const cairn_world *world = step->world;
    const cairn_contact_store *c = &world->contacts;
    for (int side = 0; side < 2; side++) {
        int i = c->body[2 * j + side];
        double extent = cairn_body_extent(world, i), size = extent > 0 ? extent : SIZELESS;
        double most = DROWNED * size * world->bodies.mass[i] / (DBL_EPSILON * step->h * step->h);
        if (cairn_step_block(step, i) >= 0 && c->adhesion[j] > most)
            return cairn_fail(
                &step->world->error, CAIRN_BAD_INPUT, "adhesion",
                "a pull of %g N in one step of %g s drowns the motion of body %lld, of "
                "%g kg, in rounding, expected at most %.2g N",
                c->adhesion[j], step->h, cairn_row_uid(world, i), world->bodies.mass[i], most);
    }
    return CAIRN_OK;
}

/* Clears the adhesion of a contact that does not touch, so that storing the result subtracts
 * nothing. */
cairn_status cairn_contact_adhere(const cairn_step *step, const cairn_free_motion *motion, int j,
                                  cairn_posed *posed)
{
    cairn_contact_store *c = &step->world->contacts;
    if (!touches(step, motion, j))
        c->adhesion[j] = 0;
    TRY(check_pull(step, j));
    const double pull[CAIRN_MAX_DIMENSION] = { -step->h * c->adhesion[j] };
    cairn_contact_push(&posed->problem, step->components, step->block_size, j, pull, posed->v_free);
    return CAIRN_OK;
}

/* ---- what is stored ------------------------------------------------------------------------- */

/* The component of the problem that holds moment i of a contact; -1 if it has none. Stored moments
 * have a fixed order (rolling, then spinning), those of the problem only what the step needs. */
static int moment_row(const cairn_step *step, int i)
{
    int d = step->world->dimension;
    bool spin = d == 3 && i == 2;
    if (spin)
        return step->spinning ? d + step->rolling : -1;
    return step->rolling ? d + i : -1;
}

/* Stores impulse, velocity, moment and angular velocity of contact j, in true units: D and adhesion
 * are undone. */
void cairn_contact_store_result(const cairn_step *step, const cairn_answer *answer, int j)
{
    cairn_contact_store *c = &step->world->contacts;
    size_t d = (size_t)step->world->dimension, turns = (size_t)c->moments, at = (size_t)j * d;
    const double *r = answer->r + (size_t)j * (size_t)step->components;
    const double *u = answer->u + (size_t)j * (size_t)step->components;
    double share[2];
    cairn_contact_shares(c, j, share);
    c->impulse[at] = r[0] - step->h * c->adhesion[j];
    c->velocity[at] = u[0];
    for (size_t i = 1; i < d; i++) {
        c->impulse[at + i] = share[i - 1] * r[i];
        c->velocity[at + i] = u[i] / share[i - 1];
    }
    for (size_t i = 0; i < turns; i++) {
        int row = moment_row(step, (int)i);
        c->moment[(size_t)j * turns + i] = row < 0 ? 0 : r[row];
        c->turning[(size_t)j * turns + i] = row < 0 ? 0 : u[row];
    }
}

/* ball_rows.c - which bodies are balls in the one-step problem, and which contacts follow from
 * their normal and tangent alone (cairn_problem.normal).
 *
 * A ball is a sphere about its centre of mass with one moment of inertia, that no joint holds. Its
 * angular velocity in the problem is in space axes, those of all other bodies in their own. */
#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/step.h"

enum { GRAIN = 4096 }; /* bodies in one piece of parallel work */

static const double ROUND = 1e-7; /* of the radius: how far an arm may be from R n */

/* A point is a ball of radius 0 to geometry, but none here. */
static bool is_ball(const cairn_body_store *b, int i)
{
    cairn_vec3 J = b->inertia[i];
    return b->ball[i] > 0 && J.x == J.y && J.y == J.z;
}

typedef struct radius_job {
    const cairn_body_store *bodies;
    double *radius; /* of each block */
} radius_job;

static void radius_range(int begin, int end, void *context)
{
    const radius_job *job = context;
    const cairn_body_store *b = job->bodies;
    for (int k = begin; k < end; k++)
        job->radius[k] = is_ball(b, b->held + k) ? b->ball[b->held + k] : -1;
}

/* R of each block, -1 for what is no ball. */
static void find_radii(const cairn_step *step, double *radius)
{
    const cairn_world *world = step->world;
    radius_job job = { &world->bodies, radius };
    cairn_parallel_for(step->blocks, GRAIN, radius_range, &job);
    for (size_t k = 0; k < world->joints.count; k++)
        for (int side = 0; side < 2 && world->joints.items[k].rows > 0; side++) {
            int block = cairn_step_block(step, world->joints.items[k].body[side]);
            if (block >= 0)
                radius[block] = -1;
        }
}

/* a is touched at -R n, b at R n */
static bool is_round(const cairn_step *step, const cairn_vec3 *x, const double *radius, int j,
                     int side)
{
    const cairn_contact_store *c = &step->world->contacts;
    int block = cairn_step_block(step, c->body[2 * j + side]);
    double R = block < 0 ? 0 : radius[block];
    cairn_vec3 arm = cairn_contact_arm(c, x, j, side);
    arm = cairn_add_scaled(arm, side ? -R : R, c->normal[j]);
    return block < 0 || (R >= 0 && cairn_norm(arm) <= ROUND * R);
}

static bool is_of_balls(const cairn_step *step, const cairn_vec3 *x, const double *radius, int j)
{
    const cairn_contact_store *c = &step->world->contacts;
    return c->mu[j] == c->mu_2[j] && is_round(step, x, radius, j, 0) &&
           is_round(step, x, radius, j, 1);
}

/* Places in H for the contacts that need them, and for the blocks of joints after them. */
static cairn_status give_places(const cairn_step *step, const cairn_free_motion *motion,
                                const cairn_mechanism *joints, cairn_posed *posed)
{
    int contacts = step->world->contacts.count, all = contacts + joints->blocks;
    posed->rows = cairn_arena_take(&step->world->scratch, (size_t)all, sizeof *posed->rows);
    if (!posed->rows)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < all; j++)
        posed->rows[j] = j < contacts && is_of_balls(step, motion->x_eval, posed->balls.radius, j)
                             ? -1
                             : posed->stored++;
    return CAIRN_OK;
}

/* Whether that is clear without a look at the contacts. */
static bool all_balls(const cairn_step *step, bool plain, const cairn_mechanism *joints,
                      const double *radius)
{
    bool all = plain && joints->blocks == 0 && !step->world->materials.laws.anisotropic;
    for (int k = 0; all && k < step->blocks; k++)
        all = radius[k] >= 0;
    return all;
}

cairn_status cairn_step_find_balls(const cairn_step *step, const cairn_free_motion *motion,
                                   bool plain, const cairn_mechanism *joints, cairn_posed *posed)
{
    posed->balls.radius = NULL;
    posed->balls.all = false;
    posed->rows = NULL;
    posed->stored = step->world->contacts.count + joints->blocks;
    if (step->world->dimension == 2 || step->components != 3)
        return CAIRN_OK;
    posed->balls.radius =
        cairn_arena_take(&step->world->scratch, (size_t)step->blocks, sizeof *posed->balls.radius);
    if (!posed->balls.radius)
        return CAIRN_NO_MEMORY;
    find_radii(step, posed->balls.radius);
    posed->balls.all = all_balls(step, plain, joints, posed->balls.radius);
    posed->stored = 0;
    if (!posed->balls.all)
        TRY(give_places(step, motion, joints, posed));
    if (posed->stored == 0)
        posed->rows = NULL; /* all are of balls, as the looking showed */
    return CAIRN_OK;
}

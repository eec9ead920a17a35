/* ball_rows.c - which bodies are balls in the one-step problem, and which contacts follow from
 * their normal and tangent alone (cairn_problem.normal).
 *
 * A ball is a sphere about its centre of mass with one moment of inertia, that no joint holds. Its
 * angular velocity in the problem is in space axes, those of all other bodies in their own. */
#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/scheme.h"

enum { GRAIN = 4096 }; /* bodies in one piece of parallel work */

static const double ROUND = 1e-7; /* of the radius: how far an arm may be from R n */

/* A point is a ball of radius 0 to geometry, but none here. */
static bool is_ball(const cairn_body_store *b, int i)
{
    cairn_vec3 J = b->inertia[i];
    return b->ball[i] > 0 && J.x == J.y && J.y == J.z;
}

static void radius_range(int begin, int end, void *context)
{
    const cairn_stage *stage = context;
    const cairn_body_store *b = &stage->world->bodies;
    for (int i = begin; i < end; i++)
        if (stage->block[i] >= 0)
            stage->radius[stage->block[i]] = is_ball(b, i) ? b->ball[i] : -1;
}

/* R of each block, -1 for what is no ball. */
static void find_radii(cairn_stage *stage)
{
    const cairn_world *world = stage->world;
    cairn_parallel_for(world->bodies.count, GRAIN, radius_range, stage);
    for (size_t k = 0; k < world->joint_count; k++)
        for (int side = 0; side < 2 && world->joints[k].rows > 0; side++) {
            int body = world->joints[k].body[side];
            if (body >= 0 && stage->block[body] >= 0)
                stage->radius[stage->block[body]] = -1;
        }
}

bool cairn_stage_in_space(const cairn_stage *stage, int i)
{
    return stage->all_balls || (stage->radius && stage->radius[stage->block[i]] >= 0);
}

/* a is touched at -R n, b at R n */
static bool is_round(const cairn_stage *stage, int j, int side)
{
    const cairn_contact_store *c = &stage->world->contacts;
    int block = stage->block[c->body[2 * j + side]];
    double R = block < 0 ? 0 : stage->radius[block];
    cairn_vec3 arm = cairn_contact_arm(stage, j, side);
    arm = cairn_add_scaled(arm, side ? -R : R, c->normal[j]);
    return block < 0 || (R >= 0 && cairn_norm(arm) <= ROUND * R);
}

static bool is_of_balls(const cairn_stage *stage, int j)
{
    const cairn_contact_store *c = &stage->world->contacts;
    return c->mu[j] == c->mu_2[j] && is_round(stage, j, 0) && is_round(stage, j, 1);
}

/* Places in H for the contacts that need them, and for the blocks of joints after them. */
static cairn_status give_places(cairn_stage *stage)
{
    int contacts = stage->world->contacts.count, all = contacts + stage->joints.blocks;
    stage->rows = cairn_arena_take(&stage->world->scratch, (size_t)all, sizeof *stage->rows);
    if (!stage->rows)
        return CAIRN_NO_MEMORY;
    stage->stored = 0;
    for (int j = 0; j < all; j++)
        stage->rows[j] = j < contacts && is_of_balls(stage, j) ? -1 : stage->stored++;
    return CAIRN_OK;
}

/* Whether that is clear without a look at the contacts. */
static bool all_balls(const cairn_stage *stage)
{
    bool all = stage->plain && stage->joints.blocks == 0 && !stage->world->laws.anisotropic;
    for (int k = 0; all && k < stage->blocks; k++)
        all = stage->radius[k] >= 0;
    return all;
}

cairn_status cairn_stage_find_balls(cairn_stage *stage)
{
    int contacts = stage->world->contacts.count, balls = 0;
    stage->radius = NULL;
    stage->all_balls = false;
    stage->rows = NULL;
    stage->stored = contacts + stage->joints.blocks;
    if (stage->world->dimension == 2 || stage->components != 3)
        return CAIRN_OK;
    stage->radius =
        cairn_arena_take(&stage->world->scratch, (size_t)stage->blocks, sizeof *stage->radius);
    if (!stage->radius)
        return CAIRN_NO_MEMORY;
    find_radii(stage);
    stage->all_balls = all_balls(stage);
    for (int j = 0; !stage->all_balls && j < contacts; j++)
        balls += is_of_balls(stage, j);
    if (!stage->all_balls && (balls < contacts || stage->joints.blocks))
        return give_places(stage);
    stage->stored = 0;
    return CAIRN_OK;
}

/* lattice.c - the cell of a periodic world: its edges, what it can hold, how bodies are put back.
 *
 * Images of a body are at x + h k, with the edges of the cell as columns of h. They move by
 *     h' = L h,    L: the velocity gradient of the cell.
 * The step from t to t + dt takes the mean L of the step and (Cayley, second order; exact for
 * simple shear, whose L^2 is 0)
 *     h(t + dt) = (1 - dt L/2)^-1 (1 + dt L/2) h(t),
 * so that the edges have the constant velocity (h(t + dt) - h(t))/dt within the step, and images
 * that times k. Bodies are not moved with the cell: they feel it only through the relative velocity
 * of images that touch, and when they are put back into the cell, which changes their velocity by
 * that of the edges. The lattice is the physics; which edges span it is not. So the edges are
 * replaced by shorter ones of the same lattice whenever the cell has become oblique, which makes
 * simple shear the boundary condition of Lees and Edwards. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "world/step.h"

static const char *const axis_names[] = { "x", "y", "z" };
static const char *const gradient_names[] = { "gradient_x", "gradient_y", "gradient_z" };

/* L_ij moves the edge j along i. The cell must be periodic along both: otherwise it would have no
 * effect, or images would drift away along an axis that has none. */
cairn_status cairn_lattice_check_gradient(const cairn_lattice *cell, int i, int j,
                                          cairn_error *error)
{
    int missing = !cairn_edge_is_periodic(cell, j) ? j : i;
    if (cairn_edge_is_periodic(cell, missing))
        return CAIRN_OK;
    return cairn_fail(error, CAIRN_BAD_INPUT, gradient_names[i],
                      "a derivative of the velocity %s along %s is given, but the world is not "
                      "periodic along %s, expected 0",
                      axis_names[i], axis_names[j], axis_names[missing]);
}

static const char *axis_name(int index)
{
    return index >= 0 && index < 3 ? axis_names[index] : NULL;
}

cairn_lattice_def cairn_lattice_def_default(void)
{
    return (cairn_lattice_def){ .high = { 1, 1, 1 } };
}

static void set_default(void *options)
{
    *(cairn_lattice_def *)options = cairn_lattice_def_default();
}

static const cairn_option cell_options[] = {
    { "axes", CAIRN_OPTION_NAMES, false, offsetof(cairn_lattice_def, axes), 0, 0, "",
      "x, y, z: along which the world repeats itself", axis_name },
    { "low", CAIRN_OPTION_VECTOR, false, offsetof(cairn_lattice_def, low), -1e30, 1e30, "m",
      "lower corner of the cell; other axes do not matter", NULL },
    { "high", CAIRN_OPTION_VECTOR, false, offsetof(cairn_lattice_def, high), -1e30, 1e30, "m",
      "upper corner of the cell", NULL },
    { "gradient_x", CAIRN_OPTION_VARYING_VECTOR, false, offsetof(cairn_lattice_def, gradient_x),
      -1e30, 1e30, "1/s", "derivatives of the velocity of the cell along x, by x, y and z", NULL },
    { "gradient_y", CAIRN_OPTION_VARYING_VECTOR, false, offsetof(cairn_lattice_def, gradient_y),
      -1e30, 1e30, "1/s", "of the velocity along y", NULL },
    { "gradient_z", CAIRN_OPTION_VARYING_VECTOR, false, offsetof(cairn_lattice_def, gradient_z),
      -1e30, 1e30, "1/s", "of the velocity along z", NULL },
};

static const cairn_record cell_record = {
    "periodic",
    "axes along which the world repeats itself, and how the cell deforms",
    sizeof(cairn_lattice_def),
    set_default,
    cell_options,
    sizeof cell_options / sizeof cell_options[0],
};

const cairn_record *cairn_lattice_record(void)
{
    return &cell_record;
}

bool cairn_lattice_exists(const cairn_lattice *cell)
{
    return cairn_lattice_is_periodic(cell);
}

cairn_lattice cairn_world_lattice(const cairn_world *world)
{
    return world->periodic.cell;
}

const cairn_lattice *cairn_lattice_of(const cairn_world *world)
{
    return cairn_lattice_is_periodic(&world->periodic.cell) ? &world->periodic.cell : NULL;
}

/* The edges of a definition, along the axes. */
static cairn_status read_edges(const cairn_world *world, const cairn_lattice_def *def,
                               cairn_lattice *cell, cairn_error *error)
{
    const double low[3] = { def->low.x, def->low.y, def->low.z };
    const double high[3] = { def->high.x, def->high.y, def->high.z };
    *cell = (cairn_lattice){ .corner = def->low };
    if (world->dimension == 2)
        cell->corner.z = 0;
    for (int k = 0; k < def->axes.count; k++) {
        int axis = 0;
        while (axis < 2 && strcmp(axis_names[axis], def->axes.items[k]) != 0)
            axis++;
        double length = high[axis] - low[axis];
        if (axis == 2 && world->dimension == 2)
            return cairn_fail(error, CAIRN_BAD_INPUT, "axes", "in 2D there is no axis z");
        if (!(length > 0))
            return cairn_fail(error, CAIRN_BAD_INPUT, "high",
                              "the cell has no length along %s, expected high above low",
                              axis_names[axis]);
        cell->edge[axis] =
            cairn_vec(axis == 0 ? length : 0, axis == 1 ? length : 0, axis == 2 ? length : 0);
    }
    return CAIRN_OK;
}

static void read_gradient(const cairn_lattice_def *def, double gradient[3][3])
{
    const cairn_vec3 rows[3] = { def->gradient_x, def->gradient_y, def->gradient_z };
    for (int i = 0; i < 3; i++) {
        const double row[3] = { rows[i].x, rows[i].y, rows[i].z };
        memcpy(gradient[i], row, sizeof row);
    }
}

static cairn_status set_gradient(cairn_world *world, const cairn_lattice *cell,
                                 const cairn_lattice_def *def)
{
    double gradient[3][3];
    read_gradient(def, gradient);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (gradient[i][j] != 0)
                TRY(cairn_lattice_check_gradient(cell, i, j, &world->error));
    memcpy(world->periodic.gradient, gradient, sizeof gradient);
    return CAIRN_OK;
}

cairn_status cairn_world_set_lattice_gradient(cairn_world *world, const cairn_lattice_def *def)
{
    cairn_pile_return(world);
    world->error = (cairn_error){ 0 };
    TRY(cairn_record_check(&cell_record, def, &world->error));
    return set_gradient(world, &world->periodic.cell, def);
}

cairn_status cairn_world_set_lattice(cairn_world *world, const cairn_lattice_def *def)
{
    cairn_pile_return(world);
    cairn_lattice cell;
    world->error = (cairn_error){ 0 };
    TRY(cairn_record_check(&cell_record, def, &world->error));
    TRY(read_edges(world, def, &cell, &world->error));
    TRY(set_gradient(world, &cell, def));
    world->periodic.cell = cell;
    for (int i = 0; i < world->bodies.count; i++)
        world->bodies.image[i] = (cairn_image){ { 0, 0, 0 } };
    for (size_t k = 0; k < world->joints.count; k++)
        world->joints.items[k].image = (cairn_image){ { 0, 0, 0 } };
    world->joints.changed = world->joints.count > 0;
    /* lists without images need no memory for them */
    cairn_contacts_release(&world->contacts);
    cairn_contacts_release(&world->last);
    cairn_pair_list_destroy(&world->pair_list);
    cairn_images_destroy(&world->periodic.images);
    world->problem_r = NULL;
    cairn_kept_pairs_forget(&world->kept_pairs);
    return CAIRN_OK;
}

/* ---- what it can hold ------------------------------------------------------------------------ */

/* A wall must look the same from each image: edges, and their velocities, lie in a plane, or along
 * the axis of a tube. */
static bool wall_repeats(const cairn_world *world, int body)
{
    const cairn_lattice *cell = &world->periodic.cell;
    const cairn_shape *shape = cairn_body_shape(&world->bodies, body);
    const cairn_pose pose = cairn_pose_compose(
        &(cairn_pose){ world->bodies.x[body], world->bodies.q[body] }, &world->bodies.pose[body]);
    cairn_vec3 n = cairn_rotate(pose.q, cairn_unit(shape->axis));
    bool plane = shape->kind == CAIRN_SHAPE_HALF_SPACE, tube = shape->kind == CAIRN_SHAPE_CYLINDER;
    bool repeats = plane || tube;
    for (int k = 0; k < 6 && repeats; k++) {
        cairn_vec3 e = k < 3 ? cell->edge[k] : cell->rate[k - 3];
        double off = plane ? fabs(cairn_dot(n, e)) : cairn_norm(cairn_cross(n, e));
        repeats = off <= 1e-9 * cairn_norm(e);
    }
    return repeats;
}

/* m: distance of the two nearest opposite faces. */
static double least_height(const cairn_lattice *cell)
{
    cairn_vec3 b[3];
    double least = INFINITY;
    cairn_lattice_reciprocal(cell, b);
    for (int i = 0; i < 3; i++)
        if (cairn_edge_is_periodic(cell, i))
            least = fmin(least, 1 / cairn_norm(b[i]));
    return least;
}

/* Dynamic bodies must not reach their own images; half the cell leaves room for their motion. */
static cairn_status check_bodies(const cairn_world *world, cairn_error *error)
{
    const cairn_body_store *b = &world->bodies;
    double height = least_height(&world->periodic.cell);
    for (int i = 0; i < b->count; i++) {
        if (!isfinite(b->extent[i]) && !wall_repeats(world, i))
            return cairn_fail(error, CAIRN_UNSUPPORTED, "periodic",
                              "body %lld (%s) has no bounds and is not the same in each image of "
                              "the cell: expected a half-space parallel to the periodic axes, or a "
                              "cylinder along the only one",
                              cairn_row_uid(world, i),
                              cairn_shape_record((int)cairn_body_shape(b, i)->kind)->name);
        if (i >= b->held && 2 * b->extent[i] > 0.5 * height * (1 + 1e-9))
            return cairn_fail(error, CAIRN_BAD_INPUT, "periodic",
                              "body %lld has a diameter of %.3g m, expected at most %.3g m: half "
                              "the distance of opposite faces of the cell",
                              cairn_row_uid(world, i), 2 * b->extent[i], 0.5 * height);
    }
    return CAIRN_OK;
}

/* What comes in must fit as well; what an inlet without a largest radius makes is checked when it
 * is there. */
static cairn_status check_inlets(const cairn_world *world, cairn_error *error)
{
    double height = least_height(&world->periodic.cell);
    for (size_t k = 0; k < world->inlets.count; k++) {
        double radius = cairn_distribution_largest(&world->inlets.items[k].def.radius);
        if (isfinite(radius) && 2 * radius > 0.5 * height * (1 + 1e-9))
            return cairn_fail(error, CAIRN_BAD_INPUT, "periodic",
                              "bodies of up to %.3g m come in through inlet %zu, expected at most "
                              "%.3g m: half the distance of opposite faces of the cell",
                              2 * radius, k, 0.5 * height);
    }
    return CAIRN_OK;
}

static bool moves(const cairn_world *world)
{
    bool any = cairn_world_varies(world, CAIRN_VARIED_LATTICE_X) ||
               cairn_world_varies(world, CAIRN_VARIED_LATTICE_Y) ||
               cairn_world_varies(world, CAIRN_VARIED_LATTICE_Z);
    for (int i = 0; i < 9; i++)
        any = any || world->periodic.gradient[i / 3][i % 3] != 0;
    return any;
}

cairn_status cairn_lattice_check(const cairn_world *world, const cairn_step_options *options,
                                 cairn_error *error)
{
    if (!cairn_lattice_of(world))
        return CAIRN_OK;
    TRY(check_inlets(world, error));
    if (options->sleep && moves(world))
        return cairn_fail(error, CAIRN_UNSUPPORTED, "sleep",
                          "found true, expected false: in a cell that deforms nothing rests");
    return check_bodies(world, error);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* The images of bodies and contacts of the last step: k_i += m k_j. */
static void recount(cairn_world *world, int i, int j, int32_t m)
{
    for (int row = 0; row < world->bodies.count; row++)
        world->bodies.image[row].k[i] += m * world->bodies.image[row].k[j];
    for (int c = 0; c < world->contacts.count; c++)
        world->contacts.image[c].k[i] += m * world->contacts.image[c].k[j];
    world->joints.changed = world->joints.count > 0;
    cairn_kept_pairs_forget(&world->kept_pairs);
}

/* Replace edge j by e_j - m e_i if that is shorter: the same lattice. Images count in edges, so
 * they change by k_i += m k_j. */
static void shorten(cairn_world *world, int i, int j, cairn_lattice_undo *undo)
{
    cairn_lattice *cell = &world->periodic.cell;
    cairn_vec3 e = cell->edge[i];
    double share = cairn_dot(cell->edge[j], e) / cairn_dot(e, e);
    int32_t m = (int32_t)round(share);
    if (fabs(share) <= 0.5 + 1e-9 || m == 0)
        return;
    cell->edge[j] = cairn_add_scaled(cell->edge[j], -m, e);
    recount(world, i, j, m);
    for (size_t k = 0; k < world->joints.count; k++)
        world->joints.items[k].image.k[i] += m * world->joints.items[k].image.k[j];
    undo->shortened[undo->shortened_count].i = i;
    undo->shortened[undo->shortened_count].j = j;
    undo->shortened[undo->shortened_count++].m = m;
}

static void shorten_edges(cairn_world *world, cairn_lattice_undo *undo)
{
    const cairn_lattice *cell = &world->periodic.cell;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (i != j && cairn_edge_is_periodic(cell, i) && cairn_edge_is_periodic(cell, j))
                shorten(world, i, j, undo);
}

/* L y */
static cairn_vec3 apply(const cairn_periodic *p, cairn_vec3 y)
{
    const double *L[3] = { p->gradient[0], p->gradient[1], p->gradient[2] };
    return cairn_vec(L[0][0] * y.x + L[0][1] * y.y + L[0][2] * y.z,
                     L[1][0] * y.x + L[1][1] * y.y + L[1][2] * y.z,
                     L[2][0] * y.x + L[2][1] * y.y + L[2][2] * y.z);
}

/* The mean velocity of an edge in the step: u = (1 - dt L/2)^-1 L e, by Cramer's rule. */
static cairn_vec3 edge_rate(const cairn_periodic *p, double h, cairn_vec3 e)
{
    const cairn_vec3 x = { 1, 0, 0 }, y = { 0, 1, 0 }, z = { 0, 0, 1 };
    cairn_vec3 a = cairn_add_scaled(x, -0.5 * h, apply(p, x));
    cairn_vec3 b = cairn_add_scaled(y, -0.5 * h, apply(p, y));
    cairn_vec3 c = cairn_add_scaled(z, -0.5 * h, apply(p, z));
    cairn_vec3 d = apply(p, e);
    double whole = 1 / cairn_dot(a, cairn_cross(b, c));
    return cairn_scale(whole,
                       cairn_vec(cairn_dot(d, cairn_cross(b, c)), cairn_dot(a, cairn_cross(d, c)),
                                 cairn_dot(a, cairn_cross(b, d))));
}

/* J: kinetic and potential energy of a body, without its rotation. */
static double translation_energy(const cairn_world *world, int i)
{
    const cairn_body_store *b = &world->bodies;
    return b->mass[i] * (0.5 * cairn_dot(b->v[i], b->v[i]) - cairn_dot(world->gravity, b->x[i]));
}

/* Put a body back into the cell by adding edges. */
static void put_back(cairn_world *world, int i, cairn_image put)
{
    const cairn_lattice *cell = &world->periodic.cell;
    cairn_body_store *b = &world->bodies;
    b->x[i] = cairn_add(b->x[i], cairn_lattice_shift(cell, put));
    b->v[i] = cairn_add(b->v[i], cairn_lattice_drift(cell, put));
    for (int axis = 0; axis < 3; axis++)
        b->image[i].k[axis] -= put.k[axis];
}

/* Whether a contact of the last step changes when bodies are put back. */
static bool follows(const cairn_contact_store *c, const cairn_image *put, int j)
{
    const int32_t *body = c->body + 2 * (size_t)j;
    return cairn_image_is_other(put[body[0]]) || cairn_image_is_other(put[body[1]]) ||
           cairn_image_is_other(c->image[j]);
}

/* The contacts of the last step, from which the warm start comes, follow their bodies: b has moved
 * by put_b edges, a by put_a, so the image of b that touches a is k + put_a - put_b. */
static void follow(cairn_world *world, const cairn_image *put)
{
    const cairn_lattice *cell = &world->periodic.cell;
    cairn_contact_store *c = &world->contacts;
    for (int j = 0; j < c->count; j++) {
        const int32_t *body = c->body + 2 * (size_t)j;
        cairn_image a = put[body[0]], b = put[body[1]];
        if (!follows(c, put, j))
            continue;
        c->point[j] = cairn_add(c->point[j], cairn_lattice_shift(cell, a));
        c->image[j] = cairn_image_from(c->image[j], a, b);
        c->shift[j] = cairn_lattice_shift(cell, c->image[j]);
    }
}

/* So do joints. The members that have the bodies of a joint, those of a broken one may be two, tell
 * the others, who may get them before the step is done. */
static void follow_joints(cairn_world *world, const cairn_image *put, int64_t *moved)
{
    cairn_joint_list *joints = &world->joints;
    for (size_t k = 0; k < joints->count; k++) {
        const cairn_joint *j = &joints->items[k];
        for (int i = 0; i < 3; i++) {
            int64_t by = 0;
            for (int side = 0; side < 2 && j->alive; side++)
                if (j->body[side] >= 0 && cairn_world_moves(world, j->body[side]))
                    by += side ? -put[j->body[side]].k[i] : put[j->body[side]].k[i];
            moved[3 * k + (size_t)i] = by;
        }
    }
    cairn_link_sums(world->exchange.link, moved, 3 * (int)joints->count);
    for (size_t k = 0; k < 3 * joints->count; k++) {
        joints->items[k / 3].image.k[k % 3] += (int32_t)moved[k];
        joints->changed = joints->changed || moved[k] != 0;
    }
    if (joints->changed)
        cairn_joints_index(world);
}

/* A wall has no image, whatever left the cell along it. */
static void clear_walls(cairn_world *world)
{
    cairn_contact_store *c = &world->contacts;
    for (int j = 0; j < c->count; j++)
        for (int side = 0; side < 2 && cairn_image_is_other(c->image[j]); side++) /* few */
            if (!isfinite(world->bodies.extent[c->body[2 * j + side]])) {
                c->image[j] = (cairn_image){ { 0, 0, 0 } };
                c->shift[j] = (cairn_vec3){ 0, 0, 0 };
            }
}

/* Bodies that have left: their number, and the energy, J, that putting them back gave them. */
typedef struct put_sum {
    double work;
    int64_t count;
} put_sum;

typedef struct put_job {
    cairn_world *world;
    cairn_vec3 reciprocal[3];
    cairn_image *put; /* of each body: the edges that were added */
} put_job;

/* Held bodies stay where they are: their motion is given. Ghosts have been copied from their
 * owners: for them each member does the same. */
static void find_range(int begin, int end, void *context)
{
    const put_job *job = context;
    const cairn_lattice *cell = &job->world->periodic.cell;
    const cairn_body_store *b = &job->world->bodies;
    for (int i = begin; i < end; i++) {
        job->put[i] = (cairn_image){ { 0, 0, 0 } };
        if (i >= b->held && !cairn_lattice_holds(cell, job->reciprocal, b->x[i]))
            job->put[i] = cairn_lattice_home(cell, job->reciprocal, b->x[i]);
    }
}

static void put_range(int begin, int end, void *context, void *value)
{
    const put_job *job = context;
    put_sum *sum = value;
    for (int i = begin; i < end; i++) {
        if (!cairn_image_is_other(job->put[i]))
            continue; /* most are in the cell */
        double before = translation_energy(job->world, i);
        put_back(job->world, i, job->put[i]);
        sum->work += translation_energy(job->world, i) - before;
        sum->count++;
    }
}

static void add_put(void *result, const void *value)
{
    put_sum *sum = result;
    const put_sum *part = value;
    sum->work += part->work;
    sum->count += part->count;
}

/* All bodies in one range or, in a world in parts, by parts: the sum is then the same for any
 * number of members. */
static cairn_status put_all(put_job *job, put_sum *sum)
{
    static const put_sum none = { 0, 0 };
    cairn_world *world = job->world;
    const cairn_reduction all = { .count = world->bodies.count,
                                  .grain = world->bodies.count + 1,
                                  .parted = cairn_world_parted(world),
                                  .work = put_range,
                                  .join = add_put,
                                  .context = job,
                                  .neutral = &none,
                                  .size = sizeof none };
    *sum = none;
    return cairn_arena_reduce(&world->scratch, &all, sum);
}

/* Bodies and contacts that change when bodies are put back, as they are. */
typedef struct cairn_put_body {
    int row;
    cairn_image image;
    cairn_vec3 x, v;
} cairn_put_body;

typedef struct cairn_put_contact {
    int row;
    cairn_image image;
    cairn_vec3 point, shift;
} cairn_put_contact;

static cairn_status note_contacts(cairn_world *world, const cairn_image *put,
                                  cairn_lattice_undo *undo)
{
    const cairn_contact_store *c = &world->contacts;
    size_t count = 0;
    if (undo->body_count == 0 && !world->exchange.link) /* nobody has left */
        return CAIRN_OK;
    for (int j = 0; j < c->count; j++)
        count += follows(c, put, j);
    undo->contact = cairn_arena_take(&world->scratch, count, sizeof *undo->contact);
    if (!undo->contact)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < c->count; j++)
        if (follows(c, put, j))
            undo->contact[undo->contact_count++] =
                (cairn_put_contact){ j, c->image[j], c->point[j], c->shift[j] };
    return CAIRN_OK;
}

static cairn_status note_bodies(cairn_world *world, const cairn_image *put,
                                cairn_lattice_undo *undo)
{
    const cairn_body_store *b = &world->bodies;
    size_t count = 0;
    for (int i = 0; i < b->count; i++)
        count += cairn_image_is_other(put[i]);
    undo->body = cairn_arena_take(&world->scratch, count, sizeof *undo->body);
    if (!undo->body)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < b->count; i++)
        if (cairn_image_is_other(put[i]))
            undo->body[undo->body_count++] = (cairn_put_body){ i, b->image[i], b->x[i], b->v[i] };
    return CAIRN_OK;
}

/* Joints before edges are shortened. */
static cairn_status note_joints(cairn_world *world, cairn_lattice_undo *undo)
{
    cairn_joint_list *joints = &world->joints;
    if (joints->count == 0)
        return CAIRN_OK;
    undo->joint = cairn_arena_take(&world->scratch, joints->count, sizeof *undo->joint);
    for (size_t k = 0; undo->joint && k < joints->count; k++)
        undo->joint[k] = joints->items[k].image;
    return undo->joint ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Choose the edges and find the bodies that left; nothing is sent to other members. */
static cairn_status prepare(cairn_world *world, double h, put_job *job, int64_t **moved,
                            cairn_lattice_undo *undo)
{
    cairn_lattice *cell = &world->periodic.cell;
    int count = world->bodies.count;
    TRY(note_joints(world, undo));
    shorten_edges(world, undo);
    for (int i = 0; i < 3; i++)
        cell->rate[i] = edge_rate(&world->periodic, h, cell->edge[i]);
    cairn_lattice_reciprocal(cell, job->reciprocal);
    job->put = cairn_arena_take(&world->scratch, (size_t)count, sizeof *job->put);
    *moved = cairn_arena_take(&world->scratch, 3 * world->joints.count, sizeof **moved);
    if (!job->put || !*moved)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for(count, 4096, find_range, job);
    TRY(note_bodies(world, job->put, undo));
    return note_contacts(world, job->put, undo);
}

cairn_status cairn_lattice_begin(cairn_world *world, double h, cairn_lattice_undo *undo)
{
    put_job job = { .world = world };
    put_sum sum;
    int64_t *moved = NULL;
    *undo = (cairn_lattice_undo){ .cell = world->periodic.cell, .work = world->periodic.work };
    if (!cairn_lattice_of(world))
        return CAIRN_OK;
    TRY(cairn_exchange_agree(world, prepare(world, h, &job, &moved, undo)));
    TRY(put_all(&job, &sum));
    world->periodic.work += sum.work;
    if (sum.count > 0) {
        follow(world, job.put);
        clear_walls(world);
    }
    if (world->joints.count > 0)
        follow_joints(world, job.put, moved);
    return CAIRN_OK;
}

/* In the reverse order: the rows are those of the beginning, and so are the contacts. Bodies that
 * were found but not put back, because another member failed, are as they were found. */
void cairn_lattice_take_back(cairn_world *world, const cairn_lattice_undo *undo)
{
    cairn_body_store *b = &world->bodies;
    cairn_contact_store *c = &world->contacts;
    if (!cairn_lattice_of(world))
        return;
    for (int k = 0; k < undo->contact_count; k++) {
        const cairn_put_contact *old = &undo->contact[k];
        c->image[old->row] = old->image;
        c->point[old->row] = old->point;
        c->shift[old->row] = old->shift;
    }
    for (int k = 0; k < undo->body_count; k++) {
        const cairn_put_body *old = &undo->body[k];
        b->x[old->row] = old->x;
        b->v[old->row] = old->v;
        b->image[old->row] = old->image;
    }
    if (undo->body_count > 0)
        cairn_kept_pairs_forget(&world->kept_pairs);
    for (int k = undo->shortened_count - 1; k >= 0; k--)
        recount(world, undo->shortened[k].i, undo->shortened[k].j, -undo->shortened[k].m);
    for (size_t k = 0; undo->joint && k < world->joints.count; k++)
        world->joints.items[k].image = undo->joint[k];
    world->joints.changed = world->joints.changed || undo->joint;
    world->periodic.cell = undo->cell;
    world->periodic.work = undo->work;
}

void cairn_lattice_copy(const cairn_world *from, cairn_world *to)
{
    to->periodic.cell = from->periodic.cell;
    to->periodic.work = from->periodic.work;
    memcpy(to->periodic.gradient, from->periodic.gradient, sizeof to->periodic.gradient);
}

/* |(1 - h L/2)^-1 L| <= 2 |L| for h |L| <= 1, with the Frobenius norm. Twice that, since the edges
 * move until the end of the step. */
double cairn_lattice_way(const cairn_world *world, double h)
{
    double gradient[3][3], sum = 0;
    memcpy(gradient, world->periodic.gradient, sizeof gradient);
    for (size_t k = 0; k < world->driven.varied.count; k++) {
        const cairn_varied_number *v = &world->driven.varied.items[k];
        if (v->what >= CAIRN_VARIED_LATTICE_X)
            gradient[v->index][v->what - CAIRN_VARIED_LATTICE_X] =
                cairn_varied_in_step(world, v, h);
    }
    for (int i = 0; i < 9; i++)
        sum += gradient[i / 3][i % 3] * gradient[i / 3][i % 3];
    return 4 * h * sqrt(sum);
}

/* The range of a box along a reciprocal vector of the cell, in edges. */
static void measure(const cairn_bounds *box, cairn_vec3 b, double range[2])
{
    double middle = 0.5 * cairn_dot(b, cairn_add(box->low, box->high));
    cairn_vec3 size = cairn_sub(box->high, box->low);
    double half = 0.5 * (fabs(b.x) * size.x + fabs(b.y) * size.y + fabs(b.z) * size.z);
    range[0] = middle - half;
    range[1] = middle + half;
}

/* Whether the image k of box a overlaps box b, with the way that it may move in the step. */
static bool image_overlaps(const cairn_bounds *a, cairn_vec3 shift, double way,
                           const cairn_bounds *b)
{
    double far = way * cairn_norm(shift);
    const cairn_vec3 more = { far, far, far };
    const cairn_bounds moved = { cairn_sub(cairn_add(a->low, shift), more),
                                 cairn_add(cairn_add(a->high, shift), more) };
    return cairn_bounds_meet(&moved, b);
}

/* Boxes are compared along the edges first, one edge wider on both sides for the way of images. */
bool cairn_lattice_search(const cairn_world *world, double way, const cairn_bounds *a,
                          const cairn_bounds *b, cairn_image_fn *accept, void *context)
{
    enum { FARTHEST = 16 }; /* edges between two bodies that meet */
    const cairn_lattice *cell = &world->periodic.cell;
    int32_t from[3] = { 0, 0, 0 }, to[3] = { 0, 0, 0 };
    cairn_vec3 reciprocal[3];
    cairn_lattice_reciprocal(cell, reciprocal);
    for (int i = 0; i < 3; i++) {
        double one[2], other[2];
        measure(a, reciprocal[i], one);
        measure(b, reciprocal[i], other);
        if (!cairn_edge_is_periodic(cell, i))
            continue;
        from[i] = (int32_t)fmax(ceil(other[0] - one[1]) - 1, -FARTHEST);
        to[i] = (int32_t)fmin(floor(other[1] - one[0]) + 1, FARTHEST);
    }
    for (int32_t x = from[0]; x <= to[0]; x++)
        for (int32_t y = from[1]; y <= to[1]; y++)
            for (int32_t z = from[2]; z <= to[2]; z++) {
                const cairn_vec3 shift = cairn_lattice_shift(cell, (cairn_image){ { x, y, z } });
                if (image_overlaps(a, shift, way, b) && (!accept || accept(shift, context)))
                    return true;
            }
    return false;
}

bool cairn_lattice_joins(const cairn_world *world, double way, const cairn_bounds *a,
                         const cairn_bounds *b)
{
    return cairn_lattice_search(world, way, a, b, NULL, NULL);
}

void cairn_lattice_enter(const cairn_world *world, cairn_vec3 *x, cairn_vec3 *v)
{
    const cairn_lattice *cell = cairn_lattice_of(world);
    cairn_vec3 reciprocal[3];
    if (!cell)
        return;
    cairn_lattice_reciprocal(cell, reciprocal);
    cairn_image put = cairn_lattice_home(cell, reciprocal, *x);
    *x = cairn_add(*x, cairn_lattice_shift(cell, put));
    *v = cairn_add(*v, cairn_lattice_drift(cell, put));
}

void cairn_lattice_advance(cairn_world *world, double h)
{
    if (cairn_lattice_of(world))
        world->periodic.cell = cairn_lattice_ahead(&world->periodic.cell, h);
}

/* ---- as bytes -------------------------------------------------------------------------------- */

void cairn_lattice_write(cairn_writer *w, const cairn_world *world)
{
    const cairn_periodic *p = &world->periodic;
    cairn_write_vector(w, p->cell.corner);
    for (int i = 0; i < 3; i++) {
        cairn_write_vector(w, p->cell.edge[i]);
        cairn_write_vector(w, p->cell.rate[i]);
        for (int j = 0; j < 3; j++)
            cairn_write_real(w, p->gradient[i][j]);
    }
    cairn_write_real(w, p->work);
}

/* Edges that span no volume are refused: nothing could be put back into such a cell. */
cairn_status cairn_lattice_read(cairn_reader *r, cairn_world *world)
{
    cairn_periodic *p = &world->periodic;
    cairn_vec3 b[3];
    p->cell.corner = cairn_read_vector(r);
    bool finite = cairn_is_finite(p->cell.corner);
    for (int i = 0; i < 3; i++) {
        p->cell.edge[i] = cairn_read_vector(r);
        p->cell.rate[i] = cairn_read_vector(r);
        finite = finite && cairn_is_finite(p->cell.edge[i]) && cairn_is_finite(p->cell.rate[i]);
        for (int j = 0; j < 3; j++) {
            p->gradient[i][j] = cairn_read_real(r);
            finite = finite && isfinite(p->gradient[i][j]);
        }
    }
    p->work = cairn_read_real(r);
    cairn_lattice_reciprocal(&p->cell, b);
    for (int i = 0; i < 3; i++)
        finite = finite && cairn_is_finite(b[i]);
    r->failed = r->failed || !finite || !isfinite(p->work);
    return r->failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

/* compound.c - several shapes, rigidly joined. Compounds among the parts are replaced by their
 * parts, so parts are simple. The volume integrals of the parts add up: where parts overlap,
 * mass counts twice. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"

/* Checked both for parts of a user and for parts read back from bytes. Quaternions are
 * normalised later, so a small deviation from length 1 is accepted. */
static cairn_status check_part(const cairn_part *part, int dimension, cairn_error *error)
{
    cairn_quat q = part->pose.q;
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    TRY(cairn_shape_check(&part->shape, dimension, error));
    if (!cairn_shape_bounded(&part->shape))
        return cairn_fail(error, CAIRN_BAD_INPUT, "shape",
                          "a %s cannot be a part, expected a bounded shape",
                          cairn_shape_record(part->shape.kind)->name);
    if (!cairn_is_finite(part->pose.x))
        return cairn_fail(error, CAIRN_NOT_FINITE, "position", "the position is not finite");
    if (!(fabs(length - 1) < 1e-6))
        return cairn_fail(error, CAIRN_BAD_INPUT, "orientation",
                          "found a quaternion of length %g, expected 1", length);
    if (dimension == 2 && (part->pose.x.z != 0 || q.x != 0 || q.y != 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "position",
                          "in 2D a part lies and turns in the plane");
    return CAIRN_OK;
}

/* The number of parts once compounds are dissolved. Parts of a compound are simple already, so
 * one level is enough. */
static int count_simple(const cairn_part *parts, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += parts[i].shape.kind == CAIRN_SHAPE_COMPOUND
                   ? parts[i].shape.geometry->view.part_count
                   : 1;
    return sum;
}

static void append(cairn_geometry *g, const cairn_shape *shape, const cairn_pose *pose)
{
    cairn_part *part = (cairn_part *)&g->view.parts[g->view.part_count++];
    part->shape = *shape;
    part->pose = (cairn_pose){ pose->x, cairn_quat_normalised(pose->q) };
    cairn_geometry_retain(shape->geometry);
}

/* Append a part, or the parts of a compound at their poses in the outer one: p = x + R(q)
 * p_inner */
static void append_dissolved(cairn_geometry *g, const cairn_part *part)
{
    if (part->shape.kind != CAIRN_SHAPE_COMPOUND) {
        append(g, &part->shape, &part->pose);
        return;
    }
    const cairn_geometry_view *inner = &part->shape.geometry->view;
    for (int i = 0; i < inner->part_count; i++) {
        const cairn_pose *pose = &inner->parts[i].pose;
        const cairn_pose placed = { cairn_add(part->pose.x, cairn_rotate(part->pose.q, pose->x)),
                                    cairn_quat_multiply(part->pose.q, pose->q) };
        append(g, &inner->parts[i].shape, &placed);
    }
}

/* The sum over the parts; a part without mass of its own (a segment, an open mesh) adds nothing. */
static void find_moments(cairn_geometry *g)
{
    for (int i = 0; i < g->view.part_count; i++) {
        const cairn_part *part = &g->view.parts[i];
        const cairn_shape_class *class = cairn_shape_class_of(&part->shape);
        cairn_moments m = { 0 };
        if (!class->moments || !class->moments(&part->shape, g->view.dimension, &m))
            continue;
        m = cairn_moments_placed(&m, &part->pose);
        cairn_moments_add(&g->moments, &m);
    }
    g->view.closed = g->moments.volume > 0;
}

static void find_extent(cairn_geometry *g)
{
    for (int i = 0; i < g->view.part_count; i++) {
        const cairn_part *part = &g->view.parts[i];
        double reach = cairn_norm(part->pose.x) + cairn_shape_extent(&part->shape);
        g->extent = fmax(g->extent, reach);
    }
}

/* Boxes of the bounding balls: larger than necessary, but valid however a part is rotated. */
static cairn_status build_tree(cairn_geometry *g)
{
    int count = g->view.part_count;
    cairn_bounds *boxes = cairn_memory_resize(NULL, (size_t)count, sizeof *boxes);
    if (!boxes)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++) {
        double r = cairn_shape_extent(&g->view.parts[i].shape);
        cairn_vec3 x = g->view.parts[i].pose.x, reach = { r, r, r };
        boxes[i] = (cairn_bounds){ cairn_sub(x, reach), cairn_add(x, reach) };
    }
    cairn_status status = cairn_mesh_tree_build(boxes, count, &g->tree);
    cairn_memory_free(boxes);
    return status;
}

static cairn_status complete(cairn_geometry *g, cairn_error *error)
{
    for (int i = 0; i < g->view.part_count; i++)
        TRY(check_part(&g->view.parts[i], g->view.dimension, error));
    find_extent(g);
    find_moments(g);
    return build_tree(g);
}

static cairn_status build(cairn_geometry *g, const cairn_part *parts, int count, cairn_error *error)
{
    g->view.parts = cairn_memory_zeroed((size_t)count_simple(parts, count), sizeof *g->view.parts);
    if (!g->view.parts)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++)
        append_dissolved(g, &parts[i]);
    return complete(g, error);
}

cairn_status cairn_compound_create(const cairn_part *parts, int count, int dimension,
                                   const cairn_geometry **out, cairn_error *error)
{
    *out = NULL;
    if (count < 1)
        return cairn_fail(error, CAIRN_BAD_INPUT, "parts", "found no part, expected at least one");
    for (int i = 0; i < count; i++)
        TRY(check_part(&parts[i], dimension, error));
    cairn_geometry *g = cairn_geometry_begin(CAIRN_SHAPE_COMPOUND, dimension);
    cairn_status status = g ? build(g, parts, count, error) : CAIRN_NO_MEMORY;
    return cairn_geometry_finish(g, status, out, error);
}

const cairn_shape_class cairn_shape_class_compound = {
    .record = { "compound", "several shapes, rigidly joined", sizeof(cairn_shape),
                cairn_shape_set_default, NULL, 0 },
    .moments = cairn_geometry_moments_of,
    .extent = cairn_geometry_extent_of,
    .complete = complete,
    .has_geometry = true,
};

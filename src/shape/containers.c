/* containers.c - half-spaces, containers and funnels: walls that hold other bodies. They are not
 * convex or not bounded, so they have no support function, and no volume; collide/ treats each
 * kind by formulas of its own. */
#include "base/common.h"
#include "shape/shape.h"

/* ---- half-spaces ------------------------------------------------------------------------- */

/* Everything below a plane (2D: a line) through the body's origin is solid. */

static const cairn_option half_space_options[] = {
    CAIRN_SHAPE_AXIS("outward normal, in the body frame; default +z, in 2D +y"),
};

const cairn_shape_class cairn_shape_class_half_space = {
    .record = { "half_space", "solid below a plane (2D: line) through the body's position",
                sizeof(cairn_shape), cairn_shape_set_default, half_space_options, 1 },
    .has_axis = true,
};

/* ---- inside of a box --------------------------------------------------------------------- */

/* The inside of a box (2D: of a rectangle) about the body's origin, with its axes:
 * things stay within. */

static cairn_status inside_box_check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    return cairn_shape_check_lengths(shape->size, dimension, "size", error);
}

static const cairn_option inside_box_options[] = {
    { "size", CAIRN_OPTION_VECTOR, true, offsetof(cairn_shape, size), 0, 1e12, "m",
      "full inner lengths along x, y, z (2D: x, y)", NULL },
};

const cairn_shape_class cairn_shape_class_inside_box = {
    .record = { "inside_box", "inside of a box (2D: rectangle) about the body's position",
                sizeof(cairn_shape), cairn_shape_set_default, inside_box_options, 1 },
    .check = inside_box_check,
};

/* ---- inside of a cylinder ---------------------------------------------------------------- */

/* The inside of an infinite cylinder (2D: of a circle): things stay within. */

static const cairn_option inside_cylinder_options[] = {
    { "radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, radius), CAIRN_POSITIVE, 1e12, "m",
      "inner radius", NULL },
    CAIRN_SHAPE_AXIS("direction of the axis, in the body frame; default +z"),
};

const cairn_shape_class cairn_shape_class_inside_cylinder = {
    .record = { "inside_cylinder", "inside of an infinite cylinder (2D: of a circle)",
                sizeof(cairn_shape), cairn_shape_set_default, inside_cylinder_options, 2 },
    .has_axis = true,
};

/* ---- inside of a cone -------------------------------------------------------------------- */

/* The inside of an infinite cone (2D: of a wedge), apex at the body's origin. */

static const cairn_option inside_cone_options[] = {
    { "half_angle", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, half_angle), CAIRN_POSITIVE,
      1.5707, "rad", "angle between axis and wall", NULL },
    CAIRN_SHAPE_AXIS("from the apex to the opening, in the body frame; default +z, in 2D +y"),
};

const cairn_shape_class cairn_shape_class_inside_cone = {
    .record = { "inside_cone",
                "inside of an infinite cone (2D: wedge), apex at the body's position",
                sizeof(cairn_shape), cairn_shape_set_default, inside_cone_options, 2 },
    .has_axis = true,
};

/* ---- funnels ----------------------------------------------------------------------------- */

/* A thin wall with the form of a truncated cone, open at both ends; things may touch
 * it from inside and from outside, and its two edges. Equal radii make a tube. */

static cairn_status funnel_check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    (void)dimension;
    if (shape->bottom_radius == 0 && shape->top_radius == 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "top_radius",
                          "both radii are 0, expected at least one > 0");
    return CAIRN_OK;
}

static const cairn_option funnel_options[] = {
    { "bottom_radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, bottom_radius), 0, 1e12, "m",
      "radius of the opening at the body's position", NULL },
    { "top_radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, top_radius), 0, 1e12, "m",
      "radius of the opening at the other end", NULL },
    { "height", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, height), CAIRN_POSITIVE, 1e12, "m",
      "distance between the openings along the axis", NULL },
    CAIRN_SHAPE_AXIS("from bottom to top, in the body frame; default +z, in 2D +y"),
};

const cairn_shape_class cairn_shape_class_funnel = {
    .record = { "funnel", "thin wall of a truncated cone or tube, open at both ends",
                sizeof(cairn_shape), cairn_shape_set_default, funnel_options, 4 },
    .check = funnel_check,
    .has_axis = true,
};

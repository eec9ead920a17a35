/* shape.c - the list of shape kinds, and what is common to all of them. */
#include "shape/shape.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"
#include "shape/geometry.h"

/* The class of each kind, in its own file. */
extern const cairn_shape_class cairn_shape_class_sphere, cairn_shape_class_point,
    cairn_shape_class_half_space, cairn_shape_class_inside_cylinder, cairn_shape_class_inside_cone,
    cairn_shape_class_funnel, cairn_shape_class_inside_box, cairn_shape_class_box,
    cairn_shape_class_capsule, cairn_shape_class_cylinder, cairn_shape_class_cone,
    cairn_shape_class_ellipsoid, cairn_shape_class_superellipsoid, cairn_shape_class_polyhedron,
    cairn_shape_class_mesh, cairn_shape_class_polyline, cairn_shape_class_height_field,
    cairn_shape_class_compound;

static const cairn_shape_class *const classes[CAIRN_SHAPE_COUNT] = {
    [CAIRN_SHAPE_SPHERE] = &cairn_shape_class_sphere,
    [CAIRN_SHAPE_POINT] = &cairn_shape_class_point,
    [CAIRN_SHAPE_HALF_SPACE] = &cairn_shape_class_half_space,
    [CAIRN_SHAPE_INSIDE_CYLINDER] = &cairn_shape_class_inside_cylinder,
    [CAIRN_SHAPE_INSIDE_CONE] = &cairn_shape_class_inside_cone,
    [CAIRN_SHAPE_FUNNEL] = &cairn_shape_class_funnel,
    [CAIRN_SHAPE_INSIDE_BOX] = &cairn_shape_class_inside_box,
    [CAIRN_SHAPE_BOX] = &cairn_shape_class_box,
    [CAIRN_SHAPE_CAPSULE] = &cairn_shape_class_capsule,
    [CAIRN_SHAPE_CYLINDER] = &cairn_shape_class_cylinder,
    [CAIRN_SHAPE_CONE] = &cairn_shape_class_cone,
    [CAIRN_SHAPE_ELLIPSOID] = &cairn_shape_class_ellipsoid,
    [CAIRN_SHAPE_SUPERELLIPSOID] = &cairn_shape_class_superellipsoid,
    [CAIRN_SHAPE_POLYHEDRON] = &cairn_shape_class_polyhedron,
    [CAIRN_SHAPE_MESH] = &cairn_shape_class_mesh,
    [CAIRN_SHAPE_POLYLINE] = &cairn_shape_class_polyline,
    [CAIRN_SHAPE_HEIGHT_FIELD] = &cairn_shape_class_height_field,
    [CAIRN_SHAPE_COMPOUND] = &cairn_shape_class_compound,
};

const cairn_record *cairn_shape_record(int kind)
{
    return kind >= 0 && kind < CAIRN_SHAPE_COUNT ? &classes[kind]->record : NULL;
}

int cairn_shape_dimension(cairn_shape_kind kind)
{
    return (unsigned)kind < CAIRN_SHAPE_COUNT ? classes[kind]->only_in : 0;
}

const cairn_shape_class *cairn_shape_class_of(const cairn_shape *shape)
{
    return classes[shape->kind];
}

void cairn_shape_set_default(void *shape)
{
    *(cairn_shape *)shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
}

cairn_shape cairn_shape_default(cairn_shape_kind kind, int dimension)
{
    /* the axis of a circle, the 2D form of a cylinder, is perpendicular to the plane */
    bool in_plane = dimension == 2 && kind != CAIRN_SHAPE_INSIDE_CYLINDER;
    return (cairn_shape){ .kind = kind,
                          .axis = in_plane ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1) };
}

/* ---- checks --------------------------------------------------------------------------------- */

cairn_status cairn_shape_check_lengths(cairn_vec3 lengths, int dimension, const char *key,
                                       cairn_error *error)
{
    if (dimension == 2 && lengths.z != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, key, "found z = %g, in 2D only x and y are given",
                          lengths.z);
    if (!(lengths.x > 0 && lengths.y > 0 && (dimension == 2 || lengths.z > 0)))
        return cairn_fail(error, CAIRN_BAD_INPUT, key,
                          "found [%g, %g, %g], expected numbers > 0 in m", lengths.x, lengths.y,
                          lengths.z);
    return CAIRN_OK;
}

/* In 2D axes lie in the plane, except that of a circle, which is perpendicular to it. */
static cairn_status check_axis(const cairn_shape *shape, int dimension, cairn_error *error)
{
    bool flat = shape->kind == CAIRN_SHAPE_INSIDE_CYLINDER;
    if (!(cairn_norm(shape->axis) > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis", "found zero, expected a direction");
    if (dimension == 2 && flat && (shape->axis.x != 0 || shape->axis.y != 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis",
                          "in 2D a cylinder is a circle: its axis can only be [0, 0, 1]");
    if (dimension == 2 && !flat && shape->axis.z != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis",
                          "found z = %g, expected a direction in the plane", shape->axis.z);
    return CAIRN_OK;
}

/* A geometry may come from the user, so its kind and dimension must match those of the shape. */
static cairn_status check_geometry(const cairn_shape *shape, int dimension, cairn_error *error)
{
    const char *name = classes[shape->kind]->record.name;
    if (!shape->geometry)
        return cairn_fail(error, CAIRN_BAD_INPUT, "geometry", "a %s needs its data", name);
    if (shape->geometry->kind != shape->kind)
        return cairn_fail(error, CAIRN_BAD_INPUT, "geometry",
                          "found the data of a %s, expected those of a %s",
                          classes[shape->geometry->kind]->record.name, name);
    if (shape->geometry->view.dimension != dimension)
        return cairn_fail(error, CAIRN_BAD_INPUT, "geometry",
                          "found a %s made for %dD, expected one for %dD", name,
                          shape->geometry->view.dimension, dimension);
    return CAIRN_OK;
}

/* The ranges of the table come first, so that the checks of a kind can rely on them. */
cairn_status cairn_shape_check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    if ((unsigned)shape->kind >= CAIRN_SHAPE_COUNT)
        return cairn_fail(error, CAIRN_BAD_INPUT, "shape", "unknown shape kind %d",
                          (int)shape->kind);
    const cairn_shape_class *class = classes[shape->kind];
    if (class->only_in != 0 && class->only_in != dimension)
        return cairn_fail(error, CAIRN_BAD_INPUT, "shape", "a %s exists only in %dD",
                          class->record.name, class->only_in);
    TRY(cairn_record_check(&class->record, shape, error));
    if (class->has_axis)
        TRY(check_axis(shape, dimension, error));
    if (class->has_geometry)
        TRY(check_geometry(shape, dimension, error));
    return class->check ? class->check(shape, dimension, error) : CAIRN_OK;
}

/* ---- form ----------------------------------------------------------------------------------- */

bool cairn_shape_bounded(const cairn_shape *shape)
{
    return classes[shape->kind]->extent != NULL;
}

bool cairn_shape_has_faces(const cairn_shape *shape)
{
    return shape->kind == CAIRN_SHAPE_MESH || shape->kind == CAIRN_SHAPE_POLYLINE ||
           shape->kind == CAIRN_SHAPE_HEIGHT_FIELD;
}

double cairn_shape_extent(const cairn_shape *shape)
{
    const cairn_shape_class *class = classes[shape->kind];
    return class->extent ? class->extent(shape) : INFINITY;
}

double cairn_shape_rounding(const cairn_shape *shape)
{
    const cairn_shape_class *class = classes[shape->kind];
    return class->rounding ? class->rounding(shape) : 0;
}

cairn_vec3 cairn_shape_support(const cairn_shape *shape, cairn_vec3 direction)
{
    return classes[shape->kind]->support(shape, direction);
}

void cairn_shape_face(const cairn_shape *shape, cairn_vec3 direction, cairn_face *out)
{
    classes[shape->kind]->face(shape, direction, out);
}

cairn_vec3 cairn_radial(cairn_vec3 d, cairn_vec3 axis)
{
    cairn_vec3 across = cairn_add_scaled(d, -cairn_dot(d, axis), axis);
    if (!(cairn_norm(across) > 1e-14 * cairn_norm(d)))
        return cairn_vec(0, 0, 0);
    /* twice: if d is almost parallel to the axis, the remainder is still far from perpendicular
     * to it */
    across = cairn_unit(across);
    return cairn_unit(cairn_add_scaled(across, -cairn_dot(across, axis), axis));
}

void cairn_face_of_point(cairn_vec3 point, cairn_vec3 direction, cairn_face *out)
{
    out->count = 1;
    out->id = 0;
    out->normal = cairn_unit(direction);
    out->point[0] = point;
    out->vertex[0] = 0;
}

/* Seen from below, the rim points run backwards, so that the face is counterclockwise from
 * outside; the vertices keep their numbers. */
void cairn_face_of_disk(const cairn_disk *disk, cairn_face *out)
{
    enum { RIM = 8 };
    cairn_vec3 e = cairn_perpendicular(disk->axis), f = cairn_cross(disk->axis, e);
    bool back = cairn_dot(disk->normal, disk->axis) < 0;
    out->count = RIM;
    out->id = 0;
    out->normal = disk->normal;
    for (int k = 0; k < RIM; k++) {
        int vertex = back ? RIM - 1 - k : k;
        double angle = 2 * M_PI * vertex / RIM;
        cairn_vec3 p = cairn_add_scaled(disk->centre, disk->radius * cos(angle), e);
        out->point[k] = cairn_add_scaled(p, disk->radius * sin(angle), f);
        out->vertex[k] = vertex;
    }
}

/* ---- mass ----------------------------------------------------------------------------------- */

cairn_status cairn_shape_mass_tensor(const cairn_shape *shape, int dimension, cairn_mass *out)
{
    const cairn_shape_class *class = classes[shape->kind];
    cairn_moments m = { 0 };
    *out = (cairn_mass){ 0 };
    if (!class->moments || !class->moments(shape, dimension, &m))
        return CAIRN_UNSUPPORTED;
    *out = cairn_moments_mass(&m, dimension);
    return CAIRN_OK;
}

/* Moments are computed at density 1; mass and inertia are proportional to the density. */
cairn_status cairn_shape_mass(const cairn_shape *shape, int dimension, double density, double *mass,
                              cairn_vec3 *inertia)
{
    cairn_mass at_one;
    cairn_pose unused;
    *mass = 0;
    *inertia = cairn_vec(0, 0, 0);
    TRY(cairn_shape_mass_tensor(shape, dimension, &at_one));
    cairn_mass_principal(&at_one, dimension, inertia, &unused);
    *mass = density * at_one.mass;
    *inertia = cairn_scale(density, *inertia);
    return CAIRN_OK;
}

/* paraview.c - the folder paraview/ of a run: its series. The script that shows them is in
 * view_script.c.
 *
 * Vectors are given in the world frame. The files are not synced to the disk one by one; after a
 * power cut some may be missing (docs/checkpoints.md), and run.h5 is the record that counts. */
#include "run/drawing.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"
#include "file/file.h"
#include "math/vec.h"

/* Series are also the beginnings of the file names. */
static const char *const series[] = { "bodies", "contacts", "joints", "walls",
                                      "shapes", "fields",   "cell" };
enum { BODIES, CONTACTS, JOINTS, WALLS, SHAPES, FIELDS, CELL, SERIES };

cairn_status cairn_run_paraview_create(const char *folder, bool contacts, cairn_run_paraview *out,
                                       cairn_error *error)
{
    *out = (cairn_run_paraview){ .contacts = contacts };
    return cairn_run_paraview_go_on(folder, contacts, out, error);
}

cairn_status cairn_run_paraview_go_on(const char *folder, bool contacts, cairn_run_paraview *out,
                                      cairn_error *error)
{
    out->contacts = contacts;
    TRY(cairn_path_join(folder, "paraview", out->folder, error));
    TRY(cairn_folder_create(out->folder, error));
    return cairn_run_view_write(out->folder, error);
}

void cairn_run_paraview_destroy(cairn_run_paraview *p)
{
    cairn_run_walls_destroy(&p->walls);
    cairn_memory_free(p->times);
    cairn_memory_free(p->wall_times);
    cairn_run_solids_destroy(&p->solids);
    cairn_memory_free(p->shape_times);
    *p = (cairn_run_paraview){ .contacts = false };
}

/* What this rank has of a file, and, if it is the first one, the list of what all have. */
static cairn_status write_own_piece(const cairn_run_paraview *p, int which,
                                    const cairn_vtk_piece *piece, cairn_error *error)
{
    const cairn_vtk_pieces all = { p->folder, series[which], (int64_t)p->count, p->pieces };
    char name[64], path[CAIRN_PATH_BYTES];
    cairn_vtk_piece_name(series[which], (int64_t)p->count, p->piece, name);
    TRY(cairn_path_join(p->folder, name, path, error));
    TRY(cairn_vtk_write(path, piece, error));
    if (p->piece > 0)
        return CAIRN_OK;
    /* an earlier run may have left more pieces */
    for (int k = p->pieces, gone = 0; gone == 0; k++) {
        cairn_vtk_piece_name(series[which], (int64_t)p->count, k, name);
        TRY(cairn_path_join(p->folder, name, path, error));
        gone = unlink(path);
    }
    return cairn_vtk_pieces_write(&all, piece, error);
}

/* Write one file of a series; the number of the file is that of the frame. An earlier run may have
 * left pieces of the same number. */
static cairn_status write_piece(const cairn_run_paraview *p, int which,
                                const cairn_vtk_piece *piece, cairn_error *error)
{
    char name[64], path[CAIRN_PATH_BYTES];
    if (p->pieces > 0 && (which == BODIES || which == CONTACTS || which == SHAPES))
        return write_own_piece(p, which, piece, error);
    cairn_vtk_piece_name(series[which], (int64_t)p->count, -1, name);
    TRY(cairn_path_join(p->folder, name, path, error));
    unlink(path);
    cairn_vtk_file_name(series[which], (int64_t)p->count, name);
    TRY(cairn_path_join(p->folder, name, path, error));
    return cairn_vtk_write(path, piece, error);
}

/* Force on body a (N), in the world frame: (r_N n + r_1 t + r_2 n x t)/h. */
static cairn_vec3 force_of(const cairn_run_frame *f, size_t contact)
{
    const double *r = f->touch.impulse + contact * (size_t)f->dimension;
    cairn_vec3 n = f->touch.normal[contact], t = f->touch.tangent[contact];
    cairn_vec3 force = cairn_add_scaled((cairn_vec3){ 0, 0, 0 }, r[0] / f->time_step, n);
    force = cairn_add_scaled(force, r[1] / f->time_step, t);
    return f->dimension == 2 ? force
                             : cairn_add_scaled(force, r[2] / f->time_step, cairn_cross(n, t));
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The name of a body in the scene; NULL: it has none. */
static const char *name_of(const cairn_run_paraview *p, uint64_t uid)
{
    const cairn_scene *scene = p->scene;
    bool there = scene && scene->body_names && uid < (uint64_t)scene->body_count;
    return there ? scene->body_names[uid] : NULL;
}

static const char *material_of(const cairn_run_paraview *p, int32_t material)
{
    const cairn_scene *scene = p->scene;
    bool there = scene && scene->material_names && material >= 0;
    return there && material < scene->material_count ? scene->material_names[material] : NULL;
}

/* Whether all files have the names of bodies: some body has one. */
static bool has_names(const cairn_run_paraview *p)
{
    for (int i = 0; p->scene && i < p->scene->body_count; i++)
        if (name_of(p, (uint64_t)i))
            return true;
    return false;
}

/* Append the arrays of names that this run has to a list, with room for two; returns its length. */
static int add_names(const cairn_run_paraview *p, const char **name, const char **material,
                     cairn_vtk_array *list, int count)
{
    if (has_names(p))
        list[count++] = (cairn_vtk_array){ "name", CAIRN_VTK_TEXT, 1, name };
    if (p->scene && p->scene->material_names)
        list[count++] = (cairn_vtk_array){ "material_name", CAIRN_VTK_TEXT, 1, material };
    return count;
}

/* ---- bodies: balls as vertices, shapes as surfaces ------------------------------------------- */

/* The rows of one file of bodies or of shapes, with room for all bodies of the frame. Positions
 * in m, velocities in m/s and rad/s, forces in N. */
typedef struct vertices {
    size_t count;
    /* omega in the world frame, so that arrows point along the axis of rotation */
    cairn_vec3 *x, *v, *omega, *force;
    cairn_quat *q;
    double *radius, *mass, *speed;
    int32_t *index, *material, *motion;
    const char **name, **material_name;
    int64_t *vertex, *end; /* cells of VTK: cell k is the point k */
} vertices;

/* Spheres and points. */
static bool is_sphere(const cairn_run_frame *f, int32_t slot)
{
    return cairn_run_look_of(f, slot) == CAIRN_LOOK_BALL;
}

static cairn_status take_vertices(size_t count, cairn_arena *arena, vertices *s)
{
    bool good = true;
    good = CAIRN_TAKE(arena, s->x, count) && good;
    good = CAIRN_TAKE(arena, s->v, count) && good;
    good = CAIRN_TAKE(arena, s->omega, count) && good;
    good = CAIRN_TAKE(arena, s->force, count) && good;
    good = CAIRN_TAKE(arena, s->q, count) && good;
    good = CAIRN_TAKE(arena, s->radius, count) && good;
    good = CAIRN_TAKE(arena, s->mass, count) && good;
    good = CAIRN_TAKE(arena, s->speed, count) && good;
    good = CAIRN_TAKE(arena, s->index, count) && good;
    good = CAIRN_TAKE(arena, s->material, count) && good;
    good = CAIRN_TAKE(arena, s->motion, count) && good;
    good = CAIRN_TAKE(arena, s->name, count) && good;
    good = CAIRN_TAKE(arena, s->material_name, count) && good;
    good = CAIRN_TAKE(arena, s->vertex, count) && good;
    good = CAIRN_TAKE(arena, s->end, count) && good;
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Sum of the contact forces on each body (N), by row of the world; NULL: no memory. Without a step
 * there is no time step to divide by, and no contact. A rank has all contacts of its own bodies. */
static cairn_vec3 *sum_forces(const cairn_run_paraview *p, const cairn_run_frame *f,
                              cairn_arena *arena)
{
    size_t count = (size_t)f->world.count;
    cairn_vec3 *sum = cairn_arena_take(arena, count + 1, sizeof *sum);
    if (!sum)
        return NULL;
    memset(sum, 0, (count + 1) * sizeof *sum);
    for (size_t contact = 0; f->time_step > 0 && contact < f->contacts; contact++) {
        const int32_t *body = f->touch.body + 2 * contact;
        cairn_vec3 force = force_of(f, contact);
        sum[body[0]] = cairn_add(sum[body[0]], force);
        sum[body[1]] = cairn_sub(sum[body[1]], force);
    }
    for (int i = 0; p->held && i < f->world.held; i++)
        sum[i] = p->held[i];
    return sum;
}

/* Append the body at `row` of the frame. */
static void add_vertex(const cairn_run_paraview *p, const cairn_run_frame *f, size_t row,
                       const cairn_vec3 *forces, vertices *s)
{
    size_t k = s->count++;
    int32_t slot = f->slot[row];
    s->x[k] = f->state.x[row];
    s->v[k] = f->state.v[row];
    s->omega[k] = cairn_rotate(f->state.q[row], f->state.omega[row]);
    s->force[k] = forces[slot];
    s->q[k] = f->state.q[row];
    s->radius[k] = cairn_bodies_shape(&f->world, slot)->radius;
    s->mass[k] = f->world.mass[slot];
    s->speed[k] = cairn_norm(f->state.v[row]);
    s->index[k] = f->index[row];
    s->material[k] = f->world.material[slot];
    s->motion[k] = f->world.motion[slot];
    s->name[k] = name_of(p, f->world.uid[slot]);
    s->material_name[k] = material_of(p, s->material[k]);
    s->vertex[k] = (int64_t)k;
    s->end[k] = (int64_t)k + 1;
}

enum { MOST_ARRAYS = 12 };

/* The arrays of both series; `own` is the one in which they differ. Returns their number. */
static int list_arrays(const cairn_run_paraview *p, const vertices *s, cairn_vtk_array own,
                       cairn_vtk_array list[MOST_ARRAYS])
{
    const cairn_vtk_array arrays[] = {
        own,
        { "mass", CAIRN_VTK_REAL, 1, s->mass },
        { "id", CAIRN_VTK_INT, 1, s->index },
        { "material", CAIRN_VTK_INT, 1, s->material },
        { "motion", CAIRN_VTK_INT, 1, s->motion },
        { "speed", CAIRN_VTK_REAL, 1, s->speed },
        { "velocity", CAIRN_VTK_REAL, 3, s->v },
        { "angular_velocity", CAIRN_VTK_REAL, 3, s->omega },
        { "force", CAIRN_VTK_REAL, 3, s->force },
        { "orientation", CAIRN_VTK_REAL, 4, s->q },
    };
    memcpy(list, arrays, sizeof arrays);
    return add_names(p, s->name, s->material_name, list, CAIRN_COUNT(arrays));
}

/* Whether this rank writes the body in a row of the world. */
static bool is_own(const cairn_run_paraview *p, const cairn_run_frame *f, int32_t slot)
{
    return p->pieces == 0 || (slot >= p->own && slot < p->own_end) ||
           (slot < f->world.held && p->piece == 0);
}

/* Whether this rank writes a contact: it has the dynamic body in the lower row. */
static bool is_own_contact(const cairn_run_paraview *p, const cairn_run_frame *f, size_t contact)
{
    const int32_t *body = f->touch.body + 2 * contact;
    int32_t low = body[0] < body[1] ? body[0] : body[1],
            high = body[0] < body[1] ? body[1] : body[0];
    return is_own(p, f, low < f->world.held ? high : low);
}

void cairn_run_paraview_held(const cairn_run_paraview *p, const cairn_run_frame *f, cairn_vec3 *sum)
{
    for (size_t contact = 0; contact < f->contacts; contact++) {
        const int32_t *body = f->touch.body + 2 * contact;
        if ((body[0] >= f->world.held && body[1] >= f->world.held) ||
            !is_own_contact(p, f, contact))
            continue;
        cairn_vec3 force = force_of(f, contact);
        if (body[0] < f->world.held)
            sum[body[0]] = cairn_add(sum[body[0]], force);
        else
            sum[body[1]] = cairn_sub(sum[body[1]], force);
    }
}

/* Balls of a frame. Frames before the first ball have no file; a scene without balls has no such
 * series at all. */
static cairn_status write_bodies(cairn_run_paraview *p, const cairn_run_frame *f,
                                 const cairn_vec3 *forces, cairn_arena *arena, cairn_error *error)
{
    vertices s = { .count = 0 };
    TRY(take_vertices(f->bodies, arena, &s));
    for (size_t row = 0; row < f->bodies; row++)
        if (is_sphere(f, f->slot[row]) && is_own(p, f, f->slot[row]))
            add_vertex(p, f, row, forces, &s);
    bool any = p->pieces > 0 ? p->any_balls : s.count > 0;
    if (!any && (p->pieces > 0 || p->without_balls == p->count)) {
        p->without_balls++;
        return CAIRN_OK;
    }
    cairn_vtk_array arrays[MOST_ARRAYS];
    cairn_vtk_piece piece = { .time = f->time,
                              .points = (int64_t)s.count,
                              .x = s.x,
                              .cells = { "Verts", (int64_t)s.count, s.vertex, s.end },
                              .point_arrays = arrays };
    piece.point_array_count =
        list_arrays(p, &s, (cairn_vtk_array){ "radius", CAIRN_VTK_REAL, 1, s.radius }, arrays);
    return write_piece(p, BODIES, &piece, error);
}

/* The surfaces of one file of shapes, with the arrays of VTK. */
typedef struct surfaces {
    size_t points, corners, cells;
    float *x;                    /* m: enough to draw; the file of bodies is exact */
    int64_t *connectivity, *end; /* end of the corners of each cell                */
    int64_t *repeat;             /* cells of each body                             */
    size_t *solid;               /* of each body                                   */
    cairn_pose *pose;            /* of its shape                                   */
} surfaces;

/* Append a body other than a ball; its surface is counted here and placed later. Its shape may have
 * another pose than the body, which has its centre of mass and principal axes. */
static cairn_status add_shape(cairn_run_paraview *p, const cairn_run_frame *f, size_t row,
                              vertices *s, surfaces *out)
{
    int32_t slot = f->slot[row];
    size_t k = s->count - 1;
    TRY(cairn_run_solids_find(&p->solids, cairn_bodies_shape(&f->world, slot), f->dimension,
                              &out->solid[k]));
    const cairn_run_solid *solid = &p->solids.items[out->solid[k]];
    out->pose[k] = cairn_bodies_shape_pose(&f->world, slot);
    out->repeat[k] = (int64_t)(solid[1].cells - solid->cells);
    out->points += solid[1].points - solid->points;
    out->corners += solid[1].corners - solid->corners;
    out->cells += solid[1].cells - solid->cells;
    return CAIRN_OK;
}

/* Append the surface of a body. */
static void place_surface(const cairn_polygons *mesh, const cairn_run_solid *solid,
                          const cairn_pose *pose, surfaces *out)
{
    int64_t point = (int64_t)out->points - (int64_t)solid->points;
    int64_t corner = (int64_t)out->corners - (int64_t)solid->corners;
    for (size_t i = solid->points; i < solid[1].points; i++) {
        const cairn_vec3 x = cairn_pose_apply(pose, mesh->x[i]);
        float *to = out->x + 3 * out->points++;
        to[0] = (float)x.x;
        to[1] = (float)x.y;
        to[2] = (float)x.z;
    }
    for (size_t i = solid->corners; i < solid[1].corners; i++)
        out->connectivity[out->corners++] = mesh->connectivity[i] + point;
    for (size_t i = solid->cells; i < solid[1].cells; i++)
        out->end[out->cells++] = mesh->offsets[i] + corner;
}

static cairn_status place_surfaces(const cairn_run_paraview *p, size_t bodies, cairn_arena *arena,
                                   surfaces *out)
{
    bool good = CAIRN_TAKE(arena, out->x, 3 * out->points);
    good = CAIRN_TAKE(arena, out->connectivity, out->corners) && good;
    good = CAIRN_TAKE(arena, out->end, out->cells) && good;
    if (!good)
        return CAIRN_NO_MEMORY;
    out->points = out->corners = out->cells = 0;
    for (size_t k = 0; k < bodies; k++)
        place_surface(&p->solids.mesh, &p->solids.items[out->solid[k]], &out->pose[k], out);
    return CAIRN_OK;
}

static cairn_status find_shapes(cairn_run_paraview *p, const cairn_run_frame *f,
                                const cairn_vec3 *forces, vertices *s, surfaces *out)
{
    for (size_t row = 0; row < f->bodies; row++)
        if (cairn_run_look_of(f, f->slot[row]) == CAIRN_LOOK_SHAPE && is_own(p, f, f->slot[row])) {
            add_vertex(p, f, row, forces, s);
            TRY(add_shape(p, f, row, s, out));
        }
    return CAIRN_OK;
}

/* The surfaces of all bodies, as polygons that have the arrays of their body. The same numbers for
 * each polygon of a body compress well. */
static cairn_status write_surfaces(const cairn_run_paraview *p, double time, const vertices *s,
                                   const surfaces *drawn, cairn_error *error)
{
    cairn_vtk_array arrays[MOST_ARRAYS];
    cairn_vtk_piece piece = { .time = time,
                              .points = (int64_t)drawn->points,
                              .x_float = drawn->x,
                              .packed = true,
                              .cells = { "Polys", (int64_t)drawn->cells, drawn->connectivity,
                                         drawn->end },
                              .cell_arrays = arrays,
                              .repeat = drawn->repeat,
                              .rows = (int64_t)s->count };
    piece.cell_array_count =
        list_arrays(p, s, (cairn_vtk_array){ "position", CAIRN_VTK_REAL, 3, s->x }, arrays);
    return write_piece(p, SHAPES, &piece, error);
}

/* Other moving bodies of a frame. Frames without such bodies have no file. */
static cairn_status write_shapes(cairn_run_paraview *p, const cairn_run_frame *f,
                                 const cairn_vec3 *forces, cairn_arena *arena, cairn_error *error)
{
    vertices s = { .count = 0 };
    surfaces drawn = { .points = 0 };
    TRY(take_vertices(f->bodies, arena, &s));
    bool good = CAIRN_TAKE(arena, drawn.repeat, f->bodies);
    good = CAIRN_TAKE(arena, drawn.solid, f->bodies) && good;
    if (!good || !CAIRN_TAKE(arena, drawn.pose, f->bodies))
        return CAIRN_NO_MEMORY;
    TRY(find_shapes(p, f, forces, &s, &drawn));
    if (p->pieces > 0 ? !p->any_shapes : s.count == 0)
        return CAIRN_OK;
    TRY(place_surfaces(p, s.count, arena, &drawn));
    TRY(write_surfaces(p, f->time, &s, &drawn, error));
    if (p->piece > 0)
        return CAIRN_OK;
    p->shape_times[p->shape_count++] = (cairn_vtk_moment){ f->time, (int64_t)p->count };
    return CAIRN_OK;
}

/* ---- contacts: lines between centres, which show force chains -------------------------------- */

/* The arrays of one file of contacts: two points and one cell for each contact that pushes. Forces
 * in N, gap in m, sliding speed in m/s. */
typedef struct lines {
    size_t count;
    cairn_vec3 *x, *force;
    double *normal, *tangential, *gap, *sliding;
    int32_t *a, *b;
    int64_t *corner, *end;
} lines;

static cairn_status take_lines(size_t count, cairn_arena *arena, lines *l)
{
    bool good = true;
    good = CAIRN_TAKE(arena, l->x, 2 * count) && good;
    good = CAIRN_TAKE(arena, l->force, count) && good;
    good = CAIRN_TAKE(arena, l->normal, count) && good;
    good = CAIRN_TAKE(arena, l->tangential, count) && good;
    good = CAIRN_TAKE(arena, l->gap, count) && good;
    good = CAIRN_TAKE(arena, l->sliding, count) && good;
    good = CAIRN_TAKE(arena, l->a, count) && good;
    good = CAIRN_TAKE(arena, l->b, count) && good;
    good = CAIRN_TAKE(arena, l->corner, 2 * count) && good;
    good = CAIRN_TAKE(arena, l->end, count) && good;
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* The end of a contact's line on one side: the centre of a dynamic body or of a sphere, in periodic
 * worlds that of the image of b that touches; for walls, or a body that is gone, the point of
 * contact. */
static cairn_vec3 line_end(const cairn_run_frame *f, size_t contact, int side)
{
    int32_t slot = f->touch.body[2 * contact + (size_t)side];
    bool there = f->pair[2 * contact + (size_t)side] >= 0 &&
                 (is_sphere(f, slot) || f->world.motion[slot] == CAIRN_MOTION_DYNAMIC);
    cairn_vec3 x = there ? f->world.x[slot] : f->touch.point[contact];
    for (int axis = 0; there && side == 1 && f->touch.image && axis < 3; axis++)
        x = cairn_add_scaled(x, f->touch.image[contact].k[axis], f->cell.edge[axis]);
    return x;
}

/* Candidates without an impulse are not drawn. */
static bool pushes(const cairn_run_frame *f, size_t contact)
{
    const double *r = f->touch.impulse + contact * (size_t)f->dimension;
    return r[0] != 0 || r[1] != 0 || (f->dimension == 3 && r[2] != 0);
}

/* |(r_1, r_2)|: the tangential part of an impulse or of a velocity in the contact frame. */
static double tangential(const cairn_run_frame *f, const double *numbers)
{
    return f->dimension == 2 ? fabs(numbers[1]) : hypot(numbers[1], numbers[2]);
}

static void add_line(const cairn_run_frame *f, size_t contact, lines *l)
{
    size_t k = l->count++, first = contact * (size_t)f->dimension;
    const double *r = f->touch.impulse + first, *u = f->touch.velocity + first;
    for (int side = 0; side < 2; side++) {
        l->x[2 * k + (size_t)side] = line_end(f, contact, side);
        l->corner[2 * k + (size_t)side] = (int64_t)(2 * k) + side;
    }
    l->end[k] = 2 * (int64_t)k + 2;
    l->force[k] = force_of(f, contact);
    l->normal[k] = r[0] / f->time_step;
    l->tangential[k] = tangential(f, r) / f->time_step;
    l->gap[k] = f->touch.gap[contact];
    l->sliding[k] = tangential(f, u);
    l->a[k] = f->pair[2 * contact];
    l->b[k] = f->pair[2 * contact + 1];
}

static cairn_status write_contacts(const cairn_run_paraview *p, const cairn_run_frame *f,
                                   cairn_arena *arena, cairn_error *error)
{
    lines l = { .count = 0 };
    TRY(take_lines(f->contacts, arena, &l));
    for (size_t contact = 0; contact < f->contacts; contact++)
        if (pushes(f, contact) && is_own_contact(p, f, contact))
            add_line(f, contact, &l);
    const cairn_vtk_array arrays[] = {
        { "force", CAIRN_VTK_REAL, 3, l.force },
        { "normal_force", CAIRN_VTK_REAL, 1, l.normal },
        { "tangential_force", CAIRN_VTK_REAL, 1, l.tangential },
        { "gap", CAIRN_VTK_REAL, 1, l.gap },
        { "sliding_speed", CAIRN_VTK_REAL, 1, l.sliding },
        { "body_a", CAIRN_VTK_INT, 1, l.a },
        { "body_b", CAIRN_VTK_INT, 1, l.b },
    };
    cairn_vtk_piece piece = { .time = f->time,
                              .points = 2 * (int64_t)l.count,
                              .x = l.x,
                              .cells = { "Lines", (int64_t)l.count, l.corner, l.end },
                              .cell_arrays = arrays,
                              .cell_array_count = CAIRN_COUNT(arrays) };
    return write_piece(p, CONTACTS, &piece, error);
}

/* ---- joints: lines from centre to centre through the joint's points -------------------------- */

/* The arrays of one file of joints: up to 4 points and one cell for each joint. */
typedef struct links {
    size_t count, points;
    cairn_vec3 *x, *force, *torque;
    double *turn, *slide, *drift;
    int32_t *index;
    int64_t *corner, *end;
} links;

static cairn_status take_links(size_t count, cairn_arena *arena, links *l)
{
    bool good = true;
    good = CAIRN_TAKE(arena, l->x, 4 * count) && good;
    good = CAIRN_TAKE(arena, l->force, count) && good;
    good = CAIRN_TAKE(arena, l->torque, count) && good;
    good = CAIRN_TAKE(arena, l->turn, count) && good;
    good = CAIRN_TAKE(arena, l->slide, count) && good;
    good = CAIRN_TAKE(arena, l->drift, count) && good;
    good = CAIRN_TAKE(arena, l->index, count) && good;
    good = CAIRN_TAKE(arena, l->corner, 4 * count) && good;
    good = CAIRN_TAKE(arena, l->end, count) && good;
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void add_corner(links *l, cairn_vec3 x)
{
    l->x[l->points] = x;
    l->corner[l->points] = (int64_t)l->points;
    l->points++;
}

/* From the centre of a, over the joint's point on a and that on b, to the centre of b, in periodic
 * worlds to that of the image that is joined. A joint to the world ends at the point on b. Between
 * the two points the line shows the length of a rod, or the drift. */
static void add_link(const cairn_run_joints *j, size_t row, const cairn_run_frame *f, links *l)
{
    size_t k = l->count++;
    add_corner(l, j->centre[2 * row]);
    add_corner(l, j->point[row]);
    add_corner(l, j->point_b[row]);
    if (!j->single[row])
        add_corner(l, cairn_run_joint_end(f, row));
    l->end[k] = (int64_t)l->points;
    l->force[k] = j->force[row];
    l->torque[k] = j->torque[row];
    l->turn[k] = j->turn[row];
    l->slide[k] = j->slide[row];
    l->drift[k] = j->drift[row];
    l->index[k] = j->index[row];
}

/* Broken joints hold nothing and are not drawn. */
static cairn_status write_joints(const cairn_run_paraview *p, const cairn_run_frame *f,
                                 cairn_arena *arena, cairn_error *error)
{
    links l = { .count = 0 };
    TRY(take_links(f->joint.count, arena, &l));
    for (size_t row = 0; row < f->joint.count; row++)
        if (!f->joint.broken[row])
            add_link(&f->joint, row, f, &l);
    const cairn_vtk_array arrays[] = {
        { "joint", CAIRN_VTK_INT, 1, l.index },    { "force", CAIRN_VTK_REAL, 3, l.force },
        { "torque", CAIRN_VTK_REAL, 3, l.torque }, { "turn", CAIRN_VTK_REAL, 1, l.turn },
        { "slide", CAIRN_VTK_REAL, 1, l.slide },   { "drift", CAIRN_VTK_REAL, 1, l.drift },
    };
    cairn_vtk_piece piece = { .time = f->time,
                              .points = (int64_t)l.points,
                              .x = l.x,
                              .cells = { "Lines", (int64_t)l.count, l.corner, l.end },
                              .cell_arrays = arrays,
                              .cell_array_count = CAIRN_COUNT(arrays) };
    return write_piece(p, JOINTS, &piece, error);
}

/* ---- walls ----------------------------------------------------------------------------------- */

/* Names of the bodies and materials of the walls, which follow each other as in the frame. */
static void name_walls(const cairn_run_paraview *p, const cairn_run_frame *f, const char **names[2])
{
    const cairn_polygons *mesh = &p->walls.mesh;
    for (size_t cell = 0, row = 0; cell < mesh->cells; cell++) {
        while (row + 1 < f->bodies && f->index[row] < mesh->body[cell])
            row++;
        int32_t slot = f->slot[row];
        names[0][cell] = name_of(p, f->world.uid[slot]);
        names[1][cell] = material_of(p, f->world.material[slot]);
    }
}

/* A new file is written only if the walls changed; otherwise the frame refers to the last one. */
static cairn_status write_walls(cairn_run_paraview *p, const cairn_run_frame *f, int64_t *number,
                                cairn_arena *arena, cairn_error *error)
{
    bool changed;
    TRY(cairn_run_walls_draw(&p->walls, f, &changed));
    *number = p->count > 0 && !changed ? p->wall_times[p->count - 1].number : (int64_t)p->count;
    if (*number != (int64_t)p->count)
        return CAIRN_OK;
    const cairn_run_walls *w = &p->walls;
    cairn_vtk_array arrays[3] = { { "body", CAIRN_VTK_INT, 1, w->mesh.body } };
    const char **names[2];
    if (!CAIRN_TAKE(arena, names[0], w->mesh.cells) || !CAIRN_TAKE(arena, names[1], w->mesh.cells))
        return CAIRN_NO_MEMORY;
    name_walls(p, f, names);
    cairn_vtk_piece piece = { .time = f->time,
                              .points = (int64_t)w->mesh.points,
                              .x = w->mesh.x,
                              .cells = { f->dimension == 2 ? "Lines" : "Polys",
                                         (int64_t)w->mesh.cells, w->mesh.connectivity,
                                         w->mesh.offsets },
                              .cell_arrays = arrays,
                              .cell_array_count = add_names(p, names[0], names[1], arrays, 1) };
    return write_piece(p, WALLS, &piece, error);
}

/* ---- the periodic cell: the edges of its box ------------------------------------------------- */

/* An axis that is not periodic has the extent of the scene so far; 2D has none. */
static void find_box(const cairn_run_paraview *p, const cairn_run_frame *f, cairn_vec3 edge[3],
                     cairn_vec3 *corner)
{
    *corner = f->cell.corner;
    for (int axis = 0; axis < 3; axis++) {
        edge[axis] = f->cell.edge[axis];
        bool open = cairn_norm(edge[axis]) == 0 && axis < f->dimension && p->walls.box.filled;
        double low = cairn_component(p->walls.box.low, axis);
        double length = cairn_component(p->walls.box.high, axis) - low;
        double *at[3] = { &corner->x, &corner->y, &corner->z };
        double *along[3] = { &edge[axis].x, &edge[axis].y, &edge[axis].z };
        if (open) {
            *at[axis] = low;
            *along[axis] = length;
        }
    }
}

/* Corner number 4 i + 2 j + k is at i e1 + j e2 + k e3 from the first; lines join those that differ
 * in one digit. In 2D there are the four with k = 0. */
static cairn_status write_cell(const cairn_run_paraview *p, const cairn_run_frame *f,
                               cairn_error *error)
{
    cairn_vec3 edge[3], first, x[8];
    int64_t ends[24], offsets[12];
    int lines_drawn = 0, step = f->dimension == 2 ? 2 : 1;
    find_box(p, f, edge, &first);
    for (int c = 0; c < 8; c++) {
        x[c] = cairn_add_scaled(first, c / 4, edge[0]);
        x[c] = cairn_add_scaled(x[c], c / 2 % 2, edge[1]);
        x[c] = cairn_add_scaled(x[c], c % 2, edge[2]);
    }
    for (int c = 0; c < 8; c += step)
        for (int digit = step; digit < 8; digit *= 2)
            if (!(c & digit)) {
                ends[2 * lines_drawn] = c;
                ends[2 * lines_drawn + 1] = c | digit;
                offsets[lines_drawn] = 2 * (lines_drawn + 1);
                lines_drawn++;
            }
    cairn_vtk_piece piece = {
        .time = f->time, .points = 8, .x = x, .cells = { "Lines", lines_drawn, ends, offsets }
    };
    return write_piece(p, CELL, &piece, error);
}

/* ---- series ---------------------------------------------------------------------------------- */

/* Three lists of the same length, so that a frame can be recorded without a failure half way. */
cairn_status cairn_run_paraview_reserve(cairn_run_paraview *p, size_t frames)
{
    struct {
        cairn_vtk_moment **times;
        size_t *room;
    } lists[] = { { &p->times, &p->times_room },
                  { &p->wall_times, &p->wall_times_room },
                  { &p->shape_times, &p->shape_times_room } };
    for (int i = 0; i < CAIRN_COUNT(lists); i++) {
        void *times = *lists[i].times;
        cairn_status status = cairn_memory_reserve(&times, lists[i].room, frames, sizeof *p->times);
        *lists[i].times = times;
        TRY(status);
    }
    return CAIRN_OK;
}

cairn_status cairn_run_paraview_piece(cairn_run_paraview *p, const cairn_run_frame *frame,
                                      cairn_arena *arena, cairn_error *error)
{
    const cairn_vec3 *forces = sum_forces(p, frame, arena);
    if (!forces)
        return CAIRN_NO_MEMORY;
    TRY(write_bodies(p, frame, forces, arena, error));
    if (p->contacts)
        TRY(write_contacts(p, frame, arena, error));
    return write_shapes(p, frame, forces, arena, error);
}

/* All files of the frame are written before it is counted: the .pvd files never list a file that
 * does not exist. Whether there is a series of joints is decided by the first frame. */
cairn_status cairn_run_paraview_frame(cairn_run_paraview *p, const cairn_run_frame *frame,
                                      cairn_arena *arena, cairn_error *error)
{
    int64_t wall_file;
    const cairn_vec3 *forces = sum_forces(p, frame, arena);
    if (!forces)
        return CAIRN_NO_MEMORY;
    TRY(cairn_run_paraview_reserve(p, p->count + 1));
    TRY(write_bodies(p, frame, forces, arena, error));
    if (p->contacts)
        TRY(write_contacts(p, frame, arena, error));
    p->joints = p->count == 0 ? frame->joint.count > 0 : p->joints;
    if (p->joints)
        TRY(write_joints(p, frame, arena, error));
    TRY(write_walls(p, frame, &wall_file, arena, error));
    if (p->cell)
        TRY(write_cell(p, frame, error));
    TRY(write_shapes(p, frame, forces, arena, error));
    p->times[p->count] = (cairn_vtk_moment){ frame->time, (int64_t)p->count };
    p->wall_times[p->count] = (cairn_vtk_moment){ frame->time, wall_file };
    p->count++;
    return CAIRN_OK;
}

/* Whether this run has no files of the series. */
static bool is_left_out(const cairn_run_paraview *p, int which)
{
    return (which == BODIES && p->without_balls == p->count) ||
           (which == CONTACTS && !p->contacts) || (which == JOINTS && !p->joints) ||
           (which == SHAPES && p->shape_count == 0) || (which == FIELDS && !p->fields) ||
           (which == CELL && !p->cell);
}

/* The frames that have a file of fields: not the first one, nor those without grains. */
static cairn_status list_fields(const cairn_run_paraview *p, cairn_error *error)
{
    char name[64], path[CAIRN_PATH_BYTES];
    size_t count = 0;
    cairn_vtk_moment *there = cairn_memory_zeroed(p->count + 1, sizeof *there);
    if (!there)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < p->count; k++) {
        cairn_vtk_file_name(series[FIELDS], p->times[k].number, name);
        if (cairn_path_join(p->folder, name, path, NULL) == CAIRN_OK && cairn_is_file(path))
            there[count++] = p->times[k];
    }
    cairn_status status = cairn_vtk_series_write(p->folder, series[FIELDS], there, count, error);
    cairn_memory_free(there);
    return status;
}

cairn_status cairn_run_paraview_flush(const cairn_run_paraview *p, cairn_error *error)
{
    if (!is_left_out(p, BODIES))
        TRY(cairn_vtk_series_write(p->folder, series[BODIES], p->times + p->without_balls,
                                   p->count - p->without_balls, error));
    if (p->contacts)
        TRY(cairn_vtk_series_write(p->folder, series[CONTACTS], p->times, p->count, error));
    if (p->joints)
        TRY(cairn_vtk_series_write(p->folder, series[JOINTS], p->times, p->count, error));
    if (p->shape_count > 0)
        TRY(cairn_vtk_series_write(p->folder, series[SHAPES], p->shape_times, p->shape_count,
                                   error));
    if (p->fields)
        TRY(list_fields(p, error));
    if (p->cell)
        TRY(cairn_vtk_series_write(p->folder, series[CELL], p->times, p->count, error));
    return cairn_vtk_series_write(p->folder, series[WALLS], p->wall_times, p->count, error);
}

/* Whether a frame of this run refers to the walls of file `number`. The frame that wrote the file
 * has the same number. */
static bool walls_in_use(const cairn_run_paraview *p, int64_t number)
{
    bool there = number >= 0 && number < (int64_t)p->count;
    return there && p->wall_times[number].number == number;
}

/* Whether this run wrote a file of shapes with this number. */
static bool shapes_in_use(const cairn_run_paraview *p, int64_t number)
{
    for (size_t k = 0; k < p->shape_count; k++)
        if (p->shape_times[k].number == number)
            return true;
    return false;
}

/* Whether a name is one that a frame with this number gets, whole or in pieces. */
static bool is_ours(const char *which, int64_t number, const char *name)
{
    char expected[64];
    cairn_vtk_file_name(which, number, expected);
    if (strcmp(name, expected) == 0)
        return true;
    cairn_vtk_piece_name(which, number, -1, expected);
    if (strcmp(name, expected) == 0)
        return true;
    const char *last = strrchr(name, '_');
    long piece = last ? strtol(last + 1, NULL, 10) : -1;
    cairn_vtk_piece_name(which, number, piece < 0 || piece > INT32_MAX ? -1 : (int)piece, expected);
    return strcmp(name, expected) == 0;
}

/* A frame is shown whole or in pieces; files of the other way are of an earlier run. */
static bool is_shown(const cairn_run_paraview *p, int which, int64_t number, const char *name)
{
    char list[64], whole[64], path[CAIRN_PATH_BYTES];
    cairn_vtk_piece_name(series[which], number, -1, list);
    cairn_vtk_file_name(series[which], number, whole);
    if (cairn_path_join(p->folder, list, path, NULL) != CAIRN_OK)
        return true;
    return cairn_is_file(path) != (strcmp(name, whole) == 0);
}

/* Whether a file in the folder is named like ours (<series>_<digits>.vtp) and belongs to no frame
 * of this run. Everything else in the folder belongs to the user and is never touched: the name is
 * built again from its number and compared, so that bodies_7.vtp or bodies_007 copy.vtp are not
 * ours. */
static bool is_stale(const cairn_run_paraview *p, const char *name)
{
    for (int which = 0; which < SERIES; which++) {
        size_t length = strlen(series[which]);
        if (strncmp(name, series[which], length) != 0)
            continue;
        if (strcmp(name + length, ".pvd") == 0)
            return is_left_out(p, which);
        int64_t number = name[length] == '_' ? strtoll(name + length + 1, NULL, 10) : -1;
        if (number < 0 || !is_ours(series[which], number, name))
            return false;
        if (!is_shown(p, which, number, name))
            return true;
        if (which == WALLS)
            return !walls_in_use(p, number);
        if (which == SHAPES)
            return !shapes_in_use(p, number);
        if (which == BODIES && number < (int64_t)p->without_balls)
            return true;
        return number >= (int64_t)p->count || is_left_out(p, which);
    }
    return false;
}

cairn_status cairn_run_paraview_finish(const cairn_run_paraview *p, cairn_error *error)
{
    TRY(cairn_run_paraview_flush(p, error));
    DIR *folder = opendir(p->folder);
    if (!folder)
        return CAIRN_OK; /* files of an earlier run do no harm: no .pvd file lists them */
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (is_stale(p, entry->d_name))
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    return CAIRN_OK;
}

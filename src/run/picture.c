/* picture.c - the last state of a run as one SVG file.
 *
 * Parallel projection. Balls are painted as shaded circles, from far to near (painter's algorithm).
 * Other bodies and the ground are painted polygon by polygon, in the order of picture_order.c;
 * polygons that face away from the viewer are left out. Containers are thin lines behind
 * everything, and so is ground that faces away, so that bodies in a hollow stay visible. Colours
 * are those of palette.c: of the materials, if bodies of several move; else of the square root of
 * the force, so that weak and strong forces can both be seen. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "file/file.h"
#include "math/vec.h"
#include "run/drawing.h"

/* Pixels: limits of the picture, its margin, and the width of the legend. */
enum { MOST_WIDTH = 900, MOST_HEIGHT = 760, LEAST_HEIGHT = 440, MARGIN = 46, LEGEND = 120 };
/* Steps of the colour scale, and limits on the number of marks, of moving bodies and of the ground,
 * which bound the size of the file. Beyond them, the farthest items are left out. */
enum { COLOURS = 24, MOST_MARKS = CAIRN_PICTURE_MARKS, MOST_GROUND = 100000 };

/* A circle or a polygon of the picture. */
typedef struct mark {
    double depth;       /* m: increases towards the viewer */
    double force;       /* N: sum of the normal forces on the body; -1: fixed or driven */
    int32_t material;   /* its number                                            */
    bool polygon;       /* otherwise a circle */
    double x, y;        /* m in the picture plane: centre of a circle */
    double radius;      /* m: of a circle                                         */
    double turn;        /* rad: orientation, drawn as a spoke in 2D */
    int64_t first, end; /* corners of a polygon                                   */
    double light;       /* of a polygon: 0 edge on, 1 facing the viewer           */
    cairn_vec3 normal;  /* of a polygon: unit, outward                            */
    size_t number;      /* in the order of creation                               */
} mark;

/* The projection. A point x of space is at (x . right, x . up) in the picture plane, at depth x .
 * towards. */
typedef struct view {
    cairn_vec3 right, up, towards; /* unit                                        */
    /* pixels per m, and the corner: pixel = MARGIN + (x - low_x) scale */
    double low_x, low_y, scale;
    double high_y;
    double width, height;     /* pixels: of the whole picture */
    double largest_force;     /* N */
    bool flat;                /* 2D: seen from the front, nothing hides anything */
    const cairn_scene *scene; /* has the names of the materials */
    bool *shown; /* of each material: whether a body that moves has it; NULL: by force */
} view;

/* Everything that is painted, from far to near. */
typedef struct marks {
    view view;
    mark *items;
    size_t count;
    cairn_polygons polygons;
    const int32_t *slots; /* rows of the world, by row of /bodies */
    cairn_picture_rest rest;
} marks;

/* The direction of view. Up is against gravity (z without gravity), whatever axis that is. */
static view view_of(const cairn_world *world)
{
    view v = { .flat = cairn_world_dimension(world) == 2 };
    cairn_vec3 g = cairn_world_gravity(world), z = { 0, 0, 1 };
    if (v.flat) {
        v.right = (cairn_vec3){ 1, 0, 0 };
        v.up = (cairn_vec3){ 0, 1, 0 };
        v.towards = z;
        return v;
    }
    cairn_vec3 sky = cairn_norm(g) > 0 ? cairn_unit(cairn_scale(-1, g)) : z;
    cairn_vec3 side = cairn_perpendicular(sky), front = cairn_cross(side, sky);
    /* 30 degrees (0.52 rad) to the side, 20 degrees (0.35 rad) from above */
    cairn_vec3 level = cairn_add_scaled(cairn_scale(cos(0.52), front), sin(0.52), side);
    v.towards = cairn_unit(cairn_add_scaled(cairn_scale(cos(0.35), level), sin(0.35), sky));
    v.right = cairn_unit(cairn_cross(sky, v.towards));
    v.up = cairn_cross(v.towards, v.right);
    return v;
}

/* ---- what is painted ------------------------------------------------------------------------ */

/* For qsort: by increasing depth, the farthest first; of the same depth as they were made. */
static int nearer(const void *a, const void *b)
{
    const mark *p = a, *q = b;
    return p->depth != q->depth ? (p->depth > q->depth) - (p->depth < q->depth)
                                : (p->number > q->number) - (p->number < q->number);
}

/* Sum of the normal forces on each body (N), by row of the world: forces from opposite sides add
 * up, so this shows the load of a body at rest, where the vector sum of contact forces is only its
 * weight. NULL: no memory. */
static double *sum_forces(const cairn_run_frame *f, cairn_arena *arena)
{
    double *forces = cairn_arena_doubles(arena, (size_t)f->world.count);
    for (int j = 0; forces && j < f->touch.count; j++)
        for (int side = 0; side < 2; side++)
            forces[f->touch.body[2 * j + side]] +=
                f->touch.impulse[(size_t)j * (size_t)f->touch.dimension] / f->time_step;
    return forces;
}

static mark ball_mark(const cairn_run_frame *f, size_t row, const view *v)
{
    int i = f->slot[row];
    return (mark){ .x = cairn_dot(f->world.x[i], v->right),
                   .y = cairn_dot(f->world.x[i], v->up),
                   .depth = cairn_dot(f->world.x[i], v->towards),
                   .radius = cairn_bodies_shape(&f->world, i)->radius,
                   .turn = f->world.angle[i] };
}

/* A mark for a polygon. Its normal is the sum of x_k x x_(k+1) (Newell), which does not fail if the
 * first three corners are in line; its depth is that of the mean of the corners. */
static mark polygon_mark(const cairn_polygons *p, size_t cell, const view *v)
{
    mark m = { .polygon = true, .first = cell ? p->offsets[cell - 1] : 0, .end = p->offsets[cell] };
    cairn_vec3 normal = { 0, 0, 0 };
    for (int64_t k = m.first; k < m.end; k++) {
        cairn_vec3 a = p->x[p->connectivity[k]];
        cairn_vec3 b = p->x[p->connectivity[k + 1 < m.end ? k + 1 : m.first]];
        normal = cairn_add(normal, cairn_cross(a, b));
        m.depth += cairn_dot(a, v->towards) / (double)(m.end - m.first);
    }
    m.normal = cairn_unit(normal);
    m.light = v->flat ? 1 : cairn_dot(m.normal, v->towards);
    return m;
}

/* Walls that are painted as solids: ground and fixed bodies, in 3D. Containers are not, since they
 * would hide what they hold. */
static bool is_solid_wall(const cairn_run_frame *f, int32_t slot)
{
    switch (cairn_bodies_shape(&f->world, slot)->kind) {
    case CAIRN_SHAPE_HALF_SPACE:
    case CAIRN_SHAPE_INSIDE_CYLINDER:
    case CAIRN_SHAPE_INSIDE_CONE:
    case CAIRN_SHAPE_INSIDE_BOX:
    case CAIRN_SHAPE_FUNNEL:
        return false;
    default:
        return f->dimension == 3 && cairn_run_look_of(f, slot) == CAIRN_LOOK_WALL;
    }
}

/* Whether a shape is convex. The polygons of other shapes, which are open or hollow, are ordered
 * one by one. */
static bool is_convex(const cairn_run_frame *f, int32_t slot)
{
    cairn_shape_kind kind = cairn_bodies_shape(&f->world, slot)->kind;
    return kind != CAIRN_SHAPE_MESH && kind != CAIRN_SHAPE_HEIGHT_FIELD &&
           kind != CAIRN_SHAPE_COMPOUND;
}

/* Polygons of all bodies other than balls; their `body` is the row of the world. */
static cairn_status draw_shapes(const cairn_run_frame *f, cairn_polygons *out)
{
    for (size_t k = 0; k < f->bodies; k++) {
        const cairn_polygons_of how = { f->dimension, f->slot[k], false };
        bool moves = cairn_run_look_of(f, f->slot[k]) == CAIRN_LOOK_SHAPE;
        if (moves || is_solid_wall(f, f->slot[k]))
            TRY(cairn_polygons_add_body(out, &f->world, f->slot[k], &how));
    }
    return CAIRN_OK;
}

static double force_on(const cairn_run_frame *f, const double *forces, int body)
{
    return f->world.motion[body] == CAIRN_MOTION_DYNAMIC ? forces[body] : -1;
}

/* ---- things: what is in front of what -------------------------------------------------------- */

/* Everything that is painted, before it is ordered. An item is a ball, a convex body or a single
 * polygon; its marks are consecutive. */
typedef struct things {
    const cairn_run_frame *frame;
    const double *forces; /* N, by row of the world */
    mark *marks;          /* `mark_count` of them */
    cairn_picture_item *items;
    size_t *first, *end; /* of each item: the range of its marks */
    int32_t *body;       /* of each item: the row of the world   */
    cairn_picture_face *faces;
    size_t mark_count;
    int count;
} things;

/* Each body and each cell gives at most one item and one mark. */
static cairn_status things_take(const cairn_run_frame *f, const marks *m, cairn_arena *arena,
                                things *t)
{
    const cairn_polygons *p = &m->polygons;
    size_t most = f->bodies + p->cells + 1;
    t->frame = f;
    t->forces = m->rest.forces ? m->rest.forces : sum_forces(f, arena);
    t->marks = cairn_arena_take(arena, most, sizeof *t->marks);
    t->items = cairn_arena_take(arena, most, sizeof *t->items);
    t->first = cairn_arena_take(arena, most, sizeof *t->first);
    t->end = cairn_arena_take(arena, most, sizeof *t->end);
    t->body = cairn_arena_take(arena, most, sizeof *t->body);
    t->faces = cairn_arena_take(arena, p->cells + 1, sizeof *t->faces);
    bool good = t->forces && t->marks && t->items && t->first && t->end && t->body && t->faces;
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void add_ball(things *t, size_t row, const view *v)
{
    int32_t slot = t->frame->slot[row];
    mark m = ball_mark(t->frame, row, v);
    m.force = force_on(t->frame, t->forces, slot);
    m.material = t->frame->world.material[slot];
    m.number = t->mark_count;
    t->body[t->count] = slot;
    t->first[t->count] = t->mark_count;
    t->marks[t->mark_count++] = m;
    t->end[t->count] = t->mark_count;
    t->items[t->count++] = (cairn_picture_item){ .centre = t->frame->world.x[slot],
                                                 .radius = m.radius,
                                                 .size = m.radius,
                                                 .low = { m.x - m.radius, m.y - m.radius },
                                                 .high = { m.x + m.radius, m.y + m.radius },
                                                 .depth = m.depth };
}

/* Centre, size, box and depth of an item from its corners. The centre is the mean of all corners; a
 * corner counts once for every face that has it. */
static void measure_item(cairn_picture_item *item, const view *v)
{
    item->low[0] = item->low[1] = INFINITY;
    item->high[0] = item->high[1] = -INFINITY;
    for (int k = 0; k < item->corner_count; k++) {
        cairn_vec3 x = item->corners[k];
        double at[2] = { cairn_dot(x, v->right), cairn_dot(x, v->up) };
        item->centre = cairn_add_scaled(item->centre, 1.0 / item->corner_count, x);
        for (int axis = 0; axis < 2; axis++) {
            item->low[axis] = fmin(item->low[axis], at[axis]);
            item->high[axis] = fmax(item->high[axis], at[axis]);
        }
    }
    for (int k = 0; k < item->corner_count; k++)
        item->size = fmax(item->size, cairn_norm(cairn_sub(item->corners[k], item->centre)));
    item->depth = cairn_dot(item->centre, v->towards);
}

/* The cells [begin, end) as one item, with a mark for each cell that faces the viewer. Faces are
 * kept for all cells: those that face away separate items as well. */
static void add_cells(things *t, const cairn_polygons *p, size_t begin, size_t end, const view *v)
{
    int64_t corner = begin ? p->offsets[begin - 1] : 0;
    cairn_picture_item item = { .corners = p->x + corner,
                                .corner_count = (int)(p->offsets[end - 1] - corner),
                                .faces = t->faces + begin,
                                .face_count = (int)(end - begin) };
    t->first[t->count] = t->mark_count;
    for (size_t cell = begin; cell < end; cell++) {
        mark m = polygon_mark(p, cell, v);
        m.force = force_on(t->frame, t->forces, p->body[cell]);
        m.material = t->frame->world.material[p->body[cell]];
        t->faces[cell] = (cairn_picture_face){ m.normal, p->x[m.first] };
        m.number = t->mark_count;
        if (m.light > 0)
            t->marks[t->mark_count++] = m;
    }
    if (t->mark_count == t->first[t->count])
        return; /* all of it faces away: nothing to paint */
    measure_item(&item, v);
    t->body[t->count] = p->body[begin];
    t->end[t->count] = t->mark_count;
    t->items[t->count++] = item;
}

/* Consecutive cells of a convex body form one item. */
static void add_polygons(things *t, const cairn_polygons *p, const view *v)
{
    for (size_t cell = 0, end; cell < p->cells; cell = end) {
        end = cell + 1;
        while (is_convex(t->frame, p->body[cell]) && end < p->cells &&
               p->body[end] == p->body[cell])
            end++;
        add_cells(t, p, cell, end, v);
    }
}

static int by_falling_depth(const void *a, const void *b)
{
    return nearer(b, a);
}

/* Whether an item does not move: its force is marked as -1. */
static bool is_still(const things *t, int item)
{
    return t->marks[t->first[item]].force < 0;
}

/* The depth at which the number of marks, counted from the viewer, exceeds `most`; -infinity if it
 * never does. Moving and still items are counted separately, so that a large ground does not
 * displace bodies. `keys` is scratch: of each mark, `end` holds the number of marks of an item. */
static double depth_limit(const things *t, bool still, size_t most, mark *keys)
{
    size_t count = 0, kept = 0;
    double limit = -INFINITY;
    for (int i = 0; i < t->count; i++)
        if (is_still(t, i) == still)
            keys[count++] =
                (mark){ .depth = t->items[i].depth, .end = (int64_t)(t->end[i] - t->first[i]) };
    qsort(keys, count, sizeof *keys, by_falling_depth);
    for (size_t i = 0; i < count && limit == -INFINITY; i++) {
        kept += (size_t)keys[i].end;
        limit = kept > most ? keys[i].depth : limit;
    }
    return limit;
}

/* Leave out the farthest items if there are too many for a picture. */
static cairn_status drop_far_items(things *t, cairn_arena *arena)
{
    mark *keys = cairn_arena_take(arena, (size_t)t->count + 1, sizeof *keys);
    if (!keys)
        return CAIRN_NO_MEMORY;
    const double limit[2] = { depth_limit(t, false, MOST_MARKS, keys),
                              depth_limit(t, true, MOST_GROUND, keys) };
    int count = 0;
    for (int i = 0; i < t->count; i++)
        if (t->items[i].depth > limit[is_still(t, i)]) {
            t->items[count] = t->items[i];
            t->first[count] = t->first[i];
            t->end[count++] = t->end[i];
        }
    t->count = count;
    return CAIRN_OK;
}

/* Collect the marks from far to near, in the order of their items. */
static cairn_status sort_marks(things *t, cairn_arena *arena, marks *out)
{
    int32_t *order = cairn_arena_take(arena, (size_t)t->count + 1, sizeof *order);
    out->items = cairn_arena_take(arena, t->mark_count + 1, sizeof *out->items);
    if (!order || !out->items)
        return CAIRN_NO_MEMORY;
    TRY(drop_far_items(t, arena));
    TRY(cairn_picture_order(t->items, t->count, out->view.towards, arena, order));
    for (int i = 0; i < t->count; i++)
        for (size_t k = t->first[order[i]]; k < t->end[order[i]]; k++)
            out->items[out->count++] = t->marks[k];
    return CAIRN_OK;
}

/* Balls alone, or a picture in 2D: sorting by depth is enough. The plane between two balls is at
 * right angles to the line of their centres, so the ball with the nearer centre is in front; in 2D
 * nothing hides anything. Only the nearest MOST_MARKS stay. */
static void sort_by_depth(things *t, marks *out)
{
    size_t count = t->mark_count, dropped = count > MOST_MARKS ? count - MOST_MARKS : 0;
    qsort(t->marks, count, sizeof *t->marks, nearer);
    out->items = t->marks + dropped;
    out->count = count - dropped;
}

/* Only spheres are painted as balls; a point has no size. The colour scale refers to the largest
 * force of all bodies, before any are left out. */
static cairn_status make_marks(const cairn_run_frame *f, cairn_arena *arena, marks *out, things *t)
{
    view *v = &out->view;
    TRY(draw_shapes(f, &out->polygons));
    TRY(things_take(f, out, arena, t));
    for (size_t k = 0; k < f->bodies; k++)
        if (cairn_bodies_shape(&f->world, f->slot[k])->kind == CAIRN_SHAPE_SPHERE)
            add_ball(t, k, v);
    add_polygons(t, &out->polygons, v);
    v->largest_force = out->rest.needs.largest_force;
    for (size_t k = 0; k < t->mark_count; k++)
        v->largest_force = fmax(v->largest_force, t->marks[k].force);
    return CAIRN_OK;
}

static cairn_status list_marks(const cairn_run_frame *f, cairn_arena *arena, marks *out)
{
    things t = { .count = 0 };
    TRY(make_marks(f, arena, out, &t));
    if (!out->view.flat && (out->polygons.cells > 0 || out->rest.needs.polygons))
        return sort_marks(&t, arena, out);
    sort_by_depth(&t, out);
    return CAIRN_OK;
}

/* ---- frame ---------------------------------------------------------------------------------- */

/* A rectangle in the picture plane, m. */
typedef struct extent {
    double low_x, high_x, low_y, high_y;
} extent;

static void stretch(extent *e, double x, double y, double radius)
{
    e->low_x = fmin(e->low_x, x - radius);
    e->high_x = fmax(e->high_x, x + radius);
    e->low_y = fmin(e->low_y, y - radius);
    e->high_y = fmax(e->high_y, y + radius);
}

static void stretch_over(extent *e, const view *v, const cairn_polygons *p)
{
    for (size_t k = 0; k < p->points; k++)
        stretch(e, cairn_dot(p->x[k], v->right), cairn_dot(p->x[k], v->up), 0);
}

/* Choose scale and size so that everything fits into the limits. An empty scene, or one without
 * extent, gets 2 m x 2 m. The smallest height leaves room for the legend. */
static void fit(view *v, const marks *painted, const cairn_run_walls *walls,
                const cairn_run_joints *joints)
{
    extent e = { HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL };
    for (size_t k = 0; k < painted->count; k++)
        if (!painted->items[k].polygon)
            stretch(&e, painted->items[k].x, painted->items[k].y, painted->items[k].radius);
    stretch_over(&e, v, &painted->polygons);
    if (painted->rest.needs.polygons) {
        const cairn_picture_needs *needs = &painted->rest.needs;
        stretch(&e, needs->low[0], needs->low[1], 0);
        stretch(&e, needs->high[0], needs->high[1], 0);
    }
    stretch_over(&e, v, &walls->mesh);
    for (size_t k = 0; k < joints->count; k++)
        stretch(&e, cairn_dot(joints->point[k], v->right), cairn_dot(joints->point[k], v->up), 0);
    if (!(e.high_x > e.low_x) || !(e.high_y > e.low_y))
        e = (extent){ -1, 1, -1, 1 };
    v->low_x = e.low_x;
    v->low_y = e.low_y;
    v->high_y = e.high_y;
    v->scale = fmin((MOST_WIDTH - LEGEND - 2 * MARGIN) / (e.high_x - e.low_x),
                    (MOST_HEIGHT - 2 * MARGIN) / (e.high_y - e.low_y));
    v->height = fmax(LEAST_HEIGHT, 2 * MARGIN + (e.high_y - e.low_y) * v->scale);
    v->width = fmax(0.5 * MOST_WIDTH, 2 * MARGIN + LEGEND + (e.high_x - e.low_x) * v->scale);
}

static cairn_status list_parts(const marks *own, const things *t, cairn_arena *arena,
                               cairn_picture_needs *out)
{
    const view *v = &own->view;
    extent e = { HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL };
    stretch_over(&e, v, &own->polygons);
    *out = (cairn_picture_needs){ .count = (size_t)t->count,
                                  .largest_force = v->largest_force,
                                  .polygons = own->polygons.cells > 0,
                                  .low = { e.low_x, e.low_y },
                                  .high = { e.high_x, e.high_y } };
    out->parts = cairn_arena_take(arena, out->count + 1, sizeof *out->parts);
    for (size_t k = 0; out->parts && k < out->count; k++)
        out->parts[k] =
            (cairn_picture_part){ t->items[k].depth, t->body[k], (int32_t)(t->end[k] - t->first[k]),
                                  t->marks[t->first[k]].polygon };
    return out->parts ? CAIRN_OK : CAIRN_NO_MEMORY;
}

cairn_status cairn_picture_need(const cairn_world *world, const cairn_run_frame *frame,
                                const double *forces, cairn_arena *arena, cairn_picture_needs *out)
{
    marks own = { .view = view_of(world), .rest.forces = forces };
    things t = { .count = 0 };
    cairn_status status = make_marks(frame, arena, &own, &t);
    if (status == CAIRN_OK)
        status = list_parts(&own, &t, arena, out);
    cairn_polygons_destroy(&own.polygons);
    return status;
}

/* From m in the picture plane to pixels. In SVG, y points down; 10 pixels more leave room for the
 * title. */
static double picture_x(const view *v, double x)
{
    return MARGIN + (x - v->low_x) * v->scale;
}

static double picture_y(const view *v, double y)
{
    return MARGIN + 10 + (v->high_y - y) * v->scale;
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* The colours by material, if bodies of several move. Fails with CAIRN_NO_MEMORY. */
static cairn_status choose_colours(marks *painted, const cairn_scene *scene, cairn_arena *arena)
{
    int found = 0;
    bool *shown = cairn_arena_take(arena, (size_t)scene->material_count + 1, sizeof *shown);
    if (!shown)
        return CAIRN_NO_MEMORY;
    memset(shown, 0, (size_t)scene->material_count + 1);
    for (size_t k = 0; k < painted->count; k++) {
        const mark *m = &painted->items[k];
        bool counts = m->force >= 0 && m->material >= 0 && m->material < scene->material_count;
        found += counts && !shown[m->material];
        if (counts)
            shown[m->material] = true;
    }
    painted->view.scene = scene;
    painted->view.shown = found > 1 ? shown : NULL;
    return CAIRN_OK;
}

/* The number of colours, and one of them. */
static int colour_count(const view *v)
{
    return v->shown ? v->scene->material_count : COLOURS;
}

static void colour_of(const view *v, int index, char *text)
{
    if (v->shown)
        cairn_palette_kind(v->scene->material_names, v->scene->material_count, index, text);
    else
        cairn_palette_share((double)index / (COLOURS - 1), text);
}

/* A text of the scene: control characters are not allowed in XML. */
static void write_text(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c == '<' || *c == '&')
            fprintf(out, "&#%d;", *c);
        else
            fputc(cairn_is_control(*c) ? ' ' : *c, out);
}

/* Title and gradients. One radial gradient per colour shades all balls of that colour. */
static void write_head(FILE *out, const view *v, const cairn_run_frame *f)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" "
            "height=\"100%%\" fill=\"#ffffff\"/>\n<defs>\n",
            v->width, v->height);
    for (int k = 0; k < colour_count(v); k++) {
        char colour[CAIRN_COLOUR_BYTES];
        colour_of(v, k, colour);
        fprintf(out,
                "<radialGradient id=\"c%d\" cx=\".38\" cy=\".32\" r=\".75\"><stop "
                "offset=\"0\" stop-color=\"#fff\"/><stop offset=\".35\" stop-color=\"%s\"/>"
                "<stop offset=\"1\" stop-color=\"#111\"/></radialGradient>\n",
                k, colour);
    }
    fprintf(out, "</defs>\n<text x=\"%d\" y=\"28\" font-size=\"17\">", MARGIN);
    write_text(out, v->scene->title);
    fprintf(out, ", t = %.4g s</text>\n", f->time);
}

static void write_corner(FILE *out, const view *v, cairn_vec3 x)
{
    fprintf(out, "%.1f,%.1f ", picture_x(v, cairn_dot(x, v->right)),
            picture_y(v, cairn_dot(x, v->up)));
}

static void write_corners(FILE *out, const view *v, const cairn_polygons *p, int64_t first,
                          int64_t end)
{
    for (int64_t k = first; k < end; k++)
        write_corner(out, v, p->x[p->connectivity[k]]);
}

/* The fill colour of a cell of the walls; "none": lines only; NULL: not drawn here. Solids are
 * painted as marks, except ground that faces away, of which the lines are drawn here. A floor that
 * faces the viewer has a colour. */
static const char *wall_fill(const cairn_run_frame *f, const cairn_polygons *walls, size_t cell,
                             int32_t slot, const view *v)
{
    cairn_shape_kind kind = cairn_bodies_shape(&f->world, slot)->kind;
    if (is_solid_wall(f, slot)) {
        bool open = kind == CAIRN_SHAPE_HEIGHT_FIELD || kind == CAIRN_SHAPE_MESH;
        return open && polygon_mark(walls, cell, v).light <= 0 ? "none" : NULL;
    }
    if (kind != CAIRN_SHAPE_HALF_SPACE || v->flat)
        return "none";
    cairn_pose pose = cairn_bodies_shape_pose(&f->world, slot);
    cairn_vec3 axis = cairn_rotate(pose.q, cairn_bodies_shape(&f->world, slot)->axis);
    return cairn_dot(axis, v->towards) > 0 ? "#f0f2f4" : "none";
}

/* The row of the world for each row of /bodies; NULL: no memory. Rows of bodies that are gone are
 * undefined and never used. */
static int32_t *slots_by_row(const cairn_run_frame *f, cairn_arena *arena)
{
    int32_t most = 0;
    for (size_t k = 0; k < f->bodies; k++)
        most = f->index[k] > most ? f->index[k] : most;
    int32_t *slots = cairn_arena_take(arena, (size_t)most + 1, sizeof *slots);
    for (size_t k = 0; slots && k < f->bodies; k++)
        slots[f->index[k]] = f->slot[k];
    return slots;
}

static void write_walls(FILE *out, const view *v, const cairn_polygons *walls,
                        const cairn_run_frame *f, const int32_t *slots)
{
    int64_t first = 0;
    fprintf(out, "<g stroke=\"#8899aa\" stroke-width=\"%s\">\n", v->flat ? "2" : "0.4");
    for (size_t cell = 0; cell < walls->cells; cell++) {
        const char *fill = wall_fill(f, walls, cell, slots[walls->body[cell]], v);
        if (fill) {
            fprintf(out, "<poly%s fill=\"%s\" points=\"", v->flat ? "line" : "gon", fill);
            write_corners(out, v, walls, first, walls->offsets[cell]);
            fprintf(out, "\"/>\n");
        }
        first = walls->offsets[cell];
    }
    fprintf(out, "</g>\n");
}

/* The colour of a body: of its material, or of the force on it (N), with share = sqrt(force /
 * largest force). */
static int colour_index(const view *v, const mark *m)
{
    double share = v->largest_force > 0 ? sqrt(fmax(0, m->force) / v->largest_force) : 0;
    if (v->shown)
        return m->material;
    return (int)(share * (COLOURS - 1) + 0.5);
}

/* In 2D a white spoke shows how far a disk has turned. */
static void write_ball(FILE *out, const view *v, const mark *b)
{
    double x = picture_x(v, b->x), y = picture_y(v, b->y), r = b->radius * v->scale;
    if (b->force < 0) { /* fixed or driven */
        fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"#999\"/>\n", x, y, r);
        return;
    }
    fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"url(#c%d)\"/>\n", x, y, r,
            colour_index(v, b));
    if (v->flat)
        fprintf(out, "<path d=\"M%.2f %.2fl%.2f %.2f\" stroke=\"#fff\" stroke-width=\"1\"/>\n", x,
                y, r * cos(b->turn), -r * sin(b->turn));
}

/* Bodies that do not move are grey, lighter where they face the viewer. Polygons of a few pixels
 * (8) get no visible edges, since these would darken the whole surface. */
static void write_grey(FILE *out, const view *v, const cairn_polygons *p, const mark *m)
{
    static const int grey[3] = { 0x8a, 0x94, 0xa0 };
    int shade[3];
    double white = v->flat ? 0 : 0.6 * m->light;
    cairn_vec3 side =
        cairn_sub(p->x[p->connectivity[m->first + 1]], p->x[p->connectivity[m->first]]);
    bool edged = cairn_norm(side) * v->scale > 8;
    for (int i = 0; i < 3; i++)
        shade[i] = (int)(grey[i] + white * (255 - grey[i]));
    fprintf(out, "<polygon fill=\"#%02x%02x%02x\" ", shade[0], shade[1], shade[2]);
    for (int i = 0; i < 3; i++)
        shade[i] = edged ? grey[i] : shade[i];
    fprintf(out, "stroke=\"#%02x%02x%02x\" stroke-width=\"0.5\" points=\"", shade[0], shade[1],
            shade[2]);
    write_corners(out, v, p, m->first, m->end);
    fprintf(out, "\"/>\n");
}

/* A polygon in the colour of the body, and over it white with an opacity that depends on its light,
 * so that the two sides of an edge differ. */
static void write_polygon(FILE *out, const view *v, const cairn_polygons *p, const mark *m)
{
    char colour[CAIRN_COLOUR_BYTES];
    if (m->force < 0) {
        write_grey(out, v, p, m);
        return;
    }
    colour_of(v, colour_index(v, m), colour);
    fprintf(out, "<polygon fill=\"%s\" stroke=\"%s\" points=\"", colour, v->flat ? "#222" : colour);
    write_corners(out, v, p, m->first, m->end);
    fprintf(out, "\"/>\n");
    if (v->flat)
        return;
    fprintf(out, "<polygon fill=\"#fff\" fill-opacity=\"%.2f\" points=\"", 0.4 * m->light);
    write_corners(out, v, p, m->first, m->end);
    fprintf(out, "\"/>\n");
}

/* A line for each joint that is not broken, from centre to centre through its points. Joints are
 * painted over the bodies, which would hide them. */
static void write_joints(FILE *out, const view *v, const cairn_run_frame *f)
{
    const cairn_run_joints *j = &f->joint;
    fprintf(out, "<g fill=\"none\" stroke=\"#d35400\" stroke-width=\"2\">\n");
    for (size_t k = 0; k < j->count; k++) {
        if (j->broken[k])
            continue;
        fprintf(out, "<polyline points=\"");
        write_corner(out, v, j->centre[2 * k]);
        write_corner(out, v, j->point[k]);
        write_corner(out, v, j->point_b[k]);
        if (!j->single[k])
            write_corner(out, v, cairn_run_joint_end(f, k));
        fprintf(out, "\"/>\n");
    }
    fprintf(out, "</g>\n");
}

static void write_marks(FILE *out, const view *v, const marks *painted)
{
    for (size_t k = 0; k < painted->count; k++)
        if (painted->items[k].polygon)
            write_polygon(out, v, &painted->polygons, &painted->items[k]);
        else
            write_ball(out, v, &painted->items[k]);
}

/* The materials of the bodies that move, at most 20. */
static void write_materials(FILE *out, const view *v, int left, int top)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\">material</text>\n", left, top - 15);
    for (int k = 0, row = 0; k < v->scene->material_count && row < 20; k++) {
        char colour[CAIRN_COLOUR_BYTES];
        if (!v->shown[k])
            continue;
        colour_of(v, k, colour);
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"14\" fill=\"%s\"/>\n"
                "<text x=\"%d\" y=\"%d\">",
                left, top + 20 * row, colour, left + 21, top + 20 * row + 12);
        write_text(out, v->scene->material_names[k]);
        fprintf(out, "</text>\n");
        row++;
    }
}

/* The materials, or the colour scale with 5 numbers; the scale is that of the square root, so the
 * force at a share s is s^2 times the largest. */
static void write_legend(FILE *out, const view *v)
{
    int left = (int)v->width - LEGEND, top = 105, height = 300;
    if (v->shown) {
        write_materials(out, v, left, top);
        return;
    }
    if (v->largest_force == 0)
        return; /* no contacts: all bodies have the same colour */
    fprintf(out,
            "<text x=\"%d\" y=\"%d\">normal force</text>\n<text x=\"%d\" y=\"%d\">on a body, N"
            "</text>\n<text x=\"%d\" y=\"%d\" font-size=\"11\">(square-root scale)</text>\n",
            left, top - 48, left, top - 31, left, top - 15);
    for (int k = 0; k < COLOURS; k++) {
        char colour[CAIRN_COLOUR_BYTES];
        colour_of(v, k, colour);
        fprintf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"20\" height=\"%.1f\" fill=\"%s\"/>\n", left,
                top + height * (1 - (k + 1.0) / COLOURS), 0.5 + (double)height / COLOURS, colour);
    }
    for (int k = 0; k <= 4; k++) {
        double share = k / 4.0;
        fprintf(out, "<text x=\"%d\" y=\"%.0f\">%.3g</text>\n", left + 28,
                top + height * (1 - share) + 5, share * share * v->largest_force);
    }
}

static void write_scale_bar(FILE *out, const view *v)
{
    /* the largest of 1, 2 or 5 times a power of ten that is at most a fifth of the picture's
     * width */
    double wanted = 0.2 * (v->width - LEGEND) / v->scale, step = pow(10, floor(log10(wanted)));
    double length = wanted >= 5 * step ? 5 * step : wanted >= 2 * step ? 2 * step : step;
    int y = (int)v->height - 18;
    fprintf(out,
            "<path d=\"M%d %dh%.1f\" stroke=\"#000\" stroke-width=\"2\"/>\n<text x=\"%.1f\" "
            "y=\"%d\">%g m</text>\n</svg>\n",
            MARGIN, y, length * v->scale, MARGIN + 8 + length * v->scale, y + 5, length);
}

/* Write the picture, from back to front: walls, bodies, joints, legend. */
static cairn_status write(const cairn_run_frame *frame, const char *path, marks *painted,
                          cairn_error *error)
{
    view *v = &painted->view;
    cairn_run_walls walls = { .others = painted->rest.box };
    cairn_file file;
    bool changed;
    cairn_status status = cairn_run_walls_draw(&walls, frame, &changed);
    if (status == CAIRN_OK)
        status = cairn_file_create(path, &file, error);
    if (status == CAIRN_OK) {
        fit(v, painted, &walls, &frame->joint);
        write_head(file.stream, v, frame);
        write_walls(file.stream, v, &walls.mesh, frame, painted->slots);
        write_marks(file.stream, v, painted);
        write_joints(file.stream, v, frame);
        write_legend(file.stream, v);
        write_scale_bar(file.stream, v);
        status = cairn_file_commit(&file, error);
    }
    cairn_run_walls_destroy(&walls);
    return status;
}

cairn_status cairn_picture_write(const cairn_run_frame *frame, const cairn_picture_rest *rest,
                                 const cairn_scene *scene, const char *folder, cairn_arena *arena,
                                 cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    marks painted = { .view = view_of(scene->world) };
    if (rest)
        painted.rest = *rest;
    TRY(cairn_path_join(folder, "picture.svg", path, error));
    painted.slots = slots_by_row(frame, arena);
    cairn_status status = painted.slots ? list_marks(frame, arena, &painted) : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = choose_colours(&painted, scene, arena);
    if (status == CAIRN_OK)
        status = write(frame, path, &painted, error);
    cairn_polygons_destroy(&painted.polygons);
    return status;
}

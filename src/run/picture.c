/* picture.c - see picture.h.
 *
 * Parallel projection; balls are painted from far to near as shaded circles (painter's algorithm),
 * other bodies and the ground polygon by polygon, those that look away left out, in the order of
 * picture_order.c. Containers are thin lines behind them; so is ground that looks away, so that
 * nothing is hidden in a hollow. Colours follow the square root of the force, so that weak and
 * strong forces both show. */
#include "io/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "io/file.h"
#include "io/picture_order.h"
#include "io/run_walls.h"
#include "math/vec.h"

enum { MOST_WIDTH = 900, MOST_HEIGHT = 760, LEAST_HEIGHT = 440, MARGIN = 46, LEGEND = 120 };
enum { COLOURS = 24, MOST_MARKS = 30000, MOST_GROUND = 100000 };

/* A circle or a polygon of the picture. */
typedef struct mark {
    double depth;       /* m: grows towards the viewer                            */
    double force;       /* N on the body; -1: fixed or driven                     */
    bool polygon;       /* else a circle                                          */
    double x, y;        /* m in the picture plane: centre of a circle             */
    double radius;      /* m: of a circle                                         */
    double turn;        /* rad: drawn as a spoke in 2D                            */
    int64_t first, end; /* corners of a polygon                                   */
    double light;       /* of a polygon: 0 edge on, 1 facing the viewer           */
    cairn_vec3 normal;  /* of a polygon: unit, outward                            */
} mark;

typedef struct view {
    cairn_vec3 right, up, towards; /* unit                                        */
    double low_x, low_y, scale;    /* picture = MARGIN + (x - low_x) scale        */
    double high_y;
    double width, height; /* pixels: of the whole picture */
    double largest_force; /* N */
    bool flat;
} view;

/* All that is painted. */
typedef struct marks {
    view view;
    mark *items;
    size_t count;
    cairn_polygons polygons;
    const int32_t *slots; /* world indices, by row of /bodies */
} marks;

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
    /* 30 degrees to the side, 20 degrees from above */
    cairn_vec3 level = cairn_add_scaled(cairn_scale(cos(0.52), front), sin(0.52), side);
    v.towards = cairn_unit(cairn_add_scaled(cairn_scale(cos(0.35), level), sin(0.35), sky));
    v.right = cairn_unit(cairn_cross(sky, v.towards));
    v.up = cairn_cross(v.towards, v.right);
    return v;
}

/* ---- what is painted ------------------------------------------------------------------------ */

static int nearer(const void *a, const void *b)
{
    double x = ((const mark *)a)->depth, y = ((const mark *)b)->depth;
    return (x > y) - (x < y);
}

/* Sum of the normal forces on each body, by world index. */
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
    return (mark){ .x = cairn_dot(f->state.x[row], v->right),
                   .y = cairn_dot(f->state.x[row], v->up),
                   .depth = cairn_dot(f->state.x[row], v->towards),
                   .radius = cairn_bodies_shape(&f->world, i)->radius,
                   .turn = f->world.angle[i] };
}

/* A polygon by its normal (Newell) and its middle. */
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

/* Walls that are ground or fixed bodies, not containers that would hide what they hold. */
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

/* Shapes that are open, or hollow: their polygons are ordered one by one. */
static bool is_convex(const cairn_run_frame *f, int32_t slot)
{
    cairn_shape_kind kind = cairn_bodies_shape(&f->world, slot)->kind;
    return kind != CAIRN_SHAPE_MESH && kind != CAIRN_SHAPE_HEIGHT_FIELD &&
           kind != CAIRN_SHAPE_COMPOUND;
}

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

/* All that is painted before it is put in order: an item is a ball, a convex body or a polygon,
 * with its marks side by side. */
typedef struct things {
    const cairn_run_frame *frame;
    const double *forces; /* N: by world index          */
    mark *marks;          /* as many as `mark_count`    */
    cairn_picture_item *items;
    size_t *first, *end; /* of each item: its marks */
    cairn_picture_face *faces;
    size_t mark_count;
    int count;
} things;

static cairn_status things_take(const cairn_run_frame *f, const cairn_polygons *p,
                                cairn_arena *arena, things *t)
{
    size_t most = f->bodies + p->cells + 1;
    t->frame = f;
    t->forces = sum_forces(f, arena);
    t->marks = cairn_arena_take(arena, most, sizeof *t->marks);
    t->items = cairn_arena_take(arena, most, sizeof *t->items);
    t->first = cairn_arena_take(arena, most, sizeof *t->first);
    t->end = cairn_arena_take(arena, most, sizeof *t->end);
    t->faces = cairn_arena_take(arena, p->cells + 1, sizeof *t->faces);
    bool good = t->forces && t->marks && t->items && t->first && t->end && t->faces;
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void add_ball(things *t, size_t row, const view *v)
{
    mark m = ball_mark(t->frame, row, v);
    m.force = force_on(t->frame, t->forces, t->frame->slot[row]);
    t->first[t->count] = t->mark_count;
    t->marks[t->mark_count++] = m;
    t->end[t->count] = t->mark_count;
    t->items[t->count++] = (cairn_picture_item){ .centre = t->frame->state.x[row],
                                                 .radius = m.radius,
                                                 .size = m.radius,
                                                 .low = { m.x - m.radius, m.y - m.radius },
                                                 .high = { m.x + m.radius, m.y + m.radius },
                                                 .depth = m.depth };
}

/* Centre, size and box of an item by its corners. */
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

/* The cells [begin, end) as one item, with a mark for each that looks at the viewer. */
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
        t->faces[cell] = (cairn_picture_face){ m.normal, p->x[m.first] };
        if (m.light > 0)
            t->marks[t->mark_count++] = m;
    }
    if (t->mark_count == t->first[t->count])
        return; /* all of it looks away */
    measure_item(&item, v);
    t->end[t->count] = t->mark_count;
    t->items[t->count++] = item;
}

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

static bool is_still(const things *t, int item)
{
    return t->marks[t->first[item]].force < 0;
}

/* The depth up to which items that move, or those that do not, have more than `most` marks. */
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

/* Forget the farthest items where there are too many for a picture. */
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

/* The marks from far to near, in the order of their items. */
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

/* Balls alone by their depth, the nearest of them; in 2D nothing hides anything. */
static void sort_by_depth(things *t, marks *out)
{
    size_t count = t->mark_count, dropped = count > MOST_MARKS ? count - MOST_MARKS : 0;
    qsort(t->marks, count, sizeof *t->marks, nearer);
    out->items = t->marks + dropped;
    out->count = count - dropped;
}

static cairn_status list_marks(const cairn_run_frame *f, cairn_arena *arena, marks *out)
{
    view *v = &out->view;
    things t = { .count = 0 };
    TRY(draw_shapes(f, &out->polygons));
    TRY(things_take(f, &out->polygons, arena, &t));
    for (size_t k = 0; k < f->bodies; k++)
        if (cairn_bodies_shape(&f->world, f->slot[k])->kind == CAIRN_SHAPE_SPHERE)
            add_ball(&t, k, v);
    add_polygons(&t, &out->polygons, v);
    for (size_t k = 0; k < t.mark_count; k++)
        v->largest_force = fmax(v->largest_force, t.marks[k].force);
    if (!v->flat && out->polygons.cells > 0)
        return sort_marks(&t, arena, out);
    sort_by_depth(&t, out);
    return CAIRN_OK;
}

/* ---- frame ---------------------------------------------------------------------------------- */

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

static void fit(view *v, const marks *painted, const cairn_run_walls *walls,
                const cairn_run_joints *joints)
{
    extent e = { HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL };
    for (size_t k = 0; k < painted->count; k++)
        if (!painted->items[k].polygon)
            stretch(&e, painted->items[k].x, painted->items[k].y, painted->items[k].radius);
    stretch_over(&e, v, &painted->polygons);
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

static double picture_x(const view *v, double x)
{
    return MARGIN + (x - v->low_x) * v->scale;
}

static double picture_y(const view *v, double y)
{
    return MARGIN + 10 + (v->high_y - y) * v->scale;
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* From dark blue over green to yellow: hue falls, lightness rises. */
static void colour_of(int index, char *text, size_t capacity)
{
    double t = (double)index / (COLOURS - 1);
    snprintf(text, capacity, "hsl(%.0f,%.0f%%,%.0f%%)", 235 - 190 * t, 55 + 30 * t, 32 + 28 * t);
}

static void write_head(FILE *out, const view *v, const cairn_scene *scene, const cairn_run_frame *f)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" "
            "height=\"100%%\" fill=\"#ffffff\"/>\n<defs>\n",
            v->width, v->height);
    for (int k = 0; k < COLOURS; k++) {
        char colour[48];
        colour_of(k, colour, sizeof colour);
        fprintf(out,
                "<radialGradient id=\"c%d\" cx=\".38\" cy=\".32\" r=\".75\"><stop "
                "offset=\"0\" stop-color=\"#fff\"/><stop offset=\".35\" stop-color=\"%s\"/>"
                "<stop offset=\"1\" stop-color=\"#111\"/></radialGradient>\n",
                k, colour);
    }
    fprintf(out, "</defs>\n<text x=\"%d\" y=\"28\" font-size=\"17\">", MARGIN);
    for (const char *c = scene->title; *c; c++)
        if (*c == '<' || *c == '&')
            fprintf(out, "&#%d;", *c);
        else
            fputc(cairn_is_control(*c) ? ' ' : *c, out); /* XML knows no control characters */
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

/* How a cell of the walls is drawn, by its body: solids are among the marks, but for ground that
 * looks away; a floor that looks at the viewer has a colour. */
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

/* The world index of each row of /bodies; NULL: no memory. */
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

/* Which colour a body under a force has. */
static int colour_index(const view *v, double force)
{
    double share = v->largest_force > 0 ? sqrt(fmax(0, force) / v->largest_force) : 0;
    return (int)(share * (COLOURS - 1) + 0.5);
}

static void write_ball(FILE *out, const view *v, const mark *b)
{
    double x = picture_x(v, b->x), y = picture_y(v, b->y), r = b->radius * v->scale;
    if (b->force < 0) { /* fixed or driven */
        fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"#999\"/>\n", x, y, r);
        return;
    }
    fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"url(#c%d)\"/>\n", x, y, r,
            colour_index(v, b->force));
    if (v->flat)
        fprintf(out, "<path d=\"M%.2f %.2fl%.2f %.2f\" stroke=\"#fff\" stroke-width=\"1\"/>\n", x,
                y, r * cos(b->turn), -r * sin(b->turn));
}

/* What does not move is grey, lighter where it looks at the viewer; polygons of a few pixels have
 * no edges, which would darken all of it. */
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

/* A polygon in the body's colour, and over it white for its light: both sides of an edge differ. */
static void write_polygon(FILE *out, const view *v, const cairn_polygons *p, const mark *m)
{
    char colour[48];
    if (m->force < 0) {
        write_grey(out, v, p, m);
        return;
    }
    colour_of(colour_index(v, m->force), colour, sizeof colour);
    fprintf(out, "<polygon fill=\"%s\" stroke=\"%s\" points=\"", colour, v->flat ? "#222" : colour);
    write_corners(out, v, p, m->first, m->end);
    fprintf(out, "\"/>\n");
    if (v->flat)
        return;
    fprintf(out, "<polygon fill=\"#fff\" fill-opacity=\"%.2f\" points=\"", 0.6 * m->light);
    write_corners(out, v, p, m->first, m->end);
    fprintf(out, "\"/>\n");
}

/* A line for each joint that is whole, from centre to centre through its points. */
static void write_joints(FILE *out, const view *v, const cairn_run_frame *f)
{
    const cairn_run_joints *j = &f->joint;
    fprintf(out, "<g fill=\"none\" stroke=\"#d35400\" stroke-width=\"2\">\n");
    for (size_t k = 0; k < j->count; k++) {
        if (j->broken[k])
            continue;
        fprintf(out, "<polyline points=\"");
        write_corner(out, v, f->world.x[j->slot[2 * k]]);
        write_corner(out, v, j->point[k]);
        write_corner(out, v, j->point_b[k]);
        if (j->slot[2 * k + 1] >= 0)
            write_corner(out, v, f->world.x[j->slot[2 * k + 1]]);
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

static void write_legend(FILE *out, const view *v)
{
    int left = (int)v->width - LEGEND, top = 105, height = 300;
    if (v->largest_force == 0)
        return; /* nothing touches: all have one colour */
    fprintf(out,
            "<text x=\"%d\" y=\"%d\">normal force</text>\n<text x=\"%d\" y=\"%d\">on a body, N"
            "</text>\n<text x=\"%d\" y=\"%d\" font-size=\"11\">(square-root scale)</text>\n",
            left, top - 48, left, top - 31, left, top - 15);
    for (int k = 0; k < COLOURS; k++) {
        char colour[48];
        colour_of(k, colour, sizeof colour);
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
    /* a round length of about a fifth of the picture */
    double wanted = 0.2 * (v->width - LEGEND) / v->scale, step = pow(10, floor(log10(wanted)));
    double length = wanted >= 5 * step ? 5 * step : wanted >= 2 * step ? 2 * step : step;
    int y = (int)v->height - 18;
    fprintf(out,
            "<path d=\"M%d %dh%.1f\" stroke=\"#000\" stroke-width=\"2\"/>\n<text x=\"%.1f\" "
            "y=\"%d\">%g m</text>\n</svg>\n",
            MARGIN, y, length * v->scale, MARGIN + 8 + length * v->scale, y + 5, length);
}

/* All of the picture, once it is known what is on it. */
static cairn_status write(const cairn_run_frame *frame, const cairn_scene *scene, const char *path,
                          marks *painted, cairn_error *error)
{
    view *v = &painted->view;
    cairn_run_walls walls = { 0 };
    cairn_file file;
    bool changed;
    cairn_status status = cairn_run_walls_draw(&walls, frame, &changed);
    if (status == CAIRN_OK)
        status = cairn_file_create(path, &file, error);
    if (status == CAIRN_OK) {
        fit(v, painted, &walls, &frame->joint);
        write_head(file.stream, v, scene, frame);
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

cairn_status cairn_picture_write(const cairn_run_frame *frame, const cairn_scene *scene,
                                 const char *folder, cairn_arena *arena, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    marks painted = { .view = view_of(scene->world) };
    TRY(cairn_path_join(folder, "picture.svg", path, error));
    painted.slots = slots_by_row(frame, arena);
    cairn_status status = painted.slots ? list_marks(frame, arena, &painted) : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = write(frame, scene, path, &painted, error);
    cairn_polygons_destroy(&painted.polygons);
    return status;
}

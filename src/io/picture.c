/* picture.c - see picture.h.
 *
 * Parallel projection; balls are painted from far to near as shaded circles (painter's algorithm),
 * walls as thin lines behind them. Colours follow the square root of the force, so that weak and
 * strong forces both show. */
#include "io/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "io/file.h"
#include "io/run_walls.h"
#include "math/vec.h"

enum { MOST_WIDTH = 900, MOST_HEIGHT = 760, LEAST_HEIGHT = 440, MARGIN = 46, LEGEND = 120 };
enum { COLOURS = 24, MOST_BALLS = 30000 };

typedef struct ball {
    double x, y, depth; /* m in the picture plane; depth grows towards the viewer */
    double radius;      /* m                                                      */
    double force;       /* N                                                      */
    double turn;        /* rad: drawn as a spoke in 2D                            */
} ball;

typedef struct view {
    cairn_vec3 right, up, towards; /* unit                                        */
    double low_x, low_y, scale;    /* picture = MARGIN + (x - low_x) scale        */
    double high_y;
    double width, height; /* pixels: of the whole picture */
    double largest_force; /* N */
    bool flat;
} view;

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

/* ---- balls ---------------------------------------------------------------------------------- */

static int nearer(const void *a, const void *b)
{
    double x = ((const ball *)a)->depth, y = ((const ball *)b)->depth;
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

static cairn_status list_balls(const cairn_run_frame *f, cairn_arena *arena, view *v, ball **out,
                               size_t *count)
{
    double *forces = sum_forces(f, arena);
    *out = cairn_arena_take(arena, f->bodies, sizeof **out);
    *count = 0;
    if (!forces || !*out)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < f->bodies; k++) {
        int i = f->slot[k];
        if (f->world.shape[i].kind != CAIRN_SHAPE_SPHERE)
            continue;
        bool moves = f->world.motion[i] == CAIRN_MOTION_DYNAMIC;
        (*out)[(*count)++] = (ball){ .x = cairn_dot(f->x[k], v->right),
                                     .y = cairn_dot(f->x[k], v->up),
                                     .depth = cairn_dot(f->x[k], v->towards),
                                     .radius = f->world.shape[i].radius,
                                     .force = moves ? forces[i] : -1,
                                     .turn = f->world.angle[i] };
        v->largest_force = fmax(v->largest_force, moves ? forces[i] : 0);
    }
    qsort(*out, *count, sizeof **out, nearer);
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

static void fit(view *v, const ball *balls, size_t count, const cairn_run_walls *walls,
                const cairn_run_joints *joints)
{
    extent e = { HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL };
    for (size_t k = 0; k < count; k++)
        stretch(&e, balls[k].x, balls[k].y, balls[k].radius);
    for (size_t k = 0; k < walls->points; k++)
        stretch(&e, cairn_dot(walls->x[k], v->right), cairn_dot(walls->x[k], v->up), 0);
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
            fputc(*c, out);
    fprintf(out, ", t = %.4g s</text>\n", f->time);
}

static void write_corner(FILE *out, const view *v, cairn_vec3 x)
{
    fprintf(out, "%.1f,%.1f ", picture_x(v, cairn_dot(x, v->right)),
            picture_y(v, cairn_dot(x, v->up)));
}

static void write_walls(FILE *out, const view *v, const cairn_run_walls *walls)
{
    int64_t first = 0;
    fprintf(out, "<g fill=\"none\" stroke=\"#8899aa\" stroke-width=\"%s\">\n",
            v->flat ? "2" : "0.4");
    for (size_t cell = 0; cell < walls->cells; cell++) {
        fprintf(out, "<poly%s points=\"", v->flat ? "line" : "gon");
        for (int64_t k = first; k < walls->offsets[cell]; k++)
            write_corner(out, v, walls->x[walls->connectivity[k]]);
        fprintf(out, "\"/>\n");
        first = walls->offsets[cell];
    }
    fprintf(out, "</g>\n");
}

static void write_ball(FILE *out, const view *v, const ball *b)
{
    double x = picture_x(v, b->x), y = picture_y(v, b->y), r = b->radius * v->scale;
    double share = v->largest_force > 0 ? sqrt(fmax(0, b->force) / v->largest_force) : 0;
    int colour = (int)(share * (COLOURS - 1) + 0.5);
    if (b->force < 0) { /* fixed or driven */
        fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"#999\"/>\n", x, y, r);
        return;
    }
    fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"url(#c%d)\"/>\n", x, y, r,
            colour);
    if (v->flat)
        fprintf(out, "<path d=\"M%.2f %.2fl%.2f %.2f\" stroke=\"#fff\" stroke-width=\"1\"/>\n", x,
                y, r * cos(b->turn), -r * sin(b->turn));
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

static void write_legend(FILE *out, const view *v)
{
    int left = (int)v->width - LEGEND, top = 90, height = 300;
    fprintf(out,
            "<text x=\"%d\" y=\"%d\">normal force</text>\n<text x=\"%d\" y=\"%d\">on a body, N"
            "</text>\n",
            left, top - 34, left, top - 17);
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

cairn_status cairn_picture_write(const cairn_run_frame *frame, const cairn_scene *scene,
                                 const char *folder, cairn_arena *arena, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    cairn_file file;
    cairn_run_walls walls = { 0 };
    view v = view_of(scene->world);
    ball *balls;
    size_t count;
    bool changed;
    TRY(list_balls(frame, arena, &v, &balls, &count));
    TRY(cairn_path_join(folder, "picture.svg", path, error));
    cairn_status status = cairn_run_walls_draw(&walls, frame, &changed);
    if (status == CAIRN_OK)
        status = cairn_file_create(path, &file, error);
    if (status == CAIRN_OK) {
        fit(&v, balls, count, &walls, &frame->joint);
        write_head(file.stream, &v, scene, frame);
        write_walls(file.stream, &v, &walls);
        for (size_t k = count > MOST_BALLS ? count - MOST_BALLS : 0; k < count; k++)
            write_ball(file.stream, &v, &balls[k]);
        write_joints(file.stream, &v, frame);
        write_legend(file.stream, &v);
        write_scale_bar(file.stream, &v);
        status = cairn_file_commit(&file, error);
    }
    cairn_run_walls_destroy(&walls);
    return status;
}

/* table.c - the frames of a run as a CSV table, and the bodies or the contacts of one frame as a
 * table of any format. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cairn/output.h"

#include "studies/study.h"
#include "view.h"

/* The columns of a body in a frame, in the order of the table. */
static const struct {
    const char *column;
    int width;
} parts[] = {
    { "frames/bodies/index", 1 }, { "frames/bodies/x", 3 },     { "frames/bodies/q", 4 },
    { "frames/bodies/v", 3 },     { "frames/bodies/omega", 3 },
};

enum { PARTS = sizeof parts / sizeof parts[0], ROWS_AT_ONCE = 1 << 16 };

/* A name as a field; empty without one. */
static void write_name(FILE *out, char *const *names, double body, int bodies)
{
    const char *name = body >= 0 && body < bodies ? names[(int)body] : NULL;
    fputc(',', out);
    if (name && strpbrk(name, ",\"\n\r"))
        cairn_csv_quote(out, name);
    else if (name)
        fputs(name, out);
}

static void write_rows(FILE *out, double time, const double *data, int64_t count,
                       const cairn_view_names *names)
{
    for (int64_t i = 0; i < count; i++) {
        const double *from = data;
        fprintf(out, "%.17g", time);
        for (int p = 0; p < PARTS; p++) {
            for (int c = 0; c < parts[p].width; c++)
                fprintf(out, p == 0 ? ",%.0f" : ",%.17g", from[i * parts[p].width + c]);
            from += count * parts[p].width;
        }
        write_name(out, names->body, data[i], names->bodies);
        write_name(out, names->material, data[i], names->bodies);
        fputc('\n', out);
    }
}

/* `frame` is its time, and the first and the last row of its bodies. */
static cairn_status write_frame(cairn_recording *run, const double frame[3],
                                const cairn_view_names *names, FILE *out, cairn_error *error)
{
    const double *offset = frame + 1;
    for (int64_t first = (int64_t)offset[0]; first < (int64_t)offset[1]; first += ROWS_AT_ONCE) {
        int64_t left = (int64_t)offset[1] - first,
                count = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        cairn_recording_rows rows[PARTS];
        const void *data;
        size_t bytes;
        for (int p = 0; p < PARTS; p++)
            rows[p] = (cairn_recording_rows){ parts[p].column, CAIRN_NUMBER_DOUBLE, first, count };
        TRY(cairn_recording_read(run, rows, PARTS, &data, &bytes, error));
        write_rows(out, frame[0], data, count, names);
    }
    return CAIRN_OK;
}

static cairn_status write_frames(cairn_recording *run, const cairn_view_names *names, FILE *out,
                                 int64_t *written, cairn_error *error)
{
    cairn_recording_column about;
    fputs("time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,name,material\n", out);
    TRY(cairn_recording_look(run, "frames/time", &about, error));
    for (int64_t k = 0; k < about.rows; k++) {
        const cairn_recording_rows rows[] = {
            { "frames/time", CAIRN_NUMBER_DOUBLE, k, 1 },
            { "frames/body_offset", CAIRN_NUMBER_DOUBLE, k, 2 },
        };
        const void *data;
        size_t bytes;
        TRY(cairn_recording_read(run, rows, 2, &data, &bytes, error));
        const double *numbers = data, frame[3] = { numbers[0], numbers[1], numbers[2] };
        TRY(write_frame(run, frame, names, out, error));
        *written += (int64_t)(frame[2] - frame[1]);
    }
    return CAIRN_OK;
}

cairn_status cairn_view_export_csv(cairn_recording *run, const char *path, int64_t *rows,
                                   cairn_error *error)
{
    cairn_output *file;
    cairn_view_names names = { 0 };
    *rows = 0;
    cairn_status status = cairn_view_names_fill(run, &names, error);
    if (status == CAIRN_OK) {
        *error = (cairn_error){ 0 }; /* about a column that the run need not have */
        status = cairn_output_create(path, &file, error);
    }
    if (status == CAIRN_OK) {
        status = write_frames(run, &names, cairn_output_stream(file), rows, error);
        cairn_status ended = cairn_output_commit(file, error);
        if (status != CAIRN_OK)
            unlink(path);
        else
            status = ended;
    }
    cairn_view_names_clear(&names);
    return status;
}

/* ---- one frame as a table -------------------------------------------------------------------- */

static char *const names[] = { "id", "type", "x",  "y",  "z",  "radius", "mass", "vx", "vy",
                               "vz", "wx",   "wy", "wz", "qw", "qx",     "qy",   "qz", "angle" };

enum { ID, TYPE, PLACE, RADIUS = 5, MASS, SPEED, SPIN = 10, TURN = 13, ANGLE = 17, NAMES };

/* Numbers of a run that are copied, since each call of cairn_recording_read ends the last ones. */
typedef struct frame_data {
    int64_t number;               /* of the frame, from 0               */
    int64_t first, count, bodies; /* rows of the frame; rows of /bodies */
    double *index, *x, *q, *v, *omega, *angle;
    double *uid, *shape, *motion, *material, *radius, *mass; /* by row of /bodies */
} frame_data;

/* In pieces, because one read is limited. */
static cairn_status copy_column(cairn_recording *run, const char *column, int64_t first,
                                int64_t count, double **out, cairn_error *error)
{
    cairn_recording_column about;
    TRY(cairn_recording_look(run, column, &about, error));
    *out = cairn_block_take((size_t)count * (size_t)about.width + 1, sizeof **out);
    if (!*out)
        return CAIRN_NO_MEMORY;
    for (int64_t done = 0, part = 0; done < count; done += part) {
        part = count - done < ROWS_AT_ONCE ? count - done : ROWS_AT_ONCE;
        const cairn_recording_rows rows = { column, CAIRN_NUMBER_DOUBLE, first + done, part };
        const void *data;
        size_t bytes;
        TRY(cairn_recording_read(run, &rows, 1, &data, &bytes, error));
        memcpy(*out + done * about.width, data, (size_t)(part * about.width) * sizeof **out);
    }
    return CAIRN_OK;
}

static cairn_status refuse_time(const cairn_view_table *wanted, double nearest, cairn_error *error)
{
    *error = (cairn_error){ 0 };
    snprintf(error->key, sizeof error->key, "--time");
    snprintf(error->message, sizeof error->message,
             "the run has no frame at %g s; the nearest is at %.10g s", wanted->time, nearest);
    return CAIRN_BAD_INPUT;
}

/* The first row and the number of rows of a frame, by a column such as frames/body_offset. */
static cairn_status find_rows(cairn_recording *run, const char *column, int64_t frame,
                              int64_t range[2], cairn_error *error)
{
    const cairn_recording_rows rows = { column, CAIRN_NUMBER_DOUBLE, frame, 2 };
    const void *data;
    size_t bytes;
    TRY(cairn_recording_read(run, &rows, 1, &data, &bytes, error));
    const double *offset = data;
    range[0] = (int64_t)offset[0];
    range[1] = (int64_t)(offset[1] - offset[0]);
    return CAIRN_OK;
}

/* The rows of the frame at the wanted time. */
static cairn_status find_frame(cairn_recording *run, const cairn_view_table *wanted, frame_data *f,
                               cairn_error *error)
{
    cairn_recording_column about;
    int64_t range[2] = { 0, 0 };
    double *time = NULL;
    TRY(cairn_recording_look(run, "frames/time", &about, error));
    if (about.rows == 0)
        return refuse_time(wanted, NAN, error);
    TRY(copy_column(run, "frames/time", 0, about.rows, &time, error));
    int64_t k = about.rows - 1;
    for (int64_t i = 0; i < about.rows && !isnan(wanted->time); i++)
        if (fabs(time[i] - wanted->time) < fabs(time[k] - wanted->time))
            k = i;
    bool far = !isnan(wanted->time) && !(fabs(time[k] - wanted->time) <= wanted->time_step / 2);
    cairn_status status = far ? refuse_time(wanted, time[k], error)
                              : find_rows(run, "frames/body_offset", k, range, error);
    f->number = k;
    f->first = range[0];
    f->count = range[1];
    cairn_block_free(time);
    return status;
}

static cairn_status copy_frame(cairn_recording *run, int dimension, frame_data *f,
                               cairn_error *error)
{
    const struct {
        const char *column;
        double **out;
    } moving[] = { { "frames/bodies/index", &f->index }, { "frames/bodies/x", &f->x },
                   { "frames/bodies/q", &f->q },         { "frames/bodies/v", &f->v },
                   { "frames/bodies/omega", &f->omega }, { "frames/bodies/angle", &f->angle } },
      fixed[] = { { "bodies/uid", &f->uid },       { "bodies/shape", &f->shape },
                  { "bodies/motion", &f->motion }, { "bodies/material", &f->material },
                  { "bodies/radius", &f->radius }, { "bodies/mass", &f->mass } };
    cairn_recording_column about;
    for (int k = 0; k < (dimension == 2 ? 6 : 5); k++)
        TRY(copy_column(run, moving[k].column, f->first, f->count, moving[k].out, error));
    TRY(cairn_recording_look(run, "bodies/uid", &about, error));
    f->bodies = about.rows;
    for (int k = 0; k < 6; k++)
        TRY(copy_column(run, fixed[k].column, 0, about.rows, fixed[k].out, error));
    return CAIRN_OK;
}

/* R(q) w = w + 2 r x (r x w + s w), q = (s, r) */
static void turn(const double q[4], const double w[3], double out[3])
{
    const double *r = q + 1;
    double c[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = r[j] * w[k] - r[k] * w[j] + q[0] * w[i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = w[i] + 2 * (r[j] * c[k] - r[k] * c[j]);
    }
}

static void fill_row(const frame_data *f, int64_t i, int64_t body, double *row)
{
    row[ID] = f->uid[body];
    row[TYPE] = f->material[body] + 1;
    memcpy(row + PLACE, f->x + 3 * i, 3 * sizeof *row);
    row[RADIUS] = f->radius[body];
    row[MASS] = f->mass[body];
    memcpy(row + SPEED, f->v + 3 * i, 3 * sizeof *row);
    turn(f->q + 4 * i, f->omega + 3 * i, row + SPIN);
    memcpy(row + TURN, f->q + 4 * i, 4 * sizeof *row);
    if (f->angle)
        row[ANGLE] = f->angle[i];
}

/* Errors from here on are not about the run. */
static cairn_status put_table(const char *path, const cairn_table *table, cairn_error *error)
{
    *error = (cairn_error){ 0 };
    cairn_status status = cairn_table_write(path, table, error);
    if (!error->file[0])
        snprintf(error->file, sizeof error->file, "%s", path);
    return status;
}

static cairn_status write_table(const frame_data *f, const cairn_view_table *wanted, int64_t *rows,
                                int64_t *others, cairn_error *error)
{
    cairn_table table = { .column_count = wanted->dimension == 2 ? NAMES : NAMES - 1 };
    memcpy(table.columns, names, sizeof names);
    table.values =
        cairn_block_take((size_t)f->count * (size_t)table.column_count + 1, sizeof *table.values);
    if (!table.values)
        return CAIRN_NO_MEMORY;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t body = (int64_t)f->index[i];
        bool good = body >= 0 && body < f->bodies && f->shape[body] == CAIRN_SHAPE_SPHERE &&
                    f->motion[body] == CAIRN_MOTION_DYNAMIC;
        if (good)
            fill_row(f, i, body, table.values + table.row_count++ * table.column_count);
        *others += !good;
    }
    *rows = table.row_count;
    cairn_status status = put_table(wanted->path, &table, error);
    cairn_block_free(table.values);
    return status;
}

static void free_frame(frame_data *f)
{
    double *const blocks[] = { f->index, f->x,     f->q,      f->v,        f->omega,  f->angle,
                               f->uid,   f->shape, f->motion, f->material, f->radius, f->mass };
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
        cairn_block_free(blocks[k]);
}

cairn_status cairn_view_export_table(cairn_recording *run, const cairn_view_table *wanted,
                                     int64_t *rows, int64_t *others, cairn_error *error)
{
    frame_data f = { 0 };
    *rows = *others = 0;
    cairn_status status = find_frame(run, wanted, &f, error);
    if (status == CAIRN_OK)
        status = copy_frame(run, wanted->dimension, &f, error);
    if (status == CAIRN_OK)
        status = write_table(&f, wanted, rows, others, error);
    free_frame(&f);
    return status;
}

/* ---- the contacts of one frame --------------------------------------------------------------- */

/* The columns of the table; those of `image` exist in periodic runs only. */
static char *const network_names[] = {
    "body_a",       "body_b",           "point_x",       "point_y",   "point_z", "normal_x",
    "normal_y",     "normal_z",         "gap",           "force_x",   "force_y", "force_z",
    "normal_force", "tangential_force", "sliding_speed", "mobilised", "slips",   "from_x",
    "from_y",       "from_z",           "to_x",          "to_y",      "to_z",    "image_x",
    "image_y",      "image_z"
};

enum {
    BODIES,
    POINT = 2,
    NORMAL = 5,
    GAP = 8,
    FORCE = 9,
    NORMAL_FORCE = 12,
    TANGENTIAL_FORCE,
    SLIDING_SPEED,
    MOBILISED,
    SLIPS,
    FROM,
    TO = 20,
    IMAGE = 23,
    NETWORK = 26
};

/* The contacts of a frame; columns that the run does not have are NULL. */
typedef struct network {
    frame_data frame;
    int64_t first, count;
    int dimension;
    double h, time; /* s: time step; of the frame */
    double *place;  /* m: of each row of /bodies, three numbers; NaN: it is not in the frame */
    double *cell;   /* m: three edges of the periodic cell                                   */
    double *pair, *point, *normal, *tangent, *gap, *impulse, *velocity, *mu;
    double *image, *mu_2, *adhesion;
} network;

/* Copy a column of the contacts if the run has it; `needed`: it must. */
static cairn_status copy_part(cairn_recording *run, const network *n, const char *column,
                              bool needed, double **out, cairn_error *error)
{
    cairn_recording_column about;
    if (!needed && cairn_recording_look(run, column, &about, error) != CAIRN_OK) {
        *error = (cairn_error){ 0 };
        return CAIRN_OK;
    }
    return copy_column(run, column, n->first, n->count, out, error);
}

static cairn_status copy_contacts(cairn_recording *run, network *n, cairn_error *error)
{
    const struct {
        const char *column;
        double **out;
        bool needed;
    } parts_of[] = { { "frames/contacts/body", &n->pair, true },
                     { "frames/contacts/point", &n->point, true },
                     { "frames/contacts/normal", &n->normal, true },
                     { "frames/contacts/tangent", &n->tangent, true },
                     { "frames/contacts/gap", &n->gap, true },
                     { "frames/contacts/impulse", &n->impulse, true },
                     { "frames/contacts/velocity", &n->velocity, true },
                     { "frames/contacts/mu", &n->mu, true },
                     { "frames/contacts/mu_2", &n->mu_2, false },
                     { "frames/contacts/adhesion", &n->adhesion, false },
                     { "frames/contacts/image", &n->image, false } };
    for (size_t k = 0; k < sizeof parts_of / sizeof parts_of[0]; k++)
        TRY(copy_part(run, n, parts_of[k].column, parts_of[k].needed, parts_of[k].out, error));
    return CAIRN_OK;
}

/* Where each body is. */
static cairn_status place_bodies(network *n)
{
    const frame_data *f = &n->frame;
    n->place = cairn_block_take((size_t)f->bodies * 3 + 1, sizeof *n->place);
    if (!n->place)
        return CAIRN_NO_MEMORY;
    for (int64_t i = 0; i < 3 * f->bodies; i++)
        n->place[i] = NAN;
    for (int64_t i = 0; i < f->count; i++)
        if (f->index[i] >= 0 && f->index[i] < (double)f->bodies)
            memcpy(n->place + 3 * (int64_t)f->index[i], f->x + 3 * i, 3 * sizeof *n->place);
    return CAIRN_OK;
}

/* The edges of the cell when the step of the frame ended. */
static cairn_status copy_cell(cairn_recording *run, network *n, cairn_error *error)
{
    const cairn_recording_rows rows = { "frames/step", CAIRN_NUMBER_DOUBLE, n->frame.number, 1 };
    const void *data;
    size_t bytes;
    if (!n->image || n->count == 0)
        return CAIRN_OK;
    TRY(cairn_recording_read(run, &rows, 1, &data, &bytes, error));
    return copy_column(run, "steps/cell", (int64_t) * (const double *)data - 1, 1, &n->cell, error);
}

/* The length of the step, or substep, that led to the frame; older files do not have it. */
static cairn_status copy_length(cairn_recording *run, network *n, cairn_error *error)
{
    const cairn_recording_rows rows = { "frames/step", CAIRN_NUMBER_DOUBLE, n->frame.number, 1 };
    cairn_recording_column about;
    const void *data;
    size_t bytes;
    double *length = NULL;
    TRY(cairn_recording_read(run, &rows, 1, &data, &bytes, error));
    int64_t step = (int64_t) * (const double *)data;
    if (step < 1)
        return CAIRN_OK;
    if (cairn_recording_look(run, "steps/time_step", &about, error) != CAIRN_OK) {
        *error = (cairn_error){ 0 };
        return CAIRN_OK;
    }
    cairn_status status = copy_column(run, "steps/time_step", step - 1, 1, &length, error);
    n->h = status == CAIRN_OK ? *length : n->h;
    cairn_block_free(length);
    return status;
}

/* The frame whose rows n->frame names. */
static cairn_status read_network(cairn_recording *run, const cairn_view_table *wanted, network *n,
                                 cairn_error *error)
{
    int64_t range[2];
    n->h = wanted->time_step;
    n->dimension = wanted->dimension;
    TRY(find_rows(run, "frames/contact_offset", n->frame.number, range, error));
    n->first = range[0];
    n->count = range[1];
    TRY(copy_frame(run, wanted->dimension, &n->frame, error));
    TRY(copy_contacts(run, n, error));
    TRY(copy_cell(run, n, error));
    TRY(copy_length(run, n, error));
    return place_bodies(n);
}

/* Where the line of a contact ends: at the centre of a body, or of its image; at the point of
 * contact for walls and for bodies that are gone. */
static void end_of_line(const network *n, int64_t contact, int side, double out[3])
{
    int64_t body = (int64_t)n->pair[2 * contact + side];
    bool there = body >= 0 && body < n->frame.bodies && isfinite(n->place[3 * body]) &&
                 (n->frame.motion[body] == CAIRN_MOTION_DYNAMIC ||
                  n->frame.shape[body] == CAIRN_SHAPE_SPHERE);
    memcpy(out, there ? n->place + 3 * body : n->point + 3 * contact, 3 * sizeof *out);
    for (int axis = 0; there && side == 1 && n->cell && axis < 3; axis++)
        for (int k = 0; k < 3; k++)
            out[axis] += n->image[3 * contact + k] * n->cell[3 * k + axis];
}

/* The mass of the lighter of the dynamic bodies. */
static double mass_of(const network *n, int64_t contact)
{
    double least = HUGE_VAL;
    for (int side = 0; side < 2; side++) {
        int64_t body = (int64_t)n->pair[2 * contact + side];
        if (body >= 0 && body < n->frame.bodies && n->frame.motion[body] == CAIRN_MOTION_DYNAMIC &&
            n->frame.mass[body] < least)
            least = n->frame.mass[body];
    }
    return isfinite(least) ? least : 0;
}

/* The share of the friction limit that a tangential impulse takes: |(t_1/mu_1, t_2/mu_2)|/N. It is
 * 1 on the edge of the cone, NaN without friction. */
static double share_of(const network *n, int64_t contact, const double t[2])
{
    double mu = n->mu[contact], mu_2 = n->mu_2 ? n->mu_2[contact] : mu;
    double limit =
        n->impulse[contact * n->dimension] + (n->adhesion ? n->h * n->adhesion[contact] : 0);
    if (!(mu > 0))
        return NAN;
    return hypot(t[0] / mu, n->dimension == 3 ? t[1] / mu_2 : 0) / limit;
}

/* A contact slips if r_T - m u_T is outside of the cone, as in the natural map, whose solution has
 * r_T = projection of r_T - m u_T; without friction it always does. */
static void fill_friction(const network *n, int64_t contact, double *row)
{
    bool solid = n->dimension == 3;
    const double *r = n->impulse + contact * n->dimension;
    const double *u = n->velocity + contact * n->dimension;
    double m = mass_of(n, contact);
    const double t[2] = { r[1], solid ? r[2] : 0 };
    const double pushed[2] = { r[1] - m * u[1], solid ? r[2] - m * u[2] : 0 };
    row[TANGENTIAL_FORCE] = hypot(t[0], t[1]) / n->h;
    row[SLIDING_SPEED] = solid ? hypot(u[1], u[2]) : fabs(u[1]);
    row[MOBILISED] = share_of(n, contact, t);
    row[SLIPS] = share_of(n, contact, pushed) < 1 ? 0 : 1;
}

/* Force on a (N), in the world frame: (r_N n + r_1 t + r_2 n x t)/h. */
static void fill_contact(const network *n, int64_t contact, double *row)
{
    const double *r = n->impulse + contact * n->dimension;
    const double *normal = n->normal + 3 * contact, *t = n->tangent + 3 * contact;
    for (int side = 0; side < 2; side++) {
        int64_t body = (int64_t)n->pair[2 * contact + side];
        row[BODIES + side] = body >= 0 && body < n->frame.bodies ? n->frame.uid[body] : -1;
    }
    memcpy(row + POINT, n->point + 3 * contact, 3 * sizeof *row);
    memcpy(row + NORMAL, normal, 3 * sizeof *row);
    row[GAP] = n->gap[contact];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double second = normal[j] * t[k] - normal[k] * t[j];
        double both = r[0] * normal[i] + r[1] * t[i] + (n->dimension == 3 ? r[2] * second : 0);
        row[FORCE + i] = both / n->h;
    }
    row[NORMAL_FORCE] = r[0] / n->h;
    fill_friction(n, contact, row);
    end_of_line(n, contact, 0, row + FROM);
    end_of_line(n, contact, 1, row + TO);
    if (n->image)
        memcpy(row + IMAGE, n->image + 3 * contact, 3 * sizeof *row);
}

static bool pushes(const network *n, int64_t contact)
{
    const double *r = n->impulse + contact * n->dimension;
    return r[0] != 0 || r[1] != 0 || (n->dimension == 3 && r[2] != 0);
}

/* Room for `more` rows. */
static cairn_status make_room(cairn_table *t, int64_t more)
{
    size_t rows = (size_t)(t->row_count + more), width = (size_t)t->column_count;
    if (rows <= t->capacity && t->values)
        return CAIRN_OK;
    double *values = cairn_block_take(2 * rows * width + 1, sizeof *values);
    if (!values)
        return CAIRN_NO_MEMORY;
    if (t->row_count > 0)
        memcpy(values, t->values, (size_t)t->row_count * width * sizeof *values);
    cairn_block_free(t->values);
    t->values = values;
    t->capacity = 2 * rows;
    return CAIRN_OK;
}

/* Append the contacts of a frame; a table of all frames begins with the time. */
static cairn_status add_network(const network *n, const cairn_view_table *wanted, cairn_table *t)
{
    int first = wanted->all ? 1 : 0;
    if (t->column_count == 0) {
        t->column_count = first + (n->image ? NETWORK : IMAGE);
        t->columns[0] = "time";
        memcpy(t->columns + first, network_names, sizeof network_names);
    }
    TRY(make_room(t, n->count));
    for (int64_t i = 0; i < n->count; i++) {
        double *row = t->values + t->row_count * t->column_count;
        if (!pushes(n, i))
            continue;
        row[0] = n->time;
        fill_contact(n, i, row + first);
        t->row_count++;
    }
    return CAIRN_OK;
}

static void free_network(network *n)
{
    double *const blocks[] = { n->place,   n->cell,     n->pair,    n->point, n->normal,
                               n->tangent, n->gap,      n->impulse, n->mu,    n->image,
                               n->mu_2,    n->velocity, n->adhesion };
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
        cairn_block_free(blocks[k]);
    free_frame(&n->frame);
}

static cairn_status add_frame(cairn_recording *run, const cairn_view_table *wanted, int64_t number,
                              cairn_table *t, cairn_error *error)
{
    network n = { .frame = { .number = number } };
    int64_t range[2];
    const cairn_recording_rows rows = { "frames/time", CAIRN_NUMBER_DOUBLE, number, 1 };
    const void *data;
    size_t bytes;
    TRY(cairn_recording_read(run, &rows, 1, &data, &bytes, error));
    n.time = *(const double *)data;
    TRY(find_rows(run, "frames/body_offset", number, range, error));
    n.frame.first = range[0];
    n.frame.count = range[1];
    cairn_status status = read_network(run, wanted, &n, error);
    if (status == CAIRN_OK)
        status = add_network(&n, wanted, t);
    free_network(&n);
    return status;
}

/* From the first to the last frame that is wanted. */
static cairn_status find_frames(cairn_recording *run, const cairn_view_table *wanted,
                                int64_t range[2], cairn_error *error)
{
    cairn_recording_column about;
    frame_data one = { 0 };
    if (cairn_recording_look(run, "frames/contact_offset", &about, error) != CAIRN_OK) {
        *error = (cairn_error){ 0 };
        snprintf(error->key, sizeof error->key, "--contacts");
        snprintf(error->message, sizeof error->message,
                 "the run has no contacts; run the scene with run.contacts: true");
        return CAIRN_UNSUPPORTED;
    }
    range[0] = 0;
    range[1] = about.rows - 1;
    if (wanted->all)
        return CAIRN_OK;
    TRY(find_frame(run, wanted, &one, error));
    range[0] = one.number;
    range[1] = one.number + 1;
    return CAIRN_OK;
}

cairn_status cairn_view_export_contacts(cairn_recording *run, const cairn_view_table *wanted,
                                        int64_t *rows, int64_t *frames, cairn_error *error)
{
    cairn_table table = { .column_count = 0 };
    int64_t range[2] = { 0, 0 };
    cairn_status status = find_frames(run, wanted, range, error);
    for (int64_t k = range[0]; k < range[1] && status == CAIRN_OK; k++)
        status = add_frame(run, wanted, k, &table, error);
    if (status == CAIRN_OK)
        status = put_table(wanted->path, &table, error);
    *rows = table.row_count;
    *frames = range[1] - range[0];
    cairn_block_free(table.values);
    return status;
}

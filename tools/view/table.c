/* table.c - the frames of a run as a CSV table, and the bodies of one frame as a table of any
 * format. */
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

static void write_rows(FILE *out, double time, const double *data, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const double *from = data;
        fprintf(out, "%.17g", time);
        for (int p = 0; p < PARTS; p++) {
            for (int c = 0; c < parts[p].width; c++)
                fprintf(out, p == 0 ? ",%.0f" : ",%.17g", from[i * parts[p].width + c]);
            from += count * parts[p].width;
        }
        fputc('\n', out);
    }
}

static cairn_status write_frame(cairn_recording *run, double time, const double *offset, FILE *out,
                                cairn_error *error)
{
    for (int64_t first = (int64_t)offset[0]; first < (int64_t)offset[1]; first += ROWS_AT_ONCE) {
        int64_t left = (int64_t)offset[1] - first,
                count = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        cairn_recording_rows rows[PARTS];
        const void *data;
        size_t bytes;
        for (int p = 0; p < PARTS; p++)
            rows[p] = (cairn_recording_rows){ parts[p].column, CAIRN_NUMBER_DOUBLE, first, count };
        TRY(cairn_recording_read(run, rows, PARTS, &data, &bytes, error));
        write_rows(out, time, data, count);
    }
    return CAIRN_OK;
}

static cairn_status write_frames(cairn_recording *run, FILE *out, int64_t *written,
                                 cairn_error *error)
{
    cairn_recording_column about;
    fputs("time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n", out);
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
        TRY(write_frame(run, frame[0], frame + 1, out, error));
        *written += (int64_t)(frame[2] - frame[1]);
    }
    return CAIRN_OK;
}

cairn_status cairn_view_export_csv(cairn_recording *run, const char *path, int64_t *rows,
                                   cairn_error *error)
{
    cairn_output *file;
    *rows = 0;
    TRY(cairn_output_create(path, &file, error));
    cairn_status status = write_frames(run, cairn_output_stream(file), rows, error);
    cairn_status ended = cairn_output_commit(file, error);
    if (status != CAIRN_OK)
        unlink(path);
    return status != CAIRN_OK ? status : ended;
}

/* ---- one frame as a table -------------------------------------------------------------------- */

static char *const names[] = { "id", "type", "x",  "y",  "z",  "radius", "mass", "vx", "vy",
                               "vz", "wx",   "wy", "wz", "qw", "qx",     "qy",   "qz", "angle" };

enum { ID, TYPE, PLACE, RADIUS = 5, MASS, SPEED, SPIN = 10, TURN = 13, ANGLE = 17, NAMES };

/* Numbers of a run that are copied, since each call of cairn_recording_read ends the last ones. */
typedef struct frame_data {
    int64_t first, count, bodies; /* rows of the frame; rows of /bodies */
    double *index, *x, *q, *v, *omega, *angle;
    double *uid, *shape, *motion, *material, *radius, *mass; /* by row of /bodies */
} frame_data;

static cairn_status copy_column(cairn_recording *run, const char *column, int64_t first,
                                int64_t count, double **out, cairn_error *error)
{
    const cairn_recording_rows rows = { column, CAIRN_NUMBER_DOUBLE, first, count };
    const void *data;
    size_t bytes;
    TRY(cairn_recording_read(run, &rows, 1, &data, &bytes, error));
    *out = cairn_block_take(bytes / sizeof **out + 1, sizeof **out);
    if (!*out)
        return CAIRN_NO_MEMORY;
    memcpy(*out, data, bytes);
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

/* The rows of the frame at the wanted time. */
static cairn_status find_frame(cairn_recording *run, const cairn_view_table *wanted, frame_data *f,
                               cairn_error *error)
{
    cairn_recording_column about;
    double *time = NULL, *offset = NULL;
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
                              : copy_column(run, "frames/body_offset", k, 2, &offset, error);
    if (status == CAIRN_OK) {
        f->first = (int64_t)offset[0];
        f->count = (int64_t)(offset[1] - offset[0]);
    }
    cairn_block_free(time);
    cairn_block_free(offset);
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
    *error = (cairn_error){ 0 }; /* errors from here on are not about the run */
    cairn_status status = cairn_table_write(wanted->path, &table, error);
    if (!error->file[0])
        snprintf(error->file, sizeof error->file, "%s", wanted->path);
    cairn_block_free(table.values);
    return status;
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
    double *const blocks[] = { f.index, f.x,     f.q,      f.v,        f.omega,  f.angle,
                               f.uid,   f.shape, f.motion, f.material, f.radius, f.mass };
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
        cairn_block_free(blocks[k]);
    return status;
}

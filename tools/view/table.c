/* table.c - see table.h. */
#include "table.h"

#include <unistd.h>

#include "reproduce/memory.h"

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

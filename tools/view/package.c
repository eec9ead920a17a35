/* package.c - a run inside one page; see view.h. Columns are read a few rows at a time, in several
 * passes, so the memory needed does not grow with the run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "studies/study.h"
#include "view.h"

/* ---- base64 of a gzip stream ----------------------------------------------------------------- */

/* Bytes go in by base64_put, letters come out. */
typedef struct base64 {
    FILE *out;
    z_stream stream;
    unsigned char rest[3]; /* compressed bytes waiting for a third one */
    int waiting;
} base64;

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Three bytes as four letters; with fewer bytes the last letters are '='. */
static void write_three(FILE *out, const unsigned char *b, int count)
{
    unsigned v = (unsigned)b[0] << 16 | (count > 1 ? (unsigned)b[1] << 8 : 0) |
                 (count > 2 ? (unsigned)b[2] : 0);
    char text[4] = { alphabet[v >> 18], alphabet[v >> 12 & 63], '=', '=' };
    if (count > 1)
        text[2] = alphabet[v >> 6 & 63];
    if (count > 2)
        text[3] = alphabet[v & 63];
    fwrite(text, 1, 4, out);
}

static void write_letters(base64 *b, const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        b->rest[b->waiting++] = data[i];
        if (b->waiting == 3) {
            write_three(b->out, b->rest, 3);
            b->waiting = 0;
        }
    }
}

static bool base64_begin(base64 *b, FILE *out)
{
    enum { GZIP = 15 + 16 }; /* the largest window, and gzip's frame */
    *b = (base64){ .out = out };
    return deflateInit2(&b->stream, 9, Z_DEFLATED, GZIP, 9, Z_DEFAULT_STRATEGY) == Z_OK;
}

/* Compress the input until nothing more comes out. */
static bool push(base64 *b, int flush)
{
    unsigned char packed[1 << 15];
    int result;
    do {
        b->stream.next_out = packed;
        b->stream.avail_out = sizeof packed;
        result = deflate(&b->stream, flush);
        write_letters(b, packed, sizeof packed - b->stream.avail_out);
    } while (b->stream.avail_out == 0 && result != Z_STREAM_ERROR);
    return result != Z_STREAM_ERROR;
}

static bool base64_put(base64 *b, const void *data, size_t bytes)
{
    b->stream.next_in = (void *)data;
    b->stream.avail_in = (uInt)bytes;
    return push(b, Z_NO_FLUSH);
}

/* Finish the stream and free it. */
static bool base64_end(base64 *b)
{
    b->stream.next_in = NULL;
    b->stream.avail_in = 0;
    bool good = push(b, Z_FINISH);
    deflateEnd(&b->stream);
    if (b->waiting > 0)
        write_three(b->out, b->rest, b->waiting);
    return good;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* How a column is stored. */
typedef enum kind { F4, F8, I4, U2 } kind;

typedef struct entry {
    const char *column;
    kind kind;
} entry;

/* The columns that the viewer reads. Columns missing in a run are skipped. */
static const entry entries[] = {
    { "bodies/shape", I4 },
    { "bodies/motion", I4 },
    { "bodies/material", I4 },
    { "bodies/geometry", I4 },
    { "bodies/radius", F4 },
    { "bodies/mass", F4 },
    { "bodies/volume", F4 },
    { "bodies/inertia", F4 },
    { "bodies/shape_x", F4 },
    { "bodies/shape_q", F4 },
    { "bodies/half_angle", F4 },
    { "bodies/bottom_radius", F4 },
    { "bodies/top_radius", F4 },
    { "bodies/height", F4 },
    { "bodies/length", F4 },
    { "bodies/rounding", F4 },
    { "bodies/axis", F4 },
    { "bodies/exponents", F4 },
    { "bodies/size", F4 },
    { "bodies/semi_axes", F4 },
    { "names/body", I4 },
    { "geometry/vertex_offset", I4 },
    { "geometry/face_offset", I4 },
    { "geometry/part_offset", I4 },
    { "geometry/corner_offset", I4 },
    { "geometry/corners", I4 },
    { "geometry/vertices", F4 },
    { "geometry/parts/shape", I4 },
    { "geometry/parts/geometry", I4 },
    { "geometry/parts/x", F4 },
    { "geometry/parts/q", F4 },
    { "geometry/parts/radius", F4 },
    { "geometry/parts/height", F4 },
    { "geometry/parts/length", F4 },
    { "geometry/parts/rounding", F4 },
    { "geometry/parts/exponents", F4 },
    { "geometry/parts/size", F4 },
    { "geometry/parts/semi_axes", F4 },
    { "geometry/parts/axis", F4 },
    { "joints/kind", I4 },
    { "joints/body", I4 },
    { "frames/time", F8 },
    { "frames/step", F8 },
    { "frames/body_offset", I4 },
    { "frames/contact_offset", I4 },
    { "frames/joint_offset", I4 },
    { "frames/bodies/index", I4 },
    { "frames/bodies/x", U2 },
    { "frames/bodies/q", U2 },
    { "frames/bodies/v", U2 },
    { "frames/bodies/omega", U2 },
    { "frames/contacts/body", I4 },
    { "frames/contacts/point", U2 },
    { "frames/contacts/normal", U2 },
    { "frames/contacts/tangent", U2 },
    { "frames/contacts/impulse", U2 },
    { "frames/contacts/velocity", U2 },
    { "frames/contacts/mu", U2 },
    { "frames/contacts/gap", U2 },
    { "frames/contacts/image", I4 },
    { "frames/joints/index", I4 },
    { "frames/joints/broken", I4 },
    { "frames/joints/point", U2 },
    { "frames/joints/force", U2 },
    { "steps/time", F8 },
    { "steps/kinetic", F4 },
    { "steps/potential", F4 },
    { "steps/elastic", F4 },
    { "steps/friction_loss", F4 },
    { "steps/impact_loss", F4 },
    { "steps/damping_loss", F4 },
    { "steps/numerical_loss", F4 },
    { "steps/asked_relative", F4 },
    { "steps/penetration", F4 },
    { "steps/candidates", I4 },
    { "steps/active", I4 },
    { "steps/cell", F8 },
    { "statistics/fields/time", F8 },
    { "statistics/fields/x", F4 },
    { "statistics/fields/y", F4 },
    { "statistics/fields/z", F4 },
    { "statistics/fields/density", F4 },
    { "statistics/fields/solid", U2 },
    { "statistics/fields/velocity_x", U2 },
    { "statistics/fields/velocity_y", U2 },
    { "statistics/fields/velocity_z", U2 },
    { "statistics/fields/stress_xx", U2 },
    { "statistics/fields/stress_yy", U2 },
    { "statistics/fields/stress_zz", U2 },
    { "statistics/fields/contacts", U2 },
    { "statistics/cell/time", F8 },
    { "statistics/cell/stress_x", F4 },
    { "statistics/cell/stress_y", F4 },
    { "statistics/cell/stress_z", F4 },
};

enum { ENTRIES = sizeof entries / sizeof entries[0], WIDEST = 9, ROWS_AT_ONCE = 1 << 17 };

/* Columns of series, which have names of their own: at most 64 series of 8 columns. */
enum { MOST_NAMED = 512, NAME_BYTES = 80 };

static const struct {
    const char *name;
    int bytes;
    cairn_number_type type; /* as it is read */
} kinds[] = {
    [F4] = { "f4", 4, CAIRN_NUMBER_FLOAT },
    [F8] = { "f8", 8, CAIRN_NUMBER_DOUBLE },
    [I4] = { "i4", 4, CAIRN_NUMBER_INT },
    [U2] = { "u2", 2, CAIRN_NUMBER_DOUBLE },
};

/* A column that the run has. */
typedef struct stored {
    const entry *entry;
    int64_t rows;
    int width;
    int64_t offset; /* bytes */
    double low[WIDEST], high[WIDEST];
} stored;

typedef struct package {
    cairn_recording *run;
    const char *name;
    stored columns[ENTRIES + MOST_NAMED];
    int count;
    char names[MOST_NAMED][NAME_BYTES];
    entry named[MOST_NAMED];
    int named_count;
    base64 letters;
    FILE *out;
    unsigned char *piece; /* ROWS_AT_ONCE * WIDEST bytes */
    cairn_error *error;
} package;

static cairn_status fail(package *p, cairn_status status, const char *text)
{
    snprintf(p->error->message, sizeof p->error->message, "%s", text);
    return status;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* Rows of a column from `first` on; `count` receives how many numbers. */
static cairn_status read_piece(package *p, const stored *s, int64_t first, const void **data,
                               size_t *count)
{
    int64_t left = s->rows - first, rows = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
    const cairn_recording_rows wish = { s->entry->column, kinds[s->entry->kind].type, first, rows };
    size_t bytes;
    *count = (size_t)rows * (size_t)s->width;
    return cairn_recording_read(p->run, &wish, 1, data, &bytes, p->error);
}

static void widen(stored *s, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int c = (int)(i % (size_t)s->width);
        if (isfinite(values[i])) {
            s->low[c] = fmin(s->low[c], values[i]);
            s->high[c] = fmax(s->high[c], values[i]);
        }
    }
}

/* The minimum and the maximum of each component. */
static cairn_status find_range(package *p, stored *s)
{
    for (int c = 0; c < WIDEST; c++) {
        s->low[c] = HUGE_VAL;
        s->high[c] = -HUGE_VAL;
    }
    for (int64_t first = 0; first < s->rows; first += ROWS_AT_ONCE) {
        const void *data;
        size_t count;
        TRY(read_piece(p, s, first, &data, &count));
        widen(s, data, count);
    }
    for (int c = 0; c < WIDEST; c++)
        if (!(s->low[c] <= s->high[c]))
            s->low[c] = s->high[c] = 0;
    return CAIRN_OK;
}

static int64_t padded(int64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static int64_t bytes_of(const stored *s)
{
    return s->rows * s->width * kinds[s->entry->kind].bytes;
}

/* The columns /series/NAME/... in the description of the run, in JSON: a name that begins with
 * "series/ and ends at the next quote. */
static cairn_status find_series(package *p)
{
    static const char begin[] = "\"series/";
    char line[4096];
    FILE *text = tmpfile();
    if (!text)
        return fail(p, CAIRN_IO_FAILED, "cannot make a temporary file");
    cairn_status status = cairn_recording_describe(p->run, text, p->error);
    rewind(text);
    while (status == CAIRN_OK && fgets(line, sizeof line, text))
        for (char *at = strstr(line, begin); at && p->named_count < MOST_NAMED;
             at = strstr(at + 1, begin)) {
            size_t length = strcspn(at + 1, "\"\n");
            char *name = p->names[p->named_count];
            if (length >= NAME_BYTES || at[1 + length] != '"')
                continue;
            snprintf(name, NAME_BYTES, "%.*s", (int)length, at + 1);
            bool time = strcmp(strrchr(name, '/'), "/time") == 0;
            p->named[p->named_count++] = (entry){ name, time ? F8 : F4 };
        }
    fclose(text);
    return status;
}

static cairn_status add_column(package *p, const entry *e, int64_t *offset)
{
    cairn_recording_column about;
    stored *s = &p->columns[p->count];
    cairn_status status = cairn_recording_look(p->run, e->column, &about, p->error);
    if (status == CAIRN_NOT_FOUND || (status == CAIRN_OK && about.width > WIDEST))
        return CAIRN_OK;
    TRY(status);
    *s = (stored){ e, about.rows, about.width, *offset };
    if (e->kind == U2)
        TRY(find_range(p, s));
    *offset += padded(bytes_of(s));
    p->count++;
    return CAIRN_OK;
}

static cairn_status find_columns(package *p)
{
    int64_t offset = 0;
    for (int i = 0; i < ENTRIES; i++)
        TRY(add_column(p, &entries[i], &offset));
    TRY(find_series(p));
    for (int i = 0; i < p->named_count; i++)
        TRY(add_column(p, &p->named[i], &offset));
    const int64_t most = (int64_t)1 << 30;
    if (offset > most)
        return fail(p, CAIRN_UNSUPPORTED,
                    "more than 1 GiB of frames, too much for one page; run again with a larger "
                    "run.frame_interval, or with run.contacts=false");
    return CAIRN_OK;
}

/* ---- the text in front ---------------------------------------------------------------------- */

static void write_list(FILE *out, const char *key, const double *values, int count)
{
    fprintf(out, ", \"%s\": [", key);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%.17g", i ? ", " : "", values[i]);
    fputc(']', out);
}

static void write_stored(const package *p, FILE *out)
{
    for (int i = 0; i < p->count; i++) {
        const stored *s = &p->columns[i];
        fprintf(out, "%s\"%s\": {\"offset\": %lld, \"kind\": \"%s\"", i ? ",\n" : "",
                s->entry->column, (long long)s->offset, kinds[s->entry->kind].name);
        if (s->entry->kind == U2) {
            write_list(out, "low", s->low, s->width);
            write_list(out, "high", s->high, s->width);
        }
        fputc('}', out);
    }
}

/* Everything goes into a temporary file: the description first, which rewinds its file; put_head
 * writes the opening of the text before it. */
static cairn_status write_head(package *p, FILE *out)
{
    TRY(cairn_recording_describe(p->run, out, p->error));
    fseek(out, 0, SEEK_END);
    fprintf(out, ",\n\"name\": \"");
    for (const char *c = p->name; *c; c++)
        fputc((unsigned char)*c >= 0x20 && *c != '"' && *c != '\\' ? *c : '_', out);
    fprintf(out, "\",\n\"stored\": {\n");
    write_stored(p, out);
    fprintf(out, "}}");
    return CAIRN_OK;
}

static cairn_status put(package *p, const void *data, size_t bytes)
{
    return base64_put(&p->letters, data, bytes) ? CAIRN_OK
                                                : fail(p, CAIRN_IO_FAILED, "cannot pack");
}

static cairn_status put_zeros(package *p, int64_t bytes)
{
    static const char zeros[8] = { 0 };
    return put(p, zeros, (size_t)(padded(bytes) - bytes));
}

/* The length of the text, and the text: {"description": ... */
static cairn_status put_head(package *p, FILE *text)
{
    static const char opening[] = "{\"description\": ";
    char piece[4096];
    long length = ftell(text) + (long)sizeof opening - 1;
    const uint32_t words[2] = { (uint32_t)length, 0 };
    size_t count;
    TRY(put(p, words, sizeof words));
    TRY(put(p, opening, sizeof opening - 1));
    rewind(text);
    while ((count = fread(piece, 1, sizeof piece, text)) > 0)
        TRY(put(p, piece, count));
    return put_zeros(p, length);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Byte `which` (0: low) of each number in 16 bits. */
static cairn_status put_bytes(package *p, const stored *s, int which)
{
    for (int64_t first = 0; first < s->rows; first += ROWS_AT_ONCE) {
        const void *data;
        size_t count;
        TRY(read_piece(p, s, first, &data, &count));
        const double *values = data;
        for (size_t i = 0; i < count; i++) {
            int c = (int)(i % (size_t)s->width);
            double span = s->high[c] - s->low[c];
            double share = span > 0 && isfinite(values[i]) ? (values[i] - s->low[c]) / span : 0;
            p->piece[i] = (unsigned char)((unsigned)lround(65535 * share) >> (8 * which) & 255);
        }
        TRY(put(p, p->piece, count));
    }
    return CAIRN_OK;
}

static cairn_status put_plain(package *p, const stored *s)
{
    for (int64_t first = 0; first < s->rows; first += ROWS_AT_ONCE) {
        const void *data;
        size_t count;
        TRY(read_piece(p, s, first, &data, &count));
        TRY(put(p, data, count * (size_t)kinds[s->entry->kind].bytes));
    }
    return CAIRN_OK;
}

static cairn_status put_columns(package *p)
{
    for (int i = 0; i < p->count; i++) {
        const stored *s = &p->columns[i];
        if (s->entry->kind == U2) {
            TRY(put_bytes(p, s, 0));
            TRY(put_bytes(p, s, 1));
        } else
            TRY(put_plain(p, s));
        TRY(put_zeros(p, bytes_of(s)));
    }
    return CAIRN_OK;
}

/* ---- the page ------------------------------------------------------------------------------- */

static cairn_status put_run(package *p)
{
    FILE *text = tmpfile();
    if (!text)
        return fail(p, CAIRN_IO_FAILED, "cannot make a temporary file");
    cairn_status status = write_head(p, text);
    bool packing = status == CAIRN_OK && base64_begin(&p->letters, p->out);
    if (packing)
        status = put_head(p, text);
    if (packing && status == CAIRN_OK)
        status = put_columns(p);
    fclose(text);
    if (packing && !base64_end(&p->letters) && status == CAIRN_OK)
        status = fail(p, CAIRN_IO_FAILED, "cannot pack");
    return packing || status != CAIRN_OK ? status : CAIRN_NO_MEMORY;
}

/* The page of the viewer, unpacked; to be freed. */
static char *unpack_page(size_t *bytes)
{
    enum { GZIP = 15 + 16 };
    /* gzip ends with the length of what it holds */
    const unsigned char *end = cairn_view_page + cairn_view_page_bytes - 4;
    *bytes = (size_t)end[0] | (size_t)end[1] << 8 | (size_t)end[2] << 16 | (size_t)end[3] << 24;
    char *page = cairn_block_take(*bytes + 1, 1);
    z_stream stream = { .next_in = (void *)cairn_view_page,
                        .avail_in = (uInt)cairn_view_page_bytes };
    stream.next_out = (unsigned char *)page;
    stream.avail_out = (uInt)*bytes;
    bool good = page && inflateInit2(&stream, GZIP) == Z_OK;
    good = good && inflate(&stream, Z_FINISH) == Z_STREAM_END;
    inflateEnd(&stream);
    if (good)
        return page;
    cairn_block_free(page);
    return NULL;
}

static cairn_status write_page(package *p)
{
    static const char mark[] = "<script id=\"cairn-data\" type=\"text/plain\">";
    size_t bytes;
    char *page = unpack_page(&bytes);
    char *found = page ? strstr(page, mark) : NULL;
    cairn_status status = found ? CAIRN_OK : fail(p, CAIRN_IO_FAILED, "the page is broken");
    if (found) {
        size_t before = (size_t)(found - page) + sizeof mark - 1;
        fwrite(page, 1, before, p->out);
        status = put_run(p);
        fwrite(page + before, 1, bytes - before, p->out);
    }
    cairn_block_free(page);
    return status;
}

static cairn_status write_file(package *p, const char *path, int64_t *bytes)
{
    cairn_output *file;
    TRY(find_columns(p));
    TRY(cairn_output_create(path, &file, p->error));
    p->out = cairn_output_stream(file);
    cairn_status status = write_page(p);
    *bytes = ftell(p->out);
    cairn_status ended = cairn_output_commit(file, p->error);
    if (status != CAIRN_OK)
        unlink(path); /* an incomplete page is useless */
    return status != CAIRN_OK ? status : ended;
}

const char cairn_view_no_page[] =
    "this cairn was built without the page of the viewer: install nodejs and npm, then 'make "
    "build', or install the package with pip again";

cairn_status cairn_view_export_html(cairn_recording *run, const char *name, const char *path,
                                    int64_t *bytes, cairn_error *error)
{
    package *p = cairn_block_take(1, sizeof *p);
    if (!p)
        return CAIRN_NO_MEMORY;
    p->run = run;
    p->name = name;
    p->error = error;
    p->piece = cairn_block_take(ROWS_AT_ONCE, WIDEST);
    cairn_status status = CAIRN_NO_MEMORY;
    if (p->piece)
        status = cairn_view_page_bytes > 0
                     ? write_file(p, path, bytes)
                     : fail(p, CAIRN_IO_FAILED, cairn_view_no_page);
    cairn_block_free(p->piece);
    cairn_block_free(p);
    return status;
}

/* table_read.c - reads tables of numbers with named columns from texts: CSV, columns separated by
 * blanks, and the data and dump files of LAMMPS. The formats with a structure of their own (VTK,
 * HDF5) and the writers are in table_form.c.
 *
 * Files may come from anywhere: every size is checked before it is used. Errors name the line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "file/formats.h"

enum { NAME_BYTES = 64, MOST_COLUMNS = CAIRN_TABLE_COLUMNS };

/* ---- a table that grows --------------------------------------------------------------------- */

cairn_status cairn_table_add_column(cairn_table *t, const char *name, size_t length)
{
    if (t->column_count == MOST_COLUMNS)
        return CAIRN_UNSUPPORTED;
    char *copy = cairn_memory_zeroed(1, NAME_BYTES);
    if (!copy)
        return CAIRN_NO_MEMORY;
    memcpy(copy, name, length < NAME_BYTES ? length : NAME_BYTES - 1);
    t->columns[t->column_count++] = copy;
    return CAIRN_OK;
}

/* Which of two columns of one name is meant cannot be known. Columns without a name, as behind a
 * comma at the end of a line, cannot be meant. */
static cairn_status check_names(const cairn_table *t, cairn_error *error)
{
    for (int i = 1; i < t->column_count; i++)
        if (t->columns[i][0] && cairn_table_find(t, t->columns[i]) < i)
            return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                              "columns %d and %d are both called '%s', expected different names",
                              cairn_table_find(t, t->columns[i]) + 1, i + 1, t->columns[i]);
    return CAIRN_OK;
}

cairn_status cairn_table_reserve(cairn_table *t, int64_t rows)
{
    void *values = t->values, *lines = t->line;
    size_t width = (size_t)(t->column_count > 0 ? t->column_count : 1);
    size_t room = t->capacity, line_room = t->capacity;
    if (rows < 0 || rows > INT32_MAX)
        return CAIRN_NO_MEMORY;
    cairn_status status =
        cairn_memory_reserve(&values, &room, (size_t)rows, width * sizeof *t->values);
    t->values = values;
    TRY(status);
    status = cairn_memory_reserve(&lines, &line_room, (size_t)rows, sizeof *t->line);
    t->line = lines;
    TRY(status);
    t->capacity = room < line_room ? room : line_room;
    return CAIRN_OK;
}

void cairn_table_destroy(cairn_table *table)
{
    if (!table)
        return;
    for (int i = 0; i < table->column_count; i++)
        cairn_memory_free(table->columns[i]);
    cairn_memory_free(table->values);
    cairn_memory_free(table->line);
    cairn_memory_free(table->word);
    cairn_memory_free(table->words);
    cairn_memory_free(table);
}

const char *cairn_table_word(const cairn_table *table, int64_t row, int column)
{
    size_t place = (size_t)row * (size_t)table->column_count + (size_t)column;
    return place < table->word_count && table->word[place] > 0 ? table->words + table->word[place]
                                                               : NULL;
}

int cairn_table_find(const cairn_table *table, const char *name)
{
    for (int i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i], name) == 0)
            return i;
    return -1;
}

/* ---- lines and words ------------------------------------------------------------------------ */

/* A text that is read line by line. */
typedef struct lines {
    const char *at, *end; /* of the rest                              */
    const char *line;     /* the present one, `length` bytes          */
    size_t length;
    int number; /* of the present line, from 1                        */
    cairn_error *error;
} lines;

static bool is_filler(char c)
{
    return cairn_is_blank(c) && c != '\t';
}

static bool next_line(lines *l)
{
    if (l->at >= l->end)
        return false;
    const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
    l->line = l->at;
    l->length = (size_t)((stop ? stop : l->end) - l->at);
    l->at = stop ? stop + 1 : l->end;
    l->number++;
    /* a tab at an end may separate an empty word, unless there is nothing else */
    while (l->length > 0 && is_filler(l->line[l->length - 1]))
        l->length--;
    while (l->length > 0 && is_filler(*l->line)) {
        l->line++;
        l->length--;
    }
    if (strspn(l->line, "\t ") >= l->length)
        l->length = 0;
    return true;
}

static cairn_status fail_line(const lines *l, const char *message)
{
    if (l->error)
        l->error->line = l->number;
    return cairn_fail(l->error, CAIRN_BAD_INPUT, NULL, "%s", message);
}

/* A word of a line. */
typedef struct word {
    const char *text;
    size_t length;
} word;

/* The next word of a line after `*at`; separator 0: words are separated by blanks. Quotes around a
 * word are left out. False: there is none. */
static bool next_word(const lines *l, size_t *at, char separator, word *out)
{
    size_t i = *at, begin, end;
    while (i < l->length && cairn_is_blank(l->line[i]) && l->line[i] != separator)
        i++;
    if (i > l->length || (i == l->length && (separator == 0 || *at > l->length || l->length == 0)))
        return false;
    begin = i;
    if (i < l->length && l->line[i] == '"') {
        begin = ++i;
        while (i < l->length && l->line[i] != '"')
            i++;
        end = i;
        i += i < l->length;
        while (i < l->length && (separator ? l->line[i] != separator : !cairn_is_blank(l->line[i])))
            i++;
    } else {
        while (i < l->length && (separator ? l->line[i] != separator : !cairn_is_blank(l->line[i])))
            i++;
        end = i;
        while (end > begin && cairn_is_blank(l->line[end - 1]))
            end--;
    }
    *out = (word){ l->line + begin, end - begin };
    *at = i + 1; /* behind the separator; l->length + 1 when the line ends without one */
    return true;
}

/* The number that a word is; NaN if it is none. */
static double number_of(word w)
{
    char text[NAME_BYTES];
    double value;
    if (w.length == 0 || w.length >= sizeof text)
        return NAN;
    memcpy(text, w.text, w.length);
    text[w.length] = '\0';
    size_t used = cairn_number_read(text + (text[0] == '+'), &value);
    return used > 0 && text[used + (text[0] == '+')] == '\0' ? value : NAN;
}

static bool is_word(word w, const char *text)
{
    return strlen(text) == w.length && strncmp(w.text, text, w.length) == 0;
}

static int count_words(const lines *l, char separator)
{
    size_t at = 0;
    word w;
    int count = 0;
    while (next_word(l, &at, separator, &w))
        count++;
    return count;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Names of columns from the words of a line, from the word number `skip` on. */
static cairn_status take_names(cairn_table *t, const lines *l, char separator, int skip)
{
    size_t at = 0;
    word w;
    for (int i = 0; next_word(l, &at, separator, &w); i++) {
        if (i < skip)
            continue;
        cairn_status status = cairn_table_add_column(t, w.text, w.length);
        if (status == CAIRN_UNSUPPORTED)
            return fail_line(l, "more columns than 256");
        TRY(status);
    }
    return CAIRN_OK;
}

/* Columns without names are called by their numbers. */
static cairn_status number_columns(cairn_table *t, const lines *l, int count)
{
    if (count > MOST_COLUMNS)
        return fail_line(l, "more columns than 256");
    for (int i = 1; i <= count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        TRY(cairn_table_add_column(t, name, strlen(name)));
    }
    return CAIRN_OK;
}

/* Keep a word of the last row that is no number. Tables of numbers have no memory for words. Byte 0
 * of the words is not used: an offset of 0 is no word. */
static cairn_status keep_word(cairn_table *t, int column, word w)
{
    size_t place = (size_t)t->row_count * (size_t)t->column_count + (size_t)column;
    void *places = t->word, *letters = t->words;
    cairn_status status = cairn_memory_reserve(&places, &t->word_room, place + 1, sizeof *t->word);
    t->word = places;
    TRY(status);
    t->letter_count += t->letter_count == 0;
    status = cairn_memory_reserve(&letters, &t->letter_room, t->letter_count + w.length + 1, 1);
    t->words = letters;
    TRY(status);
    memcpy(t->words + t->letter_count, w.text, w.length);
    t->words[t->letter_count + w.length] = '\0';
    t->word[place] = (int64_t)t->letter_count;
    t->letter_count += w.length + 1;
    t->word_count = place + 1;
    return CAIRN_OK;
}

/* A row of numbers; words that are none become NaN, which is an error only if somebody needs
 * them. Lines may be longer only where `rest` is set. */
static cairn_status take_row(cairn_table *t, const lines *l, char separator, bool rest)
{
    size_t at = 0;
    word w;
    int i = 0;
    TRY(cairn_table_reserve(t, t->row_count + 1));
    double *row = t->values + (size_t)t->row_count * (size_t)t->column_count;
    for (; next_word(l, &at, separator, &w); i++) {
        if (i >= t->column_count)
            continue;
        row[i] = number_of(w);
        if (t->keeps_words && isnan(row[i]) && w.length > 0)
            TRY(keep_word(t, i, w));
    }
    if (i < t->column_count || (i > t->column_count && !rest)) {
        char message[100];
        snprintf(message, sizeof message, "found %d columns, expected %d", i, t->column_count);
        return fail_line(l, message);
    }
    t->line[t->row_count++] = l->number;
    return CAIRN_OK;
}

/* ---- CSV and plain text --------------------------------------------------------------------- */

/* The separator of a line: the first of these that it has, else blanks. */
static char separator_of(const lines *l)
{
    static const char known[] = ",;\t";
    for (const char *c = known; *c; c++)
        if (memchr(l->line, *c, l->length))
            return *c;
    return 0;
}

static bool is_head(const lines *l, char separator)
{
    size_t at = 0;
    word w;
    while (next_word(l, &at, separator, &w))
        if (w.length > 0 && !isnan(number_of(w)))
            return false;
    return true;
}

/* The first line that is no comment tells the separator. Its words are the names, unless some of
 * them are numbers; then a comment before it with as many words has them. */
static cairn_status take_head(cairn_table *t, lines *l, const lines *comment, char *separator)
{
    *separator = separator_of(l);
    if (is_head(l, *separator))
        return take_names(t, l, *separator, 0);
    int count = count_words(l, *separator);
    if (comment->length > 0 && count_words(comment, separator_of(comment)) == count)
        TRY(take_names(t, comment, separator_of(comment), 0));
    else
        TRY(number_columns(t, l, count));
    return take_row(t, l, *separator, false);
}

static cairn_status read_text(lines *l, const cairn_table_options *options, cairn_table *t)
{
    lines comment = { 0 };
    char separator = 0;
    (void)options;
    t->keeps_words = true;
    while (next_line(l)) {
        if (l->length == 0)
            continue;
        if (l->line[0] == '#' || l->line[0] == '%') {
            comment = *l;
            comment.line++;
            comment.length--;
            continue;
        }
        if (t->column_count == 0)
            TRY(take_head(t, l, &comment, &separator));
        else
            TRY(take_row(t, l, separator, false));
    }
    return CAIRN_OK;
}

/* ---- LAMMPS dump ---------------------------------------------------------------------------- */

/* A line that begins with these words. */
static bool begins(const lines *l, const char *text)
{
    return l->length >= strlen(text) && strncmp(l->line, text, strlen(text)) == 0;
}

/* Forget the columns and rows of an earlier snapshot. */
static void clear(cairn_table *t)
{
    for (int i = 0; i < t->column_count; i++)
        cairn_memory_free(t->columns[i]);
    cairn_memory_free(t->values);
    cairn_memory_free(t->line);
    *t = (cairn_table){ 0 };
}

/* The atoms of one snapshot, up to the next item. */
static cairn_status read_snapshot(lines *l, double expected, cairn_table *t)
{
    int64_t rows = 0;
    clear(t);
    TRY(take_names(t, l, 0, 2)); /* ITEM: ATOMS id type x ... */
    if (t->column_count == 0)
        return fail_line(l, "found no columns, expected ITEM: ATOMS id type x y z ...");
    for (lines ahead = *l; next_line(&ahead) && !begins(&ahead, "ITEM:"); *l = ahead) {
        if (ahead.length == 0)
            continue;
        TRY(take_row(t, &ahead, 0, false));
        rows++;
    }
    if ((double)rows != expected) {
        char message[120];
        snprintf(message, sizeof message,
                 "found %lld atoms, expected %.17g, as ITEM: NUMBER OF "
                 "ATOMS says",
                 (long long)rows, expected);
        return fail_line(l, message);
    }
    return CAIRN_OK;
}

/* A file that was cut short is not read up to there as if it were whole: the last snapshot would be
 * another one, or its last number another number. */
static cairn_status refuse_cut(const lines *l, int64_t snapshots)
{
    char message[160];
    snprintf(message, sizeof message,
             "the file is cut short, expected a whole snapshot; before it are %lld, which 'frame' "
             "counts from 0",
             (long long)snapshots);
    return fail_line(l, message);
}

/* Snapshot options->frame, counted from 0; -1: the last one. LAMMPS ends every line. */
static cairn_status read_dump(lines *l, const cairn_table_options *options, cairn_table *t)
{
    double count = NAN;
    int64_t snapshot = 0;
    bool begun = false, torn = false; /* lines behind the last snapshot; its last line has no end */
    while (next_line(l)) {
        if (begins(l, "ITEM: NUMBER OF ATOMS") && next_line(l))
            count = number_of((word){ l->line, l->length });
        begun = begun || l->length > 0;
        if (!begins(l, "ITEM: ATOMS"))
            continue;
        TRY(read_snapshot(l, count, t));
        begun = false;
        torn = l->at == l->end && l->end[-1] != '\n';
        if (!torn && snapshot++ == options->frame)
            return CAIRN_OK;
    }
    if (torn || (begun && snapshot > 0))
        return refuse_cut(l, snapshot);
    if (snapshot == 0)
        return fail_line(l, "found no ITEM: ATOMS, expected a dump file of LAMMPS");
    if (options->frame >= 0)
        return cairn_fail(l->error, CAIRN_BAD_INPUT, NULL,
                          "the file has %lld snapshots, expected one with number %lld",
                          (long long)snapshot, (long long)options->frame);
    return CAIRN_OK;
}

/* ---- LAMMPS data ---------------------------------------------------------------------------- */

/* Columns of the section Atoms, by the atom style that stands behind it. */
static const struct {
    const char *style, *columns;
    int count; /* of columns; image flags may follow */
} styles[] = {
    { "sphere", "id type diameter density x y z", 7 },
    { "atomic", "id type x y z", 5 },
    { "charge", "id type q x y z", 6 },
    { "bond", "id molecule type x y z", 6 },
    { "molecular", "id molecule type x y z", 6 },
    { "full", "id molecule type q x y z", 7 },
    { "ellipsoid", "id type ellipsoid density x y z", 7 },
};

enum { STYLES = sizeof styles / sizeof styles[0] };

/* The words of a line before a comment. */
static int count_before_comment(const lines *l)
{
    lines part = *l;
    const char *comment = memchr(l->line, '#', l->length);
    part.length = comment ? (size_t)(comment - l->line) : l->length;
    return count_words(&part, 0);
}

/* The style behind "Atoms # sphere"; -1: it is missing or unknown. Only style atomic has 5 columns;
 * 7 columns may be those of sphere, full, ellipsoid, peri and others. */
static int style_of(const lines *head, const lines *first)
{
    const char *comment = memchr(head->line, '#', head->length);
    lines rest = { 0 };
    size_t at = 0;
    word w;
    int found = -1;
    if (comment)
        rest = (lines){ .line = comment + 1,
                        .length = head->length - (size_t)(comment + 1 - head->line) };
    if (!next_word(&rest, &at, 0, &w))
        return count_before_comment(first) == 5 ? 1 : -1;
    for (int k = 0; k < STYLES; k++)
        found = is_word(w, styles[k].style) ? k : found;
    return found;
}

/* Whether a line begins a section: a word in capitals that is no number of the head. */
static bool is_section(const lines *l)
{
    return l->length > 0 && l->line[0] >= 'A' && l->line[0] <= 'Z';
}

/* Skip to the first line of the section that has text. */
static bool first_of_section(lines *l)
{
    while (next_line(l))
        if (l->length > 0 && l->line[0] != '#')
            return true;
    return false;
}

static cairn_status read_atoms(lines *l, double atoms, cairn_table *t)
{
    const lines head = *l;
    if (t->column_count > 0)
        return fail_line(l, "found a second section Atoms");
    if (!first_of_section(l))
        return fail_line(l, "found nothing, expected atoms");
    int style = style_of(&head, l), count = count_before_comment(l);
    if (style < 0)
        return fail_line(&head,
                         "unknown atom style, expected Atoms # sphere, atomic, charge, bond, "
                         "molecular, full or ellipsoid");
    if (count != styles[style].count && count != styles[style].count + 3) /* with image flags */
        return fail_line(l, "found another number of columns than the atom style has");
    lines names = { .line = styles[style].columns, .length = strlen(styles[style].columns) };
    TRY(take_names(t, &names, 0, 0));
    for (double i = 0; i < atoms; i++) {
        if (i > 0 && !next_line(l))
            return fail_line(l, "the file ends before all atoms are there");
        TRY(take_row(t, l, 0, true));
    }
    return CAIRN_OK;
}

/* A row of the table by its id, for the velocities, which come in any order. */
typedef struct place {
    double id;
    int64_t row;
} place;

static int by_id(const void *left, const void *right)
{
    const place *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* Widen the table by columns of zeros. */
static cairn_status widen(cairn_table *t, const char *const *names, int more)
{
    int old = t->column_count;
    for (int k = 0; k < more; k++)
        TRY(cairn_table_add_column(t, names[k], strlen(names[k])));
    size_t width = (size_t)t->column_count;
    double *values = cairn_memory_zeroed((size_t)t->row_count * width + 1, sizeof *values);
    if (!values)
        return CAIRN_NO_MEMORY;
    for (int64_t i = 0; i < t->row_count; i++)
        memcpy(values + (size_t)i * width, t->values + (size_t)i * (size_t)old,
               (size_t)old * sizeof *values);
    cairn_memory_free(t->values);
    t->values = values;
    t->capacity = (size_t)t->row_count; /* the rows are complete */
    return CAIRN_OK;
}

/* Lines "id vx vy vz", of spheres with wx wy wz. */
static cairn_status take_velocities(lines *l, cairn_table *t, const place *places)
{
    int width = t->column_count, first = cairn_table_find(t, "vx");
    for (int64_t i = 0; i < t->row_count; i++) {
        size_t at = 0;
        word w;
        if (i > 0 && !next_line(l))
            return fail_line(l, "the file ends before all velocities are there");
        if (!next_word(l, &at, 0, &w))
            return fail_line(l, "found an empty line, expected the velocity of an atom");
        const place wanted = { number_of(w), 0 };
        const place *found = bsearch(&wanted, places, (size_t)t->row_count, sizeof *places, by_id);
        if (isnan(wanted.id) || !found)
            return fail_line(l, "no atom has this id");
        for (int k = first; k < width && next_word(l, &at, 0, &w); k++)
            t->values[found->row * width + k] = number_of(w);
    }
    return CAIRN_OK;
}

static cairn_status read_velocities(lines *l, cairn_table *t)
{
    static const char *const names[] = { "vx", "vy", "vz", "wx", "wy", "wz" };
    if (t->row_count == 0 || cairn_table_find(t, "vx") >= 0)
        return fail_line(l, "found Velocities, expected them once and after Atoms");
    if (!first_of_section(l))
        return fail_line(l, "found nothing, expected velocities");
    TRY(widen(t, names, count_words(l, 0) >= 7 ? 6 : 3));
    place *places = cairn_memory_zeroed((size_t)t->row_count, sizeof *places);
    if (!places)
        return CAIRN_NO_MEMORY;
    bool known = true;
    for (int64_t i = 0; i < t->row_count; i++) {
        places[i] = (place){ t->values[i * t->column_count], i };
        known = known && !isnan(places[i].id);
    }
    qsort(places, (size_t)t->row_count, sizeof *places, by_id);
    cairn_status status = known ? take_velocities(l, t, places)
                                : fail_line(l, "some atom has no id, expected a number");
    cairn_memory_free(places);
    return status;
}

/* The first line is a comment; the head has "1000 atoms"; sections follow in any order. */
static cairn_status read_data(lines *l, const cairn_table_options *options, cairn_table *t)
{
    double atoms = NAN;
    (void)options;
    next_line(l);
    while (next_line(l)) {
        size_t at = 0;
        word number, noun;
        bool two = next_word(l, &at, 0, &number) && next_word(l, &at, 0, &noun);
        if (two && is_word(noun, "atoms") && !isnan(number_of(number)))
            atoms = number_of(number);
        if (!is_section(l))
            continue;
        if (!(atoms > 0 && atoms <= INT32_MAX))
            return fail_line(l, "found a section before the number of atoms, such as '100 atoms'");
        if (is_word(number, "Atoms"))
            TRY(read_atoms(l, atoms, t));
        else if (is_word(number, "Velocities"))
            TRY(read_velocities(l, t));
    }
    if (t->column_count == 0)
        return fail_line(l, "found no section Atoms, expected a data file of LAMMPS");
    return CAIRN_OK;
}

/* ---- all formats ---------------------------------------------------------------------------- */

typedef cairn_status text_fn(lines *l, const cairn_table_options *options, cairn_table *t);

/* A format by the endings of its files. Formats without a text reader are in table_form.c. */
static const struct {
    const char *name;
    const char *endings[6];
    text_fn *text;
    cairn_table_read_fn *read;
} formats[] = {
    { "csv", { ".csv", ".tsv" }, read_text, NULL },
    { "text", { ".txt", ".dat", ".xyzr" }, read_text, NULL },
    { "hdf5", { ".h5", ".hdf5" }, NULL, cairn_table_read_hdf5 },
    { "vtk", { ".vtp", ".vtu" }, NULL, cairn_table_read_vtk },
    { "lammps-data", { ".data", ".lmp" }, read_data, NULL },
    { "lammps-dump", { ".dump", ".lammpstrj" }, read_dump, NULL },
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

const char *cairn_table_format_name(int index)
{
    return index >= 0 && index < FORMATS ? formats[index].name : NULL;
}

int cairn_table_format(const char *path, const char *name)
{
    size_t length = strlen(path);
    for (int k = 0; k < FORMATS; k++) {
        if (name && strcmp(formats[k].name, name) == 0)
            return k;
        for (int e = 0; !name && formats[k].endings[e]; e++) {
            size_t bytes = strlen(formats[k].endings[e]);
            if (length > bytes && strcmp(path + length - bytes, formats[k].endings[e]) == 0)
                return k;
        }
    }
    return -1;
}

static cairn_status read_as_text(const char *path, text_fn *read,
                                 const cairn_table_options *options, cairn_table *t,
                                 cairn_error *error)
{
    void *data;
    size_t bytes;
    TRY(cairn_file_read(path, &data, &bytes, error));
    size_t mark = cairn_text_mark(data, bytes);
    lines l = { .at = (char *)data + mark, .end = (char *)data + bytes, .error = error };
    cairn_status status =
        memchr(data, '\0', bytes)
            ? cairn_fail(error, CAIRN_BAD_INPUT, NULL, "not a text file: it holds zero bytes")
            : read(&l, options, t);
    cairn_memory_free(data);
    return status;
}

cairn_status cairn_table_read(const char *path, const cairn_table_options *options,
                              cairn_table **out, cairn_error *error)
{
    cairn_error unused = { 0 };
    error = error ? error : &unused;
    int format = cairn_table_format(path, options->format);
    *out = NULL;
    if (format < 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "unknown kind of table, expected a file .csv, .tsv, .txt, .dat, .xyzr, "
                          ".h5, .hdf5, .vtp, .vtu, .data, .lmp, .dump or .lammpstrj");
    cairn_table *t = cairn_memory_zeroed(1, sizeof *t);
    if (!t)
        return cairn_fail(error, CAIRN_NO_MEMORY, NULL, "out of memory");
    cairn_status status = formats[format].text
                              ? read_as_text(path, formats[format].text, options, t, error)
                              : formats[format].read(path, options, t, error);
    if (status == CAIRN_OK && t->row_count == 0)
        status = cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the table has no rows");
    if (status == CAIRN_OK)
        status = check_names(t, error);
    if (status == CAIRN_NO_MEMORY)
        cairn_fail(error, status, NULL, "out of memory");
    if (status == CAIRN_UNSUPPORTED && !error->message[0] && t->column_count == MOST_COLUMNS)
        cairn_fail(error, status, NULL, "found more columns than %d", MOST_COLUMNS);
    if (status == CAIRN_OK)
        *out = t;
    else
        cairn_table_destroy(t);
    return status;
}

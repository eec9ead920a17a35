/* option.c - option tables: look-up, range check, expectation texts, nearest names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"

const cairn_option *cairn_record_find(const cairn_record *record, const char *name)
{
    for (int i = 0; i < record->option_count; i++)
        if (strcmp(record->options[i].name, name) == 0)
            return &record->options[i];
    return NULL;
}

/* Append as much as fits; a text that is too long is cut. */
static void append(char *text, size_t capacity, const char *piece)
{
    size_t used = strlen(text);
    if (used + 1 < capacity)
        snprintf(text + used, capacity - used, "%s", piece);
}

/* " > 0", " >= 2", " between 0 and 1", or nothing. */
static void append_range(const cairn_option *option, char *text, size_t capacity)
{
    char range[96] = "";
    bool below = option->minimum > -CAIRN_UNBOUNDED, above = option->maximum < CAIRN_UNBOUNDED;
    bool positive = option->minimum == CAIRN_POSITIVE;
    if (positive && above)
        snprintf(range, sizeof range, " > 0 and <= %g", option->maximum);
    else if (positive)
        snprintf(range, sizeof range, " > 0");
    else if (below && above)
        snprintf(range, sizeof range, " between %g and %g", option->minimum, option->maximum);
    else if (below)
        snprintf(range, sizeof range, " >= %g", option->minimum);
    else if (above)
        snprintf(range, sizeof range, " <= %g", option->maximum);
    append(text, capacity, range);
}

void cairn_option_expectation(const cairn_option *option, char *text, size_t capacity)
{
    static const char *const kinds[] = {
        [CAIRN_OPTION_REAL] = "a number",
        [CAIRN_OPTION_INTEGER] = "a whole number",
        [CAIRN_OPTION_FLAG] = "true or false",
        [CAIRN_OPTION_VECTOR] = "a vector of numbers",
        [CAIRN_OPTION_LIST] = "a list of numbers",
        [CAIRN_OPTION_NAME] = "one of ",
        [CAIRN_OPTION_NAMES] = "a list of some of ",
        [CAIRN_OPTION_WORD] = "one of ",
        [CAIRN_OPTION_FUNCTION] = "a number or a function of time",
        [CAIRN_OPTION_VARYING] = "a number",
        [CAIRN_OPTION_VARYING_VECTOR] = "a vector of numbers",
    };
    text[0] = '\0';
    append(text, capacity, kinds[option->type]);
    if (option->choice) {
        for (int i = 0; option->choice(i); i++) {
            append(text, capacity, i ? ", " : "");
            append(text, capacity, option->choice(i));
        }
        if (option->type == CAIRN_OPTION_WORD)
            append(text, capacity, ", or another name of letters, digits, - and _");
        return;
    }
    if (option->type != CAIRN_OPTION_FLAG)
        append_range(option, text, capacity);
    if (option->unit[0]) {
        append(text, capacity, " in ");
        append(text, capacity, option->unit);
    }
    if (option->type == CAIRN_OPTION_VARYING)
        append(text, capacity, ", or a function of time");
    if (option->type == CAIRN_OPTION_VARYING_VECTOR)
        append(text, capacity, ", each may be a function of time");
}

/* The numbers of a field, for the range check; names and flags have none. */
static int field_numbers(const cairn_option *option, const void *field, double scratch[3],
                         const double **out)
{
    *out = scratch;
    switch (option->type) {
    case CAIRN_OPTION_REAL:
    case CAIRN_OPTION_VARYING:
        *out = field;
        return 1;
    case CAIRN_OPTION_INTEGER:
        scratch[0] = (double)*(const int64_t *)field;
        return 1;
    case CAIRN_OPTION_VECTOR:
    case CAIRN_OPTION_VARYING_VECTOR:
        memcpy(scratch, field, sizeof(cairn_vec3));
        return 3;
    case CAIRN_OPTION_LIST:
        *out = ((const cairn_list *)field)->values;
        return ((const cairn_list *)field)->count;
    default:
        return 0;
    }
}

bool cairn_is_word(const char *text)
{
    /* with its 0 such a name fits CAIRN_BACKEND_NAME */
    enum { LONGEST = 31 };
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || cairn_is_digit(c) || c == '-' ||
              c == '_'))
            return false;
    }
    return length > 0 && length <= LONGEST;
}

static bool name_is_known(const cairn_option *option, const char *name)
{
    for (int i = 0; name && option->choice(i); i++)
        if (strcmp(option->choice(i), name) == 0)
            return true;
    return option->type == CAIRN_OPTION_WORD && name && cairn_is_word(name);
}

/* The names of a field. */
static int field_names(const cairn_option *option, const void *field, const char *const **out)
{
    if (option->type == CAIRN_OPTION_NAME || option->type == CAIRN_OPTION_WORD) {
        *out = field;
        return 1;
    }
    if (option->type != CAIRN_OPTION_NAMES)
        return 0;
    *out = ((const cairn_names *)field)->items;
    return ((const cairn_names *)field)->count;
}

/* Report the value found and the values expected. The text is formatted only here, so that checking
 * valid input is cheap. */
static cairn_status refuse_number(const cairn_option *option, double number, cairn_status status,
                                  cairn_error *error)
{
    char expected[512];
    cairn_option_expectation(option, expected, sizeof expected);
    return cairn_fail(error, status, option->name, "found %g, expected %s", number, expected);
}

static cairn_status refuse_name(const cairn_option *option, const char *name, cairn_error *error)
{
    char expected[512];
    cairn_option_expectation(option, expected, sizeof expected);
    return cairn_fail(error, CAIRN_BAD_INPUT, option->name, "found '%s', expected %s",
                      name ? name : "", expected);
}

/* The key of the option comes before that of the function: x.frequency. */
static cairn_status check_function(const cairn_option *option, const cairn_function *function,
                                   cairn_error *error)
{
    cairn_error found = { 0 };
    cairn_status status = cairn_function_check(function, &found);
    if (status == CAIRN_OK || !error)
        return status;
    *error = found;
    snprintf(error->key, sizeof error->key, "%s%s%.40s", option->name, found.key[0] ? "." : "",
             found.key);
    return status;
}

static cairn_status check_field(const cairn_option *option, const void *field, cairn_error *error)
{
    double scratch[3];
    const double *numbers;
    const char *const *names = NULL;
    int count = field_numbers(option, field, scratch, &numbers);
    for (int i = 0; i < count; i++) {
        /* infinity is allowed for options without an upper bound, such as times never reached */
        if (isnan(numbers[i]) || (isinf(numbers[i]) && option->maximum < CAIRN_UNBOUNDED))
            return refuse_number(option, numbers[i], CAIRN_NOT_FINITE, error);
        if (numbers[i] < option->minimum || numbers[i] > option->maximum)
            return refuse_number(option, numbers[i], CAIRN_BAD_INPUT, error);
    }
    count = field_names(option, field, &names);
    for (int i = 0; i < count; i++)
        if (!name_is_known(option, names[i]))
            return refuse_name(option, names[i], error);
    return option->type == CAIRN_OPTION_FUNCTION ? check_function(option, field, error) : CAIRN_OK;
}

cairn_status cairn_record_check(const cairn_record *record, const void *options, cairn_error *error)
{
    for (int i = 0; i < record->option_count; i++) {
        const cairn_option *option = &record->options[i];
        TRY(check_field(option, (const char *)options + option->offset, error));
    }
    return CAIRN_OK;
}

/* Number of single-letter changes (insert, delete, replace) between two words of < 64 letters. */
static int edit_distance(const char *a, const char *b)
{
    int row[64], lb = (int)strlen(b);
    for (int j = 0; j <= lb; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            int moved = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = replaced < moved ? replaced : moved;
        }
    }
    return row[lb];
}

const char *cairn_nearest_name(const char *word, const char *const *names, int count)
{
    const char *nearest = NULL;
    size_t length = strlen(word);
    /* a suggestion differs in at most a third of the letters, or in two */
    int best = 1 + (int)(length / 3 > 2 ? length / 3 : 2);
    for (int i = 0; i < count; i++) {
        if (length >= 64 || strlen(names[i]) >= 64)
            continue;
        int distance = edit_distance(word, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

/* ---- assignments ------------------------------------------------------------------------- */

/* Setting one field of an options struct from a text KEY=VALUE, as on command lines. */

/* Read a number at the start of a text and move *text behind it. */
static bool read_number(const char **text, double *out)
{
    size_t length = cairn_number_read(*text, out);
    *text += length;
    return length > 0 && isfinite(*out);
}

static bool read_real(const char *text, double *out)
{
    return read_number(&text, out) && !*text;
}

static bool read_integer(const char *text, int64_t *out)
{
    size_t length = cairn_integer_read(text, out);
    return length > 0 && !text[length];
}

static bool read_flag(const char *text, bool *out)
{
    *out = strcmp(text, "true") == 0;
    return *out || strcmp(text, "false") == 0;
}

/* "x,y,z", or "x,y", which keeps the present z. */
static bool read_vector(const char *text, cairn_vec3 *out)
{
    cairn_vec3 v = *out;
    if (!read_number(&text, &v.x) || *text++ != ',' || !read_number(&text, &v.y))
        return false;
    if (*text == ',') {
        text++;
        if (!read_number(&text, &v.z))
            return false;
    }
    *out = v;
    return !*text;
}

/* The name in the table that is the first `length` characters of `text`; NULL: none. */
static const char *find_choice(const cairn_option *option, const char *text, size_t length)
{
    for (int i = 0; option->choice(i); i++)
        if (strlen(option->choice(i)) == length && strncmp(option->choice(i), text, length) == 0)
            return option->choice(i);
    return NULL;
}

static bool read_names(const cairn_option *option, const char *text, cairn_names *out)
{
    out->count = 0;
    for (;; text++) {
        size_t length = strcspn(text, ",");
        const char *name = find_choice(option, text, length);
        if (!name || out->count == CAIRN_MOST_NAMES)
            return false;
        out->items[out->count++] = name;
        text += length;
        if (!*text)
            return true;
    }
}

static bool read_name(const cairn_option *option, const char *text, const char **out)
{
    *out = find_choice(option, text, strlen(text));
    return *out != NULL;
}

static bool read_word(const cairn_option *option, const char *text, const char **out)
{
    if (!read_name(option, text, out) && cairn_is_word(text))
        *out = text;
    return *out != NULL;
}

/* A field of any type but lists and functions, which cannot be assigned from a command line. */
typedef union field {
    double real;
    int64_t integer;
    bool flag;
    cairn_vec3 vector;
    const char *name;
    cairn_names names;
} field;

static bool read_field(const cairn_option *option, const char *text, field *out)
{
    switch (option->type) {
    case CAIRN_OPTION_REAL:
    case CAIRN_OPTION_VARYING:
        return read_real(text, &out->real);
    case CAIRN_OPTION_INTEGER:
        return read_integer(text, &out->integer);
    case CAIRN_OPTION_FLAG:
        return read_flag(text, &out->flag);
    case CAIRN_OPTION_VECTOR:
    case CAIRN_OPTION_VARYING_VECTOR:
        return read_vector(text, &out->vector);
    case CAIRN_OPTION_NAME:
        return read_name(option, text, &out->name);
    case CAIRN_OPTION_NAMES:
        return read_names(option, text, &out->names);
    case CAIRN_OPTION_WORD:
        return read_word(option, text, &out->name);
    case CAIRN_OPTION_LIST:
    case CAIRN_OPTION_FUNCTION:
        break;
    }
    return false;
}

static size_t field_size(cairn_option_type type)
{
    static const size_t sizes[] = {
        [CAIRN_OPTION_REAL] = sizeof(double),
        [CAIRN_OPTION_INTEGER] = sizeof(int64_t),
        [CAIRN_OPTION_FLAG] = sizeof(bool),
        [CAIRN_OPTION_VECTOR] = sizeof(cairn_vec3),
        [CAIRN_OPTION_LIST] = 0,
        [CAIRN_OPTION_NAME] = sizeof(const char *),
        [CAIRN_OPTION_NAMES] = sizeof(cairn_names),
        [CAIRN_OPTION_WORD] = sizeof(const char *),
        [CAIRN_OPTION_FUNCTION] = 0,
        [CAIRN_OPTION_VARYING] = sizeof(double),
        [CAIRN_OPTION_VARYING_VECTOR] = sizeof(cairn_vec3),
    };
    return sizes[type];
}

static cairn_status unknown_key(const cairn_record *record, const char *key, cairn_error *error)
{
    enum { MOST = 64 };
    const char *names[MOST];
    int count = 0;
    for (; count < record->option_count && count < MOST; count++)
        names[count] = record->options[count].name;
    const char *nearest = cairn_nearest_name(key, names, count);
    return cairn_fail(error, CAIRN_BAD_INPUT, key, "there is no '%s' in '%s'%s%s%s", key,
                      record->name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'?" : "");
}

/* Read and check a value in a copy of the field; only a valid one is stored. */
static cairn_status assign(const cairn_option *option, const char *text, void *place,
                           cairn_error *error)
{
    char expected[512];
    field value;
    size_t size = field_size(option->type);
    memcpy(&value, place, size);
    cairn_option_expectation(option, expected, sizeof expected);
    if (!read_field(option, text, &value))
        return cairn_fail(error, CAIRN_BAD_INPUT, option->name, "found '%s', expected %s", text,
                          expected);
    cairn_option alone = *option;
    alone.offset = 0;
    cairn_record one = { .options = &alone, .option_count = 1 };
    TRY(cairn_record_check(&one, &value, error));
    memcpy(place, &value, size);
    return CAIRN_OK;
}

cairn_status cairn_record_assign(const cairn_record *record, void *options, const char *assignment,
                                 cairn_error *error)
{
    char key[64];
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment || equals - assignment >= (ptrdiff_t)sizeof key)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "found '%s', expected KEY=VALUE",
                          assignment);
    snprintf(key, sizeof key, "%.*s", (int)(equals - assignment), assignment);
    const cairn_option *option = cairn_record_find(record, key);
    if (!option)
        return unknown_key(record, key, error);
    return assign(option, equals + 1, (char *)options + option->offset, error);
}

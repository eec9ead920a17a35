/* option_text.c - setting one field of an options struct from a text, as command lines give it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/status.h"

/* A number at the start of a text; *text: behind it. */
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

/* "x,y,z" or "x,y": z then stays. */
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

/* Room for a field of any type but a list. */
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
        return read_real(text, &out->real);
    case CAIRN_OPTION_INTEGER:
        return read_integer(text, &out->integer);
    case CAIRN_OPTION_FLAG:
        return read_flag(text, &out->flag);
    case CAIRN_OPTION_VECTOR:
        return read_vector(text, &out->vector);
    case CAIRN_OPTION_NAME:
        return read_name(option, text, &out->name);
    case CAIRN_OPTION_NAMES:
        return read_names(option, text, &out->names);
    case CAIRN_OPTION_WORD:
        return read_word(option, text, &out->name);
    case CAIRN_OPTION_LIST:
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

/* Set the field and check it; what does not pass is taken back. */
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

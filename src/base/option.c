/* option.c - option tables: look-up, range check, expectation texts, nearest names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"

const cairn_option *cairn_record_find(const cairn_record *record, const char *name)
{
    for (int i = 0; i < record->option_count; i++)
        if (strcmp(record->options[i].name, name) == 0)
            return &record->options[i];
    return NULL;
}

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
}

/* The numbers of a field, for the range check; names and flags have none. */
static int field_numbers(const cairn_option *option, const void *field, double scratch[3],
                         const double **out)
{
    *out = scratch;
    switch (option->type) {
    case CAIRN_OPTION_REAL:
        *out = field;
        return 1;
    case CAIRN_OPTION_INTEGER:
        scratch[0] = (double)*(const int64_t *)field;
        return 1;
    case CAIRN_OPTION_VECTOR:
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

/* Say what was found and what is expected; only here is text made, for good input has no need of
 * any. */
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

static cairn_status check_field(const cairn_option *option, const void *field, cairn_error *error)
{
    double scratch[3];
    const double *numbers;
    const char *const *names = NULL;
    int count = field_numbers(option, field, scratch, &numbers);
    for (int i = 0; i < count; i++) {
        /* +infinity is a fair value for times that never come */
        if (isnan(numbers[i]) || (isinf(numbers[i]) && option->maximum < CAIRN_UNBOUNDED))
            return refuse_number(option, numbers[i], CAIRN_NOT_FINITE, error);
        if (numbers[i] < option->minimum || numbers[i] > option->maximum)
            return refuse_number(option, numbers[i], CAIRN_BAD_INPUT, error);
    }
    count = field_names(option, field, &names);
    for (int i = 0; i < count; i++)
        if (!name_is_known(option, names[i]))
            return refuse_name(option, names[i], error);
    return CAIRN_OK;
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

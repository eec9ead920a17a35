/* yaml_value.c - what the nodes of a YAML tree mean and where they stand, see yaml.h.
 *
 * Numbers follow the core schema of YAML 1.2 (which holds JSON's), whatever the locale says. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/status.h"
#include "io/yaml.h"

const cairn_yaml_node *cairn_yaml_find(const cairn_yaml_node *mapping, const char *key)
{
    const cairn_yaml_node *node = mapping->kind == CAIRN_YAML_MAPPING ? mapping->first : NULL;
    while (node && strcmp(node->key, key) != 0)
        node = node->next;
    return node;
}

/* ---- places -------------------------------------------------------------------------------- */

static int index_of(const cairn_yaml_node *node)
{
    int index = 0;
    for (const cairn_yaml_node *n = node->parent->first; n != node; n = n->next)
        index++;
    return index;
}

void cairn_yaml_path(const cairn_yaml_node *node, char *text, size_t capacity)
{
    if (!node->parent) {
        text[0] = '\0';
        return;
    }
    cairn_yaml_path(node->parent, text, capacity);
    size_t used = strlen(text);
    const char *dot = used ? "." : "";
    if (node->key)
        snprintf(text + used, capacity - used, "%s%s", dot, node->key);
    else
        snprintf(text + used, capacity - used, "%s%d", dot, index_of(node));
}

static void set_place(const cairn_yaml_node *node, int line, int column, cairn_error *error)
{
    snprintf(error->file, sizeof error->file, "%s", node->file);
    error->line = line;
    error->column = column;
    cairn_yaml_path(node, error->key, sizeof error->key);
}

static void set_message(cairn_error *error, const char *format, va_list arguments)
{
    vsnprintf(error->message, sizeof error->message, format, arguments);
}

cairn_status cairn_yaml_fail(const cairn_yaml_node *node, const char *child, cairn_error *error,
                             const char *format, ...)
{
    if (!error)
        return CAIRN_BAD_INPUT;
    set_place(node, node->line, node->column, error);
    size_t used = strlen(error->key);
    if (child)
        snprintf(error->key + used, sizeof error->key - used, "%s%s", used ? "." : "", child);
    va_list arguments;
    va_start(arguments, format);
    set_message(error, format, arguments);
    va_end(arguments);
    return CAIRN_BAD_INPUT;
}

cairn_status cairn_yaml_fail_key(const cairn_yaml_node *node, cairn_error *error,
                                 const char *format, ...)
{
    if (!error)
        return CAIRN_BAD_INPUT;
    set_place(node, node->key_line, node->key_column, error);
    va_list arguments;
    va_start(arguments, format);
    set_message(error, format, arguments);
    va_end(arguments);
    return CAIRN_BAD_INPUT;
}

/* ---- scalars ------------------------------------------------------------------------------- */

static bool is_one_of(const char *text, const char *const *words)
{
    while (*words && strcmp(text, *words) != 0)
        words++;
    return *words != NULL;
}

static bool is_plain(const cairn_yaml_node *node)
{
    return node->kind == CAIRN_YAML_SCALAR && !node->quoted;
}

bool cairn_yaml_is_null(const cairn_yaml_node *node)
{
    static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };
    return is_plain(node) && is_one_of(node->text, words);
}

bool cairn_yaml_flag(const cairn_yaml_node *node, bool *out)
{
    static const char *const yes[] = { "true", "True", "TRUE", NULL };
    static const char *const no[] = { "false", "False", "FALSE", NULL };
    if (!is_plain(node))
        return false;
    *out = is_one_of(node->text, yes);
    return *out || is_one_of(node->text, no);
}

static bool special_value(const char *text, double *out)
{
    static const char *const infinite[] = { ".inf", ".Inf", ".INF", NULL };
    static const char *const none[] = { ".nan", ".NaN", ".NAN", NULL };
    bool negative = *text == '-', has_sign = negative || *text == '+';
    if (is_one_of(text + has_sign, infinite)) {
        *out = negative ? -INFINITY : INFINITY;
        return true;
    }
    *out = NAN;
    return is_one_of(text, none);
}

bool cairn_yaml_real(const cairn_yaml_node *node, double *out)
{
    if (!is_plain(node))
        return false;
    size_t length = cairn_number_read(node->text, out);
    return (length > 0 && !node->text[length]) || special_value(node->text, out);
}

bool cairn_yaml_integer(const cairn_yaml_node *node, int64_t *out)
{
    double real;
    if (!cairn_yaml_real(node, &real))
        return false;
    if (!strpbrk(node->text, ".eE")) {
        errno = 0;
        return cairn_integer_read(node->text, out) > 0 && errno == 0;
    }
    /* 2e6 is a whole number as well, as long as the double holds it exactly */
    if (!(fabs(real) <= 0x1p53) || real != floor(real))
        return false;
    *out = (int64_t)real;
    return true;
}

/* At most 40 letters of a text, the ones that do not print as '?'. */
static void quote(const char *text, const char *mark, char *out, size_t capacity)
{
    char letters[44];
    size_t length = 0;
    while (text[length] && length < 40) {
        letters[length] = cairn_is_control(text[length]) ? '?' : text[length];
        length++;
    }
    while (text[length] && length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--; /* not in the middle of a character */
    letters[length] = '\0';
    snprintf(out, capacity, "%s%s%s%s", mark, letters, text[length] ? "..." : "", mark);
}

void cairn_yaml_describe(const cairn_yaml_node *node, char *text, size_t capacity)
{
    double number;
    if (node->kind == CAIRN_YAML_MAPPING)
        snprintf(text, capacity, "a mapping");
    else if (node->kind == CAIRN_YAML_LIST)
        snprintf(text, capacity, "a list of %d", node->count);
    else if (cairn_yaml_is_null(node))
        snprintf(text, capacity, "nothing");
    else
        quote(node->text, cairn_yaml_real(node, &number) ? "" : "'", text, capacity);
}

/* yaml_value.c - the meaning and the position of the nodes of a YAML tree, and overrides, see
 * yaml.h.
 *
 * Numbers follow the core schema of YAML 1.2, of which JSON is a subset, independent of the
 * locale. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "scene/yaml.h"

const cairn_yaml_node *cairn_yaml_find(const cairn_yaml_node *mapping, const char *key)
{
    const cairn_yaml_node *node = mapping->kind == CAIRN_YAML_MAPPING ? mapping->first : NULL;
    while (node && strcmp(node->key, key) != 0)
        node = node->next;
    return node;
}

/* ---- places -------------------------------------------------------------------------------- */

/* The position of an entry in its list, from 0. Linear, but needed for messages only. */
static int index_of(const cairn_yaml_node *node)
{
    int index = 0;
    for (const cairn_yaml_node *n = node->parent->first; n != node; n = n->next)
        index++;
    return index;
}

/* Recursion from the root down. If the path does not fit, snprintf cuts it and its end is lost. */
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

/* The dotted path of the node is the key of the error, so that the place is clear also without a
 * line. */
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

/* Quoted scalars are texts, whatever they look like. */
static bool is_plain(const cairn_yaml_node *node)
{
    return node->kind == CAIRN_YAML_SCALAR && !node->quoted;
}

bool cairn_yaml_is_null(const cairn_yaml_node *node)
{
    static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };
    return is_plain(node) && cairn_text_is_one_of(node->text, words);
}

bool cairn_yaml_flag(const cairn_yaml_node *node, bool *out)
{
    static const char *const yes[] = { "true", "True", "TRUE", NULL };
    static const char *const no[] = { "false", "False", "FALSE", NULL };
    if (!is_plain(node))
        return false;
    *out = cairn_text_is_one_of(node->text, yes);
    return *out || cairn_text_is_one_of(node->text, no);
}

bool cairn_yaml_real(const cairn_yaml_node *node, double *out)
{
    return is_plain(node) && cairn_text_real(node->text, out);
}

bool cairn_yaml_integer(const cairn_yaml_node *node, int64_t *out)
{
    double real;
    if (!cairn_yaml_real(node, &real))
        return false;
    if (!strpbrk(node->text, ".eE")) {
        /* without fraction or exponent the digits are read directly: a double would round above
         * 2^53 */
        errno = 0;
        return cairn_integer_read(node->text, out) > 0 && errno == 0;
    }
    /* 2e6 is an integer as well, as long as the double holds it exactly */
    if (!(fabs(real) <= 0x1p53) || real != floor(real))
        return false;
    *out = (int64_t)real;
    return true;
}

/* Quote at most 40 bytes of a text, with control characters as '?', and dots where it is cut. */
static void quote(const char *text, const char *mark, char *out, size_t capacity)
{
    char letters[44];
    size_t length = 0;
    while (text[length] && length < 40) {
        letters[length] = cairn_is_control(text[length]) ? '?' : text[length];
        length++;
    }
    while (text[length] && length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--; /* do not cut within a character of UTF-8 */
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

/* ---- overrides --------------------------------------------------------------------------- */

/* Overrides, "path=value": replace one value of a tree before anything is interpreted, so that
 * an override is checked exactly like the file.
 *
 * The path consists of keys and entries of lists, the latter by position or by name
 * (bodies.0.mass, bodies.ball.mass). Its last key may be new, all before it must exist. The
 * value is YAML. Later errors about the value name the file "--set". */

/* An error about the override itself; it has no line in any file. */
static cairn_status fail(cairn_error *error, const char *path, const char *format, const char *word)
{
    if (error) {
        snprintf(error->file, sizeof error->file, "--set");
        error->line = error->column = 0;
    }
    return cairn_fail(error, CAIRN_BAD_INPUT, path, format, word);
}

/* The entry at a position from 0; NULL behind the end. */
static cairn_yaml_node *child_at(const cairn_yaml_node *list, long index)
{
    cairn_yaml_node *child = list->first;
    while (child && index-- > 0)
        child = child->next;
    return child;
}

/* The first entry that says `name: part`. */
static cairn_yaml_node *child_with_name(const cairn_yaml_node *list, const char *part)
{
    for (cairn_yaml_node *child = list->first; child; child = child->next) {
        const cairn_yaml_node *name = cairn_yaml_find(child, "name");
        if (name && name->kind == CAIRN_YAML_SCALAR && strcmp(name->text, part) == 0)
            return child;
    }
    return NULL;
}

/* The child that one part of a path names: a key of a mapping, a position or a name in a list. */
static cairn_yaml_node *child_of(const cairn_yaml_node *node, const char *part)
{
    if (node->kind == CAIRN_YAML_MAPPING)
        return (cairn_yaml_node *)cairn_yaml_find(node, part); /* the tree itself is not const */
    if (node->kind != CAIRN_YAML_LIST || !part[0])
        return NULL;
    /* a number is a position first, but a body may also be named "3" */
    bool number = part[strspn(part, "0123456789")] == '\0';
    cairn_yaml_node *child = number ? child_at(node, strtol(part, NULL, 10)) : NULL;
    return child ? child : child_with_name(node, part);
}

/* Put the new value in the place of the old one. The old node is reused, since its siblings and
 * its parent point to it; the key stays. */
static void replace(cairn_yaml_node *old, const cairn_yaml_node *value)
{
    old->kind = value->kind;
    old->quoted = value->quoted;
    old->line = old->column = old->key_line = old->key_column = 0;
    old->file = value->file;
    old->text = value->text;
    old->count = value->count;
    old->first = value->first;
    old->last = value->last;
    for (cairn_yaml_node *child = old->first; child; child = child->next)
        child->parent = old;
}

/* Walk along the path, one part after the other, and replace or append the value at its end. */
static cairn_status set_value(cairn_yaml *tree, const char *path, cairn_yaml_node *value,
                              cairn_error *error)
{
    char *rest = (char *)cairn_yaml_text(tree, path, strlen(path));
    if (!rest)
        return cairn_fail(error, CAIRN_NO_MEMORY, "", "out of memory");
    cairn_yaml_node *node = tree->root;
    while (true) {
        const char *part = rest;
        char *dot = strchr(rest, '.');
        if (dot)
            *dot = '\0';
        cairn_yaml_node *child = child_of(node, part);
        if (!child && (dot || node->kind != CAIRN_YAML_MAPPING || !part[0]))
            return fail(error, path, "the path leads nowhere: there is no '%.60s'", part);
        if (!child) {
            value->key = part;
            cairn_yaml_append(node, value);
            return CAIRN_OK;
        }
        if (!dot) {
            replace(child, value);
            return CAIRN_OK;
        }
        node = child;
        rest = dot + 1;
    }
}

/* Only the first '=' separates path and value: the value may contain others. */
cairn_status cairn_yaml_override(cairn_yaml *tree, const char *assignment, cairn_error *error)
{
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment)
        return fail(error, "", "found '%.60s', expected path=value", assignment);
    const char *path = cairn_yaml_text(tree, assignment, (size_t)(equals - assignment));
    if (!path)
        return cairn_fail(error, CAIRN_NO_MEMORY, "", "out of memory");
    cairn_yaml_node *value;
    cairn_status status = cairn_yaml_parse_value(tree, equals + 1, &value, error);
    if (status == CAIRN_BAD_INPUT && error)
        snprintf(error->key, sizeof error->key, "%s", path);
    TRY(status);
    return set_value(tree, path, value, error);
}

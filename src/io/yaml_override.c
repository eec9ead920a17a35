/* yaml_override.c - "path=value": replace one value of a tree before anything is interpreted.
 *
 * The path goes through keys and entries of lists, by position or by name (bodies.0.mass,
 * bodies.ball.mass); its last key may be new, all before it must exist. The value is YAML. Whatever
 * is wrong with it later names "--set". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "io/yaml.h"

static cairn_status fail(cairn_error *error, const char *path, const char *format, const char *word)
{
    if (error) {
        snprintf(error->file, sizeof error->file, "--set");
        error->line = error->column = 0;
    }
    return cairn_fail(error, CAIRN_BAD_INPUT, path, format, word);
}

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
        return (cairn_yaml_node *)cairn_yaml_find(node, part); /* of a tree that is ours */
    if (node->kind != CAIRN_YAML_LIST || !part[0])
        return NULL;
    bool number = part[strspn(part, "0123456789")] == '\0';
    cairn_yaml_node *child = number ? child_at(node, strtol(part, NULL, 10)) : NULL;
    return child ? child : child_with_name(node, part);
}

/* The new value takes the old one's place. */
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

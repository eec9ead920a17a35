/* yaml_hints.c - mistakes in YAML that are known: tabs, a mapping in a line without braces, decimal
 * commas; see yaml.h. */
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "scene/yaml.h"

/* ---- lines ---------------------------------------------------------------------------------- */

/* The line of the text with this number, from 0. */
static const char *line_of(const char *text, size_t bytes, size_t number, size_t *length)
{
    const char *at = text, *end = text + bytes, *stop;
    while (number > 0 && (stop = memchr(at, '\n', (size_t)(end - at)))) {
        at = stop + 1;
        number--;
    }
    stop = memchr(at, '\n', (size_t)(end - at));
    *length = (size_t)((stop ? stop : end) - at);
    return at;
}

/* YAML allows no tabs before a value; libyaml says so in several ways. */
bool cairn_yaml_find_tab(const char *text, size_t bytes, size_t number, size_t *column)
{
    size_t length, i = 0;
    const char *line = line_of(text, bytes, number, &length);
    if (*column < length && line[*column] == '\t')
        return true;
    while (i < length && line[i] == ' ')
        i++;
    if (i == length || line[i] != '\t')
        return false;
    *column = i;
    return true;
}

/* `shape: sphere, radius: 0.1` is not YAML: how it is written, from its parts. Lines with braces or
 * quotes are left alone. */
bool cairn_yaml_find_colon(const char *text, size_t bytes, size_t number,
                           char message[CAIRN_YAML_HINT])
{
    size_t length;
    char key[81];
    const char *line = line_of(text, bytes, number, &length);
    while (length > 0 && (*line == ' ' || *line == '-')) {
        line++;
        length--;
    }
    while (length > 0 && cairn_is_blank(line[length - 1]))
        length--;
    snprintf(key, sizeof key, "%.*s", (int)(length < 80 ? length : 80), line);
    char *value = strstr(key, ": ");
    if (length > 80 || !value || strpbrk(key, "{}[]\"'#") || !strstr(value + 2, ": "))
        return false;
    *value = '\0';
    value += 2;
    char *comma = strstr(value, ", ");
    bool kind = comma && comma < strstr(value, ": ");
    if (kind)
        *comma = '\0';
    snprintf(message, CAIRN_YAML_HINT,
             "found a second ':' in one line, expected braces around what belongs together: "
             "%s: {%s%s%s%s}",
             key, value, kind ? ": {" : "", kind ? comma + 2 : "", kind ? "}" : "");
    return true;
}

/* ---- decimal commas ------------------------------------------------------------------------ */

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

bool cairn_yaml_comma(const cairn_yaml_node *node)
{
    const char *text = node->kind == CAIRN_YAML_SCALAR ? node->text : "";
    text += text[0] == '-' || text[0] == '+';
    size_t whole = count_digits(text);
    size_t part = whole && text[whole] == ',' ? count_digits(text + whole + 1) : 0;
    const char *rest = text + whole + 1 + part;
    return part > 0 && (!*rest || ((*rest == 'e' || *rest == 'E') && rest[1]));
}

/* Whether two values stand like the parts of 0,5: digits, a comma without a space, digits. */
static bool are_joined(const cairn_yaml_node *left, const char *digits, int line, int column)
{
    const char *text = left->kind == CAIRN_YAML_SCALAR && !left->quoted ? left->text : "";
    const char *unsigned_text = text + (text[0] == '-' || text[0] == '+');
    return unsigned_text[0] && !unsigned_text[count_digits(unsigned_text)] && digits[0] &&
           !digits[count_digits(digits)] && left->line > 0 && left->line == line &&
           left->column + (int)strlen(text) + 1 == column;
}

bool cairn_yaml_has_commas(const cairn_yaml_node *list, int wanted)
{
    int joined = 0;
    const cairn_yaml_node *first = list->kind == CAIRN_YAML_LIST ? list->first : NULL;
    for (const cairn_yaml_node *n = first; n && n->next; n = n->next)
        if (n->next->kind == CAIRN_YAML_SCALAR)
            joined += are_joined(n, n->next->text, n->next->line, n->next->column);
    /* [0,0,1,2] has no spaces at all: nothing is known about it */
    return joined > 0 && joined < list->count - 1 && list->count - joined == wanted;
}

/* In {radius: 0,5} the 5 is a key without a value. */
cairn_status cairn_yaml_refuse_comma(const cairn_yaml_node *node, cairn_error *error)
{
    const cairn_yaml_node *before = node->parent ? node->parent->first : NULL;
    while (before && before->next != node)
        before = before->next;
    if (!before || !cairn_yaml_is_null(node) ||
        !are_joined(before, node->key, node->key_line, node->key_column))
        return CAIRN_OK;
    return cairn_yaml_fail(before, NULL, error,
                           "found '%.20s,%.20s', expected a decimal point: %.20s.%.20s",
                           before->text, node->key, before->text, node->key);
}

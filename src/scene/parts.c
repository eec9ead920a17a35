/* parts.c - what happens to the tree of a scene before it is interpreted: sub-scenes (`include`)
 * become part of it, and parameters are put in the place of their names.
 *
 * An included file is a scene of its own, with `cairn: 1` at its top. Its lists come before those
 * of the file that includes it, its mappings fill in keys that the file does not give, and its
 * plain values hold where the file gives none. Every value keeps the file, line and column where it
 * was written, so errors point there.
 *
 * In any scalar, $name stands for the value of a parameter, $(formula) for the value of a formula
 * in which parameters are variables, and $$ for one dollar sign. A scene without parameters is not
 * searched for dollar signs. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/expression.h"
#include "base/memory.h"
#include "file/file.h"
#include "scene/stages.h"

/* MOST_LEVELS: includes within includes; MOST_INCLUDES and MOST_MIB: files that a scene includes
 * and their texts, each counted as often as it is included, since files that include each other
 * many times grow as a power of the levels; MOST_PARAMETERS bounds the search for a name;
 * MOST_TEXT: bytes of a scalar after its parameters have been put in. */
enum {
    MOST_LEVELS = 8,
    MOST_INCLUDES = 1000,
    MOST_MIB = 64,
    MOST_PARAMETERS = 200,
    MOST_TEXT = 4096,
    NAME_BYTES = 64
};

/* ---- sub-scenes ----------------------------------------------------------------------------- */

/* What all levels together have included. */
typedef struct included_sum {
    int files;
    size_t bytes;
} included_sum;

/* A file that is being read, and the one that includes it. */
typedef struct level {
    char path[CAIRN_PATH_BYTES];
    char real[CAIRN_PATH_BYTES]; /* with all links resolved, to recognise a cycle */
    const struct level *above;
    included_sum *sum;
    int depth;
} level;

/* Put the children of `more` in front of those of `own`; in mappings only keys that are missing. */
static void prepend(cairn_yaml_node *own, cairn_yaml_node *more)
{
    cairn_yaml_node *rest = own->first, *next;
    int count = own->count;
    const cairn_yaml_node before = *own; /* keys of the mapping as it was */
    own->first = own->last = NULL;
    own->count = 0;
    for (cairn_yaml_node *n = more->first; n; n = next) {
        next = n->next;
        if (own->kind == CAIRN_YAML_LIST || !cairn_yaml_find(&before, n->key))
            cairn_yaml_append(own, n);
    }
    if (!rest)
        return;
    if (own->last)
        own->last->next = rest;
    else
        own->first = rest;
    own->last = before.last;
    own->count += count;
}

/* Add what an included scene says to what the including one says. */
static void join(cairn_yaml_node *root, cairn_yaml_node *included)
{
    cairn_yaml_node *next;
    for (cairn_yaml_node *n = included->first; n; n = next) {
        cairn_yaml_node *own = (cairn_yaml_node *)cairn_yaml_find(root, n->key);
        next = n->next;
        if (strcmp(n->key, "include") == 0)
            continue;
        if (!own)
            cairn_yaml_append(root, n);
        else if (own->kind == n->kind && own->kind != CAIRN_YAML_SCALAR)
            prepend(own, n);
        else if (cairn_yaml_is_null(own) && !cairn_yaml_is_null(n)) {
            *own = (cairn_yaml_node){ .kind = n->kind, .parent = root, .next = own->next };
            own->key = n->key;
            own->file = n->file;
            own->text = n->text;
            own->quoted = n->quoted;
            own->line = n->line;
            own->column = n->column;
            prepend(own, n);
        }
    }
}

static cairn_status include_all(cairn_scene_build *b, cairn_yaml_node *root, const level *above,
                                cairn_scene_text *record);

/* Refuse a file that includes itself, by any number of steps. */
static cairn_status refuse_cycle(cairn_scene_build *b, const cairn_yaml_node *node,
                                 const level *here)
{
    if (here->depth > MOST_LEVELS)
        return cairn_yaml_fail(node, NULL, b->error,
                               "includes are nested too deeply, expected at most %d levels",
                               MOST_LEVELS);
    for (const level *l = here->above; l; l = l->above)
        if (strcmp(l->real, here->real) == 0)
            return cairn_yaml_fail(node, NULL, b->error,
                                   "'%.60s' includes itself, expected no such circle", node->text);
    return CAIRN_OK;
}

/* Count a file, of `bytes`; it is counted before it becomes nodes. */
static cairn_status count_file(cairn_scene_build *b, const cairn_yaml_node *node, included_sum *sum,
                               size_t bytes)
{
    sum->files++;
    sum->bytes += bytes;
    if (sum->files > MOST_INCLUDES)
        return cairn_yaml_fail(node, NULL, b->error,
                               "the scene includes more than %d files, each counted as often as it "
                               "is included",
                               MOST_INCLUDES);
    if (sum->bytes > (size_t)MOST_MIB << 20)
        return cairn_yaml_fail(node, NULL, b->error,
                               "the files that the scene includes have more than %d MiB together",
                               MOST_MIB);
    return CAIRN_OK;
}

/* The text of an included file as comments, for the copy of the scene in the run folder. */
static cairn_status note_text(cairn_scene_build *b, cairn_scene_text *record, const char *name,
                              const char *text)
{
    bool open = record->length > 0 && record->text[record->length - 1] != '\n';
    TRY(cairn_scene_text_add(b, record, open ? "\n# include " : "# include ", SIZE_MAX));
    TRY(cairn_scene_text_add(b, record, name, SIZE_MAX));
    TRY(cairn_scene_text_add(b, record, "\n", 1));
    while (*text) {
        size_t length = strcspn(text, "\n");
        TRY(cairn_scene_text_add(b, record, "#   ", 4));
        TRY(cairn_scene_text_add(b, record, text, length));
        TRY(cairn_scene_text_add(b, record, "\n", 1));
        text += length + (text[length] == '\n');
    }
    return CAIRN_OK;
}

/* Parse a file into nodes of the same tree, which bounds the number of nodes of all files. */
static cairn_status parse_included(cairn_scene_build *b, const cairn_yaml_node *node,
                                   const level *here, cairn_scene_text *record,
                                   cairn_yaml_node **out)
{
    cairn_scene_text text = { 0 };
    cairn_yaml_node *root = b->tree.root;
    cairn_status status = cairn_scene_text_read(b, here->path, &text);
    if (status == CAIRN_OK)
        status = count_file(b, node, here->sum, text.length);
    if (status == CAIRN_OK)
        status = cairn_yaml_parse(&b->tree, text.text, text.length, here->path, b->error);
    *out = b->tree.root;
    b->tree.root = root;
    if (status == CAIRN_OK)
        status = note_text(b, record, node->text, text.text);
    cairn_memory_free(text.text);
    TRY(status);
    if (!*out || *out == root)
        return cairn_yaml_fail(node, NULL, b->error, "'%.60s' is empty, expected a scene",
                               node->text);
    if ((*out)->kind != CAIRN_YAML_MAPPING)
        return cairn_yaml_fail(*out, NULL, b->error, "expected a scene, which is a mapping");
    return cairn_scene_check_version(b, *out);
}

static cairn_status include_one(cairn_scene_build *b, cairn_yaml_node *root,
                                const cairn_yaml_node *node, const level *above,
                                cairn_scene_text *record)
{
    level here = { .above = above, .sum = above->sum, .depth = above->depth + 1 };
    cairn_yaml_node *included = NULL;
    TRY(cairn_scene_find_file(b, node, here.path));
    if (!realpath(here.path, here.real))
        snprintf(here.real, sizeof here.real, "%s", here.path); /* reading it says what is wrong */
    TRY(refuse_cycle(b, node, &here));
    TRY(parse_included(b, node, &here, record, &included));
    TRY(include_all(b, included, &here, record));
    join(root, included);
    return CAIRN_OK;
}

/* The last file comes first, because each is put in front of what is there. */
static cairn_status include_list(cairn_scene_build *b, cairn_yaml_node *root,
                                 const cairn_yaml_node *n, const level *above,
                                 cairn_scene_text *record)
{
    if (!n)
        return CAIRN_OK;
    TRY(include_list(b, root, n->next, above, record));
    return include_one(b, root, n, above, record);
}

static cairn_status include_all(cairn_scene_build *b, cairn_yaml_node *root, const level *above,
                                cairn_scene_text *record)
{
    enum { MOST_FILES = 64 }; /* include_list recurses */
    const cairn_yaml_node *node = cairn_yaml_find(root, "include");
    if (!node || cairn_yaml_is_null(node))
        return CAIRN_OK;
    if (node->kind == CAIRN_YAML_SCALAR)
        return include_one(b, root, node, above, record);
    TRY(cairn_scene_check_list(b, node, "files"));
    if (node->count > MOST_FILES)
        return cairn_yaml_fail(node, NULL, b->error, "found %d files, expected at most %d",
                               node->count, MOST_FILES);
    return include_list(b, root, node->first, above, record);
}

cairn_status cairn_scene_include(cairn_scene_build *b, cairn_scene_text *record)
{
    included_sum sum = { 0 };
    level top = { .sum = &sum };
    if (b->tree.root->kind != CAIRN_YAML_MAPPING)
        return CAIRN_OK; /* refused later, with a message of its own */
    if (!realpath(b->tree.root->file, top.real))
        snprintf(top.real, sizeof top.real, "%s", b->tree.root->file);
    return include_all(b, b->tree.root, &top, record);
}

/* ---- parameters ----------------------------------------------------------------------------- */

/* The parameters known so far. Texts have no value; they may only be used as a whole. */
typedef struct parameters {
    int count;
    const char *names[MOST_PARAMETERS];
    const cairn_yaml_node *nodes[MOST_PARAMETERS];
    double values[MOST_PARAMETERS]; /* NaN: a text */
    bool used[MOST_PARAMETERS];
} parameters;

/* A scalar while its parameters are put in. */
typedef struct scalar {
    char text[MOST_TEXT];
    size_t length;
    bool whole;   /* it consists of a single reference and is as good as a plain scalar */
    bool changed; /* there was a reference */
} scalar;

static bool starts_name(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (starts_name(text[length]) || (length > 0 && cairn_is_digit(text[length])))
        length++;
    return length;
}

/* An error at an offset within a scalar. A quoted one begins after its quote; in blocks of lines
 * the column is that of the block. */
static cairn_status fail_within(cairn_scene_build *b, const cairn_yaml_node *node, size_t offset,
                                const char *message)
{
    cairn_status status = cairn_yaml_fail(node, NULL, b->error, "%s", message);
    if (node->line > 0)
        b->error->column += (int)offset + node->quoted;
    return status;
}

static cairn_status add_text(cairn_scene_build *b, const cairn_yaml_node *node, scalar *s,
                             const char *text, size_t length)
{
    if (s->length + length + 1 > sizeof s->text)
        return cairn_yaml_fail(node, NULL, b->error, "the text is longer than %d bytes",
                               MOST_TEXT - 1);
    memcpy(s->text + s->length, text, length);
    s->length += length;
    s->text[s->length] = '\0';
    return CAIRN_OK;
}

/* The parameter of that name; -1 if there is none. */
static int find_parameter(const parameters *p, const char *name, size_t length)
{
    int i = p->count - 1;
    while (i >= 0 && (strlen(p->names[i]) != length || strncmp(p->names[i], name, length) != 0))
        i--;
    return i;
}

static cairn_status unknown_parameter(cairn_scene_build *b, const cairn_yaml_node *node,
                                      size_t offset, const parameters *p)
{
    const cairn_scene_words known = { p->names, p->count, "the scene has none" };
    char message[500], word[NAME_BYTES];
    const char *name = node->text + offset;
    snprintf(word, sizeof word, "%.*s", (int)name_length(name), name);
    cairn_scene_unknown("parameter", word, &known, message, sizeof message);
    return fail_within(b, node, offset, message);
}

/* $name: the text of the parameter as it is. */
static cairn_status put_name(cairn_scene_build *b, const cairn_yaml_node *node, size_t *at,
                             parameters *p, scalar *s)
{
    size_t length = name_length(node->text + *at);
    int i = find_parameter(p, node->text + *at, length);
    if (i < 0)
        return unknown_parameter(b, node, *at, p);
    p->used[i] = true;
    *at += length;
    return add_text(b, node, s, p->nodes[i]->text, strlen(p->nodes[i]->text));
}

/* Mark the parameters of a formula as used; refuse those that are texts. Names of functions are not
 * among them, and neither is the e of 1e-3. */
static cairn_status use_names(cairn_scene_build *b, const cairn_yaml_node *node, size_t offset,
                              size_t end, parameters *p)
{
    for (size_t at = offset; at < end;) {
        double number;
        size_t digits = cairn_number_read(node->text + at, &number);
        size_t length = digits ? digits : name_length(node->text + at);
        int i = digits || length == 0 ? -1 : find_parameter(p, node->text + at, length);
        if (i >= 0 && isnan(p->values[i]))
            return fail_within(b, node, at, "this parameter is a text, expected a number");
        if (i >= 0)
            p->used[i] = true;
        at += length > 0 ? length : 1;
    }
    return CAIRN_OK;
}

/* The value of the formula between two offsets. */
static cairn_status evaluate(cairn_scene_build *b, const cairn_yaml_node *node, size_t offset,
                             size_t end, parameters *p, double *out)
{
    char formula[MOST_TEXT];
    cairn_error said = { 0 };
    cairn_expression *expression;
    if (end - offset >= sizeof formula)
        return fail_within(b, node, offset, "the formula is too long");
    memcpy(formula, node->text + offset, end - offset);
    formula[end - offset] = '\0';
    TRY(use_names(b, node, offset, end, p));
    cairn_status status = cairn_expression_parse(formula, p->names, p->count, &expression, &said);
    if (status == CAIRN_NO_MEMORY)
        return cairn_scene_no_memory(b);
    if (status != CAIRN_OK)
        return fail_within(b, node, offset + (size_t)(said.column > 0 ? said.column - 1 : 0),
                           said.message);
    *out = cairn_expression_value(expression, p->values);
    cairn_expression_destroy(expression);
    return isfinite(*out)
               ? CAIRN_OK
               : fail_within(b, node, offset, "the value of this formula is not a finite number");
}

/* $(formula): the end is the parenthesis that closes the first one. */
static cairn_status put_formula(cairn_scene_build *b, const cairn_yaml_node *node, size_t *at,
                                parameters *p, scalar *s)
{
    size_t begin = *at + 1, end = *at;
    int open = 0;
    double value = 0;
    char number[32];
    do {
        open += node->text[end] == '(';
        open -= node->text[end] == ')';
        end++;
    } while (open > 0 && node->text[end]);
    if (open > 0)
        return fail_within(b, node, *at, "found '(' without ')', expected $(formula)");
    TRY(evaluate(b, node, begin, end - 1, p, &value));
    cairn_number_text(value, number);
    *at = end;
    return add_text(b, node, s, number, strlen(number));
}

/* The text with all references replaced. */
static cairn_status fill_in(cairn_scene_build *b, const cairn_yaml_node *node, parameters *p,
                            scalar *s)
{
    const char *text = node->text;
    size_t at = 0;
    s->length = 0;
    s->text[0] = '\0';
    s->changed = s->whole = false;
    while (text[at]) {
        size_t start = at, plain = strcspn(text + at, "$");
        char next = text[at + plain] ? text[at + plain + 1] : '\0';
        bool name = starts_name(next), formula = next == '(', dollar = next == '$';
        TRY(add_text(b, node, s, text + at, plain + (dollar || (next && !name && !formula))));
        at += plain;
        if (!text[at])
            break;
        at += dollar ? 2 : 1;
        s->changed = s->changed || name || formula || dollar;
        if (name)
            TRY(put_name(b, node, &at, p, s));
        else if (formula)
            TRY(put_formula(b, node, &at, p, s));
        else if (!next)
            TRY(add_text(b, node, s, "$", 1));
        s->whole = (name || formula) && start == 0 && plain == 0 && !text[at];
    }
    return CAIRN_OK;
}

/* Replace the references of one scalar. What was "$width" is a number afterwards, also where quotes
 * were needed to write it. */
static cairn_status resolve(cairn_scene_build *b, cairn_yaml_node *node, parameters *p)
{
    scalar s;
    if (!strchr(node->text, '$'))
        return CAIRN_OK;
    TRY(fill_in(b, node, p, &s));
    if (!s.changed)
        return CAIRN_OK;
    node->text = cairn_yaml_text(&b->tree, s.text, s.length);
    node->quoted = node->quoted && !s.whole;
    return node->text ? CAIRN_OK : cairn_scene_no_memory(b);
}

/* The depth of a tree is bounded, see yaml.c. */
static cairn_status resolve_tree(cairn_scene_build *b, cairn_yaml_node *node, parameters *p)
{
    if (node->kind == CAIRN_YAML_SCALAR)
        return resolve(b, node, p);
    for (cairn_yaml_node *n = node->first; n; n = n->next)
        TRY(resolve_tree(b, n, p));
    return CAIRN_OK;
}

/* One parameter. It may use those before it. */
static cairn_status read_parameter(cairn_scene_build *b, cairn_yaml_node *node, parameters *p)
{
    char found[80];
    size_t length = name_length(node->key);
    cairn_yaml_describe(node, found, sizeof found);
    if (length == 0 || node->key[length] || length >= NAME_BYTES)
        return cairn_yaml_fail_key(
            node, b->error,
            "found '%.60s', expected a name of at most 63 letters, digits and _, "
            "which does not begin with a digit",
            node->key);
    if (node->kind != CAIRN_YAML_SCALAR || cairn_yaml_is_null(node))
        return cairn_yaml_fail(node, NULL, b->error, "found %s, expected a number or a text",
                               found);
    if (p->count == MOST_PARAMETERS)
        return cairn_yaml_fail_key(node, b->error, "expected at most %d parameters",
                                   MOST_PARAMETERS);
    TRY(resolve(b, node, p));
    p->names[p->count] = node->key;
    p->nodes[p->count] = node;
    if (!cairn_yaml_real(node, &p->values[p->count]))
        p->values[p->count] = NAN;
    p->count++;
    return CAIRN_OK;
}

/* Unless `strict`, only those that an override sets: it would have no effect. */
static cairn_status refuse_unused(cairn_scene_build *b, const parameters *p, bool strict)
{
    for (int i = 0; i < p->count; i++)
        if (!p->used[i] && (strict || p->nodes[i]->line == 0))
            return cairn_yaml_fail_key(p->nodes[i], b->error,
                                       "the parameter '%s' is used nowhere, expected $%s in some "
                                       "value",
                                       p->names[i], p->names[i]);
    return CAIRN_OK;
}

static cairn_status read_parameters(cairn_scene_build *b, const cairn_yaml_node *list,
                                    parameters *p, bool strict)
{
    if (list->kind != CAIRN_YAML_MAPPING)
        return cairn_yaml_fail(list, NULL, b->error, "expected a mapping from names to values");
    for (cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_parameter(b, n, p));
    for (cairn_yaml_node *n = b->tree.root->first; n; n = n->next)
        if (n != list)
            TRY(resolve_tree(b, n, p));
    return refuse_unused(b, p, strict);
}

cairn_status cairn_scene_resolve(cairn_scene_build *b, bool strict)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "parameters");
    if (!list || cairn_yaml_is_null(list))
        return CAIRN_OK;
    parameters *p = cairn_memory_zeroed(1, sizeof *p);
    if (!p)
        return cairn_scene_no_memory(b);
    cairn_status status = read_parameters(b, list, p, strict);
    cairn_memory_free(p);
    return status;
}

/* Only parameters that the scene has can be set: a new one would have no effect. */
cairn_status cairn_scene_check_parameter(cairn_scene_build *b, const char *assignment)
{
    const char *names[MOST_PARAMETERS], prefix[] = "parameters.";
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "parameters");
    int count = 0;
    if (strncmp(assignment, prefix, sizeof prefix - 1) != 0)
        return CAIRN_OK;
    const char *name = assignment + sizeof prefix - 1;
    size_t length = strcspn(name, "=");
    for (const cairn_yaml_node *n = list ? list->first : NULL; n && n->key; n = n->next) {
        if (strlen(n->key) == length && strncmp(n->key, name, length) == 0)
            return CAIRN_OK;
        if (count < MOST_PARAMETERS)
            names[count++] = n->key;
    }
    const cairn_scene_words known = { names, count, "the scene has none" };
    char word[NAME_BYTES], key[sizeof prefix + NAME_BYTES], message[500];
    snprintf(word, sizeof word, "%.*s", (int)(length < NAME_BYTES ? length : NAME_BYTES - 1), name);
    snprintf(key, sizeof key, "%s%s", prefix, word);
    snprintf(b->error->file, sizeof b->error->file, "--set");
    cairn_scene_unknown("parameter", word, &known, message, sizeof message);
    return cairn_fail(b->error, CAIRN_BAD_INPUT, key, "%s", message);
}

/* record.c - reads mappings into option structs through their tables, and reports precisely what
 * is wrong with those that it refuses.
 *
 * Most messages have the form "found X, expected Y", with the place of the value: file, line,
 * column and dotted key. The first error ends the reading; messages are never collected, since
 * later ones are often consequences of the first. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "scene/stages.h"

/* MAX_KNOWN is the room for the keys of one mapping, or the names of one choice; it must exceed
 * every table, because a key that does not fit would be called unknown. */
enum { MAX_KNOWN = 128, NAME_LENGTH = 63 };

/* ---- keys ---------------------------------------------------------------------------------- */

/* Append the names of a table; the table may be NULL. Returns the new count. */
static int add_record(const cairn_record *record, const char **names, int count)
{
    for (int i = 0; record && i < record->option_count && count < MAX_KNOWN; i++)
        names[count++] = record->options[i].name;
    return count;
}

/* All keys that a mapping may have, ending with NULL. */
static void known_keys(const cairn_scene_keys *keys, const char *names[MAX_KNOWN + 1])
{
    int count = add_record(keys->record, names, 0);
    count = add_record(keys->second, names, count);
    for (int i = 0; i < keys->further_count && count < MAX_KNOWN; i++)
        names[count++] = keys->further[i].name;
    names[count] = NULL;
}

/* The number of names before the final NULL. */
static int count_words(const char *const *words)
{
    int count = 0;
    while (words[count])
        count++;
    return count;
}

cairn_status cairn_scene_fail_word(cairn_scene_build *b, const cairn_yaml_node *node, bool at_key,
                                   const char *noun, const char *const *known)
{
    const cairn_scene_words words = { known, count_words(known), "none has a name" };
    char message[500];
    cairn_scene_unknown(noun, at_key ? node->key : node->text, &words, message, sizeof message);
    return at_key ? cairn_yaml_fail_key(node, b->error, "%s", message)
                  : cairn_yaml_fail(node, NULL, b->error, "%s", message);
}

static bool is_known(const char *const *names, const char *word)
{
    while (*names && strcmp(*names, word) != 0)
        names++;
    return *names != NULL;
}

/* A missing key has no position of its own: the error is at the mapping, with the key appended. */
static cairn_status missing(cairn_scene_build *b, const cairn_yaml_node *mapping, const char *name,
                            const char *expected)
{
    return cairn_yaml_fail(mapping, name, b->error, "the key '%s' is missing: %s", name, expected);
}

/* The error says what kind of value is expected, so that the user need not look it up. */
static cairn_status check_required(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                   const cairn_record *record)
{
    for (int i = 0; record && i < record->option_count; i++) {
        const cairn_option *option = &record->options[i];
        if (!option->required || cairn_yaml_find(mapping, option->name))
            continue;
        char expected[200];
        cairn_option_expectation(option, expected, sizeof expected);
        return missing(b, mapping, option->name, expected);
    }
    return CAIRN_OK;
}

cairn_status cairn_scene_check_keys(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                    const cairn_scene_keys *keys)
{
    char found[80], list[200];
    const char *known[MAX_KNOWN + 1];
    known_keys(keys, known);
    if (mapping->kind != CAIRN_YAML_MAPPING && !cairn_yaml_is_null(mapping)) {
        cairn_yaml_describe(mapping, found, sizeof found);
        cairn_scene_join(known, count_words(known), list, sizeof list);
        return cairn_yaml_fail(mapping, NULL, b->error, "found %s, expected a mapping%s%s", found,
                               list[0] ? " with some of the keys " : "", list);
    }
    /* unknown keys come first: a required key that is misspelt is better reported as such */
    for (const cairn_yaml_node *n = mapping->first; n; n = n->next)
        if (!is_known(known, n->key)) {
            TRY(cairn_yaml_refuse_comma(n, b->error));
            return cairn_scene_fail_word(b, n, true, "key", known);
        }
    TRY(check_required(b, mapping, keys->record));
    TRY(check_required(b, mapping, keys->second));
    for (int i = 0; i < keys->further_count; i++)
        if (keys->further[i].required && !cairn_yaml_find(mapping, keys->further[i].name))
            return missing(b, mapping, keys->further[i].name, keys->further[i].text);
    return CAIRN_OK;
}

/* ---- values -------------------------------------------------------------------------------- */

/* "found X, expected ...", where the table says what was expected. An entry of a list is
 * described as one value. */
static cairn_status unexpected(cairn_scene_build *b, const cairn_yaml_node *node,
                               const cairn_option *option)
{
    char found[80], expected[400];
    cairn_option one = *option;
    if (!node->key) /* an entry of a list */
        one.type = one.type == CAIRN_OPTION_NAMES ? CAIRN_OPTION_NAME : CAIRN_OPTION_REAL;
    cairn_yaml_describe(node, found, sizeof found);
    cairn_option_expectation(&one, expected, sizeof expected);
    return cairn_yaml_fail(node, NULL, b->error, "found %s, expected %s", found, expected);
}

/* ---- functions of time ---------------------------------------------------------------------- */

/* A word that is no name in a formula, such as `high`: more likely a mistake than an expression. */
static bool is_lone_word(const cairn_yaml_node *node)
{
    return strcmp(node->text, "t") != 0 && strcmp(node->text, "pi") != 0 &&
           cairn_is_word(node->text) && !isdigit((unsigned char)node->text[0]);
}

/* The error of an expression has its place within the text; that of the text in the file is known.
 * A quotation mark before the text takes a column of its own. */
static cairn_status blame_expression(cairn_scene_build *b, const cairn_yaml_node *node,
                                     cairn_status status, const cairn_error *said)
{
    if (status == CAIRN_NO_MEMORY)
        return cairn_scene_no_memory(b);
    cairn_yaml_fail(node, NULL, b->error, "in the expression '%.80s': %s", node->text,
                    said->message);
    bool first = said->line <= 1;
    b->error->line += first ? 0 : said->line - 1;
    b->error->column = (first ? b->error->column + node->quoted : 1) + said->column - 1;
    return status;
}

static cairn_status read_expression(cairn_scene_build *b, const cairn_yaml_node *node,
                                    cairn_function *out)
{
    cairn_error said = { 0 };
    *out = cairn_function_default(CAIRN_FUNCTION_EXPRESSION);
    TRY(cairn_scene_keep_text(b, node->text, &out->text));
    cairn_status status = cairn_function_check(out, &said);
    return status == CAIRN_OK ? CAIRN_OK : blame_expression(b, node, status, &said);
}

/* Every number that may vary can be given in the same ways. */
cairn_status cairn_scene_read_function(cairn_scene_build *b, const cairn_yaml_node *node,
                                       cairn_function *out)
{
    const cairn_yaml_node *value;
    cairn_error said = { 0 };
    int kind;
    *out = cairn_function_default(CAIRN_FUNCTION_CONSTANT);
    if (cairn_yaml_real(node, &out->value))
        return cairn_scene_blame(b, cairn_function_check(out, &said), node, &said);
    if (node->kind == CAIRN_YAML_SCALAR && !cairn_yaml_is_null(node) && node->text[0])
        return read_expression(b, node, out);
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_functions, &kind, &value));
    *out = cairn_function_default((cairn_function_kind)kind);
    TRY(cairn_scene_read_options(b, value, cairn_function_record(kind), out));
    return cairn_scene_blame(b, cairn_function_check(out, &said), value, &said);
}

/* A function in place of a number: it is kept until its object exists. The number is its value at
 * the start, which must be in the range of the option. */
static cairn_status read_varying(cairn_scene_build *b, const cairn_yaml_node *node,
                                 const cairn_option *option, double *out)
{
    bool scalar = node->kind == CAIRN_YAML_SCALAR;
    if (cairn_yaml_is_null(node) || (scalar && (is_lone_word(node) || cairn_yaml_comma(node))) ||
        node->kind == CAIRN_YAML_LIST || b->varying_count == CAIRN_SCENE_MOST_VARYING)
        return unexpected(b, node, option);
    cairn_scene_varying *v = &b->varying[b->varying_count];
    TRY(cairn_scene_read_function(b, node, &v->function));
    double start = cairn_function_value(&v->function, 0);
    /* a function may be 0 where a number must be greater */
    double least = option->minimum == CAIRN_POSITIVE ? 0 : option->minimum;
    if (!(start >= least && start <= option->maximum)) {
        char expected[200];
        cairn_option_expectation(option, expected, sizeof expected);
        return cairn_yaml_fail(node, NULL, b->error, "its value at t = 0 is %g, expected %s", start,
                               expected);
    }
    v->node = node;
    v->part = b->part;
    b->varying_count++;
    *out = fmax(start, option->minimum);
    return CAIRN_OK;
}

cairn_status cairn_scene_vary(cairn_scene_build *b, const cairn_varied *what, int index)
{
    cairn_world *world = b->scene->world;
    int count = b->varying_count;
    b->varying_count = 0;
    for (int i = 0; i < count; i++) {
        const cairn_scene_varying *v = &b->varying[i];
        cairn_status status = cairn_world_vary(world, what[v->part], index, &v->function);
        TRY(cairn_scene_blame(b, status, v->node, cairn_world_error(world)));
    }
    return CAIRN_OK;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* One number of an option, within its range. The comparison is written so that NaN fails it. */
static cairn_status read_number(cairn_scene_build *b, const cairn_yaml_node *node,
                                const cairn_option *option, double *out)
{
    double number;
    if (!cairn_yaml_real(node, &number)) {
        bool varies =
            option->type == CAIRN_OPTION_VARYING || option->type == CAIRN_OPTION_VARYING_VECTOR;
        return varies ? read_varying(b, node, option, out) : unexpected(b, node, option);
    }
    if (!(number >= option->minimum && number <= option->maximum)) {
        unexpected(b, node, option);
        /* same message, but the status tells NaN and infinity from a number out of range */
        return isfinite(number) ? CAIRN_BAD_INPUT : CAIRN_NOT_FINITE;
    }
    *out = number;
    return cairn_scene_doubt_number(b, node, option, number);
}

/* Compared as doubles, the type of the ranges in the tables; large bounds need not be exact. */
static cairn_status read_integer(cairn_scene_build *b, const cairn_yaml_node *node,
                                 const cairn_option *option, int64_t *out)
{
    int64_t number;
    if (!cairn_yaml_integer(node, &number) || (double)number < option->minimum ||
        (double)number > option->maximum)
        return unexpected(b, node, option);
    *out = number;
    return CAIRN_OK;
}

/* true or false only: 1, yes and on are refused, as in YAML 1.2. */
static cairn_status read_flag(cairn_scene_build *b, const cairn_yaml_node *node,
                              const cairn_option *option, bool *out)
{
    return cairn_yaml_flag(node, out) ? CAIRN_OK : unexpected(b, node, option);
}

/* Words that a user invents must outlive the tree; names of a table are static and need no copy. */
static cairn_status keep_word(cairn_scene_build *b, const char *word, const char **out)
{
    size_t bytes = strlen(word) + 1;
    char *copy = cairn_arena_take(b->arena, bytes, 1);
    if (!copy)
        return cairn_scene_no_memory(b);
    *out = memcpy(copy, word, bytes);
    return CAIRN_OK;
}

/* A name of the option's choices, as the pointer that the table has. Options of type WORD accept
 * other words as well. */
static cairn_status read_option_name(cairn_scene_build *b, const cairn_yaml_node *node,
                                     const cairn_option *option, const char **out)
{
    const char *known[MAX_KNOWN + 1];
    int count = 0;
    if (node->kind != CAIRN_YAML_SCALAR || cairn_yaml_is_null(node))
        return unexpected(b, node, option);
    for (; count < MAX_KNOWN && option->choice(count); count++) {
        known[count] = option->choice(count);
        if (strcmp(known[count], node->text) == 0) {
            *out = known[count];
            return CAIRN_OK;
        }
    }
    known[count] = NULL;
    if (option->type == CAIRN_OPTION_WORD && cairn_is_word(node->text))
        return keep_word(b, node->text, out);
    return cairn_scene_fail_word(b, node, false, option->name, known);
}

/* A list of names without repetition. Comparing pointers is enough: names come from one table. */
static cairn_status read_names(cairn_scene_build *b, const cairn_yaml_node *node,
                               const cairn_option *option, cairn_names *out)
{
    cairn_names names = { .count = 0 };
    if (node->kind != CAIRN_YAML_LIST)
        return unexpected(b, node, option);
    for (const cairn_yaml_node *n = node->first; n; n = n->next) {
        const char *name = NULL;
        TRY(read_option_name(b, n, option, &name));
        for (int i = 0; i < names.count; i++)
            if (names.items[i] == name)
                return cairn_yaml_fail(n, NULL, b->error, "found %s twice, expected it once", name);
        if (names.count == CAIRN_MOST_NAMES)
            return cairn_yaml_fail(n, NULL, b->error, "expected at most %d names",
                                   CAIRN_MOST_NAMES);
        names.items[names.count++] = name;
    }
    *out = names;
    return CAIRN_OK;
}

/* The number of components depends on the dimension, so the message states it. */
static cairn_status wrong_length(cairn_scene_build *b, const cairn_yaml_node *node,
                                 const cairn_option *option, const char *wanted)
{
    char found[80];
    cairn_yaml_describe(node, found, sizeof found);
    return cairn_yaml_fail(node, NULL, b->error, "found %s, expected %s%s%s in %dD%s", found,
                           wanted, option->unit[0] ? " in " : "", option->unit, b->dimension,
                           cairn_yaml_has_commas(node, b->dimension)
                               ? "; the decimal mark is a point, as in 0.5"
                               : "");
}

/* In 2D rotation is about z: one number, or three with x = y = 0. */
static cairn_status read_angular_2d(cairn_scene_build *b, const cairn_yaml_node *node,
                                    const cairn_option *option, cairn_vec3 *out)
{
    if (node->kind == CAIRN_YAML_SCALAR)
        return read_number(b, node, option, &out->z);
    if (node->kind != CAIRN_YAML_LIST || node->count != 3)
        return wrong_length(b, node, option, "a number (about z)");
    const cairn_yaml_node *x = node->first, *y = x->next;
    cairn_vec3 turn = { 0, 0, 0 };
    TRY(read_number(b, x, option, &turn.x));
    TRY(read_number(b, y, option, &turn.y));
    TRY(read_number(b, y->next, option, &turn.z));
    const cairn_yaml_node *wrong = turn.x != 0 ? x : turn.y != 0 ? y : NULL;
    if (wrong)
        return cairn_yaml_fail(wrong, NULL, b->error, "found %s, expected 0 in 2D", wrong->text);
    *out = turn;
    return CAIRN_OK;
}

/* In 2D two numbers. A third one is accepted if it is 0 or equal to the default. *out holds the
 * default before the call. */
static cairn_status read_vector(cairn_scene_build *b, const cairn_yaml_node *node,
                                const cairn_option *option, cairn_vec3 *out)
{
    bool flat = b->dimension == 2;
    if (flat && cairn_scene_is_angular(option))
        return read_angular_2d(b, node, option, out);
    if (node->kind != CAIRN_YAML_LIST || (node->count != 3 && !(flat && node->count == 2)))
        return wrong_length(b, node, option,
                            flat ? "a list of 2 numbers, x and y,"
                                 : "a list of 3 numbers, x, y and z,");
    cairn_vec3 v = *out;
    const cairn_yaml_node *x = node->first, *y = x->next, *z = y->next;
    b->part = 0;
    TRY(read_number(b, x, option, &v.x));
    b->part = 1;
    TRY(read_number(b, y, option, &v.y));
    b->part = 2;
    if (z)
        TRY(read_number(b, z, option, &v.z));
    b->part = 0;
    if (flat && v.z != 0 && v.z != out->z)
        return cairn_yaml_fail(z, NULL, b->error, "found %s, expected 0 in 2D", z->text);
    *out = v;
    return CAIRN_OK;
}

/* The numbers live in the arena of the scene. */
static cairn_status read_list(cairn_scene_build *b, const cairn_yaml_node *node,
                              const cairn_option *option, cairn_list *out)
{
    if (node->kind != CAIRN_YAML_LIST)
        return unexpected(b, node, option);
    double *values = cairn_arena_doubles(b->arena, (size_t)node->count);
    if (!values)
        return cairn_scene_no_memory(b);
    int count = 0;
    for (const cairn_yaml_node *n = node->first; n; n = n->next)
        TRY(read_number(b, n, option, &values[count++]));
    *out = (cairn_list){ values, count };
    return CAIRN_OK;
}

/* Read one option into its field; the type of the option says what the pointer is. */
static cairn_status read_field(cairn_scene_build *b, const cairn_yaml_node *node,
                               const cairn_option *option, void *field)
{
    switch (option->type) {
    case CAIRN_OPTION_REAL:
    case CAIRN_OPTION_VARYING:
        return read_number(b, node, option, field);
    case CAIRN_OPTION_FUNCTION:
        return cairn_scene_read_function(b, node, field);
    case CAIRN_OPTION_INTEGER:
        return read_integer(b, node, option, field);
    case CAIRN_OPTION_FLAG:
        return read_flag(b, node, option, field);
    case CAIRN_OPTION_VECTOR:
    case CAIRN_OPTION_VARYING_VECTOR:
        return read_vector(b, node, option, field);
    case CAIRN_OPTION_LIST:
        return read_list(b, node, option, field);
    case CAIRN_OPTION_NAME:
    case CAIRN_OPTION_WORD:
        return read_option_name(b, node, option, field);
    case CAIRN_OPTION_NAMES:
        return read_names(b, node, option, field);
    }
    return CAIRN_UNSUPPORTED;
}

/* The loop is over the table, not over the mapping: unknown keys have been refused before. */
cairn_status cairn_scene_read_record(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                     const cairn_record *record, void *options)
{
    for (int i = 0; i < record->option_count; i++) {
        const cairn_option *option = &record->options[i];
        const cairn_yaml_node *node = cairn_yaml_find(mapping, option->name);
        if (node)
            TRY(read_field(b, node, option, (char *)options + option->offset));
    }
    return CAIRN_OK;
}

/* ---- things by name ------------------------------------------------------------------------ */

cairn_status cairn_scene_read_choice(cairn_scene_build *b, const cairn_yaml_node *node,
                                     const cairn_scene_choice *choice, int *kind,
                                     const cairn_yaml_node **value)
{
    const char *known[MAX_KNOWN + 1];
    char found[80], list[300];
    int count = 0;
    /* {name: {...}} with exactly one key, or a bare name */
    bool mapping = node->kind == CAIRN_YAML_MAPPING && node->count == 1;
    bool word = node->kind == CAIRN_YAML_SCALAR && !cairn_yaml_is_null(node);
    /* a bare name has no node of options: cairn_scene_options_of makes an empty one */
    *value = mapping ? node->first : node;
    const char *name = mapping ? (*value)->key : node->text;
    for (; count < MAX_KNOWN && choice->at(count); count++) {
        known[count] = choice->at(count)->name;
        if ((mapping || word) && strcmp(known[count], name) == 0) {
            *kind = count;
            return CAIRN_OK;
        }
    }
    known[count] = NULL;
    cairn_yaml_describe(node, found, sizeof found);
    if (cairn_scene_form(node, choice, list, sizeof list))
        return cairn_yaml_fail(node, NULL, b->error, "found %s%s, expected a mapping like %s",
                               found, node->count > 1 ? " with several keys" : "", list);
    if (mapping || word)
        return cairn_scene_fail_word(b, *value, mapping, choice->noun, known);
    cairn_scene_join(known, count_words(known), list, sizeof list);
    return cairn_yaml_fail(node, NULL, b->error,
                           "found %s%s, expected %s %s as a mapping with one key, one of %s", found,
                           node->count > 1 ? " with several keys" : "",
                           strchr("aeiou", choice->noun[0]) ? "an" : "a", choice->noun, list);
}

/* A node by value: it has no children and lives only during the reading of one value. */
cairn_yaml_node cairn_scene_options_of(const cairn_yaml_node *node, const char *name)
{
    if (node->kind != CAIRN_YAML_SCALAR || !node->text || strcmp(node->text, name) != 0)
        return *node;
    return (cairn_yaml_node){ .kind = CAIRN_YAML_MAPPING,
                              .file = node->file,
                              .line = node->line,
                              .column = node->column,
                              .key = node->key,
                              .parent = node->parent };
}

cairn_status cairn_scene_read_options(cairn_scene_build *b, const cairn_yaml_node *node,
                                      const cairn_record *record, void *options)
{
    const cairn_scene_keys keys = { .record = record };
    const cairn_yaml_node given = cairn_scene_options_of(node, record->name);
    TRY(cairn_scene_check_keys(b, &given, &keys));
    return cairn_scene_read_record(b, &given, record, options);
}

/* Read a distribution: a number, which is the constant one, or {kind: {...}}. */
cairn_status cairn_scene_read_distribution(cairn_scene_build *b, const cairn_yaml_node *node,
                                           cairn_distribution *out)
{
    double value;
    int kind;
    const cairn_yaml_node *options;
    cairn_error said = { 0 };
    if (cairn_yaml_real(node, &value)) {
        *out = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
        out->value = value;
        said.key[0] = '\0';
        cairn_status status = cairn_distribution_check(out, &said);
        said.key[0] = '\0';
        return cairn_scene_blame(b, status, node, &said);
    }
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_distributions, &kind, &options));
    *out = cairn_distribution_default((cairn_distribution_kind)kind);
    const cairn_scene_keys keys = { .record = cairn_distribution_record(kind) };
    if (options->kind == CAIRN_YAML_SCALAR && !cairn_yaml_is_null(options))
        return cairn_yaml_fail(options, NULL, b->error,
                               "found '%.40s', expected a number or a mapping {%s: {...}}",
                               options->text, keys.record->name);
    TRY(cairn_scene_check_keys(b, options, &keys));
    TRY(cairn_scene_read_record(b, options, keys.record, out));
    return cairn_scene_blame(b, cairn_distribution_check(out, &said), options, &said);
}

/* Bytes of UTF-8 above 127 count as printable. */
static bool is_printable(const char *text)
{
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            return false;
    return true;
}

/* The description is made first, because it cuts long texts and replaces control characters. */
cairn_status cairn_scene_read_name(cairn_scene_build *b, const cairn_yaml_node *node,
                                   const char **out)
{
    char found[80];
    cairn_yaml_describe(node, found, sizeof found);
    if (node->kind != CAIRN_YAML_SCALAR || cairn_yaml_is_null(node) || !node->text[0])
        return cairn_yaml_fail(node, NULL, b->error, "found %s, expected a name", found);
    if (strlen(node->text) > NAME_LENGTH || !is_printable(node->text))
        return cairn_yaml_fail(node, NULL, b->error,
                               "found %s, expected a name of at most %d printable letters", found,
                               NAME_LENGTH);
    *out = node->text;
    return CAIRN_OK;
}

/* An empty value (`bodies:` with nothing after it) is an empty list. */
cairn_status cairn_scene_check_list(cairn_scene_build *b, const cairn_yaml_node *node,
                                    const char *of_what)
{
    char found[80];
    if (node->kind == CAIRN_YAML_LIST || cairn_yaml_is_null(node))
        return CAIRN_OK;
    cairn_yaml_describe(node, found, sizeof found);
    return cairn_yaml_fail(node, NULL, b->error, "found %s, expected a list of %s", found, of_what);
}

/* The error is at the second of the two keys in the arguments, wherever it is in the file. */
cairn_status cairn_scene_refuse_both(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                     const char *one, const char *other)
{
    const cairn_yaml_node *first = cairn_yaml_find(mapping, one);
    const cairn_yaml_node *second = cairn_yaml_find(mapping, other);
    if (!first || !second)
        return CAIRN_OK;
    /* what an override adds is told there, with the place of what it is added to */
    const cairn_yaml_node *set = first->line == 0 ? first : second->line == 0 ? second : NULL;
    const cairn_yaml_node *there = set == first ? second : first;
    if (set && there->line > 0)
        return cairn_yaml_fail_key(set, b->error,
                                   "found both '%s' and '%s', expected one of them; '%s' is in %s, "
                                   "line %d",
                                   one, other, there->key, there->file, there->key_line);
    return cairn_yaml_fail_key(second, b->error, "found both '%s' and '%s', expected one of them",
                               one, other);
}

cairn_status cairn_scene_keep_text(cairn_scene_build *b, const char *text, const char **out)
{
    size_t bytes = strlen(text) + 1;
    char *kept = cairn_arena_take(b->arena, bytes, 1);
    if (!kept)
        return cairn_scene_no_memory(b);
    *out = memcpy(kept, text, bytes);
    return CAIRN_OK;
}

/* ---- failures of the library --------------------------------------------------------------- */

cairn_status cairn_scene_no_memory(cairn_scene_build *b)
{
    return cairn_fail(b->error, CAIRN_NO_MEMORY, "", "out of memory");
}

/* The deepest node that a dotted key leads to, starting at `node`. */
static const cairn_yaml_node *follow(const cairn_yaml_node *node, const char *key)
{
    char part[sizeof((cairn_error *)0)->key];
    while (*key) {
        size_t length = strcspn(key, ".");
        memcpy(part, key, length);
        part[length] = '\0';
        const cairn_yaml_node *child = cairn_yaml_find(node, part);
        if (!child)
            break;
        node = child;
        key += length + (key[length] == '.');
    }
    return node;
}

cairn_status cairn_scene_blame(cairn_scene_build *b, cairn_status status,
                               const cairn_yaml_node *node, const cairn_error *said)
{
    cairn_error copy = *said; /* `said` may be b->error itself, which is overwritten below */
    cairn_scene_name_bodies(b->scene, said->message, copy.message, sizeof copy.message);
    if (status == CAIRN_OK)
        return CAIRN_OK;
    if (status == CAIRN_NO_MEMORY)
        return cairn_scene_no_memory(b);
    const cairn_yaml_node *place = follow(node, copy.key);
    cairn_yaml_fail(place, NULL, b->error, "%s",
                    copy.message[0] ? copy.message : cairn_status_text(status));
    /* a key that the file does not contain, such as one with a default, is appended to the path */
    size_t used = strlen(b->error->key);
    if (place == node && copy.key[0])
        snprintf(b->error->key + used, sizeof b->error->key - used, "%s%s", used ? "." : "",
                 copy.key);
    return status;
}

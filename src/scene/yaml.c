/* yaml.c - builds a tree from the events of libyaml, and reads its values; see yaml.h.
 *
 * Scene files may come from anywhere, so a hostile text must not exhaust memory or stack: depth,
 * number of values, values copied by aliases ("billion laughs") and anchors are all bounded. */
#include "scene/yaml.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/common.h"
#include "base/memory.h"

enum {
    /* copying, measuring height and printing paths recurse, so the depth bounds the stack */
    MAX_DEPTH = 32,
    MAX_NODES = 4000000,
    MAX_COPIES = 200000, /* values that aliases may add */
    MAX_ANCHORS = 1000,
    MAX_MERGED = 1000, /* keys of a mapping with a merge key: merging takes quadratic time */
    SLAB = 64,         /* nodes per allocation */
    LETTER_SLAB = 4096 /* bytes per allocation of texts */
};

/* A named node that aliases may refer to. A later anchor of the same name hides an earlier one. */
typedef struct anchor {
    const char *name;
    const cairn_yaml_node *node;
} anchor;

/* The state between two events. libyaml reports a text as a sequence of events (scalar, alias,
 * start and end of a mapping or list); `current` and `key` say where the next value belongs.
 * The number of anchors is bounded, so they are searched linearly. */
typedef struct builder {
    cairn_yaml *tree;
    yaml_parser_t *parser;
    cairn_yaml_node *root, *current; /* the top node; the innermost open collection, NULL outside */
    const char *file, *text;
    size_t length;
    bool marked;     /* positions are meaningful: false for overrides */
    const char *key; /* a key whose value has not come yet; NULL: none */
    int key_line, key_column;
    int depth, documents, anchor_count;
    int64_t copies; /* nodes that aliases have added */
    anchor anchors[MAX_ANCHORS];
    const char *open_anchor[MAX_DEPTH + 1]; /* anchors of the open collections, by depth */
    cairn_error *error;
} builder;

/* ---- nodes and texts ----------------------------------------------------------------------- */

/* Nodes are taken from the arena in slabs, because a large scene has up to millions of them. */
cairn_yaml_node *cairn_yaml_node_create(cairn_yaml *tree, cairn_yaml_kind kind)
{
    if (tree->spare_count == 0) {
        tree->spare = cairn_arena_take(&tree->arena, SLAB, sizeof *tree->spare);
        if (!tree->spare)
            return NULL;
        tree->spare_count = SLAB;
    }
    tree->spare_count--;
    tree->nodes++;
    cairn_yaml_node *node = tree->spare++;
    *node = (cairn_yaml_node){ .kind = kind };
    return node;
}

/* Texts are packed into blocks; a text longer than a block gets one of its own. What remains of
 * the old block is not used any more, but belongs to the arena. */
const char *cairn_yaml_text(cairn_yaml *tree, const char *text, size_t length)
{
    if (tree->letter_count < length + 1) {
        size_t wanted = length + 1 > LETTER_SLAB ? length + 1 : LETTER_SLAB;
        tree->letters = cairn_arena_take(&tree->arena, wanted, 1);
        tree->letter_count = tree->letters ? wanted : 0;
        if (!tree->letters)
            return NULL;
    }
    char *copy = tree->letters;
    memcpy(copy, text, length);
    copy[length] = '\0';
    tree->letters += length + 1;
    tree->letter_count -= length + 1;
    return copy;
}

void cairn_yaml_append(cairn_yaml_node *parent, cairn_yaml_node *child)
{
    child->parent = parent;
    child->next = NULL;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

void cairn_yaml_destroy(cairn_yaml *tree)
{
    cairn_arena_destroy(&tree->arena);
    *tree = (cairn_yaml){ 0 };
}

/* ---- failures ------------------------------------------------------------------------------ */

static cairn_status no_memory(builder *b)
{
    return cairn_fail(b->error, CAIRN_NO_MEMORY, "", "out of memory");
}

/* Fail at a position of libyaml, which counts lines and columns from 0. Overrides have no
 * position. */
static cairn_status fail_at(builder *b, yaml_mark_t mark, const char *message)
{
    if (b->error) {
        snprintf(b->error->file, sizeof b->error->file, "%s", b->file);
        b->error->line = b->marked ? (int)mark.line + 1 : 0;
        b->error->column = b->marked ? (int)mark.column + 1 : 0;
    }
    return cairn_fail(b->error, CAIRN_BAD_INPUT, "", "%s", message);
}

/* Line and column of a byte. Columns count characters: continuation bytes of UTF-8 (10xxxxxx) do
 * not count. */
static yaml_mark_t mark_of(const char *text, size_t length, size_t offset)
{
    yaml_mark_t mark = { 0 };
    for (size_t i = 0; i < offset && i < length; i++) {
        bool newline = text[i] == '\n';
        mark.line += newline;
        mark.column = newline ? 0 : mark.column + (((unsigned char)text[i] & 0xc0) != 0x80);
    }
    return mark;
}

/* Report an error of libyaml: known mistakes by what to write, others in its own words. For bytes
 * that are not UTF-8 it gives an offset instead of a position. */
static cairn_status fail_parser(builder *b)
{
    const yaml_parser_t *parser = b->parser;
    const char *problem = parser->problem ? parser->problem : "not understood";
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(b);
    yaml_mark_t mark = parser->problem_mark;
    if (parser->error == YAML_READER_ERROR)
        mark = mark_of(b->text, b->length, parser->problem_offset);
    char message[CAIRN_YAML_HINT];
    /* in JSON tabs are allowed */
    bool tab = strstr(problem, "tab character") || strstr(problem, "cannot start any token");
    if (tab && cairn_yaml_find_tab(b->text, b->length, mark.line, &mark.column))
        return fail_at(b, mark, "found a tab, expected spaces: YAML allows no tabs before a value");
    bool colon = strncmp(problem, "mapping values", 14) == 0;
    if (!colon || !cairn_yaml_find_colon(b->text, b->length, mark.line, message))
        snprintf(message, sizeof message, "not a YAML text: %s%s%s", problem,
                 parser->context ? " " : "", parser->context ? parser->context : "");
    return fail_at(b, mark, message);
}

/* ---- building ------------------------------------------------------------------------------ */

/* Record the position of a node. The limit on the number of nodes is checked here because every
 * node of the text passes through this function once; copies made by aliases have a limit of
 * their own. */
static cairn_status set_place(builder *b, cairn_yaml_node *node, yaml_mark_t mark)
{
    node->file = b->file;
    node->line = b->marked ? (int)mark.line + 1 : 0;
    node->column = b->marked ? (int)mark.column + 1 : 0;
    if (b->tree->nodes > MAX_NODES)
        return fail_at(b, mark, "too many values: more than 4000000");
    return CAIRN_OK;
}

/* Add a finished or just opened node to the innermost open collection, under the key that was
 * read before it. The first node of the document becomes the root. */
static void attach(builder *b, cairn_yaml_node *node)
{
    if (!b->current) {
        b->root = node;
        return;
    }
    node->key = b->key;
    node->key_line = b->key_line;
    node->key_column = b->key_column;
    b->key = NULL;
    cairn_yaml_append(b->current, node);
}

/* Make a node known under its anchor. Collections are entered when they close, so an alias
 * inside its own anchor is unknown and the tree cannot contain a cycle. */
static cairn_status remember(builder *b, const char *name, const cairn_yaml_node *node,
                             yaml_mark_t mark)
{
    if (!name)
        return CAIRN_OK;
    if (b->anchor_count == MAX_ANCHORS)
        return fail_at(b, mark, "too many anchors: more than 1000");
    b->anchors[b->anchor_count++] = (anchor){ name, node };
    return CAIRN_OK;
}

/* Copy the name of an anchor, since the event that owns it is deleted; NULL if there is none. */
static cairn_status anchor_name(builder *b, const yaml_char_t *name, const char **out)
{
    *out = NULL;
    if (!name)
        return CAIRN_OK;
    *out = cairn_yaml_text(b->tree, (const char *)name, strlen((const char *)name));
    return *out ? CAIRN_OK : no_memory(b);
}

/* In a mapping the events alternate between key and value. */
static bool waits_for_key(const builder *b)
{
    return b->current && b->current->kind == CAIRN_YAML_MAPPING && !b->key;
}

/* Refuse zero characters: texts are C strings here, so everything after the zero would be lost. */
static cairn_status refuse_zero(builder *b, const yaml_event_t *event)
{
    if (!memchr(event->data.scalar.value, '\0', event->data.scalar.length))
        return CAIRN_OK;
    return fail_at(b, event->start_mark,
                   "the text has a zero character (\\0), expected one without");
}

/* Keep a key until its value comes. Keys are always texts, also if they look like numbers. */
static cairn_status take_key(builder *b, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    b->key = cairn_yaml_text(b->tree, text, event->data.scalar.length);
    b->key_line = b->marked ? (int)event->start_mark.line + 1 : 0;
    b->key_column = b->marked ? (int)event->start_mark.column + 1 : 0;
    return b->key ? CAIRN_OK : no_memory(b);
}

static cairn_status take_scalar(builder *b, const yaml_event_t *event)
{
    if (event->data.scalar.tag)
        return fail_at(b, event->start_mark, "tags like !!str are not supported");
    TRY(refuse_zero(b, event));
    if (waits_for_key(b))
        return take_key(b, event);
    cairn_yaml_node *node = cairn_yaml_node_create(b->tree, CAIRN_YAML_SCALAR);
    if (!node)
        return no_memory(b);
    TRY(set_place(b, node, event->start_mark));
    /* "12" in quotes is a text: only plain scalars may become numbers, flags or null */
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text =
        cairn_yaml_text(b->tree, (const char *)event->data.scalar.value, event->data.scalar.length);
    if (!node->text)
        return no_memory(b);
    attach(b, node);
    const char *name;
    TRY(anchor_name(b, event->data.scalar.anchor, &name));
    return remember(b, name, node, event->start_mark);
}

/* Begin a mapping or a list: it becomes the current collection until its end event. */
static cairn_status open_collection(builder *b, const yaml_event_t *event)
{
    bool mapping = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag =
        mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    const yaml_char_t *name =
        mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    if (tag)
        return fail_at(b, event->start_mark, "tags like !!map are not supported");
    if (waits_for_key(b))
        return fail_at(b, event->start_mark, "found a list or mapping, expected a key");
    if (b->depth == MAX_DEPTH)
        return fail_at(b, event->start_mark, "nested too deeply: more than 32 levels");
    cairn_yaml_node *node =
        cairn_yaml_node_create(b->tree, mapping ? CAIRN_YAML_MAPPING : CAIRN_YAML_LIST);
    if (!node)
        return no_memory(b);
    TRY(set_place(b, node, event->start_mark));
    attach(b, node);
    b->current = node;
    b->depth++;
    return anchor_name(b, name, &b->open_anchor[b->depth]);
}

/* ---- aliases ------------------------------------------------------------------------------- */

/* A copy of a node and its subtree; NULL if memory runs out or if b->copies passes its limit,
 * which the caller tells apart. Copies keep the position of the original, so errors point to the
 * anchor. */
static cairn_yaml_node *copy(builder *b, const cairn_yaml_node *node)
{
    if (++b->copies > MAX_COPIES)
        return NULL;
    cairn_yaml_node *twin = cairn_yaml_node_create(b->tree, node->kind);
    if (!twin)
        return NULL;
    *twin = *node;
    twin->first = twin->last = twin->next = twin->parent = NULL;
    twin->count = 0;
    for (const cairn_yaml_node *child = node->first; child; child = child->next) {
        cairn_yaml_node *child_twin = copy(b, child);
        if (!child_twin)
            return NULL;
        cairn_yaml_append(twin, child_twin);
    }
    return twin;
}

/* Levels of a subtree, 1 for a scalar. */
static int height(const cairn_yaml_node *node)
{
    int highest = 0;
    for (const cairn_yaml_node *child = node->first; child; child = child->next) {
        int own = height(child);
        highest = own > highest ? own : highest;
    }
    return highest + 1;
}

/* Replace an alias by a copy of its anchor, so that a later override changes one of them only. */
static cairn_status take_alias(builder *b, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    if (waits_for_key(b))
        return fail_at(b, event->start_mark, "found an alias, expected a key");
    /* the last anchor of this name counts, as YAML demands */
    int i = b->anchor_count - 1;
    while (i >= 0 && strcmp(b->anchors[i].name, name) != 0)
        i--;
    if (i < 0)
        return fail_at(b, event->start_mark, "alias of an anchor that was not set before");
    if (b->depth + height(b->anchors[i].node) > MAX_DEPTH)
        return fail_at(b, event->start_mark, "nested too deeply: more than 32 levels");
    cairn_yaml_node *twin = copy(b, b->anchors[i].node);
    if (b->copies > MAX_COPIES)
        return fail_at(b, event->start_mark, "aliases stand for more than 200000 values");
    if (!twin)
        return no_memory(b);
    attach(b, twin);
    return CAIRN_OK;
}

/* ---- closing a mapping: the merge key, duplicate keys ------------------------------------ */

/* Copies of the children of `source` into `mapping`, except keys that `mapping` already has. The
 * source stays as it is: it may have an anchor of its own, and be merged again. */
static cairn_status merge(builder *b, cairn_yaml_node *mapping, const cairn_yaml_node *source)
{
    for (const cairn_yaml_node *child = source->first; child; child = child->next) {
        if (cairn_yaml_find(mapping, child->key))
            continue;
        cairn_yaml_node *twin = copy(b, child);
        if (b->copies > MAX_COPIES)
            return cairn_yaml_fail_key(source, b->error,
                                       "aliases stand for more than 200000 values");
        if (!twin)
            return no_memory(b);
        cairn_yaml_append(mapping, twin);
    }
    return CAIRN_OK;
}

/* The list is linked in one direction only, so the predecessor has to be searched. */
static void unlink_child(cairn_yaml_node *parent, const cairn_yaml_node *child)
{
    cairn_yaml_node *before = NULL;
    for (cairn_yaml_node *n = parent->first; n != child; n = n->next)
        before = n;
    if (before)
        before->next = child->next;
    else
        parent->first = child->next;
    if (parent->last == child)
        parent->last = before;
    parent->count--;
}

/* Apply a merge key, `<<: {...}` or `<<: [{...}, ...]`. Keys of the mapping itself win over
 * merged ones, and earlier sources over later ones. */
static cairn_status carry_out_merge(builder *b, cairn_yaml_node *mapping)
{
    cairn_yaml_node *source = mapping->first;
    while (source && strcmp(source->key, "<<") != 0)
        source = source->next;
    if (!source)
        return CAIRN_OK;
    unlink_child(mapping, source);
    bool list = source->kind == CAIRN_YAML_LIST;
    for (cairn_yaml_node *n = list ? source->first : source; n; n = list ? n->next : NULL) {
        if (n->kind != CAIRN_YAML_MAPPING)
            return cairn_yaml_fail_key(source, b->error,
                                       "the merge key << takes a mapping or a list of mappings");
        if (mapping->count + n->count > MAX_MERGED)
            return cairn_yaml_fail_key(source, b->error, "more than 1000 keys to merge");
        TRY(merge(b, mapping, n));
    }
    return CAIRN_OK;
}

/* Order by key, then by position, so that equal keys become neighbours and the second one of a
 * pair is the one that came later in the file. */
static int by_key(const void *left, const void *right)
{
    const cairn_yaml_node *a = *(cairn_yaml_node *const *)left;
    const cairn_yaml_node *b = *(cairn_yaml_node *const *)right;
    int order = strcmp(a->key, b->key);
    if (order == 0)
        order = (a->key_line > b->key_line) - (a->key_line < b->key_line);
    return order ? order : (a->key_column > b->key_column) - (a->key_column < b->key_column);
}

/* Refuse a mapping that has a key twice, at the first repetition in the file. Sorting keeps this
 * n log n for mappings with many keys. */
static cairn_status refuse_duplicates(builder *b, const cairn_yaml_node *mapping)
{
    if (mapping->count < 2)
        return CAIRN_OK;
    cairn_yaml_node **sorted = cairn_memory_zeroed((size_t)mapping->count, sizeof *sorted);
    if (!sorted)
        return no_memory(b);
    int count = 0;
    for (cairn_yaml_node *n = mapping->first; n; n = n->next)
        sorted[count++] = n;
    qsort(sorted, (size_t)count, sizeof *sorted, by_key);
    const cairn_yaml_node *found = NULL;
    for (int i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            found = found && found->key_line <= sorted[i]->key_line ? found : sorted[i];
    cairn_memory_free(sorted);
    if (found)
        TRY(cairn_yaml_refuse_comma(found, b->error));
    return found
               ? cairn_yaml_fail_key(found, b->error, "the key '%.60s' is given twice", found->key)
               : CAIRN_OK;
}

static cairn_status close_collection(builder *b, const yaml_event_t *event)
{
    cairn_yaml_node *node = b->current;
    if (node->kind == CAIRN_YAML_MAPPING) {
        /* before the merge, after which equal keys can no longer be told from overridden ones */
        TRY(refuse_duplicates(b, node));
        TRY(carry_out_merge(b, node));
    }
    const char *name = b->open_anchor[b->depth];
    b->current = node->parent;
    b->depth--;
    return remember(b, name, node, event->start_mark);
}

/* ---- the events ---------------------------------------------------------------------------- */

/* Start and end of the stream and the end of a document carry no data and are ignored. */
static cairn_status take_event(builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->documents++ > 0)
            return fail_at(b, event->start_mark, "found a second document, expected one");
        return CAIRN_OK;
    case YAML_SCALAR_EVENT:
        return take_scalar(b, event);
    case YAML_ALIAS_EVENT:
        return take_alias(b, event);
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(b, event);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        return close_collection(b, event);
    default:
        return CAIRN_OK;
    }
}

/* The event is deleted before a failure is passed on, since libyaml allocated its contents. */
static cairn_status take_all_events(builder *b)
{
    bool ended = false;
    while (!ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(b->parser, &event))
            return fail_parser(b);
        ended = event.type == YAML_STREAM_END_EVENT;
        cairn_status status = take_event(b, &event);
        yaml_event_delete(&event);
        TRY(status);
    }
    return CAIRN_OK;
}

static cairn_status build(builder *b)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return no_memory(b);
    yaml_parser_set_input_string(&parser, (const unsigned char *)b->text, b->length);
    /* UTF-8 only: libyaml would otherwise guess UTF-16 from a byte order mark */
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    b->parser = &parser;
    cairn_status status = take_all_events(b);
    yaml_parser_delete(&parser);
    return status;
}

/* The builder is large because of its anchors, so it is allocated instead of put on the stack. */
static cairn_status parse(cairn_yaml *tree, const builder *start, cairn_yaml_node **out)
{
    builder *b = cairn_arena_take(&tree->arena, 1, sizeof *b);
    if (!b)
        return cairn_fail(start->error, CAIRN_NO_MEMORY, "", "out of memory");
    *b = *start;
    b->tree = tree;
    TRY(build(b));
    *out = b->root;
    return CAIRN_OK;
}

cairn_status cairn_yaml_parse(cairn_yaml *tree, const char *text, size_t length, const char *file,
                              cairn_error *error)
{
    /* a byte order mark at the start is skipped */
    size_t mark = cairn_text_mark(text, length);
    builder start = {
        .marked = true, .text = text + mark, .length = length - mark, .error = error
    };
    start.file = cairn_yaml_text(tree, file, strlen(file));
    if (!start.file)
        return cairn_fail(error, CAIRN_NO_MEMORY, "", "out of memory");
    return parse(tree, &start, &tree->root);
}

cairn_status cairn_yaml_parse_value(cairn_yaml *tree, const char *text, cairn_yaml_node **out,
                                    cairn_error *error)
{
    const builder start = { .file = "--set", .text = text, .length = strlen(text), .error = error };
    TRY(parse(tree, &start, out));
    if (*out)
        return CAIRN_OK;
    *out = cairn_yaml_node_create(tree, CAIRN_YAML_SCALAR);
    if (!*out)
        return cairn_fail(error, CAIRN_NO_MEMORY, "", "out of memory");
    (*out)->file = start.file;
    (*out)->text = "";
    return CAIRN_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The meaning and the position of the nodes of a YAML tree, and overrides, see
 * yaml.h.
 *
 * Numbers follow the core schema of YAML 1.2, of which JSON is a subset, independent of the
 * locale. */

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
static void tell_place(const cairn_yaml_node *node, int line, int column, cairn_error *error)
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
    tell_place(node, node->line, node->column, error);
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
    tell_place(node, node->key_line, node->key_column, error);
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
    size_t used = strlen(text);
    if (cairn_yaml_comma(node))
        snprintf(text + used, capacity - used, " (the decimal mark is a point)");
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

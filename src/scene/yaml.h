/* yaml.h - a YAML or JSON text as a tree in memory that remembers where everything stood.
 *
 * One document of mappings, lists and scalars. Aliases are copied (a limited amount of them), the
 * merge key `<<` is carried out, duplicate keys, tags and a second document are refused. What a
 * scalar means (number, name, ...) is decided by who reads it. */
#ifndef CAIRN_IO_YAML_H
#define CAIRN_IO_YAML_H

#include "base/arena.h"
#include "cairn/base.h"

typedef enum cairn_yaml_kind {
    CAIRN_YAML_SCALAR,
    CAIRN_YAML_LIST,
    CAIRN_YAML_MAPPING
} cairn_yaml_kind;

typedef struct cairn_yaml_node cairn_yaml_node;

/* One value. Children of lists and mappings form a chain in file order. */
struct cairn_yaml_node {
    cairn_yaml_kind kind;
    bool quoted;              /* a scalar in quotes or of several lines: never a number       */
    int line, column;         /* 1-based; 0: from an override                                 */
    int key_line, key_column; /* of the key, in a mapping                                     */
    int count;                /* children                                                     */
    const char *file;         /* the scene's path, or "--set"                                 */
    const char *key;          /* NULL in a list                                               */
    const char *text;         /* of a scalar                                                  */
    cairn_yaml_node *parent, *first, *last, *next;
};

/* A tree; zero is empty. The root's file name and all texts live in the arena. */
typedef struct cairn_yaml {
    cairn_arena arena;
    cairn_yaml_node *root;
    cairn_yaml_node *spare; /* nodes taken from the arena and not used yet */
    int spare_count;
    char *letters; /* likewise for texts */
    size_t letter_count;
    int64_t nodes; /* made so far, see the limit in yaml.c */
} cairn_yaml;

/* Parse `text` of `length` bytes as the file `file` into an empty tree. */
cairn_status cairn_yaml_parse(cairn_yaml *tree, const char *text, size_t length, const char *file,
                              cairn_error *error);
/* Parse one value for an override into the nodes of `tree`; *out is not part of the root. */
cairn_status cairn_yaml_parse_value(cairn_yaml *tree, const char *text, cairn_yaml_node **out,
                                    cairn_error *error);
/* Apply "path=value" to the tree. */
cairn_status cairn_yaml_override(cairn_yaml *tree, const char *assignment, cairn_error *error);
/* Free everything. */
void cairn_yaml_destroy(cairn_yaml *tree);

/* Building: a new node, a copy of a text (NULL: no memory), a child at the end. */
cairn_yaml_node *cairn_yaml_node_create(cairn_yaml *tree, cairn_yaml_kind kind);
const char *cairn_yaml_text(cairn_yaml *tree, const char *text, size_t length);
void cairn_yaml_append(cairn_yaml_node *parent, cairn_yaml_node *child);

/* The value of a key, or NULL. */
const cairn_yaml_node *cairn_yaml_find(const cairn_yaml_node *mapping, const char *key);
/* The dotted path of a node, e.g. bodies.0.mass; the root's is empty. */
void cairn_yaml_path(const cairn_yaml_node *node, char *text, size_t capacity);
/* "a mapping", "a list of 3", "'abc'", "-1", "nothing": what stands there, for messages. */
void cairn_yaml_describe(const cairn_yaml_node *node, char *text, size_t capacity);

/* An absent value: empty, ~ or null. */
bool cairn_yaml_is_null(const cairn_yaml_node *node);
/* Each returns whether the scalar is one, and then its value. Numbers may be .inf or .nan. */
bool cairn_yaml_real(const cairn_yaml_node *node, double *out);
bool cairn_yaml_integer(const cairn_yaml_node *node, int64_t *out);
bool cairn_yaml_flag(const cairn_yaml_node *node, bool *out);

/* Put file, line, column and key of `node` into `error`, with `child` (may be NULL) added to the
 * key, and return cairn_fail with the message. */
cairn_status cairn_yaml_fail(const cairn_yaml_node *node, const char *child, cairn_error *error,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same, at the key of the node instead of at its value. */
cairn_status cairn_yaml_fail_key(const cairn_yaml_node *node, cairn_error *error,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

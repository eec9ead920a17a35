/* yaml.h - a YAML or JSON text as a tree in memory that records the position of every value.
 *
 * One document of mappings, lists and scalars. Aliases are replaced by copies (a limited
 * number), the merge key `<<` is applied, and duplicate keys, tags and a second document are
 * refused. Scalars stay text: only the caller knows whether it expects a number or a name. */
#ifndef CAIRN_SCENE_YAML_H
#define CAIRN_SCENE_YAML_H

#include "base/memory.h"
#include "cairn/base.h"

typedef enum cairn_yaml_kind {
    CAIRN_YAML_SCALAR,
    CAIRN_YAML_LIST,
    CAIRN_YAML_MAPPING
} cairn_yaml_kind;

typedef struct cairn_yaml_node cairn_yaml_node;

/* One value. The children of a list or a mapping form a linked list in the order of the file.
 * Nodes live in the arena of their tree and are never freed one by one. */
struct cairn_yaml_node {
    cairn_yaml_kind kind;
    bool quoted;              /* in quotes or a block of lines: text, never a number */
    int line, column;         /* 1-based; 0: from an override                                 */
    int key_line, key_column; /* where the key stands, in a mapping */
    int count;                /* children                                                     */
    const char *file;         /* path of the scene, or "--set"; never NULL */
    const char *key;          /* NULL in a list                                               */
    const char *text;         /* of a scalar, ends with a zero; else NULL */
    cairn_yaml_node *parent, *first, *last, *next;
};

/* A tree; all zero is an empty one. Nodes, texts and file names live in the arena, so destroying
 * the arena frees everything. The root is NULL for a text without a document. */
typedef struct cairn_yaml {
    cairn_arena arena;
    cairn_yaml_node *root;
    cairn_yaml_node *spare; /* allocated in the arena, not used yet */
    int spare_count;
    char *letters; /* the same for texts */
    size_t letter_count;
    int64_t nodes; /* created so far, limited in yaml.c */
} cairn_yaml;

/* Parse `text` of `length` bytes into an empty tree; `file` is its name in messages. On failure
 * the tree still has to be destroyed. */
cairn_status cairn_yaml_parse(cairn_yaml *tree, const char *text, size_t length, const char *file,
                              cairn_error *error);
/* Parse one value for an override with nodes of `tree`. *out is not yet part of the tree; an
 * empty text is a null value. */
cairn_status cairn_yaml_parse_value(cairn_yaml *tree, const char *text, cairn_yaml_node **out,
                                    cairn_error *error);
/* Apply "path=value" to the tree. Errors name the file "--set" and the path as their key. */
cairn_status cairn_yaml_override(cairn_yaml *tree, const char *assignment, cairn_error *error);
/* Free everything. */
void cairn_yaml_destroy(cairn_yaml *tree);

/* Building blocks: a new node, a copy of a text, a child appended at the end. The first two
 * return NULL if memory runs out. A child must not be in another list. */
cairn_yaml_node *cairn_yaml_node_create(cairn_yaml *tree, cairn_yaml_kind kind);
const char *cairn_yaml_text(cairn_yaml *tree, const char *text, size_t length);
void cairn_yaml_append(cairn_yaml_node *parent, cairn_yaml_node *child);

/* The value of a key; NULL if the node has no such key or is not a mapping. */
const cairn_yaml_node *cairn_yaml_find(const cairn_yaml_node *mapping, const char *key);
/* The dotted path of a node, e.g. bodies.0.mass; that of the root is empty. Cut if it does not
 * fit. */
void cairn_yaml_path(const cairn_yaml_node *node, char *text, size_t capacity);
/* What a node holds, for messages: "a mapping", "a list of 3", "'abc'", "-1", "nothing". */
void cairn_yaml_describe(const cairn_yaml_node *node, char *text, size_t capacity);

/* ---- mistakes that are known, in yaml_hints.c ------------------------------------------------ */

enum { CAIRN_YAML_HINT = 300 }; /* bytes of a message */

/* The column, from 0, of a tab before a value in a line, from 0; false: there is none. */
bool cairn_yaml_find_tab(const char *text, size_t bytes, size_t number, size_t *column);
/* How a line with a second colon is written, such as `shape: sphere, radius: 0.1`, from its parts.
 * Lines with braces or quotes are left alone. */
bool cairn_yaml_find_colon(const char *text, size_t bytes, size_t number,
                           char message[CAIRN_YAML_HINT]);
/* Whether a scalar is a number with a decimal comma, such as 0,5. */
bool cairn_yaml_comma(const cairn_yaml_node *node);
/* Whether a list is one of `wanted` numbers some of which have decimal commas: [0,5, 1, 2]. */
bool cairn_yaml_has_commas(const cairn_yaml_node *list, int wanted);
/* Refuse a key that is the rest of a number with a decimal comma: {radius: 0,5}. */
cairn_status cairn_yaml_refuse_comma(const cairn_yaml_node *node, cairn_error *error);

/* ---- values and failures --------------------------------------------------------------------- */

/* Whether the value is absent: empty, ~ or null. */
bool cairn_yaml_is_null(const cairn_yaml_node *node);
/* Each returns whether the scalar is of this type and, if it is, its value. Reals may be .inf or
 * .nan: range checks are the caller's. */
bool cairn_yaml_real(const cairn_yaml_node *node, double *out);
bool cairn_yaml_integer(const cairn_yaml_node *node, int64_t *out);
bool cairn_yaml_flag(const cairn_yaml_node *node, bool *out);

/* Write file, line, column and key of `node` and the message into `error` (may be NULL), and
 * return CAIRN_BAD_INPUT. `child` (may be NULL) is appended to the key, for a key that is
 * missing. */
cairn_status cairn_yaml_fail(const cairn_yaml_node *node, const char *child, cairn_error *error,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same, at the key of the node instead of at its value. */
cairn_status cairn_yaml_fail_key(const cairn_yaml_node *node, cairn_error *error,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

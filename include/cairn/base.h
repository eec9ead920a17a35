/* base.h - what every other header of cairn needs: status codes, errors, vectors, memory hooks,
 * and the option tables from which scene keys, range checks, `cairn list` and the manual follow. */
#ifndef CAIRN_BASE_H
#define CAIRN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CAIRN_API __attribute__((visibility("default")))
#else
#define CAIRN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** How a call ended. A solver that did not converge is a report, not a status. */
typedef enum cairn_status {
    CAIRN_OK = 0,
    CAIRN_NO_MEMORY,   /* the allocator returned NULL                                  */
    CAIRN_BAD_INPUT,   /* a value, key or file content is not allowed                  */
    CAIRN_NOT_FINITE,  /* NaN or infinity appeared where a number was needed           */
    CAIRN_NOT_FOUND,   /* no such file, id or name                                     */
    CAIRN_IO_FAILED,   /* the operating system or a file library refused               */
    CAIRN_UNSUPPORTED, /* valid, but not something this solver, shape or scheme treats */
    CAIRN_STOPPED      /* the caller asked to stop (a callback returned false)         */
} cairn_status;

/** A short English text for a status; never NULL. */
CAIRN_API const char *cairn_status_text(cairn_status status);

/** Version of the library as "major.minor.patch". */
CAIRN_API const char *cairn_version(void);

/** What went wrong, where. Unused places are empty strings or 0. */
typedef struct cairn_error {
    char message[512]; /* what was found and what was expected             */
    char file[256];    /* the file read or written                         */
    int line, column;  /* 1-based position in a text file; 0: none         */
    char key[96];      /* dotted path of the value, e.g. run.time_step     */
} cairn_error;

/** Replaces malloc, realloc and free for the whole library. Set it before any other call;
 *  `resize(context, NULL, bytes)` allocates, `resize(context, block, 0)` frees and returns NULL. */
typedef struct cairn_allocator {
    void *(*resize)(void *context, void *block, size_t bytes);
    void *context;
} cairn_allocator;

/** Install an allocator; NULL goes back to the C library's. Not thread safe. */
CAIRN_API void cairn_allocator_set(const cairn_allocator *allocator);

/** A vector; in a 2D world z is 0 (for angular quantities x and y are 0). */
typedef struct cairn_vec3 {
    double x, y, z;
} cairn_vec3;

/** A unit quaternion w + xi + yj + zk: rotates body coordinates to world coordinates. */
typedef struct cairn_quat {
    double w, x, y, z;
} cairn_quat;

/** A placed frame: the point p of the inner frame is at x + R(q) p in the outer one. */
typedef struct cairn_pose {
    cairn_vec3 x; /* m */
    cairn_quat q;
} cairn_pose;

/** A symmetric 3 x 3 matrix. */
typedef struct cairn_symmetric {
    double xx, yy, zz, xy, yz, zx;
} cairn_symmetric;

/** A list of numbers owned by someone else. */
typedef struct cairn_list {
    const double *values;
    int count;
} cairn_list;

enum { CAIRN_MOST_NAMES = 32 };

/** Names out of a table, each at most once. Zero is valid: none. */
typedef struct cairn_names {
    const char *items[CAIRN_MOST_NAMES];
    int count;
} cairn_names;

/** Next number of splitmix64 (`state` is its state), uniform in [0, 1) on a grid of 2^-53. */
CAIRN_API double cairn_random_uniform(uint64_t *state);

/* ---- texts --------------------------------------------------------------------------------- */

/** The decimal number at the start of a text, 12 or -1.5e-3: with a point whatever the locale
 *  says; no blank before it, not hexadecimal, no "inf", no "nan". Returns how many bytes it has,
 *  0: the text starts with none. What is too large comes out as infinity. */
CAIRN_API size_t cairn_number_read(const char *text, double *out);
/** The same for a whole number; one that does not fit comes out as the nearest that does, with
 *  errno set to ERANGE. */
CAIRN_API size_t cairn_integer_read(const char *text, int64_t *out);

/** Copy a text in a form that a terminal shows and does not obey: control characters and what is
 *  not UTF-8 become \n, \t or \x1b. Cut, with dots at its end, when the room is too small. */
CAIRN_API void cairn_text_escape(const char *text, char *out, size_t capacity);

/* ---- option tables ------------------------------------------------------------------------- */

typedef enum cairn_option_type {
    CAIRN_OPTION_REAL,    /* double                                                     */
    CAIRN_OPTION_INTEGER, /* int64_t                                                    */
    CAIRN_OPTION_FLAG,    /* bool                                                       */
    CAIRN_OPTION_VECTOR,  /* cairn_vec3; two numbers are enough in 2D                   */
    CAIRN_OPTION_LIST,    /* cairn_list                                                 */
    CAIRN_OPTION_NAME,    /* const char *: one of `choice(0), choice(1), ...`           */
    CAIRN_OPTION_NAMES,   /* cairn_names: some of them                                  */
    CAIRN_OPTION_WORD     /* const char *: one of them, or another word of letters, digits,
                             - and _, at most 31, which lives as long as it is used     */
} cairn_option_type;

/** One field of an options struct: its name, place, range, unit and one-line text. */
typedef struct cairn_option {
    const char *name;
    cairn_option_type type;
    bool required;                    /* must be given in a scene                              */
    size_t offset;                    /* of the field in its struct                            */
    double minimum, maximum;          /* each number must lie in [minimum, maximum]            */
    const char *unit;                 /* "m", "s", ...; "" for pure numbers                    */
    const char *text;                 /* one line for people                                   */
    const char *(*choice)(int index); /* for names; NULL past the last                         */
} cairn_option;

/** A subject with options: a shape kind, a generator, the step, a driver, ... */
typedef struct cairn_record {
    const char *name;
    const char *summary;
    size_t size;                        /* of the options struct                              */
    void (*set_default)(void *options); /* fills a struct with defaults                      */
    const cairn_option *options;        /* `option_count` lines                               */
    int option_count;
} cairn_record;

/** Minimum of an option that must be greater than zero. */
#define CAIRN_POSITIVE 2.2250738585072014e-308
/** Bound of an option without bound. */
#define CAIRN_UNBOUNDED 1.7976931348623157e308

/** The option called `name`, or NULL. */
CAIRN_API const cairn_option *cairn_record_find(const cairn_record *record, const char *name);

/** Whether a text is 1 to 31 letters, digits, - and _. */
CAIRN_API bool cairn_is_word(const char *text);

/** Check every number and name of an options struct against its table; on failure `error` (may
 *  be NULL) names the key and says what was expected. */
CAIRN_API cairn_status cairn_record_check(const cairn_record *record, const void *options,
                                          cairn_error *error);

/** Set one field of an options struct from a text "name=value": vectors and lists of names with
 *  commas between; not for lists of numbers. A word that is not in its table stays in the text. On
 *  failure nothing is set and `error` (may be NULL) names the key and says what was expected. */
CAIRN_API cairn_status cairn_record_assign(const cairn_record *record, void *options,
                                           const char *assignment, cairn_error *error);

/** Write "a number > 0", "one of convex, fixed-point", ... into `text`. */
CAIRN_API void cairn_option_expectation(const cairn_option *option, char *text, size_t capacity);

/** The candidate closest in spelling to `word`, or NULL when none is near. */
CAIRN_API const char *cairn_nearest_name(const char *word, const char *const *names, int count);

#ifdef __cplusplus
}
#endif
#endif

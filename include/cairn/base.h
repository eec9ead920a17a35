/* base.h - the basis of all other headers: status codes, errors, vectors, memory hooks, and the
 * option tables from which scene keys, range checks, `cairn list` and the manual are derived. */
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

/** What went wrong, and where. Unused fields are empty strings or 0. */
typedef struct cairn_error {
    char message[512]; /* what was found and what was expected             */
    char file[256];    /* the file read or written                         */
    int line, column;  /* 1-based position in a text file; 0: none         */
    char key[96];      /* dotted path of the value, e.g. run.time_step     */
} cairn_error;

/** The connection of a process to others that compute the same world. */
typedef struct cairn_link cairn_link;

/** The MPI library that is built in, as in "Open MPI v4.1.4". False: built without MPI. */
CAIRN_API bool cairn_mpi_name(char *text, size_t capacity);

/** Start MPI if this process was started by mpirun, mpiexec or srun; else *out is NULL. Call it
 *  once in a process. The processes (ranks) then run a scene together: rank 0 sets scene->link to
 *  *out and calls cairn_run, or cairn_run_resume with the link; all others call cairn_ranks_serve.
 *  CAIRN_UNSUPPORTED: several processes were started, but MPI is not built in, or it is another MPI
 *  than that of the launcher; only rank 0 has a message in `error`, so that it is printed once. */
CAIRN_API cairn_status cairn_ranks_open(cairn_link **out, cairn_error *error);
/** End MPI, once all ranks call this. A rank that waits for this one fails. NULL is allowed. */
CAIRN_API void cairn_ranks_close(cairn_link *link);
/** Which of the ranks this process is, from 0. */
CAIRN_API int cairn_ranks_own(const cairn_link *link);
/** How many ranks there are. */
CAIRN_API int cairn_ranks_count(const cairn_link *link);

/** Replaces malloc, realloc and free for the whole library. Set it before any other call;
 *  `resize(context, NULL, bytes)` allocates, `resize(context, block, 0)` frees and returns NULL. */
typedef struct cairn_allocator {
    void *(*resize)(void *context, void *block, size_t bytes);
    void *context;
} cairn_allocator;

/** Install an allocator; NULL restores that of the C library. Not thread safe. */
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

/** A periodic image: how many edges of the cell it lies away from the original. */
typedef struct cairn_image {
    int32_t k[3];
} cairn_image;

/** A periodic cell: a body at x has images at x + k1 e1 + k2 e2 + k3 e3 for all integers k, which
 *  move with the velocity of the body plus k1 e1' + k2 e2' + k3 e3'. An edge of 0: the world is not
 *  periodic along that axis. All zero: it is not periodic at all. */
typedef struct cairn_lattice {
    cairn_vec3 corner;  /* m                                                     */
    cairn_vec3 edge[3]; /* m                                                     */
    cairn_vec3 rate[3]; /* m/s: e', the velocities of the edges in the last step */
} cairn_lattice;

/** A symmetric 3 x 3 matrix. */
typedef struct cairn_symmetric {
    double xx, yy, zz, xy, yz, zx;
} cairn_symmetric;

/** A sparse matrix by compressed rows. */
typedef struct cairn_matrix {
    int rows, columns;
    const int64_t *start;  /* rows + 1: where each row begins in `column` and `value`   */
    const int32_t *column; /* ascending within a row                                    */
    const double *value;
} cairn_matrix;

/** A list of numbers in memory that the list does not own. */
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

/** Read the decimal number at the start of a text, such as 12 or -1.5e-3: with a point in any
 *  locale, without leading blanks, not hexadecimal, no "inf", no "nan". Returns its length in
 *  bytes; 0: the text does not start with a number. Numbers that are too large become infinity. */
CAIRN_API size_t cairn_number_read(const char *text, double *out);
/** The same for an integer; one that does not fit becomes the nearest that does, and errno is set
 *  to ERANGE. */
CAIRN_API size_t cairn_integer_read(const char *text, int64_t *out);

/** Copy a text in a form that is safe to show on a terminal: control characters and bytes that are
 *  not UTF-8 become escapes such as \n, \t or \x1b. If it does not fit, it is cut and ends with
 *  dots. */
CAIRN_API void cairn_text_escape(const char *text, char *out, size_t capacity);

/* ---- option tables ------------------------------------------------------------------------- */

typedef enum cairn_option_type {
    CAIRN_OPTION_REAL,          /* double                                                     */
    CAIRN_OPTION_INTEGER,       /* int64_t                                                    */
    CAIRN_OPTION_FLAG,          /* bool                                                       */
    CAIRN_OPTION_VECTOR,        /* cairn_vec3; two numbers are enough in 2D                   */
    CAIRN_OPTION_LIST,          /* cairn_list                                                 */
    CAIRN_OPTION_NAME,          /* const char *: one of `choice(0), choice(1), ...`           */
    CAIRN_OPTION_NAMES,         /* cairn_names: some of them                                  */
    CAIRN_OPTION_WORD,          /* const char *: one of them, or another word of letters, digits,
                             - and _, at most 31, which must outlive its use            */
    CAIRN_OPTION_FUNCTION,      /* cairn_function                                       */
    CAIRN_OPTION_VARYING,       /* double; a scene may also give a function of time     */
    CAIRN_OPTION_VARYING_VECTOR /* cairn_vec3; likewise, for each component             */
} cairn_option_type;

/** One field of an options struct: its name, place, range, unit and one-line text. */
typedef struct cairn_option {
    const char *name;
    cairn_option_type type;
    bool required;                    /* must be given in a scene                              */
    size_t offset;                    /* of the field in its struct                            */
    double minimum, maximum;          /* each number must lie in [minimum, maximum]            */
    const char *unit;                 /* "m", "s", ...; "" for pure numbers                    */
    const char *text;                 /* one-line description                                  */
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

/* ---- functions of time ---------------------------------------------------------------------- */

typedef enum cairn_function_kind {
    CAIRN_FUNCTION_CONSTANT,   /* value                                                   */
    CAIRN_FUNCTION_TABLE,      /* values at times, linear in between, constant outside    */
    CAIRN_FUNCTION_HARMONIC,   /* mean + amplitude sin(2 pi frequency t + phase)          */
    CAIRN_FUNCTION_RAMP,       /* `from` until start, `to` after stop, linear in between  */
    CAIRN_FUNCTION_EXPRESSION, /* a formula of t, as 0.5 * sin(2 * pi * t)                */
    CAIRN_FUNCTION_CALL,       /* a callback: in C alone                                  */
    CAIRN_FUNCTION_COUNT
} cairn_function_kind;

/** A callback: the value at time t, s. It must depend on nothing that changes but t. */
typedef double cairn_function_fn(void *context, double t);

/** A number as a function of time t in s, in the unit of what it is used for. All zero: 0. */
typedef struct cairn_function {
    cairn_function_kind kind;
    double value;                             /* constant                                 */
    cairn_list time, values;                  /* table: s, increasing                     */
    double mean, amplitude, frequency, phase; /* harmonic: Hz, rad                        */
    double from, to, start, stop;             /* ramp: start and stop in s                */
    const char *text;                         /* expression                               */
    cairn_function_fn *call;                  /* callback                                 */
    void *context;                            /* of the callback; belongs to the caller   */
    void *parsed;                             /* private: NULL in definitions             */
} cairn_function;

/** A function of a kind with its defaults: 0 at all times; a ramp from 0 to 1 in 1 s. */
CAIRN_API cairn_function cairn_function_default(cairn_function_kind kind);
/** The table of a kind of function, NULL past the ramp: expressions have a text alone. */
CAIRN_API const cairn_record *cairn_function_record(int kind);
/** Check a function. `error` (may be NULL) names the key; for an expression its line and column
 *  count within the text. */
CAIRN_API cairn_status cairn_function_check(const cairn_function *function, cairn_error *error);
/** The value at time t, s. NaN for an expression that cairn_function_check refuses. */
CAIRN_API double cairn_function_value(const cairn_function *function, double t);

/** The option called `name`, or NULL. */
CAIRN_API const cairn_option *cairn_record_find(const cairn_record *record, const char *name);

/** Whether a text is 1 to 31 letters, digits, - and _. */
CAIRN_API bool cairn_is_word(const char *text);

/** Check every number and name of an options struct against its table; on failure `error` (may
 *  be NULL) names the key and says what was expected. */
CAIRN_API cairn_status cairn_record_check(const cairn_record *record, const void *options,
                                          cairn_error *error);

/** Set one field of an options struct from a text "name=value"; vectors and lists of names are
 *  separated by commas. Lists of numbers cannot be set. For a word that is not in its table the
 *  field points into the text. On failure nothing is set, and `error` (may be NULL) names the key
 *  and says what was expected. */
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

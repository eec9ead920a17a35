/* base.h - the base of the checker: vectors, memory, the report, columns of the file. */
#ifndef CHECK_BASE_H
#define CHECK_BASE_H

#include <hdf5.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- vectors and quaternions, written anew on purpose ---------------------------------------- */

typedef struct vec {
    double x, y, z;
} vec;

/* Body to world; w is the real part. */
typedef struct quat {
    double w, x, y, z;
} quat;

static inline vec vec_add(vec a, double s, vec b) /* a + s b */
{
    return (vec){ a.x + s * b.x, a.y + s * b.y, a.z + s * b.z };
}

static inline vec vec_times(double s, vec a)
{
    return (vec){ s * a.x, s * a.y, s * a.z };
}

static inline double vec_dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec vec_cross(vec a, vec b)
{
    return (vec){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static inline double vec_norm(vec a)
{
    return sqrt(vec_dot(a, a));
}

/* Componentwise: a diagonal matrix times a vector. */
static inline vec vec_scale(vec d, vec a)
{
    return (vec){ d.x * a.x, d.y * a.y, d.z * a.z };
}

static inline quat quat_product(quat a, quat b)
{
    return (quat){ a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                   a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                   a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
                   a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x };
}

static inline quat quat_conjugate(quat q)
{
    return (quat){ q.w, -q.x, -q.y, -q.z };
}

static inline double quat_norm(quat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

/* The turn by |angle| about the direction of `angle`. */
static inline quat quat_turn(vec angle)
{
    double half = 0.5 * vec_norm(angle);
    double ratio = half > 1e-4 ? 0.5 * sin(half) / half : 0.5 - half * half / 12;
    return (quat){ cos(half), ratio * angle.x, ratio * angle.y, ratio * angle.z };
}

/* The angle vector of a turn, at most pi long. */
static inline vec quat_angle(quat q)
{
    vec s = q.w < 0 ? (vec){ -q.x, -q.y, -q.z } : (vec){ q.x, q.y, q.z };
    double sine = vec_norm(s), angle = 2 * atan2(sine, fabs(q.w));
    return vec_times(sine > 1e-8 ? angle / sine : 2, s);
}

/* R(q) a */
static inline vec quat_rotate(quat q, vec a)
{
    vec axis = { q.x, q.y, q.z }, t = vec_times(2, vec_cross(axis, a));
    return vec_add(vec_add(a, q.w, t), 1, vec_cross(axis, t));
}

/* R(q)' a */
static inline vec quat_rotate_back(quat q, vec a)
{
    return quat_rotate(quat_conjugate(q), a);
}

/* ---- memory: the only door to the heap ------------------------------------------------------- */

/* Make *block hold `count` items of `size` bytes, at least one, all zero; its old contents may be
 * lost. false: out of memory, and *block is unchanged. */
bool check_memory_take(void *block_address, size_t count, size_t size);

/* Free a block of check_memory_take; *block becomes NULL. */
void check_memory_free(void *block_address);

/* ---- what the checker found: numbers that do not agree, or why it cannot check --------------- */

/* Relative to the terms it is made of, two roundings of one number may differ by this much. */
#define CHECK_ROUNDING 1e-12

enum { CHECK_BY_FORMULA, CHECK_BY_POINTS, CHECK_NOT_AT_ALL }; /* how gaps were checked */

/* Which number. Zero is valid: of the whole run. */
typedef struct check_place {
    long step;        /* from 1; 0: none       */
    const char *kind; /* "contact", "body", "frame"; NULL: of the step */
    long number;      /* of the contact or body */
    const char *what;
} check_place;

typedef struct check_report {
    int most;          /* findings to print                              */
    long findings;     /* that do not agree                              */
    long compared;     /* numbers that were compared                     */
    long checksums;    /* objects of the file with a checksum            */
    long gaps[3];      /* contacts by how the gap was checked */
    char problem[512]; /* why the file cannot be checked; "": it can     */
} check_report;

/* |stored - computed| <= CHECK_ROUNDING scale, else a finding. */
void check_same(check_report *report, check_place place, double stored, double computed,
                double scale);
/* The same for the components of a vector and a quaternion. */
void check_same_vec(check_report *report, check_place place, vec stored, vec computed,
                    double scale);
void check_same_quat(check_report *report, check_place place, quat stored, quat computed,
                     double scale);
/* low <= stored <= high, else a finding. */
void check_between(check_report *report, check_place place, double stored, double low, double high);
/* A condition that is not a number of the file: a finding in words unless `good`. */
void check_true(check_report *report, check_place place, bool good, const char *words);

/* Remember why the file cannot be checked (the first reason counts); returns false. */
bool check_fail(check_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- groups of datasets that grow together, read by tables of fields ------------------------- */

/* Items of an array. */
#define CHECK_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { CHECK_TURNS = -1 }; /* width of a rotation: 1 in 2D, 3 in 3D */

/* A dataset, and the place of the pointer to its numbers in the record that it is read into. */
typedef struct check_field {
    const char *name;
    int width;     /* numbers in a row; 0: the dimension of the world */
    bool integer;  /* int32_t, else double                            */
    size_t offset; /* of the pointer in the record                    */
    bool optional; /* may be missing: its numbers are then 0          */
} check_field;

enum { CHECK_FIELDS = 96 }; /* of a group, at most */

/* The open datasets of a group. Zero is valid: nothing is open. */
typedef struct check_group {
    const char *name;
    const check_field *fields;
    int count, dimension;
    hid_t dataset[CHECK_FIELDS]; /* -1: an optional one that is missing */
    int64_t rows;                /* that every dataset has                */
    /* rows read ahead: most steps have few, and every call of HDF5 is expensive */
    void *ahead[CHECK_FIELDS];
    int64_t ahead_first, ahead_rows;
} check_group;

/* Numbers in a row of a field. */
int check_width(const check_group *group, const check_field *field);
/* Open the datasets `fields` of the group `name`, checking types and widths. */
bool check_group_open(hid_t file, check_group *group, check_report *report);
/* Read rows into the arrays of a record, whose first member (size_t) is its capacity in rows; the
 * arrays grow as needed. */
bool check_group_read(check_group *group, int64_t first, int64_t rows, void *record,
                      check_report *report);
void check_group_close(check_group *group);
/* Rows of one dataset from `first` on: extent[0] of them, extent[1] numbers each. */
bool check_read_rows(hid_t dataset, hsize_t first, const hsize_t extent[2], hid_t type, void *out);
/* Free the arrays of a record. */
void check_group_free(const check_group *group, void *record);

enum { CHECK_TEXT = 256 }; /* maximum bytes of a text; longer ones are truncated */
/* Whether there is a dataset or group of that name. */
bool check_has(hid_t file, const char *name);
/* A number, several of them, or a text from the attributes of the root. */
bool check_attribute(hid_t file, const char *name, int count, double *out, check_report *report);
bool check_attribute_text(hid_t file, const char *name, char *text, size_t capacity,
                          check_report *report);
/* Whether a text attribute of the root has a fixed length, as since version 2 of the format. */
bool check_attribute_is_fixed(hid_t file, const char *name);
/* Attribute `names` of a dataset: for each of its texts the index in `known` (ended by NULL), or
 * -1. Returns their number, at most `most`. */
int check_names(hid_t file, const char *dataset, const char *const *known, int most, int *out);

#endif

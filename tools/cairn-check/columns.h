/* columns.h - reading groups of datasets that grow together, by tables of fields. */
#ifndef CHECK_COLUMNS_H
#define CHECK_COLUMNS_H

#include <hdf5.h>
#include <stdint.h>

#include "report.h"

/* Items of an array. */
#define CHECK_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { CHECK_TURNS = -1 }; /* width: numbers of a turning, 1 in 2D, 3 in 3D */

/* A dataset, and where the pointer to its numbers is in the record it is read into. */
typedef struct check_field {
    const char *name;
    int width;     /* numbers in a row; 0: the dimension of the world */
    bool integer;  /* int32_t, else double                            */
    size_t offset; /* of the pointer in the record                    */
    bool optional; /* may be missing: its numbers are then 0          */
} check_field;

enum { CHECK_FIELDS = 64 }; /* of a group, at most */

/* The open datasets of a group. Zero is valid: nothing is open. */
typedef struct check_group {
    const char *name;
    const check_field *fields;
    int count, dimension;
    hid_t dataset[CHECK_FIELDS]; /* -1: an optional one that is not there */
    int64_t rows;                /* that every dataset has                */
    /* rows read ahead: most steps have few, and every call of HDF5 costs */
    void *ahead[CHECK_FIELDS];
    int64_t ahead_first, ahead_rows;
} check_group;

/* Numbers in a row of a field. */
int check_width(const check_group *group, const check_field *field);
/* Open the datasets `fields` of the group `name`, checking types and widths. */
bool check_group_open(hid_t file, check_group *group, check_report *report);
/* Read rows into the arrays of a record, whose first member is the number of rows there is room
 * for (size_t): arrays grow as needed. */
bool check_group_read(check_group *group, int64_t first, int64_t rows, void *record,
                      check_report *report);
void check_group_close(check_group *group);
/* Rows of one dataset from `first` on: extent[0] of them, extent[1] numbers each. */
bool check_read_rows(hid_t dataset, hsize_t first, const hsize_t extent[2], hid_t type, void *out);
/* Free the arrays of a record. */
void check_group_free(const check_group *group, void *record);

enum { CHECK_TEXT = 256 }; /* bytes of a text, at most: what is longer is cut */
/* Whether there is a dataset or group of that name. */
bool check_has(hid_t file, const char *name);
/* A number, several of them, or a text from the attributes of the root. */
bool check_attribute(hid_t file, const char *name, int count, double *out, check_report *report);
bool check_attribute_text(hid_t file, const char *name, char *text, size_t capacity,
                          check_report *report);
/* Whether a text attribute of the root has a fixed length, as since version 2 of the format. */
bool check_attribute_is_fixed(hid_t file, const char *name);
/* Attribute `names` of a dataset: for each of its texts the place in `known` (ended by NULL), -1
 * when it is not there. Returns how many, at most `most`. */
int check_names(hid_t file, const char *dataset, const char *const *known, int most, int *out);

#endif

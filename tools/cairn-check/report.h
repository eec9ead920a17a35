/* report.h - what the checker found: numbers that do not agree, or why it cannot check. */
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include <stdbool.h>

#include "vector.h"

/* Two roundings of one number may differ by this share of the terms that it is made of. */
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
    long compared;     /* numbers that were looked at                    */
    long checksums;    /* objects of the file that have one              */
    long gaps[3];      /* contacts: gap by a formula, by its points, not */
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
/* Something that is not a number of the file: a finding in words unless `good`. */
void check_true(check_report *report, check_place place, bool good, const char *words);

/* Remember why the file cannot be checked (the first reason counts); returns false. */
bool check_fail(check_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

/* json.h - a writer of JSON objects with one key a line. Errors of the stream are not checked
 * here; the owner of the stream finds them when it closes it. */
#ifndef CAIRN_FILE_JSON_H
#define CAIRN_FILE_JSON_H

#include <stdio.h>

#include "cairn/base.h"

/* The shortest of 15, 16 and 17 digits that reads back as `value`, always with a decimal point
 * whatever the locale. `text` has room for 32 bytes. Not for NaN and infinities. */
void cairn_number_text(double value, char *text);

typedef struct cairn_json {
    FILE *out;
    int depth;  /* open objects                    */
    bool empty; /* the innermost one has no entry yet */
} cairn_json;

/* Begin an object; the outermost one has no key (NULL). */
void cairn_json_begin(cairn_json *json, const char *key);
/* End the innermost object. */
void cairn_json_end(cairn_json *json);
/* A number; null if it is not finite, because JSON has no such numbers. */
void cairn_json_real(cairn_json *json, const char *key, double value);
void cairn_json_integer(cairn_json *json, const char *key, int64_t value);
void cairn_json_flag(cairn_json *json, const char *key, bool value);
/* A text, escaped; NULL gives null. */
void cairn_json_text(cairn_json *json, const char *key, const char *text);
/* Lists on one line: [1, 2.5, null], ["a", "b"]. */
void cairn_json_reals(cairn_json *json, const char *key, const double *values, int count);
void cairn_json_texts(cairn_json *json, const char *key, const char *const *texts, int count);
/* A list of pairs on one line: [[1, 2], [5, 5]]. */
void cairn_json_pairs(cairn_json *json, const char *key, const int64_t (*pairs)[2], int count);

#endif

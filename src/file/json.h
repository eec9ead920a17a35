/* json.h - a writer of JSON objects, one key a line. */
#ifndef CAIRN_IO_JSON_H
#define CAIRN_IO_JSON_H

#include <stdio.h>

#include "cairn/base.h"

/* The shortest of "%.17g" and fewer digits that reads back as `value`, always with a point and
 * never with the comma of a locale. `text` holds 32 bytes. Not for NaN and infinities. */
void cairn_number_text(double value, char *text);

typedef struct cairn_json {
    FILE *out;
    int depth;  /* open objects                    */
    bool empty; /* nothing yet in the newest one   */
} cairn_json;

/* Begin an object; the first has no key (NULL). */
void cairn_json_begin(cairn_json *json, const char *key);
/* End the newest object. */
void cairn_json_end(cairn_json *json);
/* A number; null when it is not finite, because JSON knows no such numbers. */
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

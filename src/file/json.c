/* json.c - a writer of JSON objects, one key a line. */
#include "file/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every double survives 17 digits; most need only 15, and 0.1 then is "0.1" and not
 * "0.10000000000000001". */
void cairn_number_text(double value, char *text)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
}

static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        /* JSON forbids control characters in texts; UTF-8 passes unchanged */
        else if ((unsigned char)*c < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

/* Write comma, line break, indentation and key. Every entry writes its separator in front, so
 * nothing has to be known about the entries that follow. */
static void start_entry(cairn_json *json, const char *key)
{
    if (json->depth > 0)
        fputs(json->empty ? "\n" : ",\n", json->out);
    for (int i = 0; i < json->depth; i++)
        fputs("  ", json->out);
    if (key) {
        write_text(json->out, key);
        fputs(": ", json->out);
    }
    json->empty = false;
}

void cairn_json_begin(cairn_json *json, const char *key)
{
    start_entry(json, key);
    fputc('{', json->out);
    json->depth++;
    json->empty = true;
}

/* An empty object stays on one line. The last one ends the file with a line break. */
void cairn_json_end(cairn_json *json)
{
    json->depth--;
    if (!json->empty)
        fputc('\n', json->out);
    for (int i = 0; !json->empty && i < json->depth; i++)
        fputs("  ", json->out);
    fputs(json->depth == 0 ? "}\n" : "}", json->out);
    json->empty = false;
}

/* JSON has neither NaN nor infinity; null stands for both. */
static void write_real(FILE *out, double value)
{
    char text[32] = "null";
    if (isfinite(value))
        cairn_number_text(value, text);
    fputs(text, out);
}

void cairn_json_real(cairn_json *json, const char *key, double value)
{
    start_entry(json, key);
    write_real(json->out, value);
}

void cairn_json_integer(cairn_json *json, const char *key, int64_t value)
{
    start_entry(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void cairn_json_flag(cairn_json *json, const char *key, bool value)
{
    start_entry(json, key);
    fputs(value ? "true" : "false", json->out);
}

void cairn_json_text(cairn_json *json, const char *key, const char *text)
{
    start_entry(json, key);
    if (text)
        write_text(json->out, text);
    else
        fputs("null", json->out);
}

void cairn_json_pairs(cairn_json *json, const char *key, const int64_t (*pairs)[2], int count)
{
    start_entry(json, key);
    fputc('[', json->out);
    for (int i = 0; i < count; i++)
        fprintf(json->out, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "", pairs[i][0], pairs[i][1]);
    fputc(']', json->out);
}

void cairn_json_reals(cairn_json *json, const char *key, const double *values, int count)
{
    start_entry(json, key);
    fputc('[', json->out);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", json->out);
        write_real(json->out, values[i]);
    }
    fputc(']', json->out);
}

void cairn_json_texts(cairn_json *json, const char *key, const char *const *texts, int count)
{
    start_entry(json, key);
    fputc('[', json->out);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", json->out);
        write_text(json->out, texts[i]);
    }
    fputc(']', json->out);
}

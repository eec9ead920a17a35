/* common.c - the clock, the random numbers, the errors and the text of common.h. */
#include "base/common.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the clock --------------------------------------------------------------------------- */

double cairn_clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- random numbers ---------------------------------------------------------------------- */

/* Splitmix64: one 64-bit state, full period, the same numbers on every machine. */

uint64_t cairn_random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double cairn_random_uniform(uint64_t *state)
{
    /* the upper 53 bits, as many as a double holds: the result is below 1 */
    return (double)(cairn_random_next(state) >> 11) * 0x1p-53;
}

double cairn_random_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * cairn_random_uniform(state);
}

double cairn_random_normal(uint64_t *state)
{
    /* Box and Muller; 1 - u lies in (0, 1], so the logarithm is finite */
    double radius = sqrt(-2 * log(1 - cairn_random_uniform(state)));
    return radius * cos(2 * M_PI * cairn_random_uniform(state));
}

/* ---- statuses and errors --------------------------------------------------------------------- */

const char *cairn_status_text(cairn_status status)
{
    static const char *const texts[] = {
        [CAIRN_OK] = "ok",
        [CAIRN_NO_MEMORY] = "out of memory",
        [CAIRN_BAD_INPUT] = "bad input",
        [CAIRN_NOT_FINITE] = "a number is not finite",
        [CAIRN_NOT_FOUND] = "not found",
        [CAIRN_IO_FAILED] = "reading or writing failed",
        [CAIRN_UNSUPPORTED] = "not supported",
        [CAIRN_STOPPED] = "stopped",
    };
    size_t count = sizeof texts / sizeof texts[0];
    return (size_t)status < count ? texts[status] : "unknown status";
}

const char *cairn_version(void)
{
    return CAIRN_VERSION;
}

cairn_status cairn_fail(cairn_error *error, cairn_status status, const char *key,
                        const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    if (key)
        snprintf(error->key, sizeof error->key, "%s", key);
    return status;
}

/* ==== text =================================================================================== */

static const char *skip_digits(const char *text)
{
    while (cairn_is_digit(*text))
        text++;
    return text;
}

/* The length of [-+]? ( digits [. digits?]? | . digits ) ( [eE] [-+]? digits )? at the start of a
 * text; 0: there is no such number. */
static size_t decimal_length(const char *text)
{
    const char *at = text + (*text == '-' || *text == '+');
    const char *whole = skip_digits(at);
    bool digits = whole > at;
    at = whole;
    if (*whole == '.') {
        at = skip_digits(whole + 1);
        digits = digits || at > whole + 1;
    }
    if (!digits)
        return 0;
    const char *power = at + 1 + (*at && (at[1] == '-' || at[1] == '+'));
    if ((*at == 'e' || *at == 'E') && cairn_is_digit(*power))
        at = skip_digits(power);
    return (size_t)(at - text);
}

/* strtod of a decimal number of known length, in a copy in which the point is replaced by the
 * decimal mark of the locale, because strtod expects that. */
static double decimal_value(const char *text, size_t length)
{
    char local[512];
    const char *mark = localeconv()->decimal_point, *point = memchr(text, '.', length);
    size_t head = point ? (size_t)(point - text) : length, wide = point ? strlen(mark) : 0;
    size_t tail = point ? length - head - 1 : 0;
    /* too long for the copy: strtod finds the end itself (but needs a locale with a point) */
    if (head + wide + tail >= sizeof local)
        return strtod(text, NULL);
    memcpy(local, text, head);
    memcpy(local + head, mark, wide);
    memcpy(local + head + wide, text + head + (point != NULL), tail);
    local[head + wide + tail] = '\0';
    return strtod(local, NULL);
}

size_t cairn_number_read(const char *text, double *out)
{
    size_t length = decimal_length(text);
    if (length > 0)
        *out = decimal_value(text, length);
    return length;
}

size_t cairn_integer_read(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-' || *text == '+'), *end = skip_digits(digits);
    if (end == digits)
        return 0;
    *out = strtoll(text, NULL, 10);
    return (size_t)(end - text);
}

bool cairn_text_is_one_of(const char *text, const char *const *words)
{
    while (*words && strcmp(text, *words) != 0)
        words++;
    return *words != NULL;
}

/* .inf and .nan with the spellings of the core schema of YAML 1.2; only .inf may have a sign. */
static bool special_value(const char *text, double *out)
{
    static const char *const infinite[] = { ".inf", ".Inf", ".INF", NULL };
    static const char *const none[] = { ".nan", ".NaN", ".NAN", NULL };
    bool negative = *text == '-', has_sign = negative || *text == '+';
    if (cairn_text_is_one_of(text + has_sign, infinite)) {
        *out = negative ? -INFINITY : INFINITY;
        return true;
    }
    *out = NAN;
    return cairn_text_is_one_of(text, none);
}

bool cairn_text_real(const char *text, double *out)
{
    size_t length = cairn_number_read(text, out);
    return (length > 0 && !text[length]) || special_value(text, out);
}

size_t cairn_text_mark(const void *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* ---- escaping ------------------------------------------------------------------------------- */

/* The length of the printable UTF-8 character at the start of a text; 0: there is none. The first
 * byte of a character of n > 1 bytes begins with n ones and a zero, the others begin with 10.
 * U+0080 to U+009F (C2 80 to C2 9F) are control characters. */
static size_t printable(const unsigned char *text)
{
    static const unsigned char first[] = { 0xc2, 0xe0, 0xf0, 0xf5 };
    if (text[0] < 0x80)
        return cairn_is_control((char)text[0]) ? 0 : 1;
    size_t bytes = text[0] < first[0]   ? 0
                   : text[0] < first[1] ? 2
                   : text[0] < first[2] ? 3
                   : text[0] < first[3] ? 4
                                        : 0;
    for (size_t i = 1; i < bytes; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return text[0] == 0xc2 && text[1] < 0xa0 ? 0 : bytes;
}

/* Write the shown form of the character at *text and move *text past it; returns its length. Bytes
 * that are not printable appear as \n, \t, \r or \xNN, so that no input can control a terminal. */
static size_t show(const char **text, char shown[8])
{
    static const char named[] = "\n\t\r", letters[] = "ntr";
    size_t bytes = printable((const unsigned char *)*text);
    const char *name = strchr(named, **text);
    if (bytes > 0)
        memcpy(shown, *text, bytes);
    else if (name)
        snprintf(shown, 8, "\\%c", letters[name - named]);
    else
        snprintf(shown, 8, "\\x%02x", (unsigned char)**text);
    *text += bytes > 0 ? bytes : 1;
    return bytes > 0 ? bytes : strlen(shown);
}

void cairn_text_escape(const char *text, char *out, size_t capacity)
{
    enum { DOTS = 3 };
    size_t used = 0, whole = 0; /* `whole`: the last end at which "..." still fits */
    while (*text) {
        char shown[8];
        size_t bytes = show(&text, shown);
        if (used + bytes >= capacity) {
            snprintf(out + whole, capacity - whole, "...");
            return;
        }
        memcpy(out + used, shown, bytes);
        used += bytes;
        whole = used + DOTS < capacity ? used : whole;
    }
    out[used] = '\0';
}

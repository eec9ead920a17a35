/* text.c - texts that people write (scenes, mesh files, command lines): numbers in them, and how
 * they are shown.
 *
 * strtod and strtoll take more than they should: blanks of every kind in front, hexadecimal
 * numbers, "inf" and "nan", and the decimal mark of the locale. The functions here take a decimal
 * number with a point, and nothing else. */
#include "base/text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_digits(const char *text)
{
    while (cairn_is_digit(*text))
        text++;
    return text;
}

/* Bytes of [-+]? ( digits [. digits?]? | . digits ) ( [eE] [-+]? digits )?; 0: it is not one. */
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

/* strtod of a decimal of some length, in a copy that has the mark of the locale for the point. */
static double decimal_value(const char *text, size_t length)
{
    char local[512];
    const char *mark = localeconv()->decimal_point, *point = memchr(text, '.', length);
    size_t head = point ? (size_t)(point - text) : length, wide = point ? strlen(mark) : 0;
    size_t tail = point ? length - head - 1 : 0;
    /* a longer one keeps its digits: strtod then stops by itself where the number ends */
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

size_t cairn_text_mark(const void *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* ---- showing -------------------------------------------------------------------------------- */

/* Bytes of the printable character of UTF-8 that stands here; 0: there is none. A character of n
 * bytes begins with n ones and a zero, the others with 10; U+0080 to U+009F (C2 80 to C2 9F) are
 * control characters. */
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

/* What is shown for the character at *text, which moves past it. */
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
    size_t used = 0, whole = 0; /* `whole`: where dots still fit */
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

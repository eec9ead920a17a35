/* text.h - text written by people, byte by byte: digits, blanks and controls, independent of the
 * locale. Reading numbers and cairn_text_escape, which are public, are in cairn/base.h. */
#ifndef CAIRN_BASE_TEXT_H
#define CAIRN_BASE_TEXT_H

#include "cairn/base.h"

static inline bool cairn_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A separator of words within a line. */
static inline bool cairn_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline bool cairn_is_space(char c)
{
    return c == '\n' || cairn_is_blank(c);
}

static inline bool cairn_is_control(char c)
{
    return (unsigned char)c < 32 || c == 127;
}

/* Whether the text equals one of the words, a list that ends with NULL. */
bool cairn_text_is_one_of(const char *text, const char *const *words);

/* The whole text as a number by the core schema of YAML 1.2: a decimal number, .inf, -.inf, .nan.
 * False: it is something else; *out then is undefined. */
bool cairn_text_real(const char *text, double *out);

/* Length of the byte order mark of UTF-8 (EF BB BF) that some editors put at the start of a file:
 * 3, or 0 if there is none. */
size_t cairn_text_mark(const void *text, size_t length);

#endif

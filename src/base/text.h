/* text.h - texts that people write, byte by byte: what is a digit and what a blank, whatever the
 * locale says. Numbers and cairn_text_escape, which are for everybody, are in cairn/base.h. */
#ifndef CAIRN_BASE_TEXT_H
#define CAIRN_BASE_TEXT_H

#include "cairn/base.h"

static inline bool cairn_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What separates words within a line. */
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

/* Bytes of the mark of UTF-8 (EF BB BF) with which some editors begin a file: 3, or 0 for none. */
size_t cairn_text_mark(const void *text, size_t length);

#endif

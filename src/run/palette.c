/* palette.c - the colours of the viewer, for pictures: viewer/src/quantities.ts has the same
 * numbers, and tests/tools/test_view.py compares them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "run/drawing.h"

/* from blue over green to amber; lightness never falls */
static const unsigned char ramp[][3] = {
    { 98, 108, 168 }, { 84, 120, 186 }, { 66, 130, 190 }, { 50, 142, 180 }, { 36, 152, 160 },
    { 40, 164, 132 }, { 72, 178, 104 }, { 124, 190, 80 }, { 184, 198, 56 }, { 244, 196, 40 },
};

typedef struct named_colour {
    const char *name;
    unsigned char colour[3];
} named_colour;

/* The first GIVEN are given out in this order; all are the colours of their names. */
enum { GIVEN = 10 };
static const named_colour named[] = {
    { "blue", { 74, 128, 196 } },      { "orange", { 224, 145, 76 } },
    { "green", { 92, 168, 106 } },     { "red", { 206, 66, 62 } },
    { "purple", { 146, 122, 190 } },   { "brown", { 150, 108, 84 } },
    { "pink", { 214, 132, 186 } },     { "grey", { 140, 144, 150 } },
    { "olive", { 170, 166, 70 } },     { "cyan", { 72, 176, 196 } },
    { "yellow", { 236, 204, 56 } },    { "black", { 52, 54, 58 } },
    { "white", { 240, 240, 238 } },    { "gray", { 140, 144, 150 } },
    { "violet", { 146, 122, 190 } },   { "magenta", { 200, 70, 168 } },
    { "turquoise", { 64, 180, 166 } }, { "gold", { 214, 172, 60 } },
    { "silver", { 186, 190, 196 } },   { "beige", { 222, 208, 176 } },
};
enum { NAMED = sizeof named / sizeof named[0] };

static void write_colour(const double *rgb, char *text)
{
    snprintf(text, CAIRN_COLOUR_BYTES, "#%02x%02x%02x", (unsigned)(rgb[0] + 0.5) & 0xff,
             (unsigned)(rgb[1] + 0.5) & 0xff, (unsigned)(rgb[2] + 0.5) & 0xff);
}

void cairn_palette_share(double share, char *text)
{
    enum { LAST = sizeof ramp / sizeof ramp[0] - 1 };
    double at = share < 0 ? 0 : share > 1 ? LAST : share * LAST, rgb[3];
    int low = at < LAST ? (int)at : LAST - 1;
    for (int k = 0; k < 3; k++)
        rgb[k] = ramp[low][k] + (at - low) * (ramp[low + 1][k] - ramp[low][k]);
    write_colour(rgb, text);
}

/* Whether a word, in small letters, is one of the words of a name, such as Dark_Red_2. */
static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word), same = 0;
    bool inside = false; /* a word that has begun otherwise */
    for (const char *c = name;; c++) {
        int letter = tolower((unsigned char)*c);
        if (letter >= 'a' && letter <= 'z') {
            inside = inside || same >= length || letter != word[same];
            same++;
            continue;
        }
        if (!inside && same == length)
            return true;
        if (!*c)
            return false;
        inside = false;
        same = 0;
    }
}

/* The number of the colour that a name has; -1: none. */
static int colour_in(const char *name)
{
    for (int k = 0; k < NAMED; k++)
        if (has_word(name, named[k].name))
            return k;
    return -1;
}

/* Whether a name has one of the colours that are given out. */
static bool is_taken(const char *const *names, int count, int colour)
{
    for (int i = 0; i < count; i++) {
        int own = colour_in(names[i]);
        if (own >= 0 && memcmp(named[own].colour, named[colour].colour, 3) == 0)
            return true;
    }
    return false;
}

void cairn_palette_kind(const char *const *names, int count, int kind, char *text)
{
    int own = colour_in(names[kind]), free[GIVEN], left = 0, before = 0;
    for (int k = 0; k < GIVEN; k++)
        if (!is_taken(names, count, k))
            free[left++] = k;
    for (int i = 0; i < kind; i++)
        before += colour_in(names[i]) < 0;
    int at = own >= 0 ? own : left > 0 ? free[before % left] : before % GIVEN;
    const unsigned char *c = named[at].colour;
    write_colour((const double[]){ c[0], c[1], c[2] }, text);
}

/* scene_label.c - what people call a body: by the name that its scene gives it. The world knows
 * bodies by number only. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cairn/scene.h"
#include "io/scene_build.h"

void cairn_scene_body_label(const cairn_scene *scene, int64_t body, char *out, size_t capacity)
{
    bool named = scene->body_names && body >= 0 && body < scene->body_count &&
                 scene->body_names[body] != NULL;
    char name[160];
    if (!named) {
        snprintf(out, capacity, "%lld", (long long)body);
        return;
    }
    cairn_text_escape(scene->body_names[body], name, sizeof name);
    snprintf(out, capacity, "'%s'", name);
}

/* The digits of the next "body 12" in a text; NULL: there is none. */
static const char *next_number(const char *text)
{
    const char *found = strstr(text, "body ");
    while (found && !isdigit((unsigned char)found[5]))
        found = strstr(found + 5, "body ");
    return found ? found + 5 : NULL;
}

void cairn_scene_name_bodies(const cairn_scene *scene, const char *message, char *out,
                             size_t capacity)
{
    size_t length = 0;
    const char *number;
    out[0] = '\0';
    while ((number = next_number(message)) && length < capacity) {
        char label[192], *rest;
        long long body = strtoll(number, &rest, 10);
        cairn_scene_body_label(scene, body, label, sizeof label);
        length += (size_t)snprintf(out + length, capacity - length, "%.*s%s",
                                   (int)(number - message), message, label);
        message = rest;
    }
    if (length < capacity)
        snprintf(out + length, capacity - length, "%s", message);
}

/* scene_text.h - loads scenes from texts in tests, and checks how bad ones are refused. */
#ifndef CAIRN_TESTS_SCENE_TEXT_H
#define CAIRN_TESTS_SCENE_TEXT_H

#include <stdio.h>
#include <unistd.h>

#include "cairn/scene.h"
#include "check.h"

/* The two lines that every scene needs; what is tested begins on line 3. */
#define HEAD "cairn: 1\nrun: {time_step: 1e-3, duration: 1}\n"

static inline const char *scene_text_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "scene_text_%ld.yaml", (long)getpid());
    return path;
}

static inline void scene_text_write(const char *text, size_t length)
{
    FILE *file = fopen(scene_text_path(), "wb");
    CHECK(file != NULL);
    CHECK_INT(fwrite(text, 1, length, file), length);
    CHECK_INT(fclose(file), 0);
}

/* Load a text as if it were a file, with one override (NULL: none). */
static inline cairn_status scene_text_load(const char *text, const char *override,
                                           cairn_scene **out, cairn_error *error)
{
    scene_text_write(text, strlen(text));
    cairn_status status =
        cairn_scene_load(scene_text_path(), &override, override ? 1 : 0, out, error);
    remove(scene_text_path());
    return status;
}

/* A text that must load; prints why when it does not. */
static inline cairn_scene *scene_text_good(const char *text, const char *override)
{
    cairn_scene *scene;
    cairn_error error;
    if (scene_text_load(text, override, &scene, &error) != CAIRN_OK)
        fail_msg("%d:%d: %s: %s", error.line, error.column, error.key, error.message);
    return scene;
}

/* A scene that must be refused, with the place, the key and a part of the message. */
typedef struct refused {
    const char *text;
    int line, column;
    const char *key, *message;
} refused;

/* With an override the file of the error is --set. */
static inline void check_refused(const refused *r, cairn_status expected, const char *override)
{
    cairn_scene *scene = (cairn_scene *)1;
    cairn_error e;
    cairn_status status = scene_text_load(r->text, override, &scene, &e);
    if (status != expected || scene != NULL || e.line != r->line || e.column != r->column ||
        strcmp(e.key, r->key) != 0 || !strstr(e.message, r->message) ||
        strcmp(e.file, override ? "--set" : scene_text_path()) != 0)
        fail_msg("%s\n%s\nexpected %d:%d: %s: ...%s...\nfound    %s:%d:%d: %s: %s (status %d)",
                 r->text, override ? override : "", r->line, r->column, r->key, r->message, e.file,
                 e.line, e.column, e.key, e.message, (int)status);
}

static inline void check_all_refused(const refused *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_refused(&table[i], CAIRN_BAD_INPUT, NULL);
}

#define CHECK_REFUSED(table) check_all_refused(table, sizeof(table) / sizeof((table)[0]))

#endif

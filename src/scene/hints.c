/* hints.c - what messages about wrong words add, so that a user need not look it up: the name that
 * cairn has for a thing that other programs call differently, the nearest name, or all names; and
 * how something with options is written. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "scene/stages.h"

/* ---- words ---------------------------------------------------------------------------------- */

/* What other programs, and languages, call a thing; the first line counts of which the name is
 * among those that are possible. */
static const struct {
    const char *word, *name;
} synonyms[] = {
    /* shapes, and joints */
    { "ball", "sphere" },
    { "spherical", "ball" },
    { "disk", "sphere" },
    { "disc", "sphere" },
    { "circle", "sphere" },
    { "particle", "sphere" },
    { "grain", "sphere" },
    { "cube", "box" },
    { "cuboid", "box" },
    { "block", "box" },
    { "brick", "box" },
    { "rectangle", "box" },
    { "square", "box" },
    { "plane", "half_space" },
    { "floor", "half_space" },
    { "ground", "half_space" },
    { "wall", "half_space" },
    { "line", "half_space" },
    { "halfspace", "half_space" },
    { "pill", "capsule" },
    { "rod", "capsule" },
    { "spherocylinder", "capsule" },
    { "ellipse", "ellipsoid" },
    { "superquadric", "superellipsoid" },
    { "hull", "polyhedron" },
    { "convex", "polyhedron" },
    { "polygon", "polyhedron" },
    { "stl", "mesh" },
    { "obj", "mesh" },
    { "trimesh", "mesh" },
    { "terrain", "height_field" },
    { "heightmap", "height_field" },
    { "clump", "compound" },
    { "multisphere", "compound" },
    { "drum", "inside_cylinder" },
    { "hopper", "funnel" },
    { "container", "inside_box" },
    { "hinge", "revolute" },
    { "pin", "revolute" },
    { "slider", "prismatic" },
    { "weld", "fixed" },
    /* generators, drivers, motions */
    { "random", "fill" },
    { "lattice", "grid" },
    { "inlet", "pour" },
    { "rain", "pour" },
    { "csv", "table" },
    { "translation", "velocity" },
    { "vibration", "shake" },
    { "static", "fixed" },
    { "kinematic", "driven" },
    { "free", "dynamic" },
    { "moving", "dynamic" },
    { "psd", "sieve" },
    { "gaussian", "normal" },
    /* keys */
    { "mu", "friction" },
    { "pos", "position" },
    { "rotation", "orientation" },
    { "quaternion", "orientation" },
    { "vel", "velocity" },
    { "omega", "angular_velocity" },
    { "weight", "mass" },
    { "type", "motion" },
    { "dt", "time_step" },
    { "timestep", "time_step" },
    { "end_time", "duration" },
    { "t_end", "duration" },
    { "center", "centre" },
    { "half_extents", "size" },
    { "dimensions", "size" },
    { "diameter", "radius" },
};

static const char *name_of(const char *word, const char *const *known, int count)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
        for (int k = 0; k < count && strcmp(synonyms[i].word, word) == 0; k++)
            if (strcmp(synonyms[i].name, known[k]) == 0)
                return known[k];
    return NULL;
}

/* "a, b, c", ending with dots if not all names fit. */
void cairn_scene_join(const char *const *words, int count, char *text, size_t capacity)
{
    static const char more[] = ", ...";
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        bool fits = used + strlen(words[i]) + 2 + sizeof more <= capacity;
        used += (size_t)snprintf(text + used, capacity - used, "%s%s", fits && i ? ", " : "",
                                 fits ? words[i] : more);
        if (!fits)
            return;
    }
}

/* A diameter is not another word for a radius: what is written has to change as well. */
static const char *caution(const char *word, const char *name)
{
    static const struct {
        const char *word, *name, *text;
    } cautions[] = {
        { "diameter", "radius", " It is half of the diameter." },
        { "half_extents", "size", " It has full lengths." },
        { "rotation", "orientation", " It is {axis: [x, y, z], angle: rad} or [w, x, y, z]." },
    };
    for (size_t i = 0; i < sizeof cautions / sizeof cautions[0]; i++)
        if (strcmp(cautions[i].word, word) == 0 && strcmp(cautions[i].name, name) == 0)
            return cautions[i].text;
    return "";
}

/* A synonym or a near name is suggested alone; otherwise all known names are listed. */
void cairn_scene_unknown(const char *noun, const char *word, const cairn_scene_words *known,
                         char *text, size_t capacity)
{
    char list[400];
    const char *meant = name_of(word, known->items, known->count);
    if (!meant)
        meant = cairn_nearest_name(word, known->items, known->count);
    cairn_scene_join(known->items, known->count, list, sizeof list);
    if (known->count == 0)
        snprintf(text, capacity, "unknown %s '%.60s': %s", noun, word, known->none);
    else if (meant)
        snprintf(text, capacity, "unknown %s '%.60s'; did you mean '%s'?%s", noun, word, meant,
                 caution(word, meant));
    else
        snprintf(text, capacity, "unknown %s '%.60s', expected one of %s", noun, word, list);
}

/* ---- forms ---------------------------------------------------------------------------------- */

/* "{box: {size: ...}}": the name and what must be given. */
static void write_form(const cairn_record *record, char *text, size_t capacity)
{
    size_t used = (size_t)snprintf(text, capacity, "{%s: {", record->name);
    int written = 0;
    for (int i = 0; i < record->option_count && used < capacity; i++)
        if (record->options[i].required)
            used += (size_t)snprintf(text + used, capacity - used, "%s%s: ...",
                                     written++ ? ", " : "", record->options[i].name);
    if (used < capacity)
        snprintf(text + used, capacity - used, written ? "}}" : "...}}");
}

/* Whether a text begins with the name of a kind, and goes on with something else. */
static bool begins_with(const char *text, const char *name)
{
    size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] &&
           !isalnum((unsigned char)text[length]) && text[length] != '_';
}

bool cairn_scene_form(const cairn_yaml_node *node, const cairn_scene_choice *choice, char *text,
                      size_t capacity)
{
    const char *first = node->kind == CAIRN_YAML_SCALAR ? node->text
                        : node->first                   ? node->first->key
                                                        : NULL;
    bool several = node->kind == CAIRN_YAML_MAPPING && node->count > 1;
    if (several && !cairn_yaml_is_null(node->first)) /* {sphere: {}, point: {}}: which is meant? */
        return false;
    for (int kind = 0; first && choice->at(kind); kind++) {
        const cairn_record *record = choice->at(kind);
        if (several ? strcmp(first, record->name) == 0 : begins_with(first, record->name)) {
            write_form(record, text, capacity);
            return true;
        }
    }
    return false;
}

/* A key that belongs to a kind whose bare name stands beside it: `shape: sphere`, `radius: 0.1`. */
cairn_status cairn_scene_refuse_stray(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                      const char *key, const cairn_scene_choice *choice)
{
    const cairn_yaml_node *bare = cairn_yaml_find(mapping, key);
    const cairn_record *record = NULL;
    char form[200];
    if (!bare || bare->kind != CAIRN_YAML_SCALAR)
        return CAIRN_OK;
    for (int kind = 0; choice->at(kind); kind++)
        if (strcmp(choice->at(kind)->name, bare->text) == 0)
            record = choice->at(kind);
    for (const cairn_yaml_node *n = mapping->first; n && record; n = n->next) {
        const cairn_option *option = cairn_record_find(record, n->key);
        if (!option || !option->required)
            continue;
        write_form(record, form, sizeof form);
        return cairn_yaml_fail_key(n, b->error, "'%s' belongs to the %s, expected %s: %s", n->key,
                                   choice->noun, key, form);
    }
    return CAIRN_OK;
}

/* ---- files of other programs ---------------------------------------------------------------- */

cairn_status cairn_scene_refuse_foreign(cairn_scene_build *b, const char *path, const char *text)
{
    static const struct {
        const char *mark, *what;
    } formats[] = {
        { "<robot", "a URDF file, a robot in XML" },
        { "<mujoco", "an MJCF file of MuJoCo" },
        { "<sdf", "an SDF file of Gazebo" },
        { "<?xml", "an XML file" },
        { "<", "an XML file" },
    };
    text += cairn_text_mark(text, strlen(text));
    text += strspn(text, " \t\r\n");
    if (text[0] != '<')
        return CAIRN_OK;
    int i = 0;
    while (!strstr(text, formats[i].mark))
        i++;
    snprintf(b->error->file, sizeof b->error->file, "%s", path);
    b->error->line = b->error->column = 1;
    return cairn_fail(b->error, CAIRN_UNSUPPORTED, "",
                      "found %s, which is not supported, expected a scene in YAML that starts with "
                      "cairn: 1",
                      formats[i].what);
}

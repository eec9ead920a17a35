/* schema.c - the JSON Schema (draft 2020-12) of the scene format, for editors and checkers.
 *
 * Written from the same tables that read scenes. Conditions that depend on other values (2D or
 * 3D, names of materials, free space) are beyond a schema; they are checked when a scene is
 * read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cairn/joint.h"
#include "file/file.h"
#include "scene/stages.h"

/* ---- pieces -------------------------------------------------------------------------------- */

/* Write comma, indentation and key, for a value that the caller writes itself. cairn_json has no
 * lists with one entry a line and no ready-made pieces of JSON, so this file adds both. Keys and
 * texts of the tables need no escapes. */
static FILE *raw(cairn_json *json, const char *key)
{
    fputs(json->empty ? "\n" : ",\n", json->out);
    fprintf(json->out, "%*s", 2 * json->depth, "");
    if (key)
        fprintf(json->out, "\"%s\": ", key);
    json->empty = false;
    return json->out;
}

/* A list with one entry a line, unlike the lists of file/file.h. */
static void begin_list(cairn_json *json, const char *key)
{
    fputc('[', raw(json, key));
    json->depth++;
    json->empty = true;
}

static void end_list(cairn_json *json)
{
    json->depth--;
    fprintf(json->out, "\n%*s]", 2 * json->depth, "");
    json->empty = false;
}

/* ---- one option ---------------------------------------------------------------------------- */

/* The range of an option, as far as it has one. CAIRN_POSITIVE stands for "greater than 0". */
static void write_range(cairn_json *json, const cairn_option *option)
{
    if (option->minimum == CAIRN_POSITIVE)
        cairn_json_integer(json, "exclusiveMinimum", 0);
    else if (option->minimum > -CAIRN_UNBOUNDED)
        cairn_json_real(json, "minimum", option->minimum);
    if (option->maximum < CAIRN_UNBOUNDED)
        cairn_json_real(json, "maximum", option->maximum);
}

/* A number, or a text with a parameter ($name), which is a number when the scene is read. */
static void write_number(cairn_json *json, const cairn_option *option, const char *type)
{
    fprintf(raw(json, "type"), "[\"%s\", \"string\"]", type);
    cairn_json_text(json, "pattern", "[$]");
    write_range(json, option);
}

/* most = 0: of any length */
static void write_list(cairn_json *json, const cairn_option *option, int least, int most)
{
    cairn_json_text(json, "type", "array");
    cairn_json_begin(json, "items");
    write_number(json, option, "number");
    cairn_json_end(json);
    if (most > 0) {
        cairn_json_integer(json, "minItems", least);
        cairn_json_integer(json, "maxItems", most);
    }
}

/* Three numbers, in 2D two; a rotation is three numbers or, in 2D, one. The schema does not know
 * the dimension, so both are allowed. */
static void write_vector(cairn_json *json, const cairn_option *option)
{
    if (!cairn_scene_is_angular(option)) {
        write_list(json, option, 2, 3);
        return;
    }
    begin_list(json, "anyOf");
    cairn_json_begin(json, NULL);
    write_list(json, option, 3, 3);
    cairn_json_end(json);
    cairn_json_begin(json, NULL);
    write_number(json, option, "number");
    cairn_json_end(json);
    end_list(json);
}

/* The choices of an option as an enum, so that editors can complete them. */
static void write_choices(cairn_json *json, const cairn_option *option)
{
    begin_list(json, "enum");
    for (int i = 0; option->choice(i); i++)
        fprintf(raw(json, NULL), "\"%s\"", option->choice(i));
    end_list(json);
}

/* One of the choices, or another word. The choices are listed so that editors offer them. The
 * pattern is that of cairn_is_word. */
static void write_word(cairn_json *json, const cairn_option *option)
{
    begin_list(json, "anyOf");
    cairn_json_begin(json, NULL);
    write_choices(json, option);
    cairn_json_end(json);
    cairn_json_begin(json, NULL);
    cairn_json_text(json, "type", "string");
    cairn_json_text(json, "pattern", "^[A-Za-z0-9_-]{1,31}$");
    cairn_json_end(json);
    end_list(json);
}

static void write_names(cairn_json *json, const cairn_option *option)
{
    cairn_json_text(json, "type", "array");
    cairn_json_begin(json, "items");
    write_choices(json, option);
    cairn_json_end(json);
    cairn_json_flag(json, "uniqueItems", true);
}

/* One of the forms above, or a function of time: an expression or one of its kinds. */
static void write_or_function(cairn_json *json, const cairn_option *option,
                              void (*write)(cairn_json *, const cairn_option *))
{
    begin_list(json, "anyOf");
    cairn_json_begin(json, NULL);
    write(json, option);
    cairn_json_end(json);
    fputs("{\"$ref\": \"#/$defs/function\"}", raw(json, NULL));
    end_list(json);
}

static void write_real(cairn_json *json, const cairn_option *option)
{
    write_number(json, option, "number");
}

/* A vector of which each component is a number or a function. */
static void write_varying_vector(cairn_json *json, const cairn_option *option)
{
    cairn_json_text(json, "type", "array");
    cairn_json_begin(json, "items");
    write_or_function(json, option, write_real);
    cairn_json_end(json);
    cairn_json_integer(json, "minItems", 2);
    cairn_json_integer(json, "maxItems", 3);
}

/* Each type of option maps to one form of JSON Schema. */
static void write_type(cairn_json *json, const cairn_option *option)
{
    switch (option->type) {
    case CAIRN_OPTION_REAL:
        write_number(json, option, "number");
        break;
    case CAIRN_OPTION_INTEGER:
        write_number(json, option, "integer");
        break;
    case CAIRN_OPTION_FLAG:
        cairn_json_text(json, "type", "boolean");
        break;
    case CAIRN_OPTION_VECTOR:
        write_vector(json, option);
        break;
    case CAIRN_OPTION_LIST:
        write_list(json, option, 0, 0);
        break;
    case CAIRN_OPTION_NAME:
        write_choices(json, option);
        break;
    case CAIRN_OPTION_NAMES:
        write_names(json, option);
        break;
    case CAIRN_OPTION_WORD:
        write_word(json, option);
        break;
    case CAIRN_OPTION_FUNCTION:
    case CAIRN_OPTION_VARYING:
        write_or_function(json, option, write_real);
        break;
    case CAIRN_OPTION_VARYING_VECTOR:
        write_varying_vector(json, option);
        break;
    }
}

/* The default of an option that is not required. JSON has no infinity: such a default is left
 * out, and so is one that cannot be given: a mass of 0 is that of no body. Lists are empty by
 * default and are left out as well. */
static void write_default(cairn_json *json, const cairn_option *option, const void *field)
{
    const cairn_vec3 *v = field;
    char x[32], y[32], z[32];
    if (option->required)
        return;
    switch (option->type) {
    case CAIRN_OPTION_REAL:
    case CAIRN_OPTION_VARYING:
        if (isfinite(*(const double *)field) && *(const double *)field >= option->minimum)
            cairn_json_real(json, "default", *(const double *)field);
        break;
    case CAIRN_OPTION_INTEGER:
        cairn_json_integer(json, "default", *(const int64_t *)field);
        break;
    case CAIRN_OPTION_FLAG:
        cairn_json_flag(json, "default", *(const bool *)field);
        break;
    case CAIRN_OPTION_NAME:
    case CAIRN_OPTION_WORD:
        cairn_json_text(json, "default", *(const char *const *)field);
        break;
    case CAIRN_OPTION_VECTOR:
    case CAIRN_OPTION_VARYING_VECTOR:
        if (!isfinite(v->x))
            break;
        cairn_number_text(v->x, x);
        cairn_number_text(v->y, y);
        cairn_number_text(v->z, z);
        fprintf(raw(json, "default"), "[%s, %s, %s]", x, y, z);
        break;
    case CAIRN_OPTION_LIST:
    case CAIRN_OPTION_NAMES:
    case CAIRN_OPTION_FUNCTION:
        break;
    }
}

/* The unit goes into the description, where editors show it. */
static void write_option(cairn_json *json, const cairn_option *option, const void *defaults)
{
    char text[256];
    cairn_json_begin(json, option->name);
    snprintf(text, sizeof text, "%s%s%s%s", option->text, option->unit[0] ? " (" : "", option->unit,
             option->unit[0] ? ")" : "");
    cairn_json_text(json, "description", text);
    write_type(json, option);
    write_default(json, option, (const char *)defaults + option->offset);
    cairn_json_end(json);
}

/* ---- a mapping ----------------------------------------------------------------------------- */

/* The defaults are taken from the record itself, so schema and reader cannot disagree. The
 * record may be NULL. */
static cairn_status write_record(cairn_json *json, const cairn_record *record)
{
    if (!record)
        return CAIRN_OK;
    void *defaults = cairn_memory_zeroed(1, record->size);
    if (!defaults)
        return CAIRN_NO_MEMORY;
    record->set_default(defaults);
    for (int i = 0; i < record->option_count; i++)
        write_option(json, &record->options[i], defaults);
    cairn_memory_free(defaults);
    return CAIRN_OK;
}

/* A further key: its own schema, an object, with the description put in front of the first
 * member. */
static void write_further(cairn_json *json, const cairn_scene_key *key)
{
    fprintf(raw(json, key->name), "{\"description\": \"%s\", %s", key->text, key->schema + 1);
}

static void write_required(cairn_json *json, const cairn_scene_keys *keys)
{
    const cairn_record *const records[] = { keys->record, keys->second };
    begin_list(json, "required");
    for (int r = 0; r < 2; r++)
        for (int i = 0; records[r] && i < records[r]->option_count; i++)
            if (records[r]->options[i].required)
                fprintf(raw(json, NULL), "\"%s\"", records[r]->options[i].name);
    for (int i = 0; i < keys->further_count; i++)
        if (keys->further[i].required)
            fprintf(raw(json, NULL), "\"%s\"", keys->further[i].name);
    end_list(json);
}

/* Whether a mapping has any required key; if not, it may be empty or a bare name. */
static bool has_required(const cairn_scene_keys *keys)
{
    bool found = false;
    for (int i = 0; keys->record && i < keys->record->option_count; i++)
        found = found || keys->record->options[i].required;
    for (int i = 0; keys->second && i < keys->second->option_count; i++)
        found = found || keys->second->options[i].required;
    for (int i = 0; i < keys->further_count; i++)
        found = found || keys->further[i].required;
    return found;
}

/* The members of an object schema. Unknown keys are errors, as in the reader. */
static cairn_status write_mapping(cairn_json *json, const cairn_scene_keys *keys)
{
    /* in YAML a mapping without required keys may be left empty, which reads as null */
    if (has_required(keys))
        cairn_json_text(json, "type", "object");
    else
        fputs("[\"object\", \"null\"]", raw(json, "type"));
    cairn_json_begin(json, "properties");
    cairn_status status = write_record(json, keys->record);
    if (status == CAIRN_OK)
        status = write_record(json, keys->second);
    for (int i = 0; i < keys->further_count; i++)
        write_further(json, &keys->further[i]);
    cairn_json_end(json);
    write_required(json, keys);
    cairn_json_flag(json, "additionalProperties", false);
    return status;
}

static cairn_status write_definition(cairn_json *json, const char *name, cairn_scene_keys keys)
{
    cairn_json_begin(json, name);
    cairn_status status = write_mapping(json, &keys);
    cairn_json_end(json);
    return status;
}

/* ---- one of several ------------------------------------------------------------------------ */

/* The keys of one kind. Kinds without further keys are described by their table alone. */
static cairn_scene_keys keys_of(const cairn_scene_choice *choice, int kind)
{
    if (choice == &cairn_scene_generators)
        return cairn_scene_generator_keys(kind);
    if (choice == &cairn_scene_joints)
        return cairn_scene_joint_keys(kind);
    if (choice == &cairn_scene_outlets)
        return cairn_scene_outlet_keys(kind);
    if (choice == &cairn_scene_conditions)
        return cairn_scene_condition_keys(kind);
    if (choice == &cairn_scene_shapes)
        return cairn_scene_shape_keys(kind);
    return (cairn_scene_keys){ .record = choice->at(kind) };
}

/* {"name": {...}} with exactly this name */
static cairn_status write_alternative(cairn_json *json, const cairn_record *record,
                                      cairn_scene_keys keys)
{
    cairn_json_begin(json, NULL);
    cairn_json_text(json, "description", record->summary);
    cairn_json_text(json, "type", "object");
    cairn_json_begin(json, "properties");
    cairn_status status = write_definition(json, record->name, keys);
    cairn_json_end(json);
    fprintf(raw(json, "required"), "[\"%s\"]", record->name);
    cairn_json_flag(json, "additionalProperties", false);
    cairn_json_end(json);
    return status;
}

/* `plain` is one more alternative as JSON, NULL: none. A kind without required keys may also be
 * given by its name alone. */
static cairn_status write_choice(cairn_json *json, const cairn_scene_choice *choice,
                                 const char *plain)
{
    cairn_status status = CAIRN_OK;
    cairn_json_begin(json, choice->noun);
    begin_list(json, "oneOf");
    if (plain)
        fputs(plain, raw(json, NULL));
    for (int kind = 0; choice->at(kind) && status == CAIRN_OK; kind++) {
        const cairn_scene_keys keys = keys_of(choice, kind);
        status = write_alternative(json, choice->at(kind), keys);
        if (!has_required(&keys))
            fprintf(raw(json, NULL), "{\"const\": \"%s\"}", choice->at(kind)->name);
    }
    end_list(json);
    cairn_json_end(json);
    return status;
}

/* A quaternion or {axis, angle}, as cairn_scene_read_orientation accepts them. */
static cairn_status write_orientation(cairn_json *json)
{
    cairn_json_begin(json, "orientation");
    begin_list(json, "oneOf");
    fputs("{\"type\": \"array\", \"items\": {\"type\": [\"number\", \"string\"], \"pattern\": "
          "\"[$]\"}, \"minItems\": 4, \"maxItems\": 4}",
          raw(json, NULL));
    const cairn_scene_keys keys = cairn_scene_orientation_keys();
    cairn_json_begin(json, NULL);
    cairn_status status = write_mapping(json, &keys);
    cairn_json_end(json);
    end_list(json);
    cairn_json_end(json);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* JSON that was written cannot be taken back, so all parts are written and the first failure
 * counts. */
static cairn_status first_failure(const cairn_status *statuses, int count)
{
    for (int i = 0; i < count; i++)
        if (statuses[i] != CAIRN_OK)
            return statuses[i];
    return CAIRN_OK;
}

/* The definitions to which the schemas of further keys refer by #/$defs/name. Each is written
 * once, since shapes are nested: a compound has parts, a part has a shape. */
static cairn_status write_definitions(cairn_json *json)
{
    cairn_json_begin(json, "$defs");
    const cairn_status statuses[] = {
        write_definition(json, "run", cairn_scene_run_keys()),
        write_definition(json, "start", cairn_scene_start_keys()),
        write_definition(json, "measure", cairn_scene_measure_keys()),
        write_definition(json, "periodic", cairn_scene_periodic_keys()),
        write_definition(json, "material", cairn_scene_material_keys()),
        write_definition(json, "pair", cairn_scene_pair_keys()),
        write_definition(json, "body", cairn_scene_body_keys()),
        write_definition(json, "part", cairn_scene_part_keys()),
        write_definition(json, "driven_group", cairn_scene_driven_group_keys()),
        write_orientation(json),
        write_choice(json, &cairn_scene_friction_laws, NULL),
        write_choice(json, &cairn_scene_shapes, NULL),
        write_choice(json, &cairn_scene_drivers, NULL),
        write_choice(json, &cairn_scene_loads, NULL),
        write_choice(json, &cairn_scene_distributions,
                     "{\"type\": [\"number\", \"string\"], \"pattern\": \"[$]\"}"),
        write_choice(json, &cairn_scene_functions, "{\"type\": \"string\"}"),
        write_choice(json, &cairn_scene_generators, NULL),
        write_choice(json, &cairn_scene_outlets, NULL),
        write_definition(json, "cell", cairn_scene_cell_keys()),
        write_definition(json, "cell_axis", cairn_scene_cell_axis_keys()),
        write_definition(json, "event", cairn_scene_event_keys()),
        write_definition(json, "series", cairn_scene_series_keys()),
        write_choice(json, &cairn_scene_conditions, NULL),
        write_choice(json, &cairn_scene_joints, NULL),
        write_definition(json, "drive", (cairn_scene_keys){ .record = cairn_joint_drive_record() }),
    };
    cairn_json_end(json);
    return first_failure(statuses, sizeof statuses / sizeof statuses[0]);
}

cairn_status cairn_scene_schema(FILE *out)
{
    cairn_json json = { .out = out };
    const cairn_scene_keys keys = cairn_scene_root_keys();
    cairn_json_begin(&json, NULL);
    cairn_json_text(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    cairn_json_text(&json, "title", "cairn scene");
    cairn_json_text(&json, "description", "A scene of cairn, format version 1; SI units.");
    /* C leaves the order of these two calls open; either order gives a valid schema */
    const cairn_status statuses[] = { write_mapping(&json, &keys), write_definitions(&json) };
    cairn_json_end(&json);
    cairn_status status = first_failure(statuses, 2);
    if (status != CAIRN_OK)
        return status;
    return fflush(out) == 0 && !ferror(out) ? CAIRN_OK : CAIRN_IO_FAILED;
}

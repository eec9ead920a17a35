/* list.c - `cairn list`: everything that has a name, printed from the tables that parse scenes. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

enum { NAME_WIDTH = 22 };

/* ---- defaults ------------------------------------------------------------------------------ */

static void format_real(double value, char *text, size_t capacity)
{
    if (isinf(value))
        snprintf(text, capacity, "%s", value > 0 ? ".inf" : "-.inf");
    else
        snprintf(text, capacity, "%g", value);
}

static void format_vector(cairn_vec3 value, char *text, size_t capacity)
{
    if (isfinite(value.x)) /* else none is given */
        snprintf(text, capacity, "[%g, %g, %g]", value.x, value.y, value.z);
}

/* The value of a field as a scene would write it; empty when there is none. */
static void format_field(const cairn_option *option, const void *field, char *text, size_t capacity)
{
    const char *name;
    text[0] = '\0';
    switch (option->type) {
    case CAIRN_OPTION_REAL:
    case CAIRN_OPTION_VARYING:
        if (*(const double *)field >= option->minimum) /* else none is given */
            format_real(*(const double *)field, text, capacity);
        break;
    case CAIRN_OPTION_INTEGER:
        snprintf(text, capacity, "%lld", (long long)*(const int64_t *)field);
        break;
    case CAIRN_OPTION_FLAG:
        snprintf(text, capacity, "%s", *(const bool *)field ? "true" : "false");
        break;
    case CAIRN_OPTION_VECTOR:
    case CAIRN_OPTION_VARYING_VECTOR:
        format_vector(*(const cairn_vec3 *)field, text, capacity);
        break;
    case CAIRN_OPTION_LIST:
    case CAIRN_OPTION_NAMES:
    case CAIRN_OPTION_FUNCTION:
        break;
    case CAIRN_OPTION_NAME:
    case CAIRN_OPTION_WORD:
        name = *(const char *const *)field;
        snprintf(text, capacity, "%s", name ? name : "");
        break;
    }
}

/* ---- records ------------------------------------------------------------------------------- */

static void print_option(const cairn_option *option, const void *defaults)
{
    char expected[512], value[64];
    cairn_option_expectation(option, expected, sizeof expected);
    format_field(option, (const char *)defaults + option->offset, value, sizeof value);
    printf("    %-*s %s\n", NAME_WIDTH, option->name, option->text);
    printf("    %-*s   %s; ", NAME_WIDTH, "", expected);
    if (option->required)
        puts("required");
    else if (value[0])
        printf("default %s\n", value);
    else
        puts("optional");
}

static void print_record(const cairn_record *record)
{
    union {
        max_align_t align;
        unsigned char bytes[4096];
    } defaults;
    memset(&defaults, 0, sizeof defaults);
    if (record->size <= sizeof defaults)
        record->set_default(defaults.bytes);
    printf("  %-*s   %s\n", NAME_WIDTH, record->name, record->summary);
    for (int i = 0; i < record->option_count; i++)
        print_option(&record->options[i], defaults.bytes);
}

static void print_records(const cairn_record *(*record_at)(int))
{
    for (int i = 0; record_at(i); i++)
        print_record(record_at(i));
}

static void print_names(const char *(*name_at)(int), const char *(*summary)(const char *))
{
    for (int i = 0; name_at(i); i++)
        printf("  %-*s   %s\n", NAME_WIDTH, name_at(i), summary(name_at(i)));
}

/* ---- topics -------------------------------------------------------------------------------- */

static void list_schemes(void)
{
    print_names(cairn_scheme_name, cairn_scheme_summary);
}

static void list_solvers(void)
{
    for (int i = 0; cairn_solver_name(i); i++) {
        const char *name = cairn_solver_name(i);
        printf("  %-*s   %s\n", NAME_WIDTH, name, cairn_solver_summary(name));
        printf("    %-*s   laws:", NAME_WIDTH, "");
        for (int law = 0; law < CAIRN_LAW_COUNT; law++)
            if (cairn_solver_treats(name, (cairn_law)law))
                printf(" %s", cairn_law_name((cairn_law)law));
        printf("%s%s%s\n", cairn_solver_treats_rows(name) ? "; joints" : "",
               cairn_solver_treats_rolling(name) ? "; rolling friction" : "",
               cairn_solver_runs_elsewhere(name) ? "" : "; back end host only");
    }
}

/* The back ends of the library, then the shared objects in their folder, with the reason if one
 * cannot be used. */
static void list_backends(void)
{
    char name[CAIRN_BACKEND_NAME], text[sizeof((cairn_error *)0)->message];
    print_names(cairn_backend_name, cairn_backend_summary);
    for (int i = 0; cairn_backend_plugin(i, name); i++) {
        cairn_error error = { 0 };
        bool usable = cairn_backend_describe(name, text, sizeof text, &error) == CAIRN_OK;
        printf("  %-*s   %s%s\n", NAME_WIDTH, name,
               usable ? "" : "not usable: ", usable ? text : error.message);
    }
    printf("  %-*s   in scenes: cuda for a pile of many balls where it can be used, else host\n",
           NAME_WIDTH, "auto");
    printf("\n  several processes: %s\n",
           cairn_mpi_name(text, sizeof text) ? text : "not built in (make mpi; docs/mpi.md)");
    printf("\n  further back ends are shared objects libcairn_backend_NAME.so in %s\n",
           cairn_backend_folder());
}

static void list_broad_phases(void)
{
    print_names(cairn_broad_phase_name, cairn_broad_phase_summary);
}

static void list_shapes(void)
{
    print_records(cairn_shape_record);
}

static void list_generators(void)
{
    print_records(cairn_generator_record);
    print_record(cairn_inlet_record());
}

static void list_drivers(void)
{
    print_records(cairn_driver_record);
}

static void list_loads(void)
{
    print_records(cairn_load_record);
}

static void list_functions(void)
{
    print_records(cairn_function_record);
}

static void list_outlets(void)
{
    print_records(cairn_outlet_record);
}

static const cairn_record *cell_record(int kind)
{
    return kind == 0 ? cairn_cell_record() : kind == 1 ? cairn_cell_axis_record() : NULL;
}

static void list_cells(void)
{
    print_records(cell_record);
}

static void list_events(void)
{
    print_records(cairn_event_record);
}

static void list_distributions(void)
{
    print_records(cairn_distribution_record);
}

static void list_friction_laws(void)
{
    print_records(cairn_friction_law_record);
}

static void list_joints(void)
{
    print_records(cairn_joint_record);
    print_record(cairn_joint_drive_record());
}

static void list_statistics(void)
{
    for (int i = 0; cairn_statistic_name(i); i++) {
        const char *name = cairn_statistic_name(i);
        cairn_statistic_table table;
        printf("  %-*s   %s%s\n", NAME_WIDTH, name, cairn_statistic_summary(name),
               cairn_statistic_table_create(name, 3, &table) == CAIRN_OK && table.series
                   ? ""
                   : "; several rows per frame");
        for (int k = 1; k < table.column_count; k++)
            printf("    %-*s   %s%s%s%s\n", NAME_WIDTH - 2, table.columns[k].name,
                   table.columns[k].text, table.columns[k].unit[0] ? " (" : "",
                   table.columns[k].unit, table.columns[k].unit[0] ? ")" : "");
    }
    puts("");
    print_record(cairn_measure_record());
}

static void list_options(void)
{
    print_record(cairn_step_record());
    print_record(cairn_run_record());
    print_record(cairn_material_record());
    print_record(cairn_body_record());
}

/* `note` describes keys that are in no table: their values are mappings or names of the scene. */
static const struct {
    const char *name, *title;
    void (*print)(void);
    const char *note;
} topics[] = {
    { "schemes", "run.scheme: how a step is posed", list_schemes, NULL },
    { "solvers", "run.solver: how a step is solved", list_solvers, NULL },
    { "backends", "run.backend: where a step is solved", list_backends,
      "the environment variable CAIRN_BACKENDS names the folder (default: that of the\n"
      "  installation); solvers that factorise matrices run on the host only" },
    { "broad-phases", "run.broad_phase: how near pairs are found", list_broad_phases, NULL },
    { "shapes", "shape of a body", list_shapes,
      "polyhedron also takes points (a list) or file (.obj, .stl), and scale; mesh file and "
      "scale;\n"
      "  polyline points and closed; height_field heights (rows), spacing and spacing_y; compound\n"
      "  parts, each with shape, position, orientation (3D) or angle (2D)" },
    { "generators", "generators of many bodies", list_generators,
      "each also takes shape, radius (a number or a distribution) and material (a name); all but\n"
      "  pour take a mass in the same way as the radius" },
    { "drivers", "drivers of a driven body", list_drivers, NULL },
    { "loads", "loads on a body", list_loads, NULL },
    { "functions", "functions of time, in the place of a number", list_functions,
      "a number is constant; a text is an expression of t, as 0.5 * sin(2 * pi * t)" },
    { "outlets", "where bodies leave", list_outlets,
      "each also takes name, and to (the name of the inlet by which bodies come back)" },
    { "cells", "walls that press on grains", list_cells,
      "a cell has the axes x, y and z; an axis also takes low and high (names of walls)" },
    { "events", "when an event happens", list_events,
      "force_above also takes body, flow_stops outlet (names); do is open, start_driver,\n"
      "  stop_driver (each with a body), stop_run, or save_state (with a name)" },
    { "joints", "joints, motors and springs between bodies", list_joints,
      "each takes a and b (names of bodies; without b, the world), and the drives turn and slide\n"
      "  for the coordinates that it leaves free" },
    { "distributions", "distributions of radius and mass", list_distributions, NULL },
    { "friction-laws", "friction_law of a material or a pair", list_friction_laws, NULL },
    { "statistics", "run.statistics, cairn stat: what can be measured", list_statistics, NULL },
    { "options", "options of the run, of materials and of bodies", list_options,
      "a material also takes a friction_law; a body also takes name, shape, material (a name),\n"
      "  orientation, drivers and loads" },
};

enum { TOPICS = sizeof topics / sizeof topics[0] };

static void print_topic(int i)
{
    printf("%s - %s\n\n", topics[i].name, topics[i].title);
    topics[i].print();
    if (topics[i].note)
        printf("\n  %s\n", topics[i].note);
}

static void list_all(void)
{
    for (int i = 0; i < TOPICS; i++) {
        if (i > 0)
            puts("");
        print_topic(i);
    }
}

static int unknown_topic(const char *name)
{
    const char *names[TOPICS + 1];
    for (int i = 0; i < TOPICS; i++)
        names[i] = topics[i].name;
    names[TOPICS] = "schema";
    const char *nearest = cairn_nearest_name(name, names, TOPICS + 1);
    fprintf(stderr, "cairn list: unknown topic '%s'", name);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, "\nTopics:");
    for (int i = 0; i <= TOPICS; i++)
        fprintf(stderr, " %s", names[i]);
    fprintf(stderr, "\n");
    return EXIT_USAGE;
}

static int print_schema(void)
{
    cairn_error error = { 0 };
    cairn_status status = cairn_scene_schema(stdout);
    return status == CAIRN_OK ? EXIT_DONE : cairn_error_print(status, &error);
}

static int list(const cairn_arguments *arguments)
{
    const char *name = arguments->operand;
    if (!name) {
        list_all();
        return EXIT_DONE;
    }
    if (strcmp(name, "schema") == 0)
        return print_schema();
    for (int i = 0; i < TOPICS; i++)
        if (strcmp(topics[i].name, name) == 0) {
            print_topic(i);
            return EXIT_DONE;
        }
    return unknown_topic(name);
}

static const cairn_flag *const flags[] = { NULL };

const cairn_command cairn_command_list = {
    .name = "list",
    .operand = "[TOPIC]",
    .summary = "List everything that a scene can name, with all options",
    .details =
        "TOPIC is one of schemes, solvers, backends, broad-phases, shapes, generators, drivers, "
        "loads,\n"
        "functions, outlets, cells, events, joints, distributions, friction-laws, statistics, "
        "options,\n"
        "or schema: the JSON Schema of scenes, for editors.\n"
        "Without a TOPIC, everything but the schema is shown.",
    .flags = flags,
    .run = list,
};

/* test_schema.c - the JSON Schema holds every key of every table; test_schema.py reads it. */
#include <stdlib.h>

#include "check.h"
#include "io/scene_build.h"

static char *text; /* the schema */

/* "name": { as a whole line begins it */
static void check_key(const char *name)
{
    char line[128];
    snprintf(line, sizeof line, "\"%s\": {", name);
    CHECK_CONTAINS(text, line);
}

static void check_keys(const cairn_scene_keys keys)
{
    const cairn_record *const records[] = { keys.record, keys.second };
    for (int r = 0; r < 2; r++)
        for (int i = 0; records[r] && i < records[r]->option_count; i++) {
            check_key(records[r]->options[i].name);
            CHECK_CONTAINS(text, records[r]->options[i].text);
        }
    for (int i = 0; i < keys.further_count; i++)
        check_key(keys.further[i].name);
}

static void check_choice(const cairn_scene_choice *choice)
{
    for (int kind = 0; choice->at(kind); kind++) {
        check_key(choice->at(kind)->name);
        check_keys((cairn_scene_keys){ .record = choice->at(kind) });
    }
}

static void read_schema(void)
{
    FILE *file = tmpfile();
    CHECK(file != NULL);
    CHECK_OK(cairn_scene_schema(file));
    long size = ftell(file);
    CHECK(size > 10000);
    rewind(file);
    text = calloc((size_t)size + 1, 1);
    CHECK_INT(fread(text, 1, (size_t)size, file), size);
    fclose(file);
}

TEST(every_key_is_in_the_schema)
{
    read_schema();
    check_keys(cairn_scene_root_keys());
    check_keys(cairn_scene_run_keys());
    check_keys(cairn_scene_material_keys());
    check_keys(cairn_scene_pair_keys());
    check_keys(cairn_scene_body_keys());
    check_keys(cairn_scene_orientation_keys());
    check_choice(&cairn_scene_shapes);
    check_choice(&cairn_scene_drivers);
    check_choice(&cairn_scene_loads);
    check_choice(&cairn_scene_distributions);
    check_choice(&cairn_scene_friction_laws);
    check_choice(&cairn_scene_generators);
    free(text);
}

TEST(a_full_disk_is_reported)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    CHECK_INT(cairn_scene_schema(full), CAIRN_IO_FAILED);
    fclose(full);
}

static void *no_resize(void *context, void *block, size_t bytes)
{
    (void)context;
    (void)block;
    (void)bytes;
    return NULL;
}

TEST(no_memory_is_reported)
{
    const cairn_allocator none = { no_resize, NULL };
    FILE *file = tmpfile();
    CHECK(file != NULL);
    cairn_allocator_set(&none);
    cairn_status status = cairn_scene_schema(file);
    cairn_allocator_set(NULL);
    fclose(file);
    CHECK_INT(status, CAIRN_NO_MEMORY);
}

int main(void)
{
    RUN(CASE(every_key_is_in_the_schema), CASE(a_full_disk_is_reported),
        CASE(no_memory_is_reported));
}

/* run_scene.h - scenes from texts and from the public API, folders that go away, and numbers out of
 * HDF5 files. */
#ifndef CAIRN_TESTS_RUN_SCENE_H
#define CAIRN_TESTS_RUN_SCENE_H

#include <dirent.h>
#include <ftw.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cairn/cairn.h"
#include "cairn/scene.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"

/* ==== loads scenes from texts in tests, and checks how bad ones are refused =================== */

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

/* ==== the real problems of other laboratories, where they are at hand ========================= */

#define FCLIB_FOLDER CAIRN_SOURCE_DIR "/../shared/data/fclib"

enum { MOST_FILES = 200 };

typedef struct file_list {
    char path[MOST_FILES][512];
    int count;
} file_list;

static inline int compare_paths(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Add every *.hdf5 of a folder inside FCLIB_FOLDER, sorted. */
static inline void list_files(file_list *list, const char *folder)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", FCLIB_FOLDER, folder);
    DIR *entries = opendir(path);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)))
        if (strstr(entry->d_name, ".hdf5") && list->count < MOST_FILES)
            snprintf(list->path[list->count++], sizeof list->path[0], "%.250s/%.250s", path,
                     entry->d_name);
    if (entries)
        closedir(entries);
    qsort(list->path, (size_t)list->count, sizeof list->path[0], compare_paths);
}

/* ==== what the tests of runs share: a small scene made by the public API, a folder that
 * goes away, and numbers out of an HDF5 file. */

/* ---- folders -------------------------------------------------------------------------------- */

typedef struct folder {
    char path[64];
} folder;

/* In the folder for such things, or in /tmp where its name is too long. */
static inline folder folder_create(void)
{
    const char *home = getenv("TMPDIR");
    folder f;
    snprintf(f.path, sizeof f.path, "%s/cairn-test-XXXXXX",
             home && *home && strlen(home) < 40 ? home : "/tmp");
    CHECK(mkdtemp(f.path) != NULL);
    return f;
}

static inline int remove_entry(const char *name, const struct stat *found, int type,
                               struct FTW *place)
{
    (void)found, (void)type, (void)place;
    return remove(name);
}

static inline void folder_remove(const char *name)
{
    nftw(name, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

typedef struct path {
    char text[256];
} path;

static inline path path_in(const folder *f, const char *name)
{
    path p;
    snprintf(p.text, sizeof p.text, "%s/%s", f->path, name);
    return p;
}

static inline bool file_exists(const folder *f, const char *name)
{
    return access(path_in(f, name).text, F_OK) == 0;
}

static inline void file_write(const folder *f, const char *name, const char *text)
{
    FILE *file = fopen(path_in(f, name).text, "wb");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
}

/* The text of a file, at most 64 KiB. */
static inline const char *file_text(const folder *f, const char *name)
{
    static char text[1 << 16];
    FILE *file = fopen(path_in(f, name).text, "rb");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* From now on no file may grow beyond `bytes`: writing more fails as on a full disk. */
static inline void disk_limit(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* HDF5 does not open a file twice in two ways in one program: look at a copy. */
static inline path file_copy(const folder *f, const char *name)
{
    path copy = path_in(f, "copy.h5");
    FILE *from = fopen(path_in(f, name).text, "rb"), *to = fopen(copy.text, "wb");
    CHECK(from && to);
    for (int c = fgetc(from); c != EOF; c = fgetc(from))
        fputc(c, to);
    fclose(from);
    fclose(to);
    return copy;
}

/* ---- numbers out of HDF5 files -------------------------------------------------------------- */

/* All numbers of a dataset, at most `capacity`; returns how many it has, -1: no such dataset. */
static inline long h5_numbers(const char *file_name, const char *name, double *out, long capacity)
{
    hid_t file = H5Fopen(file_name, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(file >= 0);
    long count = -1;
    if (H5Lexists(file, name, H5P_DEFAULT) > 0) {
        hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
        count = (long)H5Sget_simple_extent_npoints(space);
        CHECK(count <= capacity);
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
        H5Sclose(space);
        H5Dclose(dataset);
    }
    H5Fclose(file);
    return count;
}

/* A text attribute of the root, or of a dataset "name" when the attribute is given as name@attr. */
static inline void h5_text(const char *file_name, const char *object, const char *attribute,
                           char *out, size_t capacity)
{
    hid_t file = H5Fopen(file_name, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(file >= 0);
    hid_t a = H5Aopen_by_name(file, object, attribute, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(a >= 0);
    hid_t type = H5Aget_type(a);
    size_t bytes = H5Tget_size(type);
    char *text = calloc(bytes + 1, 1);
    CHECK(H5Tis_variable_str(type) == 0 && H5Aread(a, type, text) >= 0);
    snprintf(out, capacity, "%s", text);
    free(text);
    H5Tclose(type);
    H5Aclose(a);
    H5Fclose(file);
}

/* ---- the scene ------------------------------------------------------------------------------ */

/* A floor (body 0) and three spheres of radius 0.1 m: body 1 lies on it, body 2 starts 0.01 m and
 * body 3 0.3 m above it. 20 steps of 5 ms, a frame every 20 ms. */
static inline cairn_scene scene_create(int dimension)
{
    cairn_scene s = { .title = "three spheres", .text = "# by hand\n" };
    bool flat = dimension == 2;
    s.world = world_create(dimension);
    s.step = cairn_step_options_default();
    s.step.time_step = 5e-3;
    s.step.threads = 1;
    s.run = cairn_run_options_default();
    s.run.duration = 0.1;
    s.run.frame_interval = 0.02;
    add_wall(s.world, cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, dimension),
             (cairn_vec3){ 0, 0, 0 });
    const double height[3] = { 0.1, 0.11, 0.4 };
    for (int i = 0; i < 3; i++)
        add_sphere(s.world, 0.1, (cairn_vec3){ i, flat ? height[i] : 0, flat ? 0 : height[i] });
    return s;
}

static inline void scene_destroy(cairn_scene *s)
{
    cairn_world_destroy(s->world);
    s->world = NULL;
}

#endif

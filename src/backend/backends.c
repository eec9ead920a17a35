/* backends.c - back ends by name: the built-in ones, and plug-ins in shared objects
 * libcairn_backend_NAME.so, which are loaded only while they are in use. Names consist of letters,
 * digits, - and _, so that no name can point outside the plug-in folder. */
#include <dirent.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/backend.h"
#include "base/common.h"

/* The first one is the default. */
static const cairn_backend *const backends[] = { &cairn_backend_host, &cairn_backend_scalar };

enum { BACKENDS = sizeof backends / sizeof backends[0], PATH_BYTES = 4096 };

static const char prefix[] = "libcairn_backend_", suffix[] = ".so";

const char *cairn_backend_name(int index)
{
    return index >= 0 && index < BACKENDS ? backends[index]->name : NULL;
}

static const cairn_backend *find(const char *name)
{
    for (int i = 0; i < BACKENDS; i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    return NULL;
}

const char *cairn_backend_summary(const char *name)
{
    const cairn_backend *backend = name ? find(name) : NULL;
    return backend ? backend->summary : NULL;
}

/* ---- shared objects ------------------------------------------------------------------------- */

/* An empty variable counts as not set. */
const char *cairn_backend_folder(void)
{
    const char *asked = getenv("CAIRN_BACKENDS");
    return asked && asked[0] ? asked : CAIRN_BACKEND_FOLDER;
}

/* Extract NAME from libcairn_backend_NAME.so; false if the file name does not have this form.
 * sizeof counts the terminating 0 of both literals, hence the - 2 and - 1. */
static bool read_name(const char *file, char name[CAIRN_BACKEND_NAME])
{
    size_t length = strlen(file), around = sizeof prefix + sizeof suffix - 2;
    if (length <= around || length - around >= CAIRN_BACKEND_NAME ||
        strncmp(file, prefix, sizeof prefix - 1) != 0 ||
        strcmp(file + length - (sizeof suffix - 1), suffix) != 0)
        return false;
    snprintf(name, CAIRN_BACKEND_NAME, "%.*s", (int)(length - around), file + sizeof prefix - 1);
    return cairn_is_word(name);
}

/* Replace `last` by the alphabetically next name in the folder; false if there is none. Each call
 * reads the folder again: that needs no memory and no state, and folders of plug-ins are small.
 * Plug-ins with the name of a built-in back end are skipped because they cannot be opened. */
static bool next_plugin(char last[CAIRN_BACKEND_NAME])
{
    char best[CAIRN_BACKEND_NAME] = "", name[CAIRN_BACKEND_NAME];
    DIR *folder = opendir(cairn_backend_folder());
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        if (read_name(entry->d_name, name) && !find(name) && strcmp(name, last) > 0 &&
            (!best[0] || strcmp(name, best) < 0))
            memcpy(best, name, sizeof best);
    }
    if (folder)
        closedir(folder);
    memcpy(last, best, sizeof best);
    return best[0] != '\0';
}

bool cairn_backend_plugin(int index, char name[CAIRN_BACKEND_NAME])
{
    name[0] = '\0';
    for (int i = 0; i <= index; i++)
        if (!next_plugin(name))
            return false;
    return index >= 0;
}

/* ---- by name -------------------------------------------------------------------------------- */

/* Report an unknown name with the best hint available: a similar built-in name, else the list of
 * names and, if `path` is not NULL, the file that was looked for. */
static cairn_status no_such_name(const char *name, const char *path, cairn_error *error)
{
    const char *names[BACKENDS];
    char known[96] = "";
    for (int i = 0; i < BACKENDS; i++) {
        names[i] = backends[i]->name;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s, ", names[i]);
    }
    const char *nearest = cairn_nearest_name(name, names, BACKENDS);
    if (nearest)
        return cairn_fail(error, CAIRN_BAD_INPUT, "backend",
                          "unknown back end '%.60s'; did you mean '%s'?", name, nearest);
    return cairn_fail(error, CAIRN_BAD_INPUT, "backend",
                      "unknown back end '%.60s', expected one of %sor %s%.300s", name, known,
                      path ? "a shared object: there is no " : "a name of letters, digits, - and _",
                      path ? path : "");
}

/* ---- whether a table is complete ------------------------------------------------------------- */

typedef struct entry {
    const char *name;
    size_t offset;
} entry;

/* The functions that every back end has: all but `reason` and `measure`. */
static const entry functions[] = {
    { "create", offsetof(cairn_backend, create) }, { "destroy", offsetof(cairn_backend, destroy) },
    { "vector", offsetof(cairn_backend, vector) }, { "upload", offsetof(cairn_backend, upload) },
    { "download", offsetof(cairn_backend, download) }, { "copy", offsetof(cairn_backend, copy) },
    { "clear", offsetof(cairn_backend, clear) }, { "probe", offsetof(cairn_backend, probe) },
    { "combine", offsetof(cairn_backend, combine) },
    { "extrapolate", offsetof(cairn_backend, extrapolate) },
    { "dot", offsetof(cairn_backend, dot) }, { "velocity", offsetof(cairn_backend, velocity) },
    { "gradient", offsetof(cairn_backend, gradient) },
    { "project", offsetof(cairn_backend, project) }, { "scales", offsetof(cairn_backend, scales) },
    { "judge", offsetof(cairn_backend, judge) }, { "scale", offsetof(cairn_backend, scale) },
    { "approach", offsetof(cairn_backend, approach) },
    { "descend", offsetof(cairn_backend, descend) },
    { "measure_descent", offsetof(cairn_backend, measure_descent) },
    { "aim", offsetof(cairn_backend, aim) },
    { "measure_spectral", offsetof(cairn_backend, measure_spectral) },
    { "follow", offsetof(cairn_backend, follow) }, { "begin", offsetof(cairn_backend, begin) },
    { "sweep", offsetof(cairn_backend, sweep) }, { "unload", offsetof(cairn_backend, unload) },
    { "load_velocities", offsetof(cairn_backend, load_velocities) },
    { "refresh", offsetof(cairn_backend, refresh) },
};

/* The functions of piles, if it has any. */
static const entry pile_functions[] = {
    { "create", offsetof(cairn_pile_table, create) },
    { "destroy", offsetof(cairn_pile_table, destroy) },
    { "take", offsetof(cairn_pile_table, take) }, { "start", offsetof(cairn_pile_table, start) },
    { "apart", offsetof(cairn_pile_table, apart) }, { "find", offsetof(cairn_pile_table, find) },
    { "mend", offsetof(cairn_pile_table, mend) }, { "race", offsetof(cairn_pile_table, race) },
    { "velocities", offsetof(cairn_pile_table, velocities) },
    { "measure", offsetof(cairn_pile_table, measure) },
    { "arrive", offsetof(cairn_pile_table, arrive) },
    { "deepest", offsetof(cairn_pile_table, deepest) },
    { "keep", offsetof(cairn_pile_table, keep) }, { "show", offsetof(cairn_pile_table, show) },
    { "states", offsetof(cairn_pile_table, states) },
    { "bytes", offsetof(cairn_pile_table, bytes) }, { "room", offsetof(cairn_pile_table, room) },
};

/* The name of the first function that is NULL; NULL: there is none. */
static const char *first_missing(const void *table, const entry *entries, size_t count)
{
    static const char none[sizeof(void (*)(void))] = { 0 };
    for (size_t i = 0; i < count; i++)
        if (memcmp((const char *)table + entries[i].offset, none, sizeof none) == 0)
            return entries[i].name;
    return NULL;
}

static cairn_status check_functions(const char *path, const cairn_backend *b, cairn_error *error)
{
    const char *missing = first_missing(b, functions, sizeof functions / sizeof *functions);
    const char *of = "";
    if (!missing && b->pile) {
        of = "pile->";
        missing = first_missing(b->pile, pile_functions,
                                sizeof pile_functions / sizeof *pile_functions);
    }
    if (!missing)
        return CAIRN_OK;
    return cairn_fail(error, CAIRN_UNSUPPORTED, "backend", "%.300s lacks the function %s%s", path,
                      of, missing);
}

/* ---- shared objects that are loaded ---------------------------------------------------------- */

/* Get and check the table of a loaded shared object. The version is checked before any other field
 * is read, because the layout of the table may differ between versions. */
static cairn_status read_table(const char *name, const char *path, void *object,
                               const cairn_backend **out, cairn_error *error)
{
    cairn_backend_table_function *table;
    void *symbol = dlsym(object, CAIRN_BACKEND_SYMBOL);
    if (!symbol)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "backend",
                          "%.300s is no back end: it does not show " CAIRN_BACKEND_SYMBOL, path);
    memcpy(&table, &symbol, sizeof table); /* ISO C has no cast from void * to a function */
    *out = table();
    if (!*out || (*out)->version != CAIRN_BACKEND_VERSION)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "backend",
                          "%.300s is of version %d of the interface, expected %d: build it anew",
                          path, *out ? (*out)->version : 0, CAIRN_BACKEND_VERSION);
    const char *own = (*out)->name ? (*out)->name : "";
    if (strcmp(own, name) != 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "backend",
                          "%.300s calls itself '%.40s', expected '%s'", path, own, name);
    const char *reason = (*out)->reason ? (*out)->reason() : NULL;
    if (reason)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "backend",
                          "the back end '%s' cannot run on this machine: %.200s", name, reason);
    return check_functions(path, *out, error);
}

static cairn_status load(const char *name, cairn_backend_use *out, cairn_error *error)
{
    char path[PATH_BYTES];
    if (!cairn_is_word(name))
        return no_such_name(name, NULL, error);
    int length =
        snprintf(path, sizeof path, "%s/%s%s%s", cairn_backend_folder(), prefix, name, suffix);
    struct stat about;
    if (length >= (int)sizeof path || stat(path, &about) != 0)
        return no_such_name(name, path, error);
    if (!S_ISREG(about.st_mode)) /* dlopen would wait for the writer of a FIFO */
        return cairn_fail(error, CAIRN_IO_FAILED, "backend", "%.300s is not a plain file", path);
    /* RTLD_NOW reports missing symbols here instead of in the middle of a solve; RTLD_LOCAL keeps
     * the symbols of plug-ins apart from each other. */
    out->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!out->object)
        return cairn_fail(error, CAIRN_IO_FAILED, "backend", "cannot load %.300s", dlerror());
    cairn_status status = read_table(name, path, out->object, &out->backend, error);
    if (status != CAIRN_OK)
        cairn_backend_close(out);
    return status;
}

/* Built-in names win over files of the same name, so that a plug-in cannot replace them. */
cairn_status cairn_backend_open(const char *name, cairn_backend_use *out, cairn_error *error)
{
    *out = (cairn_backend_use){ .backend = name ? find(name) : backends[0] };
    return out->backend ? CAIRN_OK : load(name, out, error);
}

void cairn_backend_close(cairn_backend_use *use)
{
    if (use->object)
        dlclose(use->object);
    *use = (cairn_backend_use){ 0 };
}

cairn_status cairn_backend_check(const char *name, cairn_error *error)
{
    cairn_backend_use use;
    TRY(cairn_backend_open(name, &use, error));
    cairn_backend_close(&use);
    return CAIRN_OK;
}

cairn_status cairn_backend_describe(const char *name, char *text, size_t capacity,
                                    cairn_error *error)
{
    cairn_backend_use use;
    TRY(cairn_backend_open(name, &use, error));
    /* copied, because the text is gone once the shared object is unloaded */
    snprintf(text, capacity, "%s", use.backend->summary ? use.backend->summary : "");
    cairn_backend_close(&use);
    return CAIRN_OK;
}

/* same_runs.h - two run folders hold the same numbers: every dataset of run.h5, every byte of the
 * ParaView series and of the statistics. Only seconds on the clock may differ. */
#ifndef CAIRN_TESTS_SAME_RUNS_H
#define CAIRN_TESTS_SAME_RUNS_H

#include <dirent.h>

#include "check_runs.h"

static inline bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Numbers of a dataset as bytes, to be freed; texts count by their number alone. */
static inline void *dataset_bytes(hid_t dataset, size_t *bytes)
{
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    bool text = H5Tget_class(type) == H5T_STRING;
    *bytes = (size_t)count * (text ? 0 : H5Tget_size(type));
    void *data = calloc(*bytes + 1, 1);
    if (!text)
        CHECK(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Sclose(space);
    H5Tclose(type);
    return data;
}

static inline void check_same_dataset(hid_t a, hid_t b, const char *name)
{
    size_t bytes, others;
    void *p = dataset_bytes(a, &bytes), *q = dataset_bytes(b, &others);
    if (bytes != others || memcmp(p, q, bytes) != 0)
        fail_msg("%s: %zu and %zu bytes are not the same", name, bytes, others);
    free(p);
    free(q);
}

/* Groups a and b; returns how many datasets were compared. */
static inline int check_same_group(hid_t a, hid_t b)
{
    H5G_info_t about, other;
    int compared = 0;
    CHECK(H5Gget_info(a, &about) >= 0 && H5Gget_info(b, &other) >= 0);
    CHECK_INT(other.nlinks, about.nlinks);
    for (hsize_t i = 0; i < about.nlinks; i++) {
        char name[128];
        H5Lget_name_by_idx(a, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
        hid_t p = H5Oopen(a, name, H5P_DEFAULT), q = H5Oopen(b, name, H5P_DEFAULT);
        CHECK(p >= 0 && q >= 0);
        if (strcmp(name, "checksums") == 0) /* those of seconds are there as well */
            compared++;
        else if (H5Iget_type(p) == H5I_GROUP)
            compared += check_same_group(p, q);
        else if (!ends_with(name, "_seconds")) {
            check_same_dataset(p, q, name);
            compared++;
        }
        H5Oclose(p);
        H5Oclose(q);
    }
    return compared;
}

static inline int check_same_h5(const folder *f, const folder *g)
{
    hid_t a = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t b = H5Fopen(path_in(g, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(a >= 0 && b >= 0);
    int compared = check_same_group(a, b);
    H5Fclose(a);
    H5Fclose(b);
    return compared;
}

/* The lines of a text, but for those that tell seconds. */
static inline void check_same_lines(const folder *f, const folder *g, const char *name)
{
    char *mine = strdup(file_text(f, name)), *p, *q;
    char *its = strdup(file_text(g, name)), *rest = mine, *others = its;
    do {
        p = strtok_r(rest, "\n", &rest);
        q = strtok_r(others, "\n", &others);
        if ((p == NULL) != (q == NULL) || (p && !strstr(p, "_seconds") && strcmp(p, q) != 0))
            fail_msg("%s: found %s, expected %s", name, q ? q : "less", p ? p : "less");
    } while (p);
    free(mine);
    free(its);
}

/* The files of a folder inside; returns how many there are. */
static inline int check_same_files(const folder *f, const folder *g, const char *inside)
{
    char name[512];
    const struct dirent *entry;
    int files = 0, others = 0;
    DIR *mine = opendir(path_in(f, inside).text), *its = opendir(path_in(g, inside).text);
    CHECK(mine != NULL && its != NULL);
    while ((entry = readdir(its)))
        others += entry->d_name[0] != '.';
    while ((entry = readdir(mine))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", inside, entry->d_name);
        char *text = strdup(file_text(f, name));
        if (strcmp(file_text(g, name), text) != 0)
            fail_msg("%s is not the same", name);
        free(text);
        files++;
    }
    closedir(mine);
    closedir(its);
    CHECK_INT(others, files);
    return files;
}

#endif

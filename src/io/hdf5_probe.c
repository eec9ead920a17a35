/* hdf5_probe.c - see hdf5_probe.h. The child tells by one byte through a pipe that it came to the
 * end, and whether it could open all that it met; a pipe that is closed without it means that it
 * died. */
#include "io/hdf5_probe.h"

#include <dirent.h>
#include <errno.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/hdf5_read.h"

/* What a child may take: seconds of processor, and as much again of waiting; bytes at once; groups
 * in groups. */
enum { SECONDS = 5, BYTES_A_SECOND = 4 << 20, PIECE = 1 << 20, DEEPEST = 32 };

/* ---- the child ------------------------------------------------------------------------------ */

static void read_attribute(hid_t attribute)
{
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    size_t size = type >= 0 ? H5Tget_size(type) : 0;
    void *data = count > 0 && size > 0 && (size_t)count < PIECE / size
                     ? cairn_memory_zeroed((size_t)count, size)
                     : NULL;
    if (data && H5Aread(attribute, type, data) >= 0)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, data);
    cairn_memory_free(data);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
}

static herr_t see_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    (void)info, (void)context;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return -1;
    read_attribute(attribute);
    H5Aclose(attribute);
    return 0;
}

/* Rows by rows, each as long as the other extents say. */
static void read_rows(hid_t dataset, hid_t type, hid_t space, const hsize_t *extent, int rank)
{
    hsize_t first[H5S_MAX_RANK] = { 0 }, part[H5S_MAX_RANK], row = H5Tget_size(type);
    for (int i = 1; i < rank; i++)
        row *= extent[i];
    if (row == 0 || row > PIECE)
        return;
    void *data = cairn_memory_zeroed(PIECE, 1);
    memcpy(part, extent, (size_t)rank * sizeof *part);
    for (hsize_t done = 0; data && done < extent[0]; done += part[0]) {
        part[0] = extent[0] - done < PIECE / row ? extent[0] - done : PIECE / row;
        first[0] = done;
        hid_t memory = H5Screate_simple(rank, part, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, part, NULL);
        if (H5Dread(dataset, type, memory, space, H5P_DEFAULT, data) >= 0)
            H5Dvlen_reclaim(type, memory, H5P_DEFAULT, data);
        H5Sclose(memory);
    }
    cairn_memory_free(data);
}

static void read_dataset(hid_t dataset)
{
    hsize_t extent[H5S_MAX_RANK] = { 1 };
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    int rank = space >= 0 ? H5Sget_simple_extent_dims(space, extent, NULL) : -1;
    if (type >= 0 && rank >= 0 && cairn_hdf5_is_there(dataset))
        read_rows(dataset, type, space, extent, rank);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
}

static bool see_all(hid_t object, bool data, int depth);

static bool see_members(hid_t group, bool data, int depth)
{
    H5G_info_t about = { 0 };
    bool good = depth <= DEEPEST && H5Gget_info(group, &about) >= 0;
    for (hsize_t i = 0; i < about.nlinks && good; i++) {
        hid_t member = H5Oopen_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT);
        good = member >= 0 && see_all(member, data, depth + 1);
        if (member >= 0)
            H5Oclose(member);
    }
    return good;
}

/* An object and all that is in it. That numbers of others cannot be read is no harm: they may be
 * packed in a way that this HDF5 does not know. */
static bool see_all(hid_t object, bool data, int depth)
{
    hsize_t next = 0;
    H5I_type_t kind = H5Iget_type(object);
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &next, see_attribute, NULL) < 0)
        return false;
    if (kind == H5I_DATASET && data)
        read_dataset(object);
    else if (kind == H5I_DATASET)
        return cairn_hdf5_is_there(object); /* asks for all its chunks */
    return kind != H5I_GROUP || see_members(object, data, depth);
}

/* Whatever happens here ends this process alone, without a core and in time. */
static void limit_child(unsigned seconds)
{
    const int fatal[] = { SIGALRM, SIGXCPU, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
    struct rlimit none = { 0, 0 }, time = { seconds, seconds };
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        signal(fatal[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
    alarm(2 * seconds);
}

static bool try_file(const char *path, bool data, unsigned seconds)
{
    limit_child(seconds);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t root = file >= 0 ? H5Gopen2(file, "/", H5P_DEFAULT) : -1;
    bool good = root >= 0 && see_all(root, data, 0);
    if (root >= 0)
        H5Gclose(root);
    if (file >= 0)
        H5Fclose(file);
    return good || file < 0; /* that it cannot be opened others will say better */
}

/* ---- the parent ----------------------------------------------------------------------------- */

enum { DEAD = 0, GOOD = 'g', BAD = 'b' }; /* what a child says; nothing: it died */

static char hear(int pipe_end)
{
    char word = DEAD;
    ssize_t got;
    do
        got = read(pipe_end, &word, 1);
    while (got < 0 && errno == EINTR);
    return word;
}

static cairn_status judge(char word, cairn_error *error)
{
    if (word == GOOD)
        return CAIRN_OK;
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the file is damaged: %s",
                      word == BAD ? "something in it cannot be opened"
                                  : "HDF5 does not survive reading it");
}

static cairn_status no_child(cairn_error *error)
{
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot start a process to try the file: %s",
                      strerror(errno));
}

/* Threads of this process; 1 where the system does not tell. */
static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry = tasks ? readdir(tasks) : NULL; entry; entry = readdir(tasks))
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count > 0 ? count : 1;
}

/* There in programs built with AddressSanitizer, whose allocator keeps the locks of other
 * threads in a child: it would wait for them for ever. */
extern void __asan_init(void) __attribute__((weak));

cairn_status cairn_hdf5_probe(const char *path, bool data, cairn_error *error)
{
    struct stat about;
    int ends[2];
    if (__asan_init && count_threads() > 1)
        return CAIRN_OK;
    if (stat(path, &about) != 0)
        return CAIRN_OK; /* who opens it will say so */
    unsigned seconds = SECONDS + (unsigned)(about.st_size / BYTES_A_SECOND);
    if (pipe(ends) != 0)
        return no_child(error);
    pid_t child = fork();
    if (child == 0) {
        char word = try_file(path, data, seconds) ? GOOD : BAD;
        _exit(write(ends[1], &word, 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    char word = child > 0 ? hear(ends[0]) : DEAD;
    close(ends[0]);
    if (child < 0)
        return no_child(error);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return judge(word, error);
}

/* The first 8 bytes are the signature, then comes the version of the format. */
bool cairn_hdf5_is_unsummed(const char *path)
{
    unsigned char head[9] = { 0 };
    FILE *file = fopen(path, "rb");
    size_t got = file ? fread(head, 1, sizeof head, file) : 0;
    if (file)
        fclose(file);
    return got < sizeof head || head[8] < 2;
}

/* file.c - see file.h. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"

void cairn_error_set_file(cairn_error *error, const char *path)
{
    if (!error)
        return;
    size_t length = strlen(path), room = sizeof error->file - 1;
    const char *tail = length > room ? path + (length - room) : path;
    memcpy(error->file, tail, strlen(tail) + 1);
}

/* "cannot <verb>: <reason of errno>" for a path */
static cairn_status fail_errno(cairn_error *error, const char *path, const char *verb)
{
    const char *reason = strerror(errno);
    cairn_error_set_file(error, path);
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot %s: %s", verb, reason);
}

cairn_status cairn_path_join(const char *folder, const char *name, char *path, cairn_error *error)
{
    int length = snprintf(path, CAIRN_PATH_BYTES, "%s/%s", folder, name);
    if (length > 0 && length < CAIRN_PATH_BYTES)
        return CAIRN_OK;
    cairn_error_set_file(error, folder);
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the path has %d bytes, expected fewer than %d",
                      length, CAIRN_PATH_BYTES);
}

bool cairn_is_file(const char *path)
{
    return access(path, F_OK) == 0;
}

bool cairn_is_folder(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

cairn_status cairn_folder_create(const char *path, cairn_error *error)
{
    char partial[CAIRN_PATH_BYTES];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof partial) {
        cairn_error_set_file(error, path);
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "the name of a folder has %zu bytes, expected 1 to %zu", length,
                          sizeof partial - 1);
    }
    memcpy(partial, path, length + 1);
    /* a, a/b, a/b/c: the parents may exist and need not be writable */
    for (size_t i = 1; i < length; i++) {
        if (partial[i] != '/')
            continue;
        partial[i] = '\0';
        mkdir(partial, 0777);
        partial[i] = '/';
    }
    if (mkdir(partial, 0777) != 0 && errno != EEXIST)
        return fail_errno(error, path, "make the folder");
    if (cairn_is_folder(path))
        return CAIRN_OK;
    if (!cairn_is_file(path))
        return fail_errno(error, path, "look into the folder");
    cairn_error_set_file(error, path);
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "found a file, expected a folder");
}

/* A new file of our own: never one that someone else put there. */
static FILE *open_new(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return NULL;
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return NULL;
    FILE *stream = fdopen(descriptor, "wb");
    if (!stream)
        close(descriptor);
    return stream;
}

cairn_status cairn_file_create(const char *path, cairn_file *out, cairn_error *error)
{
    enum { LONGEST = CAIRN_PATH_BYTES - sizeof ".part" };
    out->stream = NULL;
    if (strlen(path) > LONGEST) {
        cairn_error_set_file(error, path);
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the path has more than %d bytes", LONGEST);
    }
    strcpy(out->path, path);
    strcat(strcpy(out->part, path), ".part");
    out->stream = open_new(out->part);
    return out->stream ? CAIRN_OK : fail_errno(error, path, "create");
}

cairn_status cairn_file_commit(cairn_file *file, cairn_error *error)
{
    bool written = fflush(file->stream) == 0 && !ferror(file->stream);
    int reason = errno;
    bool closed = fclose(file->stream) == 0;
    file->stream = NULL;
    if (!closed && written)
        reason = errno;
    if (written && closed && rename(file->part, file->path) == 0)
        return CAIRN_OK;
    if (written && closed)
        reason = errno;
    unlink(file->part);
    errno = reason;
    return fail_errno(error, file->path, "write");
}

/* The entry of a file in its folder is on the disk. */
static bool keep_entry(const char *path)
{
    char folder[CAIRN_PATH_BYTES];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int descriptor = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool kept = descriptor >= 0 && (fsync(descriptor) == 0 || errno == EINVAL);
    if (descriptor >= 0)
        close(descriptor);
    return kept;
}

cairn_status cairn_file_commit_durable(cairn_file *file, cairn_error *error)
{
    if (fflush(file->stream) != 0 || fsync(fileno(file->stream)) != 0) {
        cairn_status status = fail_errno(error, file->path, "write");
        cairn_file_abandon(file);
        return status;
    }
    TRY(cairn_file_commit(file, error));
    return keep_entry(file->path) ? CAIRN_OK : fail_errno(error, file->path, "keep");
}

static cairn_status read_stream(FILE *stream, const char *path, void **data, size_t *bytes,
                                cairn_error *error)
{
    struct stat about;
    if (fstat(fileno(stream), &about) != 0)
        return fail_errno(error, path, "read");
    *bytes = about.st_size > 0 ? (size_t)about.st_size : 0;
    *data = cairn_memory_zeroed(*bytes + 1, 1);
    if (!*data)
        return CAIRN_NO_MEMORY;
    if (fread(*data, 1, *bytes, stream) == *bytes)
        return CAIRN_OK;
    cairn_memory_free(*data);
    *data = NULL;
    cairn_error_set_file(error, path);
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot be read");
}

cairn_status cairn_file_read(const char *path, void **data, size_t *bytes, cairn_error *error)
{
    *data = NULL;
    FILE *stream = fopen(path, "rb");
    if (!stream && errno == ENOENT) {
        cairn_error_set_file(error, path);
        return cairn_fail(error, CAIRN_NOT_FOUND, NULL, "there is no such file");
    }
    if (!stream)
        return fail_errno(error, path, "open");
    cairn_status status = read_stream(stream, path, data, bytes, error);
    fclose(stream);
    return status;
}

void cairn_file_abandon(cairn_file *file)
{
    if (!file->stream)
        return;
    fclose(file->stream);
    file->stream = NULL;
    unlink(file->part);
}

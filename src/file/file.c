/* file.c - paths, folders, and files that appear when they are complete; also the public output
 * files, which are written in the same way, and a writer of JSON. */
#include "file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/output.h"

#define PART ".part"

/* The end of a path says more than its beginning, so the beginning is cut. */
void cairn_error_set_file(cairn_error *error, const char *path)
{
    if (!error)
        return;
    size_t length = strlen(path), room = sizeof error->file - 1;
    const char *tail = length > room ? path + (length - room) : path;
    memcpy(error->file, tail, strlen(tail) + 1);
}

/* Fail with "cannot <verb>: <reason of errno>" for a path. */
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

/* access follows links: a link that leads nowhere does not count. */
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
    /* create a, a/b, a/b/c. Errors of parents are ignored: they may exist and need not be
     * writable */
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
    /* EEXIST above may stand for a file, or for a link that leads nowhere */
    if (!cairn_is_file(path))
        return fail_errno(error, path, "look into the folder");
    cairn_error_set_file(error, path);
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "found a file, expected a folder");
}

/* ---- where a file goes ------------------------------------------------------------------- */

/* Replace a path that is a link by the link's target, which is relative to the folder of the
 * link. False: it cannot be read or does not fit. */
static bool follow_link(char path[CAIRN_PATH_BYTES])
{
    char text[CAIRN_PATH_BYTES];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return false;
    text[length] = '\0';
    char *slash = strrchr(path, '/');
    size_t kept = text[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - path);
    if (kept + (size_t)length >= CAIRN_PATH_BYTES)
        return false;
    memcpy(path + kept, text, (size_t)length + 1);
    return true;
}

/* Resolve all links of a path; the file itself need not exist, which is why realpath does not
 * serve. Returns 0 or an errno. 40 links is the limit of Linux. */
static int find_target(char path[CAIRN_PATH_BYTES])
{
    enum { MOST_LINKS = 40 };
    struct stat found;
    for (int i = 0; i < MOST_LINKS; i++) {
        if (lstat(path, &found) != 0)
            return errno == ENOENT ? 0 : errno;
        if (!S_ISLNK(found.st_mode))
            return 0;
        if (!follow_link(path))
            return ENAMETOOLONG;
    }
    return ELOOP;
}

/* The program's own output descriptor if it goes to that file, else -1. Renaming would detach
 * the file from that output: what the program prints later would be lost. */
static int standard_output(const struct stat *file)
{
    struct stat own;
    for (int descriptor = STDOUT_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fstat(descriptor, &own) == 0 && own.st_dev == file->st_dev &&
            own.st_ino == file->st_ino)
            return descriptor;
    return -1;
}

/* Open something that is not a plain file but takes bytes in sequence: a FIFO, a terminal,
 * /dev/null, the program's output. Returns a descriptor, or -1 with errno. */
static int open_in_a_row(const char *path, const struct stat *about)
{
    int own = standard_output(about);
    if (own >= 0) {
        fflush(NULL); /* earlier output of the program must come first */
        return fcntl(own, F_DUPFD_CLOEXEC, 0);
    }
    if (S_ISFIFO(about->st_mode) || S_ISCHR(about->st_mode))
        return open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    errno = S_ISDIR(about->st_mode) ? EISDIR : EINVAL;
    return -1;
}

/* Create a new file. O_EXCL makes sure that it is not one that somebody else put there. */
static int open_new(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return -1;
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Open the file to write to: a descriptor, or -1 with errno. stat comes first, because it obeys
 * the system's rules about links: where the system refuses to follow a link (one of another user
 * in a folder like /tmp), it is not followed by hand either. */
static int open_target(cairn_file *file)
{
    struct stat about;
    bool there = stat(file->path, &about) == 0;
    if (!there && errno != ENOENT)
        return -1;
    file->in_place = there && (!S_ISREG(about.st_mode) || standard_output(&about) >= 0);
    if (file->in_place)
        return open_in_a_row(file->path, &about);
    errno = find_target(file->path);
    if (errno)
        return -1;
    if (strlen(file->path) + sizeof PART > sizeof file->part) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcat(strcpy(file->part, file->path), PART);
    return open_new(file->part);
}

cairn_status cairn_file_create(const char *path, cairn_file *out, cairn_error *error)
{
    /* room for ".part" and the final zero; a target behind a link is checked again */
    enum { LONGEST = CAIRN_PATH_BYTES - sizeof PART };
    out->stream = NULL;
    if (strlen(path) > LONGEST) {
        cairn_error_set_file(error, path);
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the path has more than %d bytes", LONGEST);
    }
    strcpy(out->path, path);
    int descriptor = open_target(out);
    out->stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (out->stream)
        return CAIRN_OK;
    cairn_status status = fail_errno(error, path, "create");
    if (descriptor >= 0)
        close(descriptor);
    return status;
}

/* errno is saved from the first step that fails, because the clean-up would overwrite it. */
cairn_status cairn_file_commit(cairn_file *file, cairn_error *error)
{
    bool written = fflush(file->stream) == 0 && !ferror(file->stream);
    int reason = errno;
    bool closed = fclose(file->stream) == 0;
    file->stream = NULL;
    if (!closed && written)
        reason = errno;
    if (written && closed && (file->in_place || rename(file->part, file->path) == 0))
        return CAIRN_OK;
    if (written && closed)
        reason = errno;
    if (!file->in_place)
        unlink(file->part);
    errno = reason;
    return fail_errno(error, file->path, "write");
}

/* Append all bytes of one stream to another. False: reading or writing failed. */
static bool copy_stream(FILE *from, FILE *to)
{
    char bytes[1 << 14];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, from)) > 0)
        if (fwrite(bytes, 1, got, to) != got)
            return false;
    return !ferror(from);
}

/* Where a file must be written in place, or a link followed, its contents are copied. */
static cairn_status copy_file(const char *from, const char *path, cairn_error *error)
{
    cairn_file file = { 0 };
    FILE *source = fopen(from, "rb");
    if (!source)
        return fail_errno(error, from, "read");
    cairn_status status = cairn_file_create(path, &file, error);
    if (status == CAIRN_OK && !copy_stream(source, file.stream)) {
        status = fail_errno(error, path, "write");
        cairn_file_abandon(&file);
    } else if (status == CAIRN_OK) {
        status = cairn_file_commit(&file, error);
    }
    fclose(source);
    return status;
}

cairn_status cairn_file_place(const char *part, const char *path, cairn_error *error)
{
    struct stat about;
    /* renaming is enough if there is nothing, or a plain file, under this name */
    bool plain = lstat(path, &about) != 0 || S_ISREG(about.st_mode);
    if (plain && rename(part, path) == 0)
        return CAIRN_OK;
    cairn_status status = plain ? fail_errno(error, path, "write") : copy_file(part, path, error);
    unlink(part);
    return status;
}

/* ---- keeping, and who may write ---------------------------------------------------------- */

bool cairn_file_keep_entry(const char *path)
{
    char folder[CAIRN_PATH_BYTES];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int descriptor = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* EINVAL: the file system cannot sync folders, so there is nothing to wait for */
    bool kept = descriptor >= 0 && (fsync(descriptor) == 0 || errno == EINVAL);
    if (descriptor >= 0)
        close(descriptor);
    return kept;
}

/* The order matters: first the data, then the rename, then the folder. After a power failure the
 * name then refers either to the old file or to the complete new one. */
cairn_status cairn_file_commit_durable(cairn_file *file, cairn_error *error)
{
    bool plain = !file->in_place;
    if (plain && (fflush(file->stream) != 0 || fsync(fileno(file->stream)) != 0)) {
        cairn_status status = fail_errno(error, file->path, "write");
        cairn_file_abandon(file);
        return status;
    }
    TRY(cairn_file_commit(file, error));
    return !plain || cairn_file_keep_entry(file->path) ? CAIRN_OK
                                                       : fail_errno(error, file->path, "keep");
}

/* ---- locks ------------------------------------------------------------------------------- */

/* A program that looks at a lock holds it for some microseconds, so a failure is retried, 20
 * times over 20 ms. Any error but EWOULDBLOCK means that there are no locks, which counts as
 * success. */
bool cairn_lock_take(int descriptor)
{
    enum { TRIES = 20 };
    for (int i = 0; i < TRIES; i++) {
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return true;
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    errno = EWOULDBLOCK;
    return false;
}

cairn_lock_state cairn_lock_look(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return CAIRN_LOCK_FREE;
    /* a shared lock is enough to find out, and does not disturb others who look */
    bool free = flock(descriptor, LOCK_SH | LOCK_NB) == 0, taken = !free && errno == EWOULDBLOCK;
    close(descriptor);
    return free ? CAIRN_LOCK_FREE : taken ? CAIRN_LOCK_TAKEN : CAIRN_LOCK_UNKNOWN;
}

cairn_status cairn_folder_lock(const char *folder, int *lock, cairn_error *error)
{
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return fail_errno(error, folder, "look into the folder");
    /* some network file systems cannot lock folders; run.h5.part is locked in any case */
    if (cairn_lock_take(*lock))
        return CAIRN_OK;
    cairn_folder_unlock(lock);
    cairn_error_set_file(error, folder);
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "another run is writing into this folder");
}

void cairn_folder_unlock(int *lock)
{
    if (*lock >= 0)
        close(*lock);
    *lock = -1;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Whether a path names a descriptor that the program was given, whatever is behind it. */
static bool is_descriptor(const char *path)
{
    static const char *const names[] = { "/dev/stdin", "/dev/fd/", "/proc/self/fd/" };
    for (int i = 0; i < 3; i++)
        if (strncmp(path, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Check that a file can be read from beginning to end without waiting for another program. */
static cairn_status check_plain(const char *path, mode_t mode, cairn_error *error)
{
    if (S_ISREG(mode) || (!S_ISDIR(mode) && is_descriptor(path)))
        return CAIRN_OK;
    cairn_error_set_file(error, path);
    if (S_ISDIR(mode))
        return cairn_fail(error, CAIRN_IO_FAILED, NULL, "found a folder, expected a plain file");
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "this is not a plain file%s",
                      S_ISFIFO(mode)  ? " but a FIFO"
                      : S_ISCHR(mode) ? " but a character device"
                      : S_ISBLK(mode) ? " but a block device"
                                      : "");
}

cairn_status cairn_file_check_plain(const char *path, cairn_error *error)
{
    struct stat about;
    bool opens = stat(path, &about) != 0 || S_ISDIR(about.st_mode); /* or fails at once */
    return opens ? CAIRN_OK : check_plain(path, about.st_mode, error);
}

/* O_NONBLOCK, because opening a FIFO would otherwise wait for its writer. The kind is checked on
 * the open descriptor, so the file cannot be exchanged in between. */
cairn_status cairn_file_open(const char *path, FILE **out, cairn_error *error)
{
    struct stat about;
    cairn_status status = CAIRN_OK;
    *out = NULL;
    int wait = is_descriptor(path) ? 0 : O_NONBLOCK;
    int descriptor = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | wait);
    bool absent = descriptor < 0 && errno == ENOENT;
    if (descriptor < 0 || fstat(descriptor, &about) != 0)
        status = fail_errno(error, path, "read");
    else
        status = check_plain(path, about.st_mode, error);
    if (status == CAIRN_OK && !(*out = fdopen(descriptor, "rb")))
        status = fail_errno(error, path, "read");
    if (status != CAIRN_OK && descriptor >= 0)
        close(descriptor);
    return absent ? CAIRN_NOT_FOUND : status;
}

static cairn_status read_stream(FILE *stream, const char *path, void **data, size_t *bytes,
                                cairn_error *error)
{
    struct stat about;
    if (fstat(fileno(stream), &about) != 0)
        return fail_errno(error, path, "read");
    *bytes = about.st_size > 0 ? (size_t)about.st_size : 0;
    /* one byte more, so that a text ends with a zero */
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
    FILE *stream;
    *data = NULL;
    TRY(cairn_file_open(path, &stream, error));
    cairn_status status = read_stream(stream, path, data, bytes, error);
    fclose(stream);
    return status;
}

cairn_status cairn_file_map(const char *path, cairn_mapped *out, cairn_error *error)
{
    FILE *stream;
    struct stat about;
    *out = (cairn_mapped){ 0 };
    TRY(cairn_file_open(path, &stream, error));
    cairn_status status = CAIRN_OK;
    if (fstat(fileno(stream), &about) != 0)
        status = fail_errno(error, path, "read");
    else if (about.st_size > 0) {
        void *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fileno(stream), 0);
        if (data == MAP_FAILED)
            status = fail_errno(error, path, "read");
        else
            *out = (cairn_mapped){ data, (size_t)about.st_size };
    }
    fclose(stream);
    return status;
}

void cairn_file_unmap(cairn_mapped *mapped)
{
    if (mapped->data)
        munmap((void *)(uintptr_t)mapped->data, mapped->bytes);
    *mapped = (cairn_mapped){ 0 };
}

/* ---- sealed files ------------------------------------------------------------------------ */

static void seal_bytes(cairn_sealing *s, const void *data, size_t bytes)
{
    s->sum = cairn_check_add(&s->table, s->sum, data, bytes);
    fwrite(data, 1, bytes, s->file.stream);
}

cairn_status cairn_sealing_begin(const char *path, const cairn_seal *seal, int64_t length,
                                 cairn_sealing *out, cairn_error *error)
{
    cairn_writer head = { 0 };
    cairn_seal_head(&head, seal, length);
    cairn_status status =
        head.failed ? CAIRN_NO_MEMORY : cairn_file_create(path, &out->file, error);
    if (status == CAIRN_OK) {
        out->left = length;
        out->sum = 0;
        cairn_check_table_make(&out->table);
        seal_bytes(out, head.data, head.size);
    }
    cairn_writer_destroy(&head);
    return status;
}

void cairn_sealing_add(cairn_sealing *s, const void *data, size_t bytes)
{
    s->left -= (int64_t)bytes;
    if (bytes > 0)
        seal_bytes(s, data, bytes);
}

cairn_status cairn_sealing_end(cairn_sealing *s, cairn_status status, cairn_error *error)
{
    cairn_writer sum = { 0 };
    cairn_write_whole(&sum, (int64_t)s->sum);
    if (status == CAIRN_OK && s->left != 0)
        status = cairn_fail(error, CAIRN_BAD_INPUT, NULL, "%" PRId64 " bytes are missing", s->left);
    if (status == CAIRN_OK && sum.failed)
        status = CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        seal_bytes(s, sum.data, sum.size);
    cairn_writer_destroy(&sum);
    if (status == CAIRN_OK)
        return cairn_file_commit_durable(&s->file, error);
    cairn_file_abandon(&s->file);
    return status;
}

void cairn_file_abandon(cairn_file *file)
{
    if (!file->stream)
        return;
    fclose(file->stream);
    file->stream = NULL;
    if (!file->in_place)
        unlink(file->part);
}

/* ---- outputs of programs that use the library -------------------------------------------- */

/* Output files of programs that use the library. The public type hides cairn_file. */
struct cairn_output {
    cairn_file file;
};

/* The struct is opaque for the program, so it lives on the heap until it is committed. */
cairn_status cairn_output_create(const char *path, cairn_output **out, cairn_error *error)
{
    *out = cairn_memory_zeroed(1, sizeof **out);
    if (!*out)
        return cairn_fail(error, CAIRN_NO_MEMORY, NULL, "out of memory");
    cairn_status status = cairn_file_create(path, &(*out)->file, error);
    if (status == CAIRN_OK)
        return CAIRN_OK;
    cairn_memory_free(*out);
    *out = NULL;
    return status;
}

FILE *cairn_output_stream(const cairn_output *output)
{
    return output->file.stream;
}

cairn_status cairn_output_commit(cairn_output *output, cairn_error *error)
{
    cairn_status status = cairn_file_commit(&output->file, error);
    cairn_memory_free(output);
    return status;
}

void cairn_output_abandon(cairn_output *output)
{
    cairn_file_abandon(&output->file);
    cairn_memory_free(output);
}

cairn_status cairn_output_place(const char *part, const char *path, cairn_error *error)
{
    return cairn_file_place(part, path, error);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Every double survives 17 digits; most need only 15, and 0.1 then is "0.1" and not
 * "0.10000000000000001". */
void cairn_number_text(double value, char *text)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
}

void cairn_json_quote(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        /* JSON forbids control characters in texts; UTF-8 passes unchanged */
        else if ((unsigned char)*c < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

/* Write comma, line break, indentation and key. Every entry writes its separator in front, so
 * nothing has to be known about the entries that follow. */
static void start_entry(cairn_json *json, const char *key)
{
    if (json->depth > 0)
        fputs(json->empty ? "\n" : ",\n", json->out);
    for (int i = 0; i < json->depth; i++)
        fputs("  ", json->out);
    if (key) {
        cairn_json_quote(json->out, key);
        fputs(": ", json->out);
    }
    json->empty = false;
}

void cairn_json_begin(cairn_json *json, const char *key)
{
    start_entry(json, key);
    fputc('{', json->out);
    json->depth++;
    json->empty = true;
}

/* An empty object stays on one line. The last one ends the file with a line break. */
void cairn_json_end(cairn_json *json)
{
    json->depth--;
    if (!json->empty)
        fputc('\n', json->out);
    for (int i = 0; !json->empty && i < json->depth; i++)
        fputs("  ", json->out);
    fputs(json->depth == 0 ? "}\n" : "}", json->out);
    json->empty = false;
}

/* JSON has neither NaN nor infinity; null stands for both. */
static void write_real(FILE *out, double value)
{
    char text[32] = "null";
    if (isfinite(value))
        cairn_number_text(value, text);
    fputs(text, out);
}

void cairn_json_real(cairn_json *json, const char *key, double value)
{
    start_entry(json, key);
    write_real(json->out, value);
}

void cairn_json_integer(cairn_json *json, const char *key, int64_t value)
{
    start_entry(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void cairn_json_flag(cairn_json *json, const char *key, bool value)
{
    start_entry(json, key);
    fputs(value ? "true" : "false", json->out);
}

void cairn_json_text(cairn_json *json, const char *key, const char *text)
{
    start_entry(json, key);
    if (text)
        cairn_json_quote(json->out, text);
    else
        fputs("null", json->out);
}

void cairn_json_pairs(cairn_json *json, const char *key, const int64_t (*pairs)[2], int count)
{
    start_entry(json, key);
    fputc('[', json->out);
    for (int i = 0; i < count; i++)
        fprintf(json->out, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "", pairs[i][0], pairs[i][1]);
    fputc(']', json->out);
}

void cairn_json_reals(cairn_json *json, const char *key, const double *values, int count)
{
    start_entry(json, key);
    fputc('[', json->out);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", json->out);
        write_real(json->out, values[i]);
    }
    fputc(']', json->out);
}

void cairn_json_texts(cairn_json *json, const char *key, const char *const *texts, int count)
{
    start_entry(json, key);
    fputc('[', json->out);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", json->out);
        cairn_json_quote(json->out, texts[i]);
    }
    fputc(']', json->out);
}

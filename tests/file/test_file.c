/* test_file.c - files of any kind: complete or not at all, changed in commits, packed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <zlib.h>

#include "cairn/output.h"
#include "file/file.h"
#include "file/hdf5.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"

/* ==== test_file: files appear complete or not at all ========================================== */

TEST(a_committed_file_has_its_name_and_no_part)
{
    folder f = folder_create();
    cairn_file file = { 0 };
    CHECK_OK(cairn_file_create(path_in(&f, "a.txt").text, &file, NULL));
    CHECK(file_exists(&f, "a.txt.part"));
    CHECK(!file_exists(&f, "a.txt"));
    fputs("hello", file.stream);
    CHECK_OK(cairn_file_commit(&file, NULL));
    CHECK_TEXT(file_text(&f, "a.txt"), "hello");
    CHECK(!file_exists(&f, "a.txt.part"));
    folder_remove(f.path);
}

TEST(an_abandoned_file_leaves_nothing_and_the_old_one_stays)
{
    folder f = folder_create();
    cairn_file file = { 0 };
    file_write(&f, "a.txt", "old");
    CHECK_OK(cairn_file_create(path_in(&f, "a.txt").text, &file, NULL));
    fputs("new", file.stream);
    cairn_file_abandon(&file);
    cairn_file_abandon(&file);
    CHECK_TEXT(file_text(&f, "a.txt"), "old");
    CHECK(!file_exists(&f, "a.txt.part"));
    folder_remove(f.path);
}

TEST(a_full_disk_is_reported_and_the_old_file_stays)
{
    folder f = folder_create();
    cairn_file file = { 0 };
    cairn_error error = { 0 };
    file_write(&f, "a.txt", "old");
    CHECK_OK(cairn_file_create(path_in(&f, "a.txt").text, &file, &error));
    disk_limit(1000);
    for (int i = 0; i < 20000; i++)
        fputc('x', file.stream);
    cairn_status status = cairn_file_commit(&file, &error);
    disk_limit(RLIM_INFINITY);
    CHECK_INT(status, CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "cannot write: File too large");
    CHECK_CONTAINS(error.file, "/a.txt");
    CHECK_TEXT(file_text(&f, "a.txt"), "old");
    CHECK(!file_exists(&f, "a.txt.part"));
    folder_remove(f.path);
}

TEST(a_link_in_the_place_of_the_part_is_not_followed)
{
    folder f = folder_create();
    cairn_file file = { 0 };
    file_write(&f, "precious", "keep me");
    CHECK_INT(symlink(path_in(&f, "precious").text, path_in(&f, "a.txt.part").text), 0);
    CHECK_OK(cairn_file_create(path_in(&f, "a.txt").text, &file, NULL));
    fputs("new", file.stream);
    CHECK_OK(cairn_file_commit(&file, NULL));
    CHECK_TEXT(file_text(&f, "precious"), "keep me");
    CHECK_TEXT(file_text(&f, "a.txt"), "new");
    folder_remove(f.path);
}

/* Write "new" to folder/name. */
static cairn_status write_new(const folder *f, const char *name, cairn_error *error)
{
    cairn_file file = { 0 };
    cairn_status status = cairn_file_create(path_in(f, name).text, &file, error);
    if (status != CAIRN_OK)
        return status;
    fputs("new", file.stream);
    return cairn_file_commit(&file, error);
}

static bool is_link(const folder *f, const char *name)
{
    struct stat about;
    return lstat(path_in(f, name).text, &about) == 0 && S_ISLNK(about.st_mode);
}

TEST(a_link_stays_and_its_target_is_written)
{
    folder f = folder_create();
    file_write(&f, "target", "old");
    CHECK_INT(mkdir(path_in(&f, "sub").text, 0777), 0);
    CHECK_INT(symlink("../target", path_in(&f, "sub/near").text), 0); /* relative to the link */
    CHECK_INT(symlink(path_in(&f, "sub/near").text, path_in(&f, "link").text), 0);
    CHECK_OK(write_new(&f, "link", NULL));
    CHECK(is_link(&f, "link") && is_link(&f, "sub/near"));
    CHECK_TEXT(file_text(&f, "target"), "new");
    CHECK(!file_exists(&f, "target.part") && !file_exists(&f, "link.part"));
    folder_remove(f.path);
}

TEST(a_link_to_nothing_makes_its_target)
{
    folder f = folder_create();
    CHECK_INT(symlink("target", path_in(&f, "link").text), 0);
    CHECK_OK(write_new(&f, "link", NULL));
    CHECK(is_link(&f, "link"));
    CHECK_TEXT(file_text(&f, "target"), "new");
    folder_remove(f.path);
}

TEST(links_in_a_circle_are_refused)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    CHECK_INT(symlink("b", path_in(&f, "a").text), 0);
    CHECK_INT(symlink("a", path_in(&f, "b").text), 0);
    CHECK_INT(write_new(&f, "a", &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "cannot create");
    CHECK(is_link(&f, "a"));
    folder_remove(f.path);
}

/* The reader is there before the writer, so neither waits. */
TEST(a_fifo_is_written_in_place)
{
    folder f = folder_create();
    char found[8] = "";
    struct stat about;
    path p = path_in(&f, "fifo");
    CHECK_INT(mkfifo(p.text, 0666), 0);
    int reader = open(p.text, O_RDONLY | O_NONBLOCK);
    CHECK_OK(write_new(&f, "fifo", NULL));
    CHECK_INT(read(reader, found, sizeof found), 3);
    CHECK_TEXT(found, "new");
    CHECK_INT(stat(p.text, &about), 0);
    CHECK(S_ISFIFO(about.st_mode));
    CHECK(!file_exists(&f, "fifo.part"));
    close(reader);
    folder_remove(f.path);
}

/* As root a rename over /dev/null would make a plain file of it, for everybody. */
TEST(a_device_stays_a_device)
{
    struct stat about;
    cairn_file file = { 0 };
    CHECK_OK(cairn_file_create("/dev/null", &file, NULL));
    fputs("nothing", file.stream);
    CHECK_OK(cairn_file_commit_durable(&file, NULL));
    CHECK_INT(stat("/dev/null", &about), 0);
    CHECK(S_ISCHR(about.st_mode));
    CHECK(access("/dev/null.part", F_OK) != 0);
}

TEST(a_folder_is_not_written)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    CHECK_INT(mkdir(path_in(&f, "sub").text, 0777), 0);
    CHECK_INT(write_new(&f, "sub", &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "cannot create: Is a directory");
    folder_remove(f.path);
}

/* "before" through standard output, "new" through /dev/stdout, "after" again: in a child, whose
 * output is the file. */
TEST(the_own_output_is_written_in_order)
{
    folder f = folder_create();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        cairn_file file = { 0 };
        if (!freopen(path_in(&f, "out").text, "w", stdout))
            _exit(1);
        printf("before ");
        if (cairn_file_create("/dev/stdout", &file, NULL) != CAIRN_OK)
            _exit(2);
        fputs("new", file.stream);
        if (cairn_file_commit(&file, NULL) != CAIRN_OK)
            _exit(3);
        printf(" after");
        fflush(stdout);
        _exit(0);
    }
    int how = 1;
    CHECK_INT(waitpid(child, &how, 0), child);
    CHECK_INT(how, 0);
    CHECK_TEXT(file_text(&f, "out"), "before new after");
    folder_remove(f.path);
}

TEST(what_another_program_wrote_is_placed_by_the_same_rules)
{
    folder f = folder_create();
    file_write(&f, "target", "old");
    file_write(&f, "part", "new");
    CHECK_INT(symlink("target", path_in(&f, "link").text), 0);
    CHECK_OK(cairn_file_place(path_in(&f, "part").text, path_in(&f, "link").text, NULL));
    CHECK(is_link(&f, "link") && !file_exists(&f, "part"));
    CHECK_TEXT(file_text(&f, "target"), "new");
    file_write(&f, "part", "newer");
    CHECK_OK(cairn_file_place(path_in(&f, "part").text, path_in(&f, "target").text, NULL));
    CHECK_TEXT(file_text(&f, "target"), "newer");
    CHECK(!file_exists(&f, "part"));
    folder_remove(f.path);
}

/* Opening it the usual way would wait for a writer that never comes. */
TEST(a_fifo_is_not_waited_for)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    FILE *stream;
    path p = path_in(&f, "fifo");
    CHECK_INT(mkfifo(p.text, 0666), 0);
    CHECK_INT(cairn_file_open(p.text, &stream, &error), CAIRN_BAD_INPUT);
    CHECK(!stream);
    CHECK_TEXT(error.message, "this is not a plain file but a FIFO");
    CHECK_INT(cairn_file_check_plain(p.text, &error), CAIRN_BAD_INPUT);
    CHECK_OK(cairn_file_check_plain(path_in(&f, "nothing").text, &error));
    CHECK_INT(cairn_file_open("/dev/zero", &stream, &error), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_file_open(f.path, &stream, &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "found a folder");
    folder_remove(f.path);
}

TEST(a_descriptor_that_was_given_may_be_a_pipe)
{
    int ends[2];
    char name[32], found[8] = "";
    FILE *stream;
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    CHECK_OK(cairn_file_open(name, &stream, NULL));
    CHECK_INT(fread(found, 1, sizeof found, stream), 5);
    CHECK_TEXT(found, "piped");
    fclose(stream);
    close(ends[0]);
}

TEST(one_run_at_a_time_holds_a_folder)
{
    folder f = folder_create();
    int first = -1, second = -1;
    cairn_error error = { 0 };
    CHECK_OK(cairn_folder_lock(f.path, &first, NULL));
    CHECK_INT(cairn_folder_lock(f.path, &second, &error), CAIRN_IO_FAILED);
    CHECK_TEXT(error.message, "another run is writing into this folder");
    CHECK_INT(second, -1);
    cairn_folder_unlock(&first);
    CHECK_OK(cairn_folder_lock(f.path, &second, NULL));
    cairn_folder_unlock(&second);
    cairn_folder_unlock(&second);
    folder_remove(f.path);
}

TEST(a_folder_comes_with_those_above_it)
{
    folder f = folder_create();
    CHECK_OK(cairn_folder_create(path_in(&f, "a/b/c").text, NULL));
    CHECK_OK(cairn_folder_create(path_in(&f, "a/b/c/").text, NULL));
    CHECK(file_exists(&f, "a/b/c/."));
    folder_remove(f.path);
}

TEST(a_folder_where_a_file_stands_is_refused)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    file_write(&f, "file", "");
    CHECK_INT(cairn_folder_create(path_in(&f, "file").text, &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "expected a folder");
    CHECK_INT(cairn_folder_create(path_in(&f, "file/sub").text, &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "Not a directory");
    CHECK_INT(cairn_folder_create("", &error), CAIRN_BAD_INPUT);
    folder_remove(f.path);
}

TEST(a_path_of_4096_bytes_is_too_long)
{
    char name[5000], joined[CAIRN_PATH_BYTES];
    cairn_error error = { 0 };
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_INT(cairn_path_join("a", name, joined, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "5001 bytes");
    name[CAIRN_PATH_BYTES - 3] = '\0';
    CHECK_OK(cairn_path_join("a", name, joined, &error));
    cairn_file file = { 0 };
    CHECK_INT(cairn_file_create(joined, &file, &error), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_folder_create(name, NULL), CAIRN_IO_FAILED); /* a name of > 255 bytes */
}

TEST(a_long_path_is_shown_by_its_end)
{
    char name[600];
    cairn_error error = { 0 };
    memset(name, 'x', sizeof name);
    strcpy(name + 590, "/run.h5");
    cairn_error_set_file(&error, name);
    CHECK_INT(strlen(error.file), 255);
    CHECK_TEXT(error.file + 248, "/run.h5");
}

TEST(a_lock_is_seen_without_keeping_anyone_from_it)
{
    folder f = folder_create();
    int lock = -1;
    CHECK_INT(cairn_lock_look(f.path), CAIRN_LOCK_FREE);
    CHECK_OK(cairn_folder_lock(f.path, &lock, NULL));
    CHECK_INT(cairn_lock_look(f.path), CAIRN_LOCK_TAKEN);
    CHECK_INT(cairn_lock_look("no such folder"), CAIRN_LOCK_FREE);
    cairn_folder_unlock(&lock);
    CHECK_INT(cairn_lock_look(f.path), CAIRN_LOCK_FREE);
    CHECK_OK(cairn_folder_lock(f.path, &lock, NULL));
    cairn_folder_unlock(&lock);
    folder_remove(f.path);
}

static int looking;

static void stop_looking(int signal_number)
{
    (void)signal_number;
    close(looking);
}

/* Someone looks, for 4 ms, while a run begins. The signal comes between two of its tries. */
TEST(a_run_waits_for_those_who_look)
{
    folder f = folder_create();
    int lock = -1;
    looking = open(f.path, O_RDONLY | O_DIRECTORY);
    CHECK_INT(flock(looking, LOCK_SH | LOCK_NB), 0);
    signal(SIGALRM, stop_looking);
    CHECK_INT(setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_usec = 4000 }, NULL), 0);
    CHECK_OK(cairn_folder_lock(f.path, &lock, NULL));
    signal(SIGALRM, SIG_DFL);
    cairn_folder_unlock(&lock);
    folder_remove(f.path);
}

GROUP(test_file)
{
    RUN(CASE(a_committed_file_has_its_name_and_no_part),
        CASE(an_abandoned_file_leaves_nothing_and_the_old_one_stays),
        CASE(a_full_disk_is_reported_and_the_old_file_stays),
        CASE(a_link_in_the_place_of_the_part_is_not_followed),
        CASE(a_link_stays_and_its_target_is_written), CASE(a_link_to_nothing_makes_its_target),
        CASE(links_in_a_circle_are_refused), CASE(a_fifo_is_written_in_place),
        CASE(a_device_stays_a_device), CASE(a_folder_is_not_written),
        CASE(the_own_output_is_written_in_order),
        CASE(what_another_program_wrote_is_placed_by_the_same_rules),
        CASE(a_fifo_is_not_waited_for), CASE(a_descriptor_that_was_given_may_be_a_pipe),
        CASE(one_run_at_a_time_holds_a_folder), CASE(a_lock_is_seen_without_keeping_anyone_from_it),
        CASE(a_run_waits_for_those_who_look), CASE(a_folder_comes_with_those_above_it),
        CASE(a_folder_where_a_file_stands_is_refused), CASE(a_path_of_4096_bytes_is_too_long),
        CASE(a_long_path_is_shown_by_its_end));
}

/* ==== test_output: files of programs, written as the library writes its own =================== */

TEST(a_file_has_its_name_when_it_is_complete)
{
    folder f = folder_create();
    cairn_output *out;
    CHECK_OK(cairn_output_create(path_in(&f, "a.txt").text, &out, NULL));
    fputs("hello", cairn_output_stream(out));
    CHECK(!file_exists(&f, "a.txt"));
    CHECK_OK(cairn_output_commit(out, NULL));
    CHECK_TEXT(file_text(&f, "a.txt"), "hello");
    CHECK(!file_exists(&f, "a.txt.part"));
    folder_remove(f.path);
}

TEST(a_file_that_cannot_be_made_is_told)
{
    folder f = folder_create();
    cairn_output *out;
    cairn_error error = { 0 };
    CHECK_INT(cairn_output_create(path_in(&f, "no/a.txt").text, &out, &error), CAIRN_IO_FAILED);
    CHECK(!out);
    CHECK_CONTAINS(error.message, "cannot create: No such file");
    meter m = { .fail_at = 1 };
    meter_install(&m);
    cairn_status status = cairn_output_create(path_in(&f, "a.txt").text, &out, NULL);
    cairn_allocator_set(NULL);
    CHECK_INT(status, CAIRN_NO_MEMORY);
    CHECK_INT(m.alive, 0);
    folder_remove(f.path);
}

TEST(a_file_that_is_abandoned_leaves_the_old_one)
{
    folder f = folder_create();
    cairn_output *out;
    file_write(&f, "a.txt", "old");
    CHECK_OK(cairn_output_create(path_in(&f, "a.txt").text, &out, NULL));
    fputs("half", cairn_output_stream(out));
    cairn_output_abandon(out);
    CHECK_TEXT(file_text(&f, "a.txt"), "old");
    CHECK(!file_exists(&f, "a.txt.part"));
    folder_remove(f.path);
}

TEST(a_part_is_placed)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    file_write(&f, "part", "drawn");
    CHECK_OK(cairn_output_place(path_in(&f, "part").text, path_in(&f, "a.svg").text, NULL));
    CHECK_TEXT(file_text(&f, "a.svg"), "drawn");
    CHECK_INT(cairn_output_place(path_in(&f, "part").text, path_in(&f, "a.svg").text, &error),
              CAIRN_IO_FAILED);
    CHECK_TEXT(file_text(&f, "a.svg"), "drawn");
    folder_remove(f.path);
}

GROUP(test_output)
{
    RUN(CASE(a_file_has_its_name_when_it_is_complete), CASE(a_file_that_cannot_be_made_is_told),
        CASE(a_file_that_is_abandoned_leaves_the_old_one), CASE(a_part_is_placed));
}

/* ==== test_overlay: a file whose kept part changes only in a commit =========================== */

enum { SIZE = 10000 };

/* What anybody who opens the file finds: the first byte of a place. */
static int byte_at(const path *p, long at)
{
    FILE *file = fopen(p->text, "rb");
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fclose(file);
    return byte;
}

/* A file of SIZE bytes 'a', committed. */
static int start(const path *p, cairn_overlay *o)
{
    static char text[SIZE];
    int descriptor = open(p->text, O_RDWR | O_CREAT, 0666);
    memset(text, 'a', sizeof text);
    CHECK_INT(cairn_overlay_start(o, descriptor, p->text, 0), 0);
    CHECK_INT(cairn_overlay_write(o, 0, sizeof text, text), 0);
    CHECK_INT(cairn_overlay_commit(o, SIZE), 0);
    return descriptor;
}

TEST(kept_bytes_change_in_a_commit_alone)
{
    folder f = folder_create();
    path p = path_in(&f, "file");
    cairn_overlay o;
    char found[8] = "";
    int descriptor = start(&p, &o);
    CHECK_INT(cairn_overlay_write(&o, 4090, 12, "bbbbbbbbbbbb"), 0); /* over a border of pages */
    CHECK_INT(byte_at(&p, 4095), 'a');
    CHECK_INT(cairn_overlay_read(&o, 4088, 4, found), 0); /* the writer sees what he wrote */
    CHECK_TEXT(found, "aabb");
    CHECK_INT(cairn_overlay_commit(&o, SIZE), 0);
    CHECK_INT(byte_at(&p, 4095), 'b');
    CHECK_INT(byte_at(&p, 4102), 'a');
    CHECK(!file_exists(&f, "file.journal"));
    cairn_overlay_destroy(&o);
    close(descriptor);
    folder_remove(f.path);
}

TEST(new_bytes_are_written_at_once_and_cut_or_kept_by_a_commit)
{
    folder f = folder_create();
    path p = path_in(&f, "file");
    struct stat about;
    cairn_overlay o;
    int descriptor = start(&p, &o);
    CHECK_INT(cairn_overlay_write(&o, 20000, 3, "ccc"), 0);
    CHECK_INT(byte_at(&p, 20000), 'c');
    CHECK_INT(cairn_overlay_commit(&o, 20002), 0);
    CHECK_INT(stat(p.text, &about), 0);
    CHECK_INT(about.st_size, 20002);
    cairn_overlay_destroy(&o);
    close(descriptor);
    folder_remove(f.path);
}

/* A commit that the disk has no room for leaves the file as it was. */
static void commit_fails(const char *name)
{
    path p;
    snprintf(p.text, sizeof p.text, "%s/file", name);
    cairn_overlay o;
    int descriptor = start(&p, &o);
    for (int page = 0; page < 3; page++)
        CHECK_INT(cairn_overlay_write(&o, (uint64_t)page * 4096, 1, "b"), 0);
    disk_limit(5000); /* the journal is longer */
    CHECK(cairn_overlay_commit(&o, SIZE) != 0);
    CHECK_INT(byte_at(&p, 0), 'a');
    cairn_overlay_destroy(&o);
    close(descriptor);
}

TEST(a_full_disk_leaves_the_file_as_it_was)
{
    struct rlimit held;
    folder f = folder_create();
    getrlimit(RLIMIT_FSIZE, &held);
    commit_fails(f.path);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &held), 0);
    CHECK(!file_exists(&f, "file.journal"));
    folder_remove(f.path);
}

/* Bytes 0 and 5000 were to become 'b': the writer was killed with the journal complete, the file not
 * written. */
static void leave_journal(const path *p)
{
    cairn_overlay o;
    int descriptor = start(p, &o);
    CHECK_INT(cairn_overlay_write(&o, 0, 1, "b"), 0);
    CHECK_INT(cairn_overlay_write(&o, 5000, 1, "b"), 0);
    close(descriptor);
    o.descriptor = open(p->text, O_RDONLY); /* the journal can be written, the file cannot */
    CHECK(cairn_overlay_commit(&o, SIZE) != 0);
    close(o.descriptor);
    cairn_overlay_destroy(&o);
}

/* A new file in the place of another, which a journal was left beside. */
TEST(a_journal_is_gone_when_a_new_file_starts)
{
    folder f = folder_create();
    path p = path_in(&f, "file");
    cairn_overlay o;
    leave_journal(&p);
    CHECK(file_exists(&f, "file.journal") && file_exists(&f, "file.writer"));
    close(start(&p, &o));
    cairn_overlay_destroy(&o);
    CHECK(!file_exists(&f, "file.journal") && !file_exists(&f, "file.writer"));
    CHECK_OK(cairn_overlay_recover(p.text, NULL));
    CHECK_INT(byte_at(&p, 5000), 'a');
    folder_remove(f.path);
}

/* A journal that came back, or was copied there, and belongs to the run before. */
TEST(a_journal_of_another_writer_changes_nothing)
{
    folder f = folder_create();
    path p = path_in(&f, "file"), journal = path_in(&f, "file.journal"), kept = path_in(&f, "kept");
    leave_journal(&p);
    CHECK_INT(rename(journal.text, kept.text), 0);
    leave_journal(&p); /* the same bytes, by another writer */
    CHECK_INT(rename(kept.text, journal.text), 0);
    CHECK_OK(cairn_overlay_recover(p.text, NULL));
    CHECK_INT(byte_at(&p, 0), 'a');
    CHECK_INT(byte_at(&p, 5000), 'a');
    CHECK(!file_exists(&f, "file.journal"));
    folder_remove(f.path);
}

/* Two commits, the second of which needs a journal and so a name. */
TEST(a_writer_that_ends_well_leaves_no_name)
{
    folder f = folder_create();
    path p = path_in(&f, "file");
    cairn_overlay o;
    int descriptor = start(&p, &o);
    CHECK(!file_exists(&f, "file.writer"));
    CHECK_INT(cairn_overlay_write(&o, 0, 1, "b"), 0);
    CHECK_INT(cairn_overlay_commit(&o, SIZE), 0);
    CHECK(file_exists(&f, "file.writer"));
    cairn_overlay_destroy(&o);
    close(descriptor);
    CHECK(!file_exists(&f, "file.writer") && !file_exists(&f, "file.journal"));
    folder_remove(f.path);
}

TEST(a_commit_that_was_cut_short_is_finished)
{
    folder f = folder_create();
    path p = path_in(&f, "file"), journal = path_in(&f, "file.journal");
    leave_journal(&p);
    CHECK(file_exists(&f, "file.journal"));
    CHECK_INT(byte_at(&p, 5000), 'a');
    CHECK_OK(cairn_overlay_recover(p.text, NULL));
    CHECK_INT(byte_at(&p, 0), 'b');
    CHECK_INT(byte_at(&p, 5000), 'b');
    CHECK_INT(byte_at(&p, 5001), 'a');
    CHECK(access(journal.text, F_OK) != 0);
    folder_remove(f.path);
}

TEST(a_journal_that_is_not_complete_changes_nothing)
{
    folder f = folder_create();
    path p = path_in(&f, "file");
    cairn_overlay o;
    int descriptor = start(&p, &o);
    cairn_overlay_destroy(&o);
    close(descriptor);
    file_write(&f, "file.journal", "cairn journal\n and then the power went");
    CHECK_OK(cairn_overlay_recover(p.text, NULL));
    CHECK_INT(byte_at(&p, 0), 'a');
    CHECK(!file_exists(&f, "file.journal"));
    CHECK_OK(cairn_overlay_recover(p.text, NULL)); /* none is fine */
    folder_remove(f.path);
}

TEST(a_file_that_was_removed_or_replaced_is_not_committed)
{
    folder f = folder_create();
    path p = path_in(&f, "file"), other = path_in(&f, "other");
    cairn_overlay o, another;
    int descriptor = start(&p, &o), second = start(&other, &another);
    CHECK_INT(cairn_overlay_write(&o, 0, 1, "b"), 0);
    CHECK_INT(rename(other.text, p.text), 0);
    CHECK_INT(cairn_overlay_commit(&o, SIZE), ESTALE);
    CHECK_INT(byte_at(&p, 0), 'a');
    CHECK_INT(unlink(p.text), 0);
    CHECK_INT(cairn_overlay_commit(&o, SIZE), ESTALE);
    CHECK(!file_exists(&f, "file") && !file_exists(&f, "file.journal"));
    cairn_overlay_destroy(&o);
    cairn_overlay_destroy(&another);
    close(descriptor);
    close(second);
    folder_remove(f.path);
}

GROUP(test_overlay)
{
    RUN(CASE(kept_bytes_change_in_a_commit_alone),
        CASE(new_bytes_are_written_at_once_and_cut_or_kept_by_a_commit),
        CASE(a_full_disk_leaves_the_file_as_it_was),
        CASE(a_file_that_was_removed_or_replaced_is_not_committed), CASE(a_journal_is_gone_when_a_new_file_starts),
        CASE(a_journal_of_another_writer_changes_nothing),
        CASE(a_writer_that_ends_well_leaves_no_name), CASE(a_commit_that_was_cut_short_is_finished),
        CASE(a_journal_that_is_not_complete_changes_nothing));
}

/* ==== test_packer: chunks come out in order, as shuffle and deflate make them ================= */

enum { NUMBERS = 4096, BYTES = NUMBERS * sizeof(double) };

static void fill(double *numbers, double first)
{
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = first + 1e-3 * i;
}

/* What inflate and the way back from the shuffled order make of a packed chunk. */
static void unpack(const cairn_chunk *chunk, double *out)
{
    static unsigned char shuffled[BYTES];
    uLongf bytes = BYTES;
    CHECK_INT(uncompress(shuffled, &bytes, chunk->data, chunk->bytes), Z_OK);
    CHECK_INT(bytes, BYTES);
    for (size_t i = 0; i < NUMBERS; i++)
        for (size_t b = 0; b < sizeof(double); b++)
            ((unsigned char *)out)[i * sizeof(double) + b] = shuffled[b * NUMBERS + i];
}

static void put(cairn_packer *packer, int k)
{
    static double numbers[NUMBERS];
    fill(numbers, k);
    cairn_chunk chunk = { .owner = 7,
                          .row = (uint64_t)k,
                          .rows = 3,
                          .width = 2,
                          .number_bytes = sizeof(double),
                          .bytes = BYTES,
                          .data = numbers };
    CHECK_OK(cairn_packer_put(packer, &chunk));
}

/* the ring goes round three times; each chunk is as zlib alone would write it */
TEST(chunks_come_out_in_order_and_whole)
{
    static double wanted[NUMBERS], found[NUMBERS];
    cairn_packer *packer;
    cairn_chunk chunk;
    int next = 0;
    CHECK_OK(cairn_packer_create(&packer));
    CHECK(!cairn_packer_first(packer, true, &chunk));
    for (int k = 0; k < 3 * CAIRN_PACKER_ROOM || cairn_packer_count(packer) > 0;) {
        if (k < 3 * CAIRN_PACKER_ROOM && cairn_packer_count(packer) < CAIRN_PACKER_ROOM) {
            put(packer, k++);
            continue;
        }
        CHECK(cairn_packer_first(packer, true, &chunk));
        CHECK_INT(chunk.row, next);
        CHECK(chunk.owner == 7 && chunk.rows == 3 && chunk.width == 2);
        CHECK(chunk.bytes < BYTES / 2);
        fill(wanted, next++);
        unpack(&chunk, found);
        CHECK(memcmp(found, wanted, BYTES) == 0);
        cairn_packer_drop(packer);
    }
    CHECK_INT(next, 3 * CAIRN_PACKER_ROOM);
    cairn_packer_destroy(packer);
}

/* the thread works while nobody waits for it */
TEST(a_chunk_gets_ready_by_itself)
{
    cairn_packer *packer;
    cairn_chunk chunk;
    CHECK_OK(cairn_packer_create(&packer));
    put(packer, 1);
    while (!cairn_packer_first(packer, false, &chunk))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    cairn_packer_destroy(packer); /* with something inside */
}

/* numbers without a pattern get no shorter: 4096 doubles grow by less than 1 % */
TEST(noise_still_fits)
{
    static uint64_t noise[NUMBERS];
    uint64_t state = 1;
    cairn_packer *packer;
    cairn_chunk out, chunk = { .number_bytes = 8, .bytes = BYTES, .data = noise };
    for (int i = 0; i < NUMBERS; i++)
        noise[i] = state = state * 6364136223846793005u + 1442695040888963407u;
    CHECK_OK(cairn_packer_create(&packer));
    CHECK_OK(cairn_packer_put(packer, &chunk));
    CHECK(cairn_packer_first(packer, true, &out));
    CHECK(out.data && out.bytes < BYTES + BYTES / 100);
    cairn_packer_destroy(packer);
}

/* the n-th allocation fails, for every n: of the packer, of its two streams, of a slot */
TEST(no_memory_is_said)
{
    cairn_status status = CAIRN_NO_MEMORY;
    long n = 0;
    while (status != CAIRN_OK && n < 100) {
        meter m = { .fail_at = ++n };
        cairn_packer *packer = NULL;
        double number = 1;
        cairn_chunk chunk = { .number_bytes = 8, .bytes = 8, .data = &number };
        meter_install(&m);
        status = cairn_packer_create(&packer);
        CHECK((status == CAIRN_OK) == (packer != NULL));
        if (status == CAIRN_OK)
            status = cairn_packer_put(packer, &chunk);
        cairn_packer_destroy(packer);
        cairn_allocator_set(NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, 0);
    }
    CHECK(n > 3 && n < 100);
}

GROUP(test_packer)
{
    RUN(CASE(chunks_come_out_in_order_and_whole), CASE(a_chunk_gets_ready_by_itself),
        CASE(noise_still_fits), CASE(no_memory_is_said));
}

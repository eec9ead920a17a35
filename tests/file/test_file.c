/* test_file.c - files appear complete or not at all. */
#include "io/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "run_scene.h"

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

int main(void)
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

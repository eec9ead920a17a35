/* test_overlay.c - a file whose kept part changes only in a commit. */
#include "io/overlay.h"

#include <fcntl.h>

#include "run_scene.h"

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

int main(void)
{
    RUN(CASE(kept_bytes_change_in_a_commit_alone),
        CASE(new_bytes_are_written_at_once_and_cut_or_kept_by_a_commit),
        CASE(a_full_disk_leaves_the_file_as_it_was), CASE(a_journal_is_gone_when_a_new_file_starts),
        CASE(a_journal_of_another_writer_changes_nothing),
        CASE(a_writer_that_ends_well_leaves_no_name), CASE(a_commit_that_was_cut_short_is_finished),
        CASE(a_journal_that_is_not_complete_changes_nothing));
}

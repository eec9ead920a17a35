/* output.c - files of programs that use the library, written as the library writes its own. */
#include "cairn/output.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/file.h"

struct cairn_output {
    cairn_file file;
};

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

cairn_status cairn_output_place(const char *part, const char *path, cairn_error *error)
{
    return cairn_file_place(part, path, error);
}

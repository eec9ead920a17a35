/* error.c - how failures are told. */
#include <stdio.h>

#include "ending.h"

/* The operating system's business, or the scene's? */
static int exit_code(cairn_status status, const cairn_error *error)
{
    switch (status) {
    case CAIRN_OK:
        return EXIT_DONE;
    case CAIRN_NO_MEMORY:
    case CAIRN_IO_FAILED:
        return EXIT_FAILED;
    case CAIRN_NOT_FOUND:
        return error->line > 0 || error->key[0] ? EXIT_SCENE : EXIT_FAILED;
    default:
        return EXIT_SCENE;
    }
}

int cairn_error_print(cairn_status status, const cairn_error *error)
{
    char shown[4 * sizeof error->message];
    cairn_text_escape(error->file[0] ? error->file : "cairn", shown, sizeof shown);
    fprintf(stderr, "%s", shown);
    if (error->line > 0)
        fprintf(stderr, ":%d:%d", error->line, error->column);
    cairn_text_escape(error->key, shown, sizeof shown);
    if (error->key[0])
        fprintf(stderr, ": %s", shown);
    cairn_text_escape(error->message[0] ? error->message : cairn_status_text(status), shown,
                      sizeof shown);
    fprintf(stderr, ": %s\n", shown);
    return exit_code(status, error);
}

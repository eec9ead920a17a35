/* mesh_file.h - triangles from OBJ and STL files. */
#ifndef CAIRN_IO_MESH_FILE_H
#define CAIRN_IO_MESH_FILE_H

#include "cairn/shape.h"

/* Triangles as a file has them; zero is empty. */
typedef struct cairn_mesh_file {
    const char *path;
    const unsigned char *bytes; /* the file, followed by a zero byte                         */
    size_t length;
    cairn_vec3 *vertices; /* in the file's unit                                               */
    size_t vertex_count, vertex_capacity;
    int32_t *corners; /* three a triangle                                                     */
    size_t corner_count, corner_capacity;
    int *lines; /* of each triangle; 0 in a binary file                                       */
    size_t line_count, line_capacity;
} cairn_mesh_file;

/* Read a file of a known form into vertices and triangles; path, bytes and length are set. */
cairn_status cairn_mesh_obj_read(cairn_mesh_file *file, cairn_error *error);
cairn_status cairn_mesh_stl_read(cairn_mesh_file *file, cairn_error *error);

/* Add a vertex, refused when not finite; a triangle of given vertices that stood in `line`. */
cairn_status cairn_mesh_file_add_vertex(cairn_mesh_file *file, cairn_vec3 vertex, int line,
                                        cairn_error *error);
cairn_status cairn_mesh_file_add_triangle(cairn_mesh_file *file, const int32_t corners[3],
                                          int line);
/* The file as a text, behind the mark of UTF-8 that some editors put first. */
const char *cairn_mesh_file_text(const cairn_mesh_file *file);
/* The number that stands at *at, with a point whatever the locale has; moves past it. */
bool cairn_mesh_file_number(const char **at, double *out);
/* "path:line: ..." */
cairn_status cairn_mesh_file_fail(const cairn_mesh_file *file, int line, cairn_error *error,
                                  const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif

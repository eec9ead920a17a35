#!/usr/bin/env python3
"""make_binding.py - write the C source of the extension module from the public headers.

    make_binding.py CC INCLUDE OUT.c

The headers go through the compiler's preprocessor; what comes from <cairn/...> and extra.h is
handed to cffi, which reads it as C. Nothing of the public interface is written twice.
"""
import os
import re
import subprocess
import sys

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))

# of the C library: temporary files, for functions of cairn that write to one
LIBC = """
FILE *tmpfile(void);
int fclose(FILE *);
void rewind(FILE *);
size_t fread(void *, size_t, size_t, FILE *);
"""

# functions of Python that C calls; they are in _lib.py
CALLBACKS = """
extern "Python" {
cairn_status cairn_python_on_write(const void *data, size_t bytes, void *context);
cairn_status cairn_python_on_polygon(void *context, const cairn_vec3 *corners, int count,
                                     bool closed);
bool cairn_python_on_progress(const cairn_progress *progress, void *context);
bool cairn_python_on_compare(const cairn_compare_progress *progress, void *context);
cairn_status cairn_python_on_force(void *context, const cairn_world *world, double time,
                                   cairn_vec3 *force, cairn_vec3 *torque);
void cairn_python_on_mass(void *context, const double *q, double *M);
void cairn_python_on_system_force(void *context, double time, const double *q, const double *v,
                                  double *F);
void cairn_python_on_contact(void *context, const double *q, int index,
                             cairn_lagrange_contact *out);
double cairn_python_on_potential(void *context, const double *q);
}
"""


def preprocessed(compiler, include):
    """The declarations of cairn's headers: the lines that the preprocessor says come from them."""
    text = subprocess.run([compiler, "-E", "-I", include, os.path.join(HERE, "extra.h")],
                          check=True, capture_output=True, text=True).stdout
    ours, kept = False, []
    for line in text.splitlines():
        mark = re.match(r'# \d+ "(.*?)"', line)
        if mark:
            ours = bool(re.search(r"(/cairn/\w+|/extra)\.h$", mark.group(1)))
        elif ours and line.strip():
            kept.append(line)
    text = re.sub(r"__attribute__\(\(.*?\)\)+", "", "\n".join(kept))
    return re.sub(r"_Static_assert\(.*?\);", "", text)


def main():
    compiler, include, out = sys.argv[1:]
    ffi = cffi.FFI()
    ffi.cdef(preprocessed(compiler, include))
    ffi.cdef(LIBC + CALLBACKS)
    ffi.set_source("cairn._cairn", '#include <stdio.h>\n#include "extra.h"\n', py_limited_api=True)
    ffi.emit_c_code(out)


if __name__ == "__main__":
    main()

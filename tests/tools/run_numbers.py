"""Numbers of a run.h5 in plain Python: datasets by ctypes from the HDF5 library that cairn itself needs, so
that no package of Python has to be there. Everything is read as 64-bit floating point numbers."""
import ctypes
import ctypes.util
import math
import os
import subprocess


def library_path():
    """Path of the HDF5 library that cairn-check is linked with, or the system's; None: there is none."""
    program = os.environ.get("CAIRN_CHECK", "build/release/tools/cairn-check")
    listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            check=False).stdout.decode() if os.path.exists(program) else ""
    for line in listed.splitlines():
        if "libhdf5" in line and "_hl" not in line and "=> /" in line:
            return line.split("=>")[1].split()[0]
    return ctypes.util.find_library("hdf5_serial") or ctypes.util.find_library("hdf5")


def load():
    path = library_path()
    if path is None:
        raise ImportError("there is no HDF5 library to read run.h5 with")
    hdf5 = ctypes.CDLL(path)
    identifier = ctypes.c_int64
    for name in ("H5Fopen", "H5Dopen2", "H5Dget_space"):
        getattr(hdf5, name).restype = identifier
    hdf5.H5Fopen.argtypes = [ctypes.c_char_p, ctypes.c_uint, identifier]
    hdf5.H5Dopen2.argtypes = [identifier, ctypes.c_char_p, identifier]
    hdf5.H5Dread.argtypes = [identifier] * 5 + [ctypes.c_void_p]
    hdf5.H5Sget_simple_extent_dims.argtypes = [identifier, ctypes.c_void_p, ctypes.c_void_p]
    hdf5.H5Eset_auto2.argtypes = [identifier, ctypes.c_void_p, ctypes.c_void_p]
    for name in ("H5Fclose", "H5Dclose", "H5Sclose", "H5Dget_space", "H5Sget_simple_extent_ndims"):
        getattr(hdf5, name).argtypes = [identifier]
    hdf5.H5open()
    hdf5.H5Eset_auto2(0, None, None)
    return hdf5


class Run:
    """An open run.h5: run["steps/penetration"] is a list; of two-dimensional data, a list of rows."""

    def __init__(self, path):
        self.hdf5 = load()
        self.file = self.hdf5.H5Fopen(os.fsencode(path), 0, 0)
        if self.file < 0:
            raise OSError("%s cannot be opened as an HDF5 file" % path)

    def close(self):
        self.hdf5.H5Fclose(self.file)

    def __getitem__(self, name):
        data = self.hdf5.H5Dopen2(self.file, name.encode(), 0)
        if data < 0:
            raise KeyError(name)
        space = self.hdf5.H5Dget_space(data)
        rank = self.hdf5.H5Sget_simple_extent_ndims(space)
        sizes = (ctypes.c_uint64 * max(rank, 1))(1)
        self.hdf5.H5Sget_simple_extent_dims(space, sizes, None)
        numbers = (ctypes.c_double * max(1, math.prod(sizes[:rank])))()
        double = ctypes.c_int64.in_dll(self.hdf5, "H5T_NATIVE_DOUBLE_g").value
        failed = self.hdf5.H5Dread(data, double, 0, 0, 0, numbers) < 0
        self.hdf5.H5Sclose(space)
        self.hdf5.H5Dclose(data)
        if failed:
            raise OSError("%s cannot be read" % name)
        flat = list(numbers)[:math.prod(sizes[:rank])]
        if rank < 2:
            return flat
        return [tuple(flat[i:i + sizes[1]]) for i in range(0, len(flat), sizes[1])]

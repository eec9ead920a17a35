"""Arrays that come in from users: their shape, type and finiteness, with the name in the error."""
from __future__ import annotations

import numpy as np

from ._lib import BadInput, NotFinite


def numbers(value, key, ndim=None, shape=None, dtype=np.float64, finite=True):
    """A contiguous array of numbers. Texts, flags and complex numbers are refused; so are whole
    numbers with a fraction."""
    if value is None:
        raise BadInput("missing, expected an array of numbers", key)
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise BadInput(f"expected an array of numbers: {error}", key) from None
    if found.dtype.kind not in "iuf" and found.size > 0:
        raise BadInput(f"found an array of {found.dtype}, expected numbers", key)
    if ndim is not None and found.ndim != ndim:
        raise BadInput(f"found an array of {found.ndim} dimensions, expected {ndim}", key)
    if shape is not None and found.shape != tuple(shape):
        raise BadInput(f"found an array of shape {found.shape}, expected {tuple(shape)}", key)
    out = np.asarray(found, dtype=dtype, order="C")
    if np.dtype(dtype).kind == "i" and found.dtype.kind == "f" and not np.array_equal(out, found):
        raise BadInput("found numbers with a fraction, expected whole numbers", key)
    if finite and out.dtype.kind == "f" and not np.isfinite(out).all():
        raise NotFinite("found a number that is not finite", key)
    return out


def position(value, dimension, key="position"):
    """Three numbers; in 2D two are enough."""
    given = numbers(value, key, ndim=1)
    if len(given) not in ((2, 3) if dimension == 2 else (3,)):
        raise BadInput(f"found {len(given)} numbers, expected {dimension}", key)
    return [float(x) for x in given] + [0.0] * (3 - len(given))


def quaternion(value, key="orientation"):
    """A quaternion w, x, y, z."""
    given = numbers(value, key, ndim=1)
    if len(given) != 4:
        raise BadInput(f"found {len(given)} numbers, expected a quaternion w, x, y, z", key)
    return [float(x) for x in given]


def rows(value, count, widths, key, dtype=np.float64):
    """`count` rows; the first of `widths` is what comes out, others are filled up with zeros. One
    row serves for all."""
    found = numbers(value, key, dtype=dtype)
    width = widths[0]
    scalar = width == 1
    if scalar and found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim == (0 if scalar else 1):
        found = np.broadcast_to(found, (count,) + found.shape)
    expected = (count,) if scalar else None
    if scalar and found.shape != expected or not scalar and (
            found.ndim != 2 or len(found) != count or found.shape[1] not in widths):
        told = expected if scalar else " or ".join(str((count, w)) for w in widths)
        raise BadInput(f"found an array of shape {found.shape}, expected {told}", key)
    if not scalar and found.shape[1] < width:
        found = np.hstack([found, np.zeros((count, width - found.shape[1]), dtype=found.dtype)])
    return np.ascontiguousarray(found, dtype=dtype)

"""Keys and values of `x[key] = value`, converted from CuPy's meaning to NumPy's."""

from __future__ import annotations

import numpy as np

from vgpu.standins.cupy import host_memory


def host_key(key, shape: tuple[int, ...]):
    """The key for NumPy: device arrays become host views, and integer arrays wrap around as in CuPy.

    An ellipsis is added, so that NumPy gives a 0-d view where it would otherwise give a scalar.
    """
    if isinstance(key, str):  # a field of a structured array
        return key
    keys = [_plain(part) for part in (key if isinstance(key, tuple) else (key,))]
    has_ellipsis = any(part is Ellipsis for part in keys)
    used = sum(_axes(part) for part in keys)
    axis, out = 0, []
    for part in keys:
        if part is Ellipsis:
            axis += max(len(shape) - used, 0)
        elif isinstance(part, np.ndarray) and part.dtype.kind in "iu":
            # Out of bounds wraps around instead of raising, which on a GPU would need a check per element.
            part = part.astype(np.int64) % shape[axis] if axis < len(shape) and shape[axis] else part
            axis += 1
        else:
            axis += _axes(part)
        out.append(part)
    return tuple(out) if has_ellipsis else (*out, Ellipsis)


def _plain(part):
    host = _on_device(part)
    if host is not None:
        return host
    if isinstance(part, list):
        part = np.asarray(part)
        return part if part.size else part.astype(np.intp)
    return part


def _axes(part) -> int:
    """How many axes of the array one part of the key takes."""
    if part is None or part is Ellipsis or isinstance(part, (bool, np.bool)):
        return 0
    if isinstance(part, np.ndarray) and part.dtype.kind == "b":
        return part.ndim
    return 1


def host_value(value):
    """The value for NumPy. ValueError for a NumPy array with axes, TypeError for a list, as in CuPy."""
    host = _on_device(value)
    if host is not None:
        return host
    if isinstance(value, np.ndarray) and value.shape != ():
        raise ValueError(
            "non-scalar numpy.ndarray cannot be used for fill: the value is on the host and the array on the "
            "device. Copy it over first: x[...] = cp.asarray(value), or x.set(value) for the whole array."
        )
    if isinstance(value, (list, tuple)):
        raise TypeError(
            f"Unsupported type {type(value)}: only scalars and arrays on the device can be assigned. "
            "Write x[...] = cp.array(value)."
        )
    return value


def _on_device(value) -> np.ndarray | None:
    """The memory of an array on the device, CuPy's or another library's; None for anything else."""
    host = getattr(value, "_host", None)
    if host is None and hasattr(value, "__cuda_array_interface__"):
        return host_memory.seen(value)
    return host

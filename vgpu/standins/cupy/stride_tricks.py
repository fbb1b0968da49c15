"""`cupy.lib.stride_tricks`: views with any strides, in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vgpu.standins.cupy.convert import over

if TYPE_CHECKING:
    from vgpu.standins.cupy.ndarray import ndarray


def as_strided(x: ndarray, shape=None, strides=None) -> ndarray:
    """A view with any shape and strides; nothing checks that it stays within the array."""
    return over(np.lib.stride_tricks.as_strided(x._host, shape, strides))


def sliding_window_view(x: ndarray, window_shape, axis=None) -> ndarray:
    """Every window of the array, as a view."""
    return over(np.lib.stride_tricks.sliding_window_view(x._host, window_shape, axis))

"""`cupy.testing`: NumPy's assertions, which take arrays on the device and on the host."""

from __future__ import annotations

import numpy as np

from vgpu.standins.cupy.creation import asnumpy
from vgpu.standins.cupy.missing import getter
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.tables import words

NAMES = words(
    """
    assert_allclose assert_array_almost_equal assert_array_almost_equal_nulp assert_array_equal
    assert_array_less assert_array_max_ulp
    """
)


def _assertion(name: str):
    def assertion(x, y, *args, **kwargs):
        # Only now: importing numpy.testing takes longer than the rest of this package.
        check = getattr(np.testing, name)
        return check(*(asnumpy(v) if isinstance(v, ndarray) else v for v in (x, y)), *args, **kwargs)

    assertion.__name__ = name
    assertion.__doc__ = f"`numpy.testing.{name}` for arrays on the device, on the host, or one of each."
    return assertion


for _name in NAMES:
    globals()[_name] = _assertion(_name)

__getattr__ = getter("testing.", {})

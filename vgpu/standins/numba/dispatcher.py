"""Stand-ins for real Numba's kernels and device functions: the same Python functions, compiled for this GPU."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from vgpu.compile import numba_adapter
from vgpu.standins.numba.jit import jit
from vgpu.standins.numba.kernel import OPTIONS

if TYPE_CHECKING:
    from vgpu.standins.numba.function import Function

_made: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def stand_in(dispatcher: Any) -> Function:
    """The `Kernel` or `DeviceFunction` for what `numba.cuda.jit` made, with its options and signatures.

    Always the same one for the same dispatcher.
    """
    if dispatcher not in _made:
        written = numba_adapter.as_written(dispatcher)
        options = {name: value for name, value in written.options.items() if name in OPTIONS}
        decorate = jit(written.signatures, device=written.device, **options)
        _made[dispatcher] = decorate(written.py_func)
    return _made[dispatcher]

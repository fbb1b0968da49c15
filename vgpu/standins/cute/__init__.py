"""CuTe DSL on the virtual GPU: its own compiler makes PTX and the host's code, and the virtual GPU runs the kernels.

`activate()` changes the real package, `cutlass`, in a few places: its compiler keeps the PTX (`compiler`), the host's
code of a `@cute.jit` function finds other functions under the names of CUDA's runtime (`runtime`), and tensors in host
memory are lent to the virtual GPU (`arguments`). `kernel` hands launches to `profile`, `trace` and `record`.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from types import ModuleType

from vgpu.base.errors import Unsupported

# The releases whose internals were tried here, oldest first; others may differ.
RELEASES = ("4.8",)


def installed() -> ModuleType:
    """The module `cutlass.cute`; raises `Unsupported`, with what to do, where there is none or another release."""
    if importlib.util.find_spec("cutlass") is None:
        raise Unsupported(missing())
    import cutlass
    from cutlass import cute

    if not cutlass.__version__.startswith(tuple(f"{release}." for release in RELEASES)):
        raise Unsupported(
            f"CuTe DSL {cutlass.__version__} is installed, and the virtual GPU knows the compiler of {RELEASES[-1]}. "
            f"Install that one: python -m pip install nvidia-cutlass-dsl=={RELEASES[-1]}.*"
        )
    return cute


def activate() -> ModuleType:
    """The real module `cutlass.cute`, whose kernels run on the virtual GPU from now on.

    Tensors of NumPy and of PyTorch's CPU build, and arrays of `cp`, are passed as on a GPU: by `from_dlpack`, or as
    they are. Kernels use them in place. Errors: `Unsupported` where CuTe DSL isn't installed, or in a release whose
    compiler isn't known.
    """
    cute = installed()  # at whose import `own_names` may have called this function
    _change()
    return cute


@cache
def _change() -> None:
    from vgpu.standins.cute import arguments, bench, compiler, devices, kernel

    for part in (arguments, bench, compiler, devices, kernel):
        part.activate()


def missing(platform: str = sys.platform) -> str:
    """Why there is no CuTe DSL on this machine, and what to do about it."""
    if platform.startswith("linux"):
        return f"CuTe DSL is not installed. Install it: python -m pip install nvidia-cutlass-dsl=={RELEASES[-1]}.*"
    system = {"darwin": "macOS", "win32": "Windows"}.get(platform, platform)
    return (
        f"The virtual GPU runs CuTe DSL on Linux only, and this is {system}. Use Linux: in WSL, in a container or in "
        "the cloud. CuTe in CUDA C++ runs here as well, with `cp.RawKernel`."
    )

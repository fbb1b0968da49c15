"""Triton on the virtual GPU: Triton compiles its kernels to PTX as for a GPU, and the virtual GPU runs them.

`activate()` gives the real `triton` package a driver of ours, so that `kernel[grid](…)` works unchanged. The parts:
`driver` (Triton's driver interface), `arguments` (tensors to kernel parameters), `complaints` (errors in the user's
terms), `kernel` (launches, also for `profile` and `trace`) and `bench` (times for `autotune` and `do_bench`).
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from types import ModuleType

from vgpu.base.errors import Unsupported

# The releases whose internals were tried here, oldest first; others may differ.
RELEASES = ("3.7", "3.8", "3.9")


def installed() -> ModuleType:
    """The `triton` package; raises `Unsupported`, with what to do, where there is none or another release."""
    if importlib.util.find_spec("triton") is None:
        raise Unsupported(missing())
    import triton

    if not triton.__version__.startswith(tuple(f"{release}." for release in RELEASES)):
        raise Unsupported(
            f"Triton {triton.__version__} is installed, and the virtual GPU knows the driver interface of Triton "
            f"{RELEASES[0]} to {RELEASES[-1]}. Install one of these: python -m pip install triton=={RELEASES[-1]}.*"
        )
    return triton


@cache
def activate() -> ModuleType:
    """The real `triton` package, whose kernels run on the virtual GPU from now on.

    Tensors of PyTorch's CPU build (and arrays of `cp` and `cuda`) may be passed to kernels; those that lie in host
    memory are copied to the virtual GPU before each launch and back after it. Errors: `Unsupported` where Triton is
    not installed, or in a release whose driver interface is not known.
    """
    triton = installed()
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    from vgpu.standins.triton import bench
    from vgpu.standins.triton.arguments import presenting, without_a_grid
    from vgpu.standins.triton.driver import VirtualDriver

    driver.set_active(VirtualDriver())
    JITFunction.run = presenting(JITFunction.run)
    JITFunction.__call__ = without_a_grid
    bench.activate()
    return triton


def missing(platform: str = sys.platform) -> str:
    """Why there is no Triton on this machine, and what to do about it."""
    if platform.startswith("linux"):
        return f"Triton is not installed. Install it: python -m pip install triton=={RELEASES[0]}.*"
    system = {"darwin": "macOS", "win32": "Windows"}.get(platform, platform)
    return (
        f"Triton is published for Linux only, so there is no Triton on {system}. Use Linux: in WSL, in a "
        "container or in the cloud. Kernels written with `cuda` and `cp` run here as well."
    )

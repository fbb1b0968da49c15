"""What a compiler has to be told for CuTe, the part of CUTLASS that describes layouts and tiles, in CUDA C++."""

from __future__ import annotations

from vgpu.base.errors import Unsupported
from vgpu.compile.cuda_c import CUTLASS, packaged
from vgpu.hardware.device import current


def cute_options() -> tuple[str, ...]:
    """Options for `cp.RawKernel` and `cp.RawModule` whose source includes CuTe: `options=cute_options()`.

    They name the folder of CUTLASS's headers and, from Hopper on, the GPU's architecture with its letter
    ("-arch=sm_90a"), which `wgmma` needs. The virtual GPU finds the headers without; CuPy on a real GPU doesn't. Raises
    Unsupported where CUTLASS isn't installed.
    """
    folder = packaged(*CUTLASS)
    if folder is None:
        raise Unsupported(
            "CUTLASS's headers, with CuTe's, are not installed: python -m pip install --no-deps nvidia-cutlass"
        )
    gpu = current()
    letter = (f"-arch={gpu.own_arch}",) if gpu.own_arch != gpu.arch else ()
    return (f"-I{folder}", *letter)

"""What a compiler has to be told for CuTe, the part of CUTLASS that describes layouts and tiles, in CUDA C++."""

from __future__ import annotations

from vgpu.base.errors import Unsupported
from vgpu.compile.cuda_c import CUTLASS, packaged
from vgpu.hardware.device import current

# From Hopper on, the tensor cores' own instructions need an architecture with a letter.
_WITH_A_LETTER = (9, 0)


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
    major, minor = current().compute_capability
    letter = (f"-arch=sm_{major}{minor}a",) if (major, minor) >= _WITH_A_LETTER else ()
    return (f"-I{folder}", *letter)

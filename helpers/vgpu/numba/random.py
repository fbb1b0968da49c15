"""`numba.cuda.random` for the virtual GPU: Numba's own generators over states in its memory."""

from __future__ import annotations

from helpers.vgpu.compile import python as compile_numba
from helpers.vgpu.numba.array import DeviceNDArray
from helpers.vgpu.numba.transfer import to_device


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream=0) -> DeviceNDArray:
    """`n` independent states of the xoroshiro128+ generator in device memory, one a thread."""
    import numpy

    real = compile_numba.random()
    states = numpy.empty(n, dtype=real.xoroshiro128p_dtype)
    real.init_xoroshiro128p_states_cpu(states, seed, subsequence_start)
    return to_device(states, stream=stream)


def __getattr__(name: str):
    if name.startswith("xoroshiro128p_"):
        return getattr(compile_numba.random(), name)
    raise AttributeError(f"cuda.random has no {name!r}; it has xoroshiro128p_uniform_float32 and the like")

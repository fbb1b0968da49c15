"""One kernel launched on the real GPU through each library that the chapters use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

THREADS = 64
SOURCE = 'extern "C" __global__ void doctor(float* x) { x[threadIdx.x] = 2.0f * threadIdx.x; }'


def launch_both() -> None:
    """Launch a kernel through CuPy, then one through Numba. Raises whatever goes wrong."""
    _check(by_cupy(), "CuPy")
    _check(by_numba(), "Numba")


def by_cupy() -> np.ndarray:
    import cupy

    values = cupy.zeros(THREADS, cupy.float32)
    cupy.RawKernel(SOURCE, "doctor")((1,), (THREADS,), (values,))
    return values.get()


def by_numba() -> np.ndarray:
    import numpy as np
    from numba import cuda

    @cuda.jit
    def doctor(x: Any) -> None:
        x[cuda.threadIdx.x] = 2.0 * cuda.threadIdx.x

    values = cuda.to_device(np.zeros(THREADS, np.float32))
    doctor[1, THREADS](values)
    return values.copy_to_host()


def _check(values: np.ndarray, library: str) -> None:
    if list(values) != [2.0 * thread for thread in range(THREADS)]:
        raise ValueError(f"a kernel launched through {library} gave wrong values: {values[:4]} …")

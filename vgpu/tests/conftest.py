"""Two engines behind one face: tests that take `engine` run once compiled and once by the reference interpreter."""

from __future__ import annotations

import pytest

from vgpu import reference
from vgpu.launch import launch
from vgpu.tests.corpus.harness import prepare_c, to_ptx


class Launchable:
    """A kernel of either language; call it as `kernel(grid, block, *arguments)`.

    NumPy arrays are copied to device memory and back, ints and floats take the size of their parameter, NumPy
    scalars and bytes are passed as they are. `observe` gives the counters of a compiled launch.
    """

    def __init__(self, engine: str, prepare):
        self.engine, self.prepare = engine, prepare

    def __call__(self, grid, block, *arguments, shared_bytes=0, observe=False, **options):
        prepared = self.prepare(arguments)
        if self.engine == "reference":
            given = dict(shared_bytes=shared_bytes, **options)
            result = reference.run(prepared.kernel, None, grid, block, prepared.params, **given)
        else:
            result = launch.launch(
                prepared.kernel, grid, block, prepared.params, prepared.arrays, shared_bytes, observe=observe, **options
            )
        prepared.finish()
        return result


class Engine:
    """Makes kernels that run on one of the two engines."""

    def __init__(self, name: str):
        self.name = name

    def c(self, source: str, entry: str | None = None, *, options=(), arch="compute_80") -> Launchable:
        """The kernel `entry` (needed where there are several) of a CUDA C++ source."""
        text = to_ptx(source, tuple(options), arch)
        kernels = launch.load(text, language="cuda", source=source, name=entry, filename="kernel.cu")
        kernel = kernels[entry] if entry in kernels else next(k for n, k in kernels.items() if (entry or "") in n)
        return Launchable(self.name, lambda arguments: prepare_c(kernel, arguments))

    def py(self, function) -> Launchable:
        """A Python function as a Numba kernel."""
        from vgpu.standins import numba_cuda

        return Launchable(self.name, numba_cuda.jit(function).prepare)


@pytest.fixture(params=["compiled", "reference"])
def engine(request) -> Engine:
    """Each engine in turn."""
    return Engine(request.param)


@pytest.fixture
def compiled() -> Engine:
    """The compiled engine only."""
    return Engine("compiled")


@pytest.fixture
def interpreted() -> Engine:
    """The reference interpreter only."""
    return Engine("reference")

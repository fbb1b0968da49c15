"""Runs a row of the corpus in every way there is: compiled, counted, at random, under watch, and interpreted."""

from __future__ import annotations

import contextlib
import functools
import struct
from collections.abc import Iterator

import numpy as np
import pytest

from vgpu import reference
from vgpu.compile import cuda_c_to_ptx
from vgpu.hardware.device import current, device
from vgpu.launch import launch
from vgpu.standins import numba_cuda
from vgpu.storage import memory
from vgpu.tests.corpus.naive import Naive
from vgpu.tests.corpus.row import Row
from vgpu.tools.sanitize.run import counted
from vgpu.tools.sanitize.run import run as watched

SEED = 7  # of the inputs


@functools.lru_cache(maxsize=4096)
def to_ptx(source: str, options: tuple[str, ...] = (), arch: str = "compute_80") -> str:
    """The PTX of a source, which is PTX itself where it begins with `.version`; compiled once a process."""
    if source.lstrip().startswith(".version"):
        return source
    return cuda_c_to_ptx(source, options=options, arch=arch).ptx


def pack(parameter, value) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, np.generic):
        return value.tobytes()
    if isinstance(value, float):
        return struct.pack("<f" if parameter.nbytes == 4 else "<d", value)
    return (int(value) & ((1 << 8 * parameter.nbytes) - 1)).to_bytes(parameter.nbytes, "little")


def prepare_c(kernel, arguments) -> launch.Prepared:
    """NumPy arrays go to device memory and back, ints and floats take the size of their parameter."""
    params, arrays, back = [], [], []
    for index, (parameter, value) in enumerate(zip(kernel.parameters, arguments, strict=True)):
        if not isinstance(value, np.ndarray):
            params.append(pack(parameter, value))
            continue
        there = value
        if memory.owner(value) is None:
            there = memory.array(value.shape, value.dtype)
            there[...] = value
            back.append((value, there))
        params.append(struct.pack("<Q", there.ctypes.data))
        name = f"argument {index}"
        arrays.append(
            memory.ArrayInfo(name, there.ctypes.data, there.nbytes, str(there.dtype), there.shape, there.strides)
        )

    def finish():
        for here, there in back:
            here[...] = there

    return launch.Prepared(kernel, params, arrays, 0, finish)


class Made:
    """A row's kernel, compiled once, and fresh arguments for each launch of it."""

    def __init__(self, row: Row):
        self.row = row
        if row.source is None:
            self.kernel = numba_cuda.jit(row.make(np.random.default_rng(SEED))[0])
        else:
            text = to_ptx(row.source, row.options, row.arch)
            self.kernel = launch.load(text, language="cuda", source=row.source, filename="kernel.cu")["k"]

    def prepare(self):
        """(what a launch takes, {index: what the argument must hold}, the arguments)."""
        *given, arguments, expected = self.row.make(np.random.default_rng(SEED))
        if given:
            return self.kernel.prepare(arguments), expected, arguments
        return prepare_c(self.kernel, arguments), expected, arguments


@functools.lru_cache(maxsize=4096)
def made(row: Row) -> Made:
    return Made(row)


@contextlib.contextmanager
def there(gpu: str) -> Iterator[None]:
    """Within a `with` block the modelled GPU is the named one, if one is named."""
    before = current().name
    try:
        if gpu:
            device(gpu)
        yield
    finally:
        device(before)


def run(row: Row, way: str):
    """Launch a row and hold what it leaves against NumPy; the counters where the way counts.

    `way`: a name of `WAYS`, and behind it a seed for ways that take one.
    """
    how, seed = (way, "") if way in WAYS else way.split(" ")
    with there(row.gpu):
        prepared, expected, arguments = made(row).prepare()
        found = WAYS[how](row, prepared, int(seed) if seed else None)
        prepared.finish()
    compare(row, arguments, expected, way)
    return found


def _launched(row: Row, prepared, seed: int | None, **options):
    given = (prepared.kernel, row.grid, row.block, prepared.params, prepared.arrays, row.shared)
    return launch.launch(*given, cooperative=row.cooperative, seed=seed, **options)


def _interpreted(row: Row, prepared, seed: int | None) -> Naive:
    found, options = Naive(), dict(shared_bytes=row.shared, cooperative=row.cooperative)
    with pytest.MonkeyPatch.context() as patch:
        if row.counts:
            patch.setattr(reference, "PATIENCE", 1 << 40)  # no turns for lanes ahead: they change the order of steps
            options |= dict(on_step=found.step, on_access=found.access)
        reference.run(prepared.kernel, None, row.grid, row.block, prepared.params, **options)
    return found


def _watched(row: Row, prepared, seed: int | None) -> None:
    given = launch.Prepared(prepared.kernel, list(prepared.params), list(prepared.arrays), row.shared)
    report = watched(given, row.grid, row.block, row.shared, True, None, row.cooperative, seed)
    assert report.ok, repr(report)


def _both(row: Row, prepared, seed: int | None):
    given = launch.Prepared(
        prepared.kernel, list(prepared.params), list(prepared.arrays), row.shared, cooperative=row.cooperative
    )
    return counted(given, row.grid, row.block, 60)[1]


WAYS = {
    "plain": _launched,
    "counted": functools.partial(_launched, observe=True),
    "random": functools.partial(_launched, schedule="random"),
    "watched": _watched,
    "watched and counted": _both,
    "interpreted": _interpreted,
}


def compare(row: Row, arguments, expected, way: str) -> None:
    """Each argument holds what it must."""
    for index, wanted in expected.items():
        found = arguments[index]
        found = found.copy_to_host() if hasattr(found, "copy_to_host") else found
        told = f"{row.name}, {way}, argument {index}"
        if callable(wanted):
            assert wanted(found), told
        elif np.dtype(found.dtype).names:
            for name in found.dtype.names:
                np.testing.assert_allclose(found[name], wanted[name], rtol=row.rtol, atol=row.atol, err_msg=told)
        elif row.rtol or row.atol:
            np.testing.assert_allclose(found, wanted, rtol=row.rtol, atol=row.atol, err_msg=told)
        else:
            np.testing.assert_array_equal(found, wanted, err_msg=told)


def differences(row: Row, counters, naive: Naive) -> dict[str, tuple]:
    """{counter: (compiled code's, the interpreter's)} where the two engines do not count alike."""
    found = {key: (counters[key], n) for key, n in naive.total.items()
             if counters[key] != n and not key.startswith(row.apart)}  # fmt: skip
    for key, wanted in naive.lines.items():
        counted = {line: c[key] for line, c in counters.lines.items() if c.get(key)}
        if None not in wanted and counted != dict(wanted):  # what has no line counts where its neighbours do
            found[f"{key} of lines"] = (counted, dict(wanted))
    return found

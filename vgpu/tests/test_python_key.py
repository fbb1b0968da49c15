"""A Python kernel is found again by what its PTX depends on, and by nothing less."""

from __future__ import annotations

import types

import pytest

from vgpu.base.ours import ours
from vgpu.compile import python as compile_numba

TEXT = """
import enum
import math
import numpy as np
from vgpu import cuda

x = object()  # no global name of the kernel, which says .x
TILE = 8
SCALE = np.float32(2)
TABLE = np.arange(4, dtype=np.float32)
SHAPE = (1, (2, 3))
CELL = np.dtype([("a", np.int32)])


class Way(enum.IntEnum):
    LEFT = 1


WAY = Way.LEFT


def made(offset):
    @cuda.jit(device=True)
    def below(value):
        return value + offset

    @cuda.jit(device=True, inline="never")
    def times(value, factor=3):
        return below(value) * SCALE * factor

    @cuda.jit(fastmath=False)
    def kernel(y):
        tile = cuda.shared.array(TILE, dtype=np.float32)
        i = cuda.threadIdx.x
        tile[i] = times(y[i]) + TABLE[i % 4] + SHAPE[1][1] + settings.DEEP.NUMBER + math.sqrt(y[i])
        cuda.syncthreads()
        y[i] = tile[i ^ WAY] if i in (1, 2) else 5.0

    return kernel


kernel = made(1)
"""
SIGNATURE = "void(float32[::1])"


def _of(template) -> str:
    origin = getattr(template, "_overload_func", None) or getattr(template, "_definition_func", template)
    return origin.__module__


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Compiles the text's kernel as a new process would; gives it, and how often Numba was asked in all."""
    monkeypatch.setenv("VGPU_CACHE", str(tmp_path / "kept"))
    # As in a new process: overloads that other tests registered keep Numba's kernels from being kept.
    known = compile_numba._kept._registry
    for kind in ("functions", "attributes"):
        there = [
            each for each in getattr(known, kind) if ours(_of(each)) or _of(each).split(".")[0] in ("numba", "abc")
        ]
        monkeypatch.setattr(known, kind, there)
    calls = []
    texts = compile_numba._texts
    monkeypatch.setattr(compile_numba, "_texts", lambda *given: calls.append(None) or texts(*given))

    def compile_(text=TEXT, filename="cell.py", number=7, signature=SIGNATURE):
        settings, deep = types.ModuleType("settings"), types.ModuleType("settings.deep")
        settings.DEEP, deep.NUMBER = deep, number
        names = {"__name__": "notebook", "settings": settings}
        exec(compile(text, filename, "exec"), names)
        return names["kernel"].compile(signature).compiled, len(calls)

    return compile_


CHANGES = [
    ("y[i] = tile", "y[i] = 2 * tile"), ("else 5.0", "else 6.0"), ("(1, 2)", "(1, 3)"), ("TILE = 8", "TILE = 16"),
    ("np.float32(2)", "np.float32(3)"), ("np.float32(2)", "2.0"),
    ("np.arange(4,", "np.ones(4,"), ("(2, 3)", "(2, 4)"), ("LEFT = 1", "LEFT = 2"), ("made(1)", "made(2)"),
    ("made(1)", "made(True)"), ("value + offset", "value - offset"), ("factor=3", "factor=4"),
    ('inline="never"', 'inline="always"'), ("fastmath=False", "fastmath=True"), ("math.sqrt", "math.exp"),
    ("\nTILE", "\n\nTILE"),
]  # fmt: skip


def test_what_changes_is_compiled_anew_and_all_else_is_found(compiled):
    first, calls = compiled()
    assert calls == 1
    again, calls = compiled()
    assert calls == 1 and again == first
    assert "LEFT" not in again.ptx and len(again.annotated) > 100 and "define" in again.llvm
    for number, change in enumerate(CHANGES, 2):
        assert change[0] in TEXT
        assert compiled(TEXT.replace(*change))[1] == number, change
    calls = len(CHANGES) + 1
    for number, change in enumerate(({"number": 8}, {"filename": "other.py"}, {"signature": "void(float64[::1])"}), 1):
        assert compiled(**change)[1] == calls + number, change
    assert compiled()[1] == calls + 3


def test_a_cell_is_found_again_by_a_notebook_of_another_number(compiled):
    first, _ = compiled(filename="/tmp/ipykernel_12/345.py")
    second, calls = compiled(filename="/tmp/ipykernel_6789/345.py")
    assert calls == 1
    assert (first.filename, second.filename) == ("/tmp/ipykernel_12/345.py", "/tmp/ipykernel_6789/345.py")
    assert first.ptx.replace("ipykernel_12", "ipykernel_6789") == second.ptx
    assert "ipykernel_12/" not in second.llvm + second.annotated


@pytest.mark.parametrize("change", [("fastmath=False", "debug=True, opt=False"), ("i ^ WAY", "i ^ Way.LEFT")])
def test_what_cannot_be_described_is_compiled_each_time(compiled, change):
    assert [compiled(TEXT.replace(*change))[1] for _ in range(2)] == [1, 2]


def test_device_functions_show_what_kernels_compiled_them_for(compiled):
    text = TEXT.replace("return kernel\n", "kernel.below = below\n    return kernel\n")
    names = {"__name__": "notebook", "settings": types.SimpleNamespace(DEEP=None)}
    text = text.replace("settings.DEEP.NUMBER", "1")
    for _ in range(2):
        exec(compile(text, "cell.py", "exec"), names)
        names["kernel"].compile(SIGNATURE)
        (asm,) = names["kernel"].below.inspect_asm().values()
        assert "below" in asm

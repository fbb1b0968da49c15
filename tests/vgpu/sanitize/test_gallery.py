"""The gallery: every classic mistake is found, by name and line, and its correct twin is not blamed."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from helpers.vgpu import cupy as cp
from helpers.vgpu.sanitize import KINDS, sanitize
from tests.vgpu.sanitize import gallery_c, gallery_py


def run_c(case, wrong: bool):
    def there(arg):
        if isinstance(arg, str):
            return cp.empty(32, cp.float32)
        return cp.asarray(arg) if isinstance(arg, np.ndarray) else arg

    module = cp.RawModule(code=case.source, options=("-std=c++17", *(("-DWRONG",) if wrong else ())))
    options = {key: value(wrong) if callable(value) else value for key, value in case.options.items()}
    args = tuple(there(arg) for arg in case.args(wrong))
    return sanitize(module.get_function("k"), case.grid, case.block, args, **options)


def marked(source: str) -> set[int]:
    return {number for number, line in enumerate(source.splitlines(), 1) if "//!" in line}


@pytest.mark.parametrize("case", gallery_c.CASES, ids=lambda case: case.name)
def test_a_mistake_in_c_is_found_and_named(case):
    found = run_c(case, True)
    assert set(found.kinds) == {case.kind}, repr(found)
    named = {line for finding in found for line in (finding.line, finding.other_line) if line is not None}
    assert named == marked(case.source), repr(found)
    assert all(f.source and f.thread is not None and f.block is not None and f.count for f in found)


@pytest.mark.parametrize("case", gallery_c.CASES, ids=lambda case: case.name)
def test_the_correct_twin_in_c_is_not_blamed(case):
    found = run_c(case, False)
    assert not found and found.ok and found.ran_to_end, repr(found)


@pytest.mark.parametrize("case", gallery_py.CASES, ids=lambda case: case.name)
def test_a_mistake_in_python_is_found_and_named(case):
    kernel, args = case.make(True)
    found = sanitize(kernel, case.grid, case.block, args, **case.options)
    assert set(found.kinds) == {case.kind}, repr(found)
    text, first = inspect.getsourcelines(kernel.py_func)
    wanted = {number for number, line in enumerate(text, first) if "#!" in line}
    named = {line for finding in found for line in (finding.line, finding.other_line) if line is not None}
    assert named == wanted, repr(found)


@pytest.mark.parametrize("case", gallery_py.CASES, ids=lambda case: case.name)
def test_the_correct_twin_in_python_is_not_blamed(case):
    kernel, args = case.make(False)
    found = sanitize(kernel, case.grid, case.block, args, **case.options)
    assert not found and found.ran_to_end, repr(found)


def test_the_gallery_is_large_and_its_kinds_exist():
    kinds = [case.kind for case in (*gallery_c.CASES, *gallery_py.CASES)]
    assert set(kinds) <= set(KINDS)
    assert len(kinds) >= 50

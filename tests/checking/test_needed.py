"""What a case needs, by which budgets divide, follows from its arguments."""

import numpy as np
import pytest

from helpers.checking.examine import examine, trial
from helpers.checking.exercise import Budget, Case, Exercise, Out, exercise, exercises
from helpers.checking.measures import loaded_for_needed, outside_registers, stored_for_needed
from helpers.checking.solutions import built, solution_of
from helpers.checking.trial import Here
from helpers.checking.verdicts import cost, message, named
from vgpu.launch.counters import Footprint
from vgpu.standins import cupy as cp

BUDGETS = (
    Budget("loaded", loaded_for_needed, 1.1, "Once.", "global_load_sectors"),
    Budget("stored", stored_for_needed, 1.1, "Once.", "global_store_sectors"),
    Budget("scratch", outside_registers("shared_requests"), 0, "None.", "shared_load_requests"),
)


def copied(n: int) -> Case:
    x = np.arange(1, n + 1, dtype=np.float32)
    return Case(f"{n} elements", (x, Out(x), np.int32(n)), (n // 64,), (64,))


TASK = Exercise("lab99.copy", "copy", "cuda", "copy", lambda: [copied(128)], ("", "", ""), budgets=BUDGETS)
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"


def seen_of(body: str):
    head = '__device__ float scratch[4096];\nextern "C" __global__ void copy(const float* x, float* out, int n) {'
    return examine(cp.RawKernel(f"{head}{body}}}", "copy"), TASK)


def spent(body: str) -> dict[str, float]:
    return {each.label: each.value for each in seen_of(body).budgets}


def test_whole_sectors_of_inputs_and_outputs_are_needed():
    assert copied(12).needed == Footprint(64, 64)
    gaps = np.full((2, 16), np.nan, np.float32)
    gaps[:, :3] = 1
    assert Case("pitched", (gaps, Out(gaps))).needed.read_bytes == 64
    zeros = np.zeros(24, np.float32)
    changed = zeros.copy()
    changed[9] = 1
    assert Case("one changes", (Out(changed, initial=zeros),)).needed == Footprint(0, 32)
    assert Case("stated", (zeros, Out(zeros)), reads=32).needed == Footprint(32, 96)


def test_each_byte_once_is_1():
    assert spent(f"{INDEX} out[i] = x[i];") == {"loaded": 1, "stored": 1, "scratch": 0}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("float u = out[i]; out[i] = u == 5.5f ? 0 : x[i];", {"loaded": 2, "stored": 1, "scratch": 0}),
        ("float u = scratch[i]; out[i] = u == 5.5f ? 0 : x[i];", {"loaded": 2, "stored": 1, "scratch": 0}),
        ("scratch[i] = x[i]; __syncthreads(); out[i] = scratch[i];", {"loaded": 2, "stored": 2, "scratch": 128}),
    ],
    ids=["a useless read of the output", "a useless read of a module variable", "a module variable as scratch"],
)
def test_what_is_not_needed_counts_and_makes_no_ratio_smaller(body, expected):
    assert spent(INDEX + body) == expected


def test_a_line_is_named_only_if_it_breaks_the_limit_by_itself():
    together = seen_of(f"{INDEX}\nfloat u = x[i];\nfloat v = *(volatile const float*)(x + i);\nout[i] = u + v - v;")
    (loaded,) = [each for each in together.budgets if each.over]
    assert (loaded.value, loaded.where) == (2, "")
    loop = "for (int k = 0; k < 3; ++k)\nu += 0 * *(volatile const float*)(x + i);"
    alone = seen_of(f"{INDEX}\nfloat u = x[i];\n{loop}\nout[i] = u;")
    (loaded,) = [each for each in alone.budgets if each.over]
    assert loaded.value == 4 and loaded.where.startswith("line 5: ")
    assert cost(loaded, None, TASK) == ["Once.", f"Most of it on {loaded.where}"]
    assert f"Most of it on {loaded.where}" in message(alone, named(alone))


EXTRA = {"lab02.embed", "lab04.shares", "lab04.mode", "lab12.decode", "lab14.step"}
"""Which rows they read depends on data, or blocks meet in scratch that the exercise provides."""


@pytest.mark.slow
@pytest.mark.parametrize("key", [k for k, row in exercises().items() if row.of_a_lab and row.asks_for_a_kernel])
def test_a_solution_touches_what_its_measured_case_needs(key):
    task = exercise(key)
    case = task.measured()
    counters = Here(built(task, solution_of(task))).run(trial(case)).counters
    if key in EXTRA:
        arrays = [each for each in case.arguments if isinstance(each, np.ndarray) and each.dtype.kind == "f"]
        scratch = sum(each.nbytes for each in arrays if np.isnan(each).all())
        assert counters.footprint.read_bytes <= case.needed.read_bytes + scratch
    else:
        assert abs(counters.footprint.read_bytes - case.needed.read_bytes) <= 32
        assert counters.footprint.written_bytes == case.needed.written_bytes

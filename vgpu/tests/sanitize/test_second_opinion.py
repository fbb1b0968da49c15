"""The sanitizer against another one: full clocks and whole histories over the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.standins import cupy as cp
from vgpu.tests.sanitize import gallery, gallery_c, gallery_py
from vgpu.tests.sanitize.observer import observe
from vgpu.tools.sanitize import sanitize

KINDS = ("race_read_write", "race_write_write", "race_atomic", "uninitialised", "barrier_ended")


def comparable(case) -> bool:
    text = getattr(case, "source", "")
    one_block = case.grid in (1, (1,))
    return (
        case.kind in KINDS
        and one_block
        and not any(w in text for w in ("bar.arrive", "lock", "mine[8]", "sums[t]", "pipeline"))
    )


C = [case for case in gallery_c.CASES if comparable(case)]
PYTHON = [case for case in gallery_py.CASES if comparable(case) and case.name != "sums_on_fresh_memory"]


def compared(kernel, block, args, every: bool = True):
    """Both find the same pairs of lines; without `every`, the sanitizer finds some where there are any.

    It remembers one write and two reads of an element, so a third that races too may be missed.
    """
    found = sanitize(kernel, 1, block, args)
    other = observe(kernel.prepare(args, grid=1, block=block), block)
    races = {frozenset((f.line, f.other_line)) for f in found if f.kind.startswith("race_") and f.space == "shared"}
    assert races <= other.races and bool(races) == bool(other.races), repr(found)
    assert races == other.races or not every, repr(found)
    unwritten = {f.line for f in found if f.kind == "uninitialised" and f.space == "shared"}
    assert unwritten <= other.unwritten
    # What a race leaves unwritten is named by the race.
    assert other.unwritten <= unwritten | {line for pair in races for line in pair}


@pytest.mark.parametrize("wrong", (True, False), ids=("wrong", "right"))
@pytest.mark.parametrize("case", C, ids=lambda case: case.name)
def test_both_agree_on_c(case, wrong):
    args = tuple(cp.asarray(a) if isinstance(a, np.ndarray) else a for a in case.args(wrong))
    compared(gallery.module(case.source, wrong).get_function("k"), case.block, args)


@pytest.mark.parametrize("wrong", (True, False), ids=("wrong", "right"))
@pytest.mark.parametrize("case", PYTHON, ids=lambda case: case.name)
def test_both_agree_on_python(case, wrong):
    kernel, args = case.make(wrong)
    compared(kernel, case.block, args)


def random_kernel(seed: int) -> str:
    """Stores and loads of shared memory with shifted indices, and barriers of block and warp here and there."""
    random = np.random.default_rng(seed)
    lines = ["s[t] = a[t];", "__syncthreads();"]
    for _ in range(10):
        shift = int(random.choice([0, 0, 1, 5, 32]))
        guard = str(random.choice(["", "", "if (t < 32) ", "if (t % 2) "]))
        lines.append(
            str(random.choice([
                f"{guard}s[(t + {shift}) % 64] = a[t] + {len(lines)};",
                f"sum += s[(t + {shift}) % 64];",
                f"{guard}sum += s[{shift}];",
                "__syncthreads();",
                "__syncwarp();",
            ]))
        )  # fmt: skip
    body = "\n".join(lines)
    return (
        'extern "C" __global__ void k(const float* a, float* out) {\n__shared__ float s[64];\n'
        f"int t = threadIdx.x; float sum = 0;\n{body}\nout[t] = sum;\n}}"
    )


@pytest.mark.parametrize("seed", [pytest.param(n, marks=pytest.mark.exhaustive if n > 7 else ()) for n in range(24)])
def test_both_agree_on_random_kernels(seed):
    source = random_kernel(seed)
    kernel = cp.RawModule(code=source).get_function("k")
    a = cp.asarray(np.random.default_rng(seed).normal(size=64).astype(np.float32))
    compared(kernel, (64,), (a, cp.zeros(64, cp.float32)), every=False)

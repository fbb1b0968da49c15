"""Operations grouped into kernels: bytes by shape and by count, and the kernels that are generated."""

import numpy as np
import pytest

from helpers import cp
from helpers.models.fused_rows import operations, threads_for

NORM = [
    "mu = mean(x)", "d = x - mu", "variance = mean(d * d)", "scale = rsqrt(variance + 0.5)", "normal = d * scale",
    "y = normal * weight",
]  # fmt: skip


@pytest.fixture
def norm():
    return operations(NORM, vectors=["weight"])


def test_kinds_and_groups(norm):
    assert [norm.kinds[step.name] for step in norm.steps] == [
        "column", "matrix", "column", "column", "matrix", "matrix",
    ]  # fmt: skip
    first, second = norm.groups([1])
    assert (first.reads, first.writes) == (("x",), ("d",))
    assert (second.reads, second.writes) == (("d", "weight"), ("y",))
    assert norm.moved(second, 8, 64) == (4 * (8 * 64 + 64), 4 * 8 * 64)


@pytest.mark.parametrize("columns", [64, 1000])
@pytest.mark.parametrize("cuts", [(), (0, 1, 2, 3, 4), (1, 3)])
def test_the_kernels_move_what_the_shapes_say(norm, columns, cuts):
    for group in norm.groups(cuts):
        footprint = norm.counted(group.first, group.stop, columns).counters.footprint
        assert (footprint.read_bytes, footprint.written_bytes) == norm.moved(group, 8, columns)


@pytest.mark.parametrize("columns", [1, 33, 300])
def test_a_fused_kernel_computes_what_its_operations_say(norm, columns):
    x = np.random.default_rng(0).standard_normal((3, columns)).astype(np.float32)
    weight, y = np.arange(columns, dtype=np.float32), cp.empty((3, columns), "float32")
    kernel = cp.RawKernel(norm.kernel(0, len(norm), columns), "group")
    kernel((3,), (threads_for(columns),), (cp.asarray(x), cp.asarray(weight), y, np.int32(columns)))
    centred = x - x.mean(axis=1, keepdims=True)
    wanted = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 0.5) * weight
    np.testing.assert_allclose(y.get(), wanted, rtol=1e-4, atol=1e-5)


WRONG = {
    "one text": ("y = x", TypeError, "list of statements"),
    "none": ([], ValueError, "no operation"),
    "no name": (["x + 1"], ValueError, "write it as"),
    "no Python": (["y = = x"], ValueError, "write it as"),
    "twice": (["y = x + 1", "y = y * 2"], ValueError, "value already"),
    "another function": (["y = sort(x)"], ValueError, "an operation is arithmetic"),
    "a reduction among others": (["y = max(x) + 1"], ValueError, "an operation is arithmetic"),
    "nothing read": (["y = 3"], ValueError, "reads nothing"),
    "a column reduced": (["m = max(x)", "s = sum(m)"], ValueError, "one value a row already"),
    "a truth": (["y = x + True"], ValueError, "an operation is arithmetic"),
    "a function for a name": (["y = x + exp"], ValueError, "an operation is arithmetic"),
    "two statements": (["y = x; z = y"], ValueError, "write it as"),
    "two names": (["y = z = x"], ValueError, "write it as"),
    "a name of the kernel": (["row = x + 1"], ValueError, "choose another one"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said(what):
    given, kind, words = WRONG[what]
    with pytest.raises(kind, match=words):
        operations(given)

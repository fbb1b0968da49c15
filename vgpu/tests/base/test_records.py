"""Records: what is read is what was written, and bytes that name anything but the engine's dataclasses are refused."""

import gc
import os
import pickle
from dataclasses import dataclass, field

import pytest

from vgpu import ptx
from vgpu.base import on_disk, records
from vgpu.lower import lower
from vgpu.storage import layout
from vgpu.tests.corpus.harness import to_ptx


@dataclass(frozen=True, slots=True)
class Leaf:
    name: str
    size: int = 3


@dataclass
class Tree:
    leaves: list[Leaf] = field(default_factory=list)
    beside: "Tree | None" = None
    table: dict[str, frozenset[int]] = field(default_factory=dict)


@dataclass
class Odd:
    made: int = field(init=False, default=1)


def test_records_come_back_as_they_were():
    leaf = Leaf("a")
    tree = Tree([leaf, Leaf("b", 4), leaf], Tree(), {"x": frozenset({1, 2})})
    back = records.load(records.dump((tree, None, b"bytes", 1.5)))
    assert back == (tree, None, b"bytes", 1.5)
    assert back[0].leaves[0] is back[0].leaves[2]


def test_a_kernel_comes_back_as_it_was():
    source = '__device__ int t[2] = {1, 2}; extern "C" __global__ void k(int* x) { atomicAdd(x, t[threadIdx.x & 1]); }'
    module = ptx.parse(to_ptx(source))
    assert records.load(records.dump(module)) == module
    variables = layout.load_variables(module)
    lowered = lower(module, module.functions["k"], variables.addresses, "kernel", True)
    back = records.load(records.dump(lowered))
    assert vars(back) == vars(lowered)


@pytest.mark.parametrize("other", [os.system, print, pickle.loads, Exception, on_disk.kept, os.stat("/")])
def test_nothing_else_is_read(other):
    with pytest.raises(pickle.UnpicklingError, match="no record of vgpu"):
        records.load(pickle.dumps(other))


def test_what_could_not_come_back_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setenv("VGPU_CACHE", str(tmp_path / "kept"))
    with pytest.raises(TypeError, match="Odd takes other arguments"):
        records.dump(Odd())
    chain = None
    for _ in range(10_000):
        chain = Tree(beside=chain)
    with pytest.raises(RecursionError):
        records.dump(chain)
    for made in (chain, None):
        assert on_disk.kept("chain", (), ["x"], lambda made=made: made, records.dump, records.load) is made


def test_the_garbage_collector_is_left_as_it_was():
    data = records.dump(Leaf("a"))
    for switch in (gc.disable, gc.enable):
        switch()
        before = gc.isenabled()
        records.load(data)
        assert gc.isenabled() is before

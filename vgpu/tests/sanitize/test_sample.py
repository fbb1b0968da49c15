"""The look that a profile has for races: at the first blocks only, without effects, and at a bounded cost."""

import json
import subprocess
import sys

import numpy as np
import pytest

from vgpu import profile
from vgpu.standins import cupy as cp
from vgpu.tools.sanitize import sample

SOURCE = """
extern "C" __global__ void neighbour(float* x, int racing) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    if (blockIdx.x != racing) __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x ^ 32];
}
extern "C" __global__ void once(float* x) {
    __shared__ float tile[64];
    tile[threadIdx.x] = 0;
    if (x[0] != 0) __syncthreads();
    x[64 + threadIdx.x] = tile[threadIdx.x ^ 32];
    __syncthreads();
    if (threadIdx.x == 0) x[0] = 1;
}
extern "C" __global__ void plain(float* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void shout(int* x) {
    __shared__ int n;
    n = 1;
    if (threadIdx.x == 0) printf("block %d\\n", blockIdx.x);
    atomicAdd(x, n);
}
extern "C" __global__ void allocates(int* x) {
    __shared__ int* p;
    p = (int*)malloc(4);
    free(p);
}
"""
MODULE = cp.RawModule(code=SOURCE)
WORDS = (
    "sanitizer (first blocks): race: a read and a write: lines 4 and 6, `tile`: the result may depend on the order of "
    "threads (`sanitize(kernel, grid, block, args)` shows more)"
)


def neighbour(racing, blocks=8):
    return profile(MODULE.get_function("neighbour"), blocks, 64, (cp.arange(64, dtype=np.float32), np.int32(racing)))


@pytest.fixture
def looked_at(monkeypatch):
    """How many blocks were looked at, launch by launch."""
    seen, launched = [], sample.launched
    monkeypatch.setattr(sample, "launched", lambda *a, blocks, **k: seen.append(blocks) or launched(*a, blocks=blocks))
    return seen


def test_a_profile_shows_a_race():
    found = neighbour(racing=3)
    (race,) = found.races
    assert (race.kind, race.line, race.other_line, race.array) == ("race_read_write", 4, 6, "tile")
    assert WORDS in found.summary and WORDS in repr(found) and "sanitizer (first blocks)" in found._repr_html_()
    assert found.on("H100").races == found.races


def test_only_the_first_blocks_are_looked_at(looked_at):
    assert not neighbour(racing=4).races and not neighbour(racing=-1, blocks=2).races
    assert looked_at == [4, 2]


def test_memory_is_as_before_the_launch_and_then_as_after_it():
    x = cp.zeros(128, np.float32)
    assert [len(profile(MODULE.get_function("once"), 1, 64, (x,)).races) for _ in range(2)] == [1, 0]
    assert x.get()[0] == 1


def test_effects_happen_once(capfd):
    x = cp.zeros(1, np.int32)
    profile(MODULE.get_function("shout"), 2, 32, (x,))
    assert x.get() == [64] and sorted(capfd.readouterr().out.split("\n")) == ["", "block 0", "block 1"]


def test_what_costs_too_much_is_not_looked_at(looked_at, monkeypatch):
    profile(MODULE.get_function("plain"), 1, 64, (cp.zeros(64, np.float32),))
    profile(MODULE.get_function("allocates"), 1, 1, (cp.zeros(1, np.int32),))
    monkeypatch.setattr(sample, "MOST_INSTRUCTIONS", 100)
    neighbour(racing=0)
    assert looked_at == [2]
    monkeypatch.setattr(sample, "MOST_BYTES", 255)
    neighbour(racing=0)
    monkeypatch.undo()
    assert looked_at == [2]


def test_a_program_is_told_too(tmp_path):
    program, report = tmp_path / "program.py", tmp_path / "report.json"
    launch = 'cupy.RawKernel(SOURCE, "neighbour")((8,), (64,), (cupy.zeros(64, cupy.float32), cupy.int32(3)))'
    program.write_text(f"import cupy\nSOURCE = {SOURCE!r}\n{launch}\n{launch}\n")
    command = [sys.executable, "-m", "vgpu", "profile", "--json", str(report), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and WORDS in done.stdout, done.stderr
    (row,) = json.loads(report.read_text())
    assert [race["kind"] for race in row["races"]] == ["race_read_write"] and row["launches"] == 2

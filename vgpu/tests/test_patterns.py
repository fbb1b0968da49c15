"""A site meets one pattern of addresses after another: what is moved, counted and refused never depends on the last.

Rows, two rows of 16 lanes, one element for all lanes and windows of shared memory have ways of their own through the
runtime (`runtime/repeated.py`); a plain count in NumPy knows of none.
"""

import numpy as np
import pytest

from vgpu.base import errors

LANES, SIZE = np.arange(32), 4096
HALF, EVERY = LANES % 16, LANES >= 0
# What happens -> (index that each lane loads, index that it stores to, which lanes do).
PATTERNS = {
    "a row": (LANES, LANES, EVERY),
    "a row elsewhere": (LANES + 64, LANES + 96, EVERY),
    "a row that begins within a sector": (LANES + 3, LANES + 5, EVERY),
    "backwards": (200 - LANES, 100 - LANES, EVERY),
    "two rows": (HALF + 40 * (LANES // 16), HALF + 1000 * (LANES // 16), EVERY),
    "two rows, the second before the first": (HALF + 600 * (LANES < 16), HALF + 70 * (LANES < 16), EVERY),
    "two rows within sectors": (HALF + 1 + 41 * (LANES // 16), HALF + 7 + 1001 * (LANES // 16), EVERY),
    "two rows that overlap": (HALF + 8 * (LANES // 16), HALF + 8 * (LANES // 16), EVERY),
    "the same row twice": (HALF, HALF, EVERY),
    "two rows with a gap in one": (HALF + 40 * (LANES // 16), HALF + 40 * (LANES // 16), LANES != 20),
    "half a row": (LANES, LANES, LANES < 16),
    "a row without its first lane": (LANES, LANES, LANES > 0),
    "one element for all": (0 * LANES + 77, LANES, EVERY),
    "one element, from some lanes": (0 * LANES + 9, LANES, LANES % 3 == 2),
    "one lane": (5 * LANES, 7 * LANES, LANES == 30),
    "steps of two": (2 * LANES, 2 * LANES, EVERY),
    "a sector each": (32 * LANES, 32 * LANES, EVERY),
    "two elements far apart": (1000 * (LANES % 2), LANES, EVERY),
    "no lane": (LANES, LANES, LANES < 0),
    "the last row": (LANES + SIZE - 32, LANES + SIZE - 32, EVERY),
}
TYPES = {"char": "i1", "short": "i2", "float": "f4", "double": "f8", "float4": "4f4"}
# Each comes twice in a row, then all once more the other way round.
ORDER = [*np.repeat(np.arange(len(PATTERNS)), 2), *reversed(range(len(PATTERNS)))]
FROM, TO, MARKS = (np.concatenate([list(PATTERNS.values())[p][part] for p in ORDER]).astype("i4") for part in range(3))


def kernel(engine, kind):
    return engine.c(f"""
        extern "C" __global__ void move(const int* from, const int* to, const int* marks, const {kind}* x, {kind}* out,
                                        int rounds) {{
            __shared__ {kind} s[2048];
            for (int i = threadIdx.x; i < 32 * rounds; i += 32) {{
                {kind} v;
                if (marks[i]) {{
                    v = x[from[i]];
                    out[to[i]] = v;
                    s[to[i] % 2048] = v;
                }}
                __syncwarp();
                if (marks[i]) out[to[i] + {SIZE}] = s[to[i] % 2048];
                __syncwarp();
            }}
        }}""")


def sectors(indices, size) -> list[set[int]]:
    """The sectors of each round."""
    rounds = zip(indices.reshape(-1, 32), MARKS.reshape(-1, 32).astype(bool), strict=True)
    return [set((at[on].astype(int) * size // 32).tolist()) for at, on in rounds]


@pytest.mark.parametrize("observe", [True, False], ids=["counted", "plain"])
@pytest.mark.parametrize("kind", TYPES)
def test_what_is_moved_and_counted(compiled, kind, observe):
    dtype = np.dtype(TYPES[kind])
    x = np.random.default_rng(3).integers(-99, 99, (SIZE, *dtype.shape)).astype(dtype.base)
    out = np.zeros((2 * SIZE, *dtype.shape), dtype.base)
    expected = out.copy()
    for start in range(0, len(FROM), 32):
        mine = [i for i in range(start, start + 32) if MARKS[i]]
        for i in mine:  # the highest lane wins
            expected[TO[i]] = x[FROM[i]]
        shared = {TO[i] % 2048: x[FROM[i]] for i in mine}
        for i in mine:
            expected[TO[i] + SIZE] = shared[TO[i] % 2048]
    counters = kernel(compiled, kind)(1, 32, FROM, TO, MARKS, x, out, len(ORDER), observe=observe)
    np.testing.assert_array_equal(out, expected)
    if not observe:
        return
    loaded, stored = sectors(FROM, dtype.itemsize), sectors(TO, dtype.itemsize)
    requests, lanes = sum(map(bool, loaded)), int(MARKS.sum())
    assert requests == len(ORDER) - 3
    load, store = counters.lines[8], counters.lines[9]
    moved = lanes * dtype.itemsize
    indices = sum(len(np.unique(32 * r + np.flatnonzero(on) // 8)) for r, on in enumerate(MARKS.reshape(-1, 32)))
    assert load["global_load_requests"] == 2 * requests and load["global_load_bytes"] == moved + 4 * lanes
    assert load["global_load_sectors"] == sum(map(len, loaded)) + indices
    assert store["global_store_requests"] == requests and store["global_store_bytes"] == moved
    assert store["global_store_sectors"] == sum(map(len, stored))
    read, written = set().union(*loaded), set().union(*stored)
    # The marks are all read, the indices where there is a mark; what is stored is stored twice.
    assert counters.footprint.read_bytes == 32 * (len(read) + 4 * len(ORDER) + 2 * indices)
    assert counters.footprint.written_bytes == 32 * 2 * len(written)


CROSSING = {  # what goes too far at last, by an element -> (its index, the first lane that leaves)
    "a row": (LANES + SIZE - 31, 31),
    "a row before the beginning": (LANES - 1, 0),
    "the second of two rows": (HALF + 1 + (SIZE - 16) * (LANES // 16), 31),
    "the first of two rows": (HALF + 1 + (SIZE - 16) * (LANES < 16), 15),
    "one element": (0 * LANES + SIZE, 0),
}


@pytest.mark.parametrize("observe", [True, False], ids=["counted", "plain"])
@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("name", CROSSING)
def test_a_known_pattern_does_not_carry_beyond_the_end(compiled, name, kind, observe):
    last, lane = CROSSING[name]
    before = last + (1 if last.min() < 0 else -1)
    for stores in (False, True):
        at = np.concatenate([before, before, last]).astype("i4")
        away = np.concatenate([LANES] * 3).astype("i4")
        given = (away, at) if stores else (at, away)
        x, out = np.zeros(SIZE, TYPES[kind]), np.zeros((1 if stores else 2) * SIZE, TYPES[kind])
        move = compiled.c(f"""
            extern "C" __global__ void move(const int* from, const int* to, const {kind}* x, {kind}* out) {{
                for (int i = threadIdx.x; i < 96; i += 32) out[to[i]] = x[from[i]];
            }}""")
        with pytest.raises(errors.OutOfBounds, match=rf"[Tt]hread \(?{lane}\b"):
            move(1, 32, *given, x, out, observe=observe)

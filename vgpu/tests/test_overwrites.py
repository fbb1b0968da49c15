"""Stores in which lanes of a warp overwrite one another are counted where what they store differs."""

import numpy as np
import pytest

WARP = 32


def kernel(engine, t, place):
    """Round by round, threads with a mark store element i of `values` at their index, in global or shared memory."""
    target = "s" if place == "shared" else "out"
    return engine.c(f"""
        extern "C" __global__ void put(const int* at, const int* marks, const {t}* values, {t}* out, int rounds) {{
            __shared__ {t} s[64];
            int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
            for (int r = 0; r < rounds; ++r)
                if (marks[r * n + i]) {target}[at[r * n + i]] = values[r * n + i];
            if (marks[0] > 1) out[i] = s[i % 64];
        }}""")


def lost(at, marks, values) -> int:
    """Requests in which lanes that have an index in common store different values."""
    count = 0
    for start in range(0, len(at), WARP):
        stored: dict[int, set[bytes]] = {}
        for lane in range(start, start + WARP):
            if marks[lane]:
                stored.setdefault(int(at[lane]), set()).add(values[lane].tobytes())
        count += any(len(different) > 1 for different in stored.values())
    return count


LANES = np.arange(WARP)
EVERY, MANY = np.ones(WARP), LANES + 1
# What happens, where lanes store, which of them do, what they store, and in how many requests some of it is lost.
CASES = {
    "an element each": (LANES, EVERY, MANY, 0),
    "an element each, reversed": (31 - LANES, EVERY, MANY, 0),
    "all in one element": (0 * LANES, EVERY, MANY, 1),
    "all in one element, the same": (0 * LANES, EVERY, EVERY, 0),
    "two lanes an element": (LANES // 2, EVERY, MANY, 1),
    "two lanes an element, the same": (LANES // 2, EVERY, 1 + LANES // 2, 0),
    "the last two": (np.minimum(LANES, 30), EVERY, MANY, 1),
    "one of the two is off": (LANES // 2, LANES % 2 == 0, MANY, 0),
    "two of many are on": (0 * LANES, (LANES == 9) | (LANES == 20), MANY, 1),
    "one is on": (0 * LANES, LANES == 9, MANY, 0),
    "none is on": (0 * LANES, 0 * LANES, MANY, 0),
}
# All of them in one launch, so that a site meets one pattern after another; then once more the other way round.
AT, MARKS, VALUES = (np.concatenate([case[part] for case in CASES.values()]).astype(np.int32) for part in range(3))
TYPES = {"char": "i1", "short": "i2", "float": "f4", "double": "f8", "int2": "2i4", "float4": "4f4"}


def test_the_cases_are_what_they_are_called():
    for at, marks, values, expected in CASES.values():
        assert lost(at, marks, values.astype("f4")) == expected


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("place", ["global", "shared"])
def test_only_what_is_lost_is_counted(compiled, kind, place):
    put, dtype = kernel(compiled, kind, place), np.dtype(TYPES[kind])
    shape = dtype.shape
    for order in (slice(None), slice(None, None, -1)):
        at, marks, values = (np.ascontiguousarray(each[order]) for each in (AT, MARKS, VALUES))
        wide = np.zeros((len(at), *shape), dtype.base)
        wide[(..., -1) if shape else ...] = values  # of several elements a lane only the last differs
        out = np.zeros((64, *shape), dtype.base)
        counters = put(1, WARP, at, marks, wide, out, len(CASES), observe=True)
        assert counters["overwritten_stores"] == sum(case[3] for case in CASES.values()) == 4


def test_elements_that_differ_in_several_parts_count_once(compiled):
    put = kernel(compiled, "float4", "global")
    values = np.arange(4 * WARP, dtype="f4")
    counters = put(1, WARP, np.zeros(WARP, "i4"), EVERY.astype("i4"), values, np.zeros(4, "f4"), 1, observe=True)
    assert counters["overwritten_stores"] == counters["global_store_requests"] == 1


def test_every_warp_of_every_block_is_counted_by_itself(compiled):
    put, random = kernel(compiled, "float", "global"), np.random.default_rng(5)
    rounds, n = 20, 3 * 64
    at = random.integers(0, 400, rounds * n).astype("i4")
    marks, values = random.integers(0, 2, rounds * n).astype("i4"), random.integers(0, 3, rounds * n).astype("f4")
    counters = put(3, 64, at, marks, values, np.zeros(400, "f4"), rounds, observe=True)
    assert counters["overwritten_stores"] == lost(at, marks, values) == 27
    assert [line for line, counts in counters.lines.items() if counts.get("overwritten_stores")] == [6]


# Two arrays in one request, the heap, and shared memory by a pointer that could be any.
ROUNDABOUT = {
    "two arrays": "float* p = t % 2 ? a : b; p[t / 4] = t;",
    "shared memory by a generic pointer": "float* p = a[0] > 5 ? a : s; p[t / 4] = t;",
    "the heap": "if (!threadIdx.x) h = (float*)malloc(128); __syncthreads(); h[t / 4] = t;",
}


@pytest.mark.parametrize("body", ROUNDABOUT.values(), ids=ROUNDABOUT)
def test_patterns_that_are_not_kept_are_compared_too(compiled, body):
    put = compiled.c(f"""
        extern "C" __global__ void put(float* a, float* b, int same) {{
            __shared__ float s[32], *h;
            int t = same ? 0 : threadIdx.x;
            {body}
            if (same > 1) b[0] = s[same];
        }}""")
    for same, expected in ((0, 1), (1, 0)):
        counters = put(1, 32, np.zeros(32, "f4"), np.zeros(32, "f4"), same, observe=True)
        assert counters["overwritten_stores"] == expected


def test_plain_launches_store_the_same(compiled):
    put = kernel(compiled, "float", "global")
    results = []
    for observe in (False, True):
        out = np.zeros(64, "f4")
        put(1, WARP, AT, MARKS, VALUES.astype("f4"), out, len(CASES), observe=observe)
        results.append(out)
    assert np.array_equal(*results) and results[0].any()

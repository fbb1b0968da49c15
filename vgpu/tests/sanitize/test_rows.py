"""The short way through shared memory against the long one: the same entries, pairs and findings, on every shape."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.base.context import WATCH_SLOT
from vgpu.standins import cupy as cp
from vgpu.tools.sanitize import monitor, run, sanitize

THREADS = 96


def kernel(body: str, element: str = "float"):
    text = (
        f'extern "C" __global__ void k(const float* a, float* out) {{\n__shared__ {element} s[192];\n'
        f"int t = threadIdx.x, w = t / 32, l = t % 32, h = t / 16; float sum = 0;\n{body}\nout[t] = sum;\n}}"
    )
    return cp.RawKernel(text, "k")


class Watched:
    """One launch: its findings, and what is left in its tables."""

    def __init__(self, monkeypatch, made, long_way: bool, block=THREADS, observe=False):
        kept = []
        close = monitor.Monitor.close

        def closing(each):
            tables = [each.pairs.copy(), *(shadow.copy() for shadow in each.here.shadows.values())]
            kept.extend((tables, each["time"]))
            close(each)

        start = monitor.Monitor.attach

        def attach(each, worker):
            start(each, worker)
            if long_way:  # "a copy may be in flight": then no access takes the short way, and nothing else changes
                each.words[WATCH_SLOT["copies"]] = 1

        a, out = cp.arange(256, dtype=cp.float32), cp.zeros(256, cp.float32)
        with monkeypatch.context() as patch:
            patch.setattr(monitor.Monitor, "close", closing)
            patch.setattr(monitor.Monitor, "attach", attach)
            if observe:
                self.found, counters = run.counted(made.prepare((a, out), grid=2, block=block), (2,), block, 60)
                self.counters = counters.total
            else:
                self.found = sanitize(made, 2, block, (a, out))
        (self.tables, self.time), self.out = kept, cp.asnumpy(out)


def both_ways(monkeypatch, made, **how):
    short, long = (Watched(monkeypatch, made, long_way, **how) for long_way in (False, True))
    assert repr(short.found) == repr(long.found) and short.time == long.time
    for mine, other in zip(short.tables, long.tables, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(short.out, long.out)
    return short


FILL = "s[t] = a[t]; s[t + 96] = 1;\n"
SYNC = "__syncthreads();\n"
KEPT = f"{SYNC}sum += s[t] + s[t + 96];\n"  # so that the compiler drops no store

# What is accessed first and then, and the kinds of findings without and with a barrier of the block in between.
WW, RW = "race_write_write", "race_read_write"
PAIRS = {
    "a row, then by the same threads": ("s[t] = 2;", "sum += s[t];", set()),
    "a row, then the next lane's": ("s[t] = 2;", "sum += s[(t + 1) % 96];", {RW}),
    "a row of one warp, then by the same warp in reverse": ("s[t] = 2;", "sum += s[32 * w + 31 - l];", {RW}),
    "a row, then another warp's": ("s[t] = 2;", "sum += s[(t + 32) % 96];", {RW}),
    "a row, then half a warp further": ("s[t] = 2;", "sum += s[(t + 16) % 96];", {RW}),
    "a row, then one word of a half-warp": ("s[t] = 2;", "sum += s[16 * h];", {RW}),
    "a row, then one word of a warp": ("s[t] = 2;", "sum += s[32 * w];", {RW}),
    "a row, then one word of the block": ("s[t] = 2;", "sum += s[5];", {RW}),
    "a row, then written by the same threads": ("s[t] = 2;", "s[t] = a[t];", set()),
    "a row, then written by the next": ("s[t] = 2;", "s[(t + 1) % 96] = a[t];", {WW}),
    "a row, then written by another warp": ("s[t] = 2;", "s[(t + 32) % 96] = a[t];", {WW}),
    "read, then written by the same threads": ("sum += s[t];", "s[t] = 2;", set()),
    "read, then written by the next": ("sum += s[t];", "s[(t + 1) % 96] = 2;", {RW}),
    "read by another warp, then written": ("sum += s[(t + 32) % 96];", "s[t] = 2;", {RW}),
    "read by all as one row, then written": ("sum += s[l];", "if (w == 2) s[l] = 2;", {RW}),
    "one row of both half-warps, then written": ("sum += s[t % 16];", "if (t < 16) s[t] = 2;", {RW}),
    "one row of both half-warps of one warp, then written": (
        "if (t < 32) sum += s[t % 16];", "if (t < 16) s[t] = 2;", {RW}),
    "one word of a half-warp, then written": ("sum += s[h];", "if (t < 6) s[t] = 2;", {RW}),
    "one word of a warp, then written by its first lane": (
        "if (t < 32) sum += s[7 * w];", "if (t == 0) s[7 * w] = 2;", {RW}),
    "one lane of a half-warp and all of the other, then written": (
        "if (l == 3 || l > 15) sum += ((volatile float*)s)[h];", "if (t < 6) s[t] = 2;", {RW}),
    "one lane's read, then written by itself": (
        "if (t == 40) sum += ((volatile float*)s)[9];", "if (t == 40) s[9] = 2;", set()),
    "one lane's read, then written by its neighbour": (
        "if (t == 40) sum += ((volatile float*)s)[9];", "if (t == 41) s[9] = 2;", {RW}),
    "every other lane writes, then all read": ("if (t % 2) s[t] = 2;", "sum += s[t ^ 1];", {RW}),
    "every other lane writes, then the others do": ("if (t % 2) s[t] = 2;", "if (t % 2 == 0) s[t] = 3;", set()),
    "the upper half-warps write, then the lower read": ("if (l > 15) s[t] = 2;", "if (l < 16) sum += s[t + 16];", {RW}),
    "a few lanes write, then a row that overlaps": ("if (l < 5) s[t + 1] = 2;", "if (l < 5) sum += s[t];", {RW}),
    "rows of half-warps that overlap": ("s[t - 8 * (h % 2) + 8] = a[t];", "sum += s[t];", {RW, "race_lanes"}),
    "pairs of words": ("s[t] = 2;", "sum += ((float2*)s)[t % 48].x;", {RW}),
    "pairs of words, then written": ("sum += ((float2*)s)[t % 48].y;", "s[t] = 2;", {RW}),
    "four words a lane, then a row": ("((float4*)s)[t % 48] = make_float4(1, 2, 3, 4);", "sum += s[t];", {RW}),
    "an atomic, then a row": ("atomicAdd(&s[t], 1);", "sum += s[(t + 1) % 96];", {"race_atomic"}),
    "a row, then an atomic": ("s[t] = 2;", "atomicAdd(&s[(t + 1) % 96], 1);", {"race_atomic"}),
    "an atomic, then a row of the same threads": ("atomicAdd(&s[t], 1);", "s[t] = 2;", set()),
    "read, then an atomic": ("sum += s[(t + 32) % 96];", "atomicAdd(&s[t], 1);", {"race_atomic"}),
    "volatile within a warp": ("((volatile float*)s)[t] = 2;", "sum += ((volatile float*)s)[t ^ 1];", {RW}),
    "volatile across warps": ("((volatile float*)s)[t] = 2;", "sum += ((volatile float*)s)[(t + 32) % 96];", set()),
    "bytes": ("((char*)s)[t] = 2;", "sum += s[t / 4];", {RW}),
}  # fmt: skip


# The same of accesses of two widths to an array of floats.
MIXED = {
    "doubles, then a row": ("((double*)s)[t] = 2;", "sum += s[t];", {RW}),
    "doubles, then the words of other warps": ("((double*)s)[t] = 2;", "sum += s[191 - t];", {RW}),
    "a row, then doubles": ("s[t] = 2;", "sum += ((double*)s)[t];", {RW}),
    "a row, then one double of a half-warp": ("s[t] = 2;", "sum += ((double*)s)[h];", {RW}),
    "doubles, then written as a row": ("sum += ((double*)s)[t];", "s[t] = 2;", {RW}),
    "one double of a warp, then written as a row": ("sum += ((double*)s)[w];", "s[t] = 2;", {RW}),
    "a word, then written as doubles": ("sum += s[w];", "if (t > 8) ((double*)s)[t - 9] = 2;", {RW}),
    "a row, then written as doubles": ("s[t] = 2;", "((double*)s)[t] = 3;", {WW}),
    "the upper words of doubles": ("((double*)s)[t] = 2;", "sum += s[2 * t + 1];", set()),
}  # fmt: skip


@pytest.mark.parametrize("element", ("float", "double"))
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_a_race_is_found_without_a_barrier_and_not_with_one(monkeypatch, pair, element):
    first, then, kinds = PAIRS[pair]
    first, then = (part.replace("float*", f"{element}*") for part in (first, then))
    compared(monkeypatch, first, then, kinds, {"race_lanes"} & kinds, element)


@pytest.mark.parametrize("pair", MIXED, ids=str)
def test_accesses_of_two_widths_race(monkeypatch, pair):
    compared(monkeypatch, *MIXED[pair], set())


def compared(monkeypatch, first, then, without, with_barrier, element="float"):
    """What is found without a barrier between two statements, and with one, which prevents no race of one statement."""
    for between, kinds in (("", without), (SYNC, with_barrier)):
        found = both_ways(monkeypatch, kernel(f"{FILL}{SYNC}{first}\n{between}{then}\n{KEPT}", element)).found
        assert {finding.kind for finding in found.errors} == kinds, repr(found)


@pytest.mark.parametrize("block", (1, 16, 17, 40, 96, (16, 4), (8, 8)))
def test_unwritten_words_are_found_on_every_shape(monkeypatch, block):
    for read in ("s[t]", "s[t / 16]", "s[t % 16]", "s[3]", "s[95 - t]"):
        flat = "t = threadIdx.x + blockDim.x * threadIdx.y;"
        made = kernel(f"{flat} if (t == 3 || t > 60) s[t] = 1;\n{SYNC}sum += {read};\n")
        found = both_ways(monkeypatch, made, block=block).found
        expected = {"uninitialised"} if read != "s[3]" or block == 1 else set()
        assert {finding.kind for finding in found.errors} == expected, (read, repr(found))


def test_accesses_outside_are_found_and_left_out(monkeypatch):
    for access in ("s[t + 180] = 2;", "sum += s[t + 150];", "sum += s[180 + h * 4];", "s[t - 1] = 2;"):
        found = both_ways(monkeypatch, kernel(f"{FILL}{SYNC}{access}\n{KEPT}"))
        assert {finding.kind for finding in found.found.errors} == {"out_of_bounds"}, repr(found.found)
    second = "__shared__ float r[8]; if (t < 8) r[t] = 1;\n__syncthreads();\n"
    past = ("if (t < 12) sum += r[t];", "if (t < 12) sum += r[8];", "if (t < 12) r[t] = 1;", "sum += r[h + 5];")
    into = ("sum += s[t + 97];", "s[t + 97] = 1;", "sum += s[h + 187];", "if (t < 9) sum += r[t - 1];")
    for access in (*past, *into):
        found = both_ways(monkeypatch, kernel(f"{FILL}{second}{access}\n{KEPT}sum += r[t % 8];\n")).found
        kind = "overrun" if access in into else "out_of_bounds"
        assert {finding.kind for finding in found.errors if not finding.kind.startswith("race")} == {kind}, repr(found)


def test_misaligned_accesses_are_found_and_left_out(monkeypatch):
    for access in ("sum += *(double*)(s + t);", "*(double*)(s + 2 * (t % 90) + 1) = 2;", "sum += *(double*)(s + h);"):
        found = both_ways(monkeypatch, kernel(f"{FILL}{SYNC}{access}\n{KEPT}")).found
        assert {finding.kind for finding in found.errors} == {"misaligned"}, repr(found)


def test_what_is_counted_is_the_same(monkeypatch):
    body = f"{FILL}{SYNC}sum += s[t + 1] + s[t * 2] + s[h]; if (t < 20) s[t] = 1;\n{SYNC}s[t / 2] = 2;\n"
    short, long = (Watched(monkeypatch, kernel(body), way, observe=True) for way in (False, True))
    assert short.counters == long.counters and repr(short.found) == repr(long.found)
    assert short.counters["shared_load_requests"] == 2 * 3 * 3
    assert short.counters["shared_store_requests"] == 2 * (3 * 2 + 1 + 3)


def random_body(seed: int) -> str:
    random = np.random.default_rng(seed)
    places = ("t", "(t + 1) % 96", "(t + 32) % 96", "t + 7", "h", "l", "w", "t % 16", "2 * t", "95 - t", "16 * h", "11")
    guards = ("", "", "", "if (t < 20) ", "if (t % 3) ", "if (w == 1) ", "if (l > 15) ", "if (t == 37) ")
    lines = [FILL, SYNC]
    for number in range(14):
        at, guard = str(random.choice(places)), str(random.choice(guards))
        lines.append(str(random.choice([
            f"{guard}s[{at}] = a[t] + {number};", f"{guard}s[{at}] = 1;", f"{guard}sum += s[{at}];",
            f"{guard}sum += s[{at}];", f"{guard}atomicAdd(&s[{at}], 1);", f"{guard}sum += ((float2*)s)[t % 40].y;",
            f"{guard}sum += ((double*)s)[t % 60];", f"{guard}((double*)s)[l + 4] = {number};",
            SYNC, SYNC, "__syncwarp();",
        ])))  # fmt: skip
    return "\n".join(lines)


@pytest.mark.parametrize("element", ("float", "double"))
@pytest.mark.parametrize("seed", range(24))
def test_random_kernels_leave_the_same_entries(monkeypatch, seed, element):
    both_ways(monkeypatch, kernel(random_body(seed), element))

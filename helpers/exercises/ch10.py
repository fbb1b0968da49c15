"""Exercises on the roofline: count an intensity, raise one, and choose a tile that reaches the ridge."""

from __future__ import annotations

import math

import numpy as np

from helpers import gpus
from helpers.exercises import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.exercises import mistakes as known
from helpers.exercises.ch09 import NOTHING_RETURNED
from helpers.roofline import peak_flops

BLOCK, COUNTED = 128, 4096
SIZES = (1, 31, 128, 131, 1000, 1021)
GAIN, SHIFT = np.float32(0.25), np.float32(0.5)
PRODUCTS = (
    (1, 1, 1, 4),
    (13, 37, 5, 8),
    (512, 512, 512, 4),
    (512, 512, 512, 2),
    (4096, 1, 4096, 2),
    (1, 4096, 4096, 2),
)
UNITS = (("T4", "fp32", 4), ("A100", "fp32", 4), ("A100", "fp16_tensor", 2), ("H100", "fp16_tensor", 2))


def _product_case(rows: int, inner: int, columns: int, itemsize: int) -> Case:
    name = f"({rows} × {inner}) by ({inner} × {columns}), {plural(itemsize, 'byte')} each"
    arguments = (rows, inner, columns, itemsize)
    return Case(name, arguments, expected=_intensity(*arguments))


def _intensity(rows: int, inner: int, columns: int, itemsize: int) -> float:
    return 2 * rows * inner * columns / (itemsize * (rows * inner + inner * columns + rows * columns))


def _product(formula):
    """A product's intensity by another formula of (rows, inner, columns, itemsize)."""
    return known.gives(lambda case: formula(*case.arguments))


def _first_map(x: np.ndarray) -> np.ndarray:
    return (GAIN * x + SHIFT).astype(np.float32)


def _second_map(y: np.ndarray) -> np.ndarray:
    return (y * y * (3 - 2 * y)).astype(np.float32)


def _maps(formula):
    """What comes out where the maps are made of x, gain and shift in another way."""
    return known.gives(lambda case: formula(case.arguments[0], GAIN, SHIFT))


def _fuse_case(n: int) -> Case:
    x = numbers(n, seed=n)
    arguments = (x, np.zeros(n, np.float32), Out(_second_map(_first_map(x))), GAIN, SHIFT)
    return Case(plural(n, "element"), arguments, (cover(n, BLOCK),), (BLOCK,))


def _tile_cases() -> list[Case]:
    given = [
        ("an imaginary GPU with more bandwidth than arithmetic", 1e12, 1e13, 4),
        ("an imaginary GPU with its ridge at 16 FLOP/byte", 16e12, 1e12, 4),
        ("an imaginary GPU with its ridge at 16.5 FLOP/byte", 16.5e12, 1e12, 4),
    ]
    for name, unit, itemsize in UNITS:
        row = gpus.find(name)
        given.append((f"{name}, {unit}", peak_flops(row, unit), row.memory_bandwidth, itemsize))
    return [Case(name, given_to, expected=_tile(*given_to)) for name, *given_to in map(tuple, given)]


def _power(least: float) -> int:
    """The smallest power of two that is at least so much, and at least 1."""
    return 2 ** max(0, math.ceil(math.log2(least)))


def _tile(peak: float, bandwidth: float, itemsize: int) -> int:
    return _power(itemsize * peak / bandwidth)


def _tiles(formula):
    """A tile by another formula of (peak, bandwidth, itemsize)."""
    return known.gives(lambda case: formula(*case.arguments))


def _grown(short):
    """The first power of two that is no longer `short(width, peak, bandwidth, itemsize)`, as far as 2 ** 20."""
    powers = [2**n for n in range(21)]
    return _tiles(lambda *given: next((width for width in powers if not short(width, *given)), powers[-1]))


def _one_for_all(evidence) -> bool:
    return len(evidence.outcomes) > 1 and len({repr(o.got) for o in evidence.outcomes if o.error is None}) == 1


STORED = Budget(
    "bytes stored for each element",
    lambda profile: profile["global_store_bytes"] / COUNTED,
    4,
    "One float32 is the result. Whatever else is stored could have stayed in a register.",
    "global_store_sectors",
)
MOVED = Budget(
    "bytes of all sectors for each element",
    lambda profile: 32 * (profile["global_load_sectors"] + profile["global_store_sectors"]) / COUNTED,
    8.2,
    "4 bytes come and 4 go, if neighbouring lanes take neighbouring elements.",
    "global_load_sectors",
)
DOUBLE = Budget(
    "FP64 operations",
    lambda profile: profile["flops_fp64"],
    0,
    "A Python number such as 3 or 0.5 makes Numba calculate in float64. Write np.float32(3).",
    "flops_fp64",
)

EXERCISES = (
    Exercise(
        key="ch10.intensity",
        title="the intensity of any matrix product",
        language="python",
        name="intensity",
        cases=lambda: [_product_case(*shape) for shape in PRODUCTS],
        mistakes=(
            NOTHING_RETURNED,
            Mistake(
                "no fraction is left",
                _product(lambda *shape: float(_intensity(*shape) // 1)),
                "`//` rounds down to a whole number. An intensity has a fraction: `/`.",
            ),
            Mistake(
                "one addition less",
                _product(lambda r, k, c, size: _intensity(r, k, c, size) * (2 * k - 1) / (2 * k)),
                "Each of rows · inner · columns steps is a multiplication and an addition; the first addition, to 0, "
                "is counted as the others are.",
            ),
            Mistake(
                "the result moves once",
                _product(lambda r, k, c, size: 2 * r * k * c / (size * (r * k + k * c + 2 * r * c))),
                "The result is stored, and not loaded before: its rows × columns elements move once.",
            ),
            Mistake(
                "brackets are missing",
                _product(lambda r, k, c, size: 2 * r * k * c / size * (r * k + k * c + r * c)),
                "a / b * c is a · c / b. Brackets around all that you divide by.",
            ),
            Mistake(
                "sizes are no matrices",
                _product(lambda r, k, c, size: 2 * r * k * c / (size * (r + k + c))),
                "A matrix of rows × inner has rows · inner elements. Add those of three matrices, not the sizes.",
            ),
            Mistake(
                "elements are added, not multiplied",
                _product(lambda r, k, c, size: 2 / size),
                "Three matrices move, one after another: their numbers of elements are added.",
            ),
            Mistake(
                "always four bytes",
                _product(lambda r, k, c, size: _intensity(r, k, c, 4)),
                "Not every element has 4 bytes: it has `itemsize`.",
            ),
            Mistake(
                "no matrix moves",
                lambda e: any(
                    _product(lambda r, k, c, size, f=f: r * k * c * f(size))(e)
                    for f in (lambda _: 2.0, lambda _: 1.0, lambda size: 2 / size, lambda size: 1 / size)
                ),
                "These are operations. Divide them by the bytes of the three matrices, each element moved once.",
            ),
            Mistake(
                "one factor is missing",
                lambda e: (
                    _product(lambda r, k, c, size: 2 * r * k * c / (size * (r * k + r * c)))(e)
                    or _product(lambda r, k, c, size: 2 * r * k * c / (size * (k * c + r * c)))(e)
                ),
                "Two factors are loaded, rows × inner and inner × columns, and the result is stored: three matrices.",
            ),
            Mistake(
                "a fused multiply-add is two operations",
                _product(lambda *shape: _intensity(*shape) / 2),
                "Each of rows · inner · columns steps multiplies and adds.",
            ),
            Mistake(
                "the result moves, too",
                _product(lambda r, k, c, size: 2 * r * k * c / (size * (r * k + k * c))),
                "Both factors are counted. The rows × columns elements of the result have to be stored.",
            ),
            Mistake(
                "elements are not bytes",
                _product(lambda r, k, c, size: size * _intensity(r, k, c, size)),
                "That is FLOP per element. An element is `itemsize` bytes.",
            ),
            Mistake(
                "bytes per FLOP",
                _product(lambda *shape: 1 / _intensity(*shape)),
                "Turned upside down: intensity is FLOP divided by bytes.",
            ),
            Mistake(
                "every step loads again",
                _product(lambda r, k, c, size: 2 * r * k * c / (size * (2 * r * k * c + r * c))),
                "That is what a kernel asks for when it reuses nothing. Here each element of the three matrices moves "
                "once.",
            ),
            Mistake(
                "right for square matrices only",
                _product(lambda r, k, c, size: 2 * r / (3 * size)),
                "n / 6 holds for n × n matrices of float32. These have three different sizes.",
            ),
        ),
        hints=(
            "How many multiply-adds make one element of the result, and how many elements are there?",
            "The factors have rows · inner and inner · columns elements, the result rows · columns.",
            "2 * rows * inner * columns, divided by itemsize times the sum of the three sizes.",
        ),
        solution="""
def intensity(rows, inner, columns, itemsize):
    flops = 2 * rows * inner * columns
    elements = rows * inner + inner * columns + rows * columns
    return flops / (itemsize * elements)
""",
        why=(
            "FLOPs grow with the product of three sizes, bytes with products of two. So large products have a high "
            "intensity, and a product with one size of 1 has none to speak of: a matrix times a vector stays near "
            "1 FLOP per byte in half precision, however large it is. That is why generating text one token at a time "
            "is bound by memory."
        ),
        stretch="from how many columns on is a product by a 4096 × 4096 matrix of half precision right of the ridge of "
        "an H100's tensor cores?",
    ),
    Exercise(
        key="ch10.fuse",
        title="two maps in one, in Numba",
        language="numba",
        name="fuse",
        cases=lambda: [_fuse_case(n) for n in SIZES],
        measured=lambda: _fuse_case(COUNTED),
        budgets=(STORED, MOVED, DOUBLE),
        tolerance=1e-4,
        mistakes=(
            Mistake(
                "no guard",
                known.out_of_bounds,
                "The last block has threads without an element: guard everything with `if i < x.size`.",
            ),
            Mistake(
                "nothing is written yet",
                known.nothing_written,
                "Every element of out still holds the bytes 0xFF. The result belongs into out, and nothing into t.",
            ),
            Mistake(
                "gain and shift are swapped",
                _maps(lambda x, gain, shift: _second_map(shift * x + gain)),
                "x is multiplied by gain, and shift is added.",
            ),
            Mistake(
                "y once instead of twice",
                _maps(lambda x, gain, shift: (y := gain * x + shift) * (3 - 2 * y)),
                "The second map is y · y · (3 - 2 · y).",
            ),
            Mistake(
                "3 and 2 are swapped",
                _maps(lambda x, gain, shift: (y := gain * x + shift) * y * (2 - 3 * y)),
                "The second map is y · y · (3 - 2 · y).",
            ),
            Mistake(
                "t has nothing yet",
                _maps(lambda x, gain, shift: _second_map(0 * x + shift)),
                "t is all zeros: nobody has run the first map. Begin with x[i].",
            ),
            Mistake(
                "only the first map",
                known.gives(lambda case: _first_map(case.arguments[0])),
                "That is gain · x + shift. Its result still has to go through y · y · (3 - 2 · y).",
            ),
            Mistake(
                "the second map takes x, not what the first one made",
                known.gives(lambda case: _second_map(case.arguments[0])),
                "Keep gain · x + shift in a variable y and put that into the second map.",
            ),
            Mistake(
                "the result of the first map goes through memory",
                known.over("bytes stored for each element"),
                "Right, but more is stored than the result. A variable of the thread lies in a register and costs no "
                "bytes.",
            ),
            Mistake(
                "lanes are not on neighbouring elements",
                known.over("bytes of all sectors for each element"),
                "Each sector of 32 bytes should serve eight lanes. Let thread i take element i, or step by "
                "cuda.gridsize(1).",
            ),
            Mistake(
                "double precision has slipped in",
                known.over("FP64 operations"),
                "A Python number such as 3 or 0.5 makes Numba calculate in float64, under a much lower roof. Write "
                "np.float32(3).",
            ),
        ),
        hints=(
            "Which array need not exist at all?",
            "y = gain * x[i] + shift stays in a register. What type does 3 - 2 * y have?",
            "y = gain * x[i] + shift; out[i] = y * y * (np.float32(3) - np.float32(2) * y), inside the guard.",
        ),
        solution="""
import numpy as np

@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < x.size:
        y = gain * x[i] + shift
        out[i] = y * y * (np.float32(3) - np.float32(2) * y)
""",
        why=(
            "As two launches the maps move 16 bytes an element, now 8: the intensity doubles and the FLOPs stay what "
            "they were. The point moves right along the slope, so it rises, and the time halves. With plain 3 and 2 "
            "it would be the same picture on an A100, and another on a T4, whose FP64 roof is 32 times lower."
        ),
        stretch="fuse a third map, a division by 1 + y · y. Does the profile count the division as a FLOP?",
    ),
    Exercise(
        key="ch10.tile",
        title="a tile that reaches the ridge",
        language="python",
        name="tile",
        cases=_tile_cases,
        mistakes=(
            NOTHING_RETURNED,
            Mistake(
                "one tile for all",
                _one_for_all,
                "It returns the same for every GPU. How wide a tile has to be depends on peak, bandwidth and itemsize.",
            ),
            Mistake(
                "one more than enough",
                _grown(lambda w, peak, bandwidth, size: w / size <= peak / bandwidth),
                "A tile that lands exactly on the ridge has reached it: go on while it is less, not while it is equal.",
            ),
            Mistake(
                "no fraction is left",
                _grown(lambda w, peak, bandwidth, size: w // size < peak // bandwidth),
                "`//` rounds down, so that a ridge of 16.5 is taken for 16: `/`.",
            ),
            Mistake(
                "the ridge is upside down",
                _grown(lambda w, peak, bandwidth, size: w / size < bandwidth / peak),
                "The ridge is peak over bandwidth: FLOP for each byte.",
            ),
            Mistake(
                "the result stays where it is",
                _tiles(lambda peak, bandwidth, size: _power(1.5 * size * peak / bandwidth)),
                "A step loads T elements of each of the two factors. The tile of the result stays on the chip, so "
                "there are two, not three.",
            ),
            Mistake(
                "the intensity grows with T, not with T²",
                _grown(lambda w, peak, bandwidth, size: w * w / size < peak / bandwidth),
                "T² multiply-adds are done, and 2 · T elements loaded for them: the ratio grows with T.",
            ),
            Mistake(
                "that is the intensity",
                _tiles(lambda *given: _tile(*given) / given[2]),
                "It is the intensity of the right tile. Its width is asked for.",
            ),
            Mistake(
                "narrower than one",
                _tiles(lambda peak, bandwidth, size: 2.0 ** math.ceil(math.log2(size * peak / bandwidth))),
                "The smallest tile has a width of 1, where the ridge is lower, too.",
            ),
            Mistake(
                "it starts too large",
                lambda e: any(_tiles(lambda *given, n=n: max(2**n, _tile(*given)))(e) for n in range(1, 8)),
                "With plenty of bandwidth a tile of 1 is enough: start with T = 1.",
            ),
            Mistake(
                "a fused multiply-add is two operations",
                _tiles(lambda peak, bandwidth, size: _power(2 * size * peak / bandwidth)),
                "A step of the inner loop is 2 · T² operations on a tile of T × T, not T².",
            ),
            Mistake(
                "both factors are loaded",
                _tiles(lambda peak, bandwidth, size: _power(size * peak / bandwidth / 2)),
                "A step needs T elements of the one factor and T of the other.",
            ),
            Mistake(
                "elements are not bytes",
                _tiles(lambda peak, bandwidth, size: _power(peak / bandwidth)),
                "The ridge is in FLOP per byte, and an element is `itemsize` bytes.",
            ),
            Mistake(
                "rounded down",
                _tiles(lambda peak, bandwidth, size: 2 ** max(0, math.floor(math.log2(size * peak / bandwidth)))),
                "The largest power of two below falls short of the ridge. Take the next one up.",
            ),
            Mistake(
                "one more than enough",
                _tiles(lambda peak, bandwidth, size: 2 * 2 ** max(0, math.floor(math.log2(size * peak / bandwidth)))),
                "A tile that lands exactly on the ridge has reached it: compare with >=.",
            ),
            Mistake(
                "no power of two",
                lambda e: any(
                    _tiles(lambda peak, bandwidth, size, n=n: max(n, n * math.ceil(size * peak / bandwidth / n)))(e)
                    for n in (1, 8, 16, 32)
                ),
                "Wide enough, and awkward: round up to a power of two.",
            ),
        ),
        hints=(
            "Think of one step of the inner loop: T elements of each factor, T × T multiply-adds.",
            "So its intensity is 2 · T² / (2 · T · itemsize). Set that against peak / bandwidth.",
            "Start with T = 1 and double it while T / itemsize < peak / bandwidth.",
        ),
        solution="""
def tile(peak, bandwidth, itemsize):
    width = 1
    while width / itemsize < peak / bandwidth:
        width *= 2
    return width
""",
        why=(
            "A step loads 2 · T elements and does 2 · T² operations, so T / itemsize FLOP per byte: intensity grows "
            "with the width of the tile. Tensor cores want tiles of many hundreds, more than one block can hold; "
            "caches that several blocks share make up the rest."
        ),
        stretch="how many KiB of accumulators is that tile? Compare with the registers of an SM in the GPU's row.",
    ),
)

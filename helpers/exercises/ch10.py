"""Exercises on the roofline: count an intensity, raise one, and choose a tile that reaches the ridge."""

from __future__ import annotations

import math

from helpers.checking import mistakes as known
from helpers.checking.exercise import Exercise, Mistake
from helpers.exercises.ch09_cases import NOTHING_RETURNED
from helpers.exercises.ch10_cases import (
    COUNTED,
    DOUBLE,
    MOVED,
    PRODUCTS,
    SIZES,
    STORED,
    first_map,
    fuse_case,
    grown,
    intensity_of,
    maps_of,
    one_for_all,
    power_of,
    product_case,
    product_of,
    second_map,
    tile_cases,
    tile_of,
    tiles_of,
)

EXERCISES = (
    Exercise(
        key="ch10.intensity",
        title="the intensity of any matrix product",
        language="python",
        name="intensity",
        cases=lambda: [product_case(*shape) for shape in PRODUCTS],
        mistakes=(
            NOTHING_RETURNED,
            Mistake(
                "no fraction is left",
                product_of(lambda *shape: float(intensity_of(*shape) // 1)),
                "`//` rounds down to a whole number. An intensity has a fraction: `/`.",
            ),
            Mistake(
                "one addition less",
                product_of(lambda r, k, c, size: intensity_of(r, k, c, size) * (2 * k - 1) / (2 * k)),
                "Each of rows · inner · columns steps is a multiplication and an addition; the first addition, to 0, "
                "is counted as the others are.",
            ),
            Mistake(
                "the result moves once",
                product_of(lambda r, k, c, size: 2 * r * k * c / (size * (r * k + k * c + 2 * r * c))),
                "The result is stored, and not loaded before: its rows × columns elements move once.",
            ),
            Mistake(
                "brackets are missing",
                product_of(lambda r, k, c, size: 2 * r * k * c / size * (r * k + k * c + r * c)),
                "a / b * c is a · c / b. Brackets around all that you divide by.",
            ),
            Mistake(
                "sizes are no matrices",
                product_of(lambda r, k, c, size: 2 * r * k * c / (size * (r + k + c))),
                "A matrix of rows × inner has rows · inner elements. Add those of three matrices, not the sizes.",
            ),
            Mistake(
                "elements are added, not multiplied",
                product_of(lambda r, k, c, size: 2 / size),
                "Three matrices move, one after another: their numbers of elements are added.",
            ),
            Mistake(
                "always four bytes",
                product_of(lambda r, k, c, size: intensity_of(r, k, c, 4)),
                "Not every element has 4 bytes: it has `itemsize`.",
            ),
            Mistake(
                "no matrix moves",
                lambda e: any(
                    product_of(lambda r, k, c, size, f=f: r * k * c * f(size))(e)
                    for f in (lambda _: 2.0, lambda _: 1.0, lambda size: 2 / size, lambda size: 1 / size)
                ),
                "These are operations. Divide them by the bytes of the three matrices, each element moved once.",
            ),
            Mistake(
                "one factor is missing",
                lambda e: (
                    product_of(lambda r, k, c, size: 2 * r * k * c / (size * (r * k + r * c)))(e)
                    or product_of(lambda r, k, c, size: 2 * r * k * c / (size * (k * c + r * c)))(e)
                ),
                "Two factors are loaded, rows × inner and inner × columns, and the result is stored: three matrices.",
            ),
            Mistake(
                "a fused multiply-add is two operations",
                product_of(lambda *shape: intensity_of(*shape) / 2),
                "Each of rows · inner · columns steps multiplies and adds.",
            ),
            Mistake(
                "the result moves, too",
                product_of(lambda r, k, c, size: 2 * r * k * c / (size * (r * k + k * c))),
                "Both factors are counted. The rows × columns elements of the result have to be stored.",
            ),
            Mistake(
                "elements are not bytes",
                product_of(lambda r, k, c, size: size * intensity_of(r, k, c, size)),
                "That is FLOP per element. An element is `itemsize` bytes.",
            ),
            Mistake(
                "bytes per FLOP",
                product_of(lambda *shape: 1 / intensity_of(*shape)),
                "Turned upside down: intensity is FLOP divided by bytes.",
            ),
            Mistake(
                "every step loads again",
                product_of(lambda r, k, c, size: 2 * r * k * c / (size * (2 * r * k * c + r * c))),
                "That is what a kernel asks for when it reuses nothing. Here each element of the three matrices moves "
                "once.",
            ),
            Mistake(
                "right for square matrices only",
                product_of(lambda r, k, c, size: 2 * r / (3 * size)),
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
        cases=lambda: [fuse_case(n) for n in SIZES],
        measured=lambda: fuse_case(COUNTED),
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
                maps_of(lambda x, gain, shift: second_map(shift * x + gain)),
                "x is multiplied by gain, and shift is added.",
            ),
            Mistake(
                "y once instead of twice",
                maps_of(lambda x, gain, shift: (y := gain * x + shift) * (3 - 2 * y)),
                "The second map is y · y · (3 - 2 · y).",
            ),
            Mistake(
                "3 and 2 are swapped",
                maps_of(lambda x, gain, shift: (y := gain * x + shift) * y * (2 - 3 * y)),
                "The second map is y · y · (3 - 2 · y).",
            ),
            Mistake(
                "t has nothing yet",
                maps_of(lambda x, gain, shift: second_map(0 * x + shift)),
                "t is all zeros: nobody has run the first map. Begin with x[i].",
            ),
            Mistake(
                "only the first map",
                known.gives(lambda case: first_map(case.arguments[0])),
                "That is gain · x + shift. Its result still has to go through y · y · (3 - 2 · y).",
            ),
            Mistake(
                "the second map takes x, not what the first one made",
                known.gives(lambda case: second_map(case.arguments[0])),
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
        cases=tile_cases,
        mistakes=(
            NOTHING_RETURNED,
            Mistake(
                "one tile for all",
                one_for_all,
                "It returns the same for every GPU. How wide a tile has to be depends on peak, bandwidth and itemsize.",
            ),
            Mistake(
                "one more than enough",
                grown(lambda w, peak, bandwidth, size: w / size <= peak / bandwidth),
                "A tile that lands exactly on the ridge has reached it: go on while it is less, not while it is equal.",
            ),
            Mistake(
                "no fraction is left",
                grown(lambda w, peak, bandwidth, size: w // size < peak // bandwidth),
                "`//` rounds down, so that a ridge of 16.5 is taken for 16: `/`.",
            ),
            Mistake(
                "the ridge is upside down",
                grown(lambda w, peak, bandwidth, size: w / size < bandwidth / peak),
                "The ridge is peak over bandwidth: FLOP for each byte.",
            ),
            Mistake(
                "the result stays where it is",
                tiles_of(lambda peak, bandwidth, size: power_of(1.5 * size * peak / bandwidth)),
                "A step loads T elements of each of the two factors. The tile of the result stays on the chip, so "
                "there are two, not three.",
            ),
            Mistake(
                "the intensity grows with T, not with T²",
                grown(lambda w, peak, bandwidth, size: w * w / size < peak / bandwidth),
                "T² multiply-adds are done, and 2 · T elements loaded for them: the ratio grows with T.",
            ),
            Mistake(
                "that is the intensity",
                tiles_of(lambda *given: tile_of(*given) / given[2]),
                "It is the intensity of the right tile. Its width is asked for.",
            ),
            Mistake(
                "narrower than one",
                tiles_of(lambda peak, bandwidth, size: 2.0 ** math.ceil(math.log2(size * peak / bandwidth))),
                "The smallest tile has a width of 1, where the ridge is lower, too.",
            ),
            Mistake(
                "it starts too large",
                lambda e: any(tiles_of(lambda *given, n=n: max(2**n, tile_of(*given)))(e) for n in range(1, 8)),
                "With plenty of bandwidth a tile of 1 is enough: start with T = 1.",
            ),
            Mistake(
                "a fused multiply-add is two operations",
                tiles_of(lambda peak, bandwidth, size: power_of(2 * size * peak / bandwidth)),
                "A step of the inner loop is 2 · T² operations on a tile of T × T, not T².",
            ),
            Mistake(
                "both factors are loaded",
                tiles_of(lambda peak, bandwidth, size: power_of(size * peak / bandwidth / 2)),
                "A step needs T elements of the one factor and T of the other.",
            ),
            Mistake(
                "elements are not bytes",
                tiles_of(lambda peak, bandwidth, size: power_of(peak / bandwidth)),
                "The ridge is in FLOP per byte, and an element is `itemsize` bytes.",
            ),
            Mistake(
                "rounded down",
                tiles_of(lambda peak, bandwidth, size: 2 ** max(0, math.floor(math.log2(size * peak / bandwidth)))),
                "The largest power of two below falls short of the ridge. Take the next one up.",
            ),
            Mistake(
                "one more than enough",
                tiles_of(lambda peak, bandwidth, size: 2 * 2 ** max(0, math.floor(math.log2(size * peak / bandwidth)))),
                "A tile that lands exactly on the ridge has reached it: compare with >=.",
            ),
            Mistake(
                "no power of two",
                lambda e: any(
                    tiles_of(lambda peak, bandwidth, size, n=n: max(n, n * math.ceil(size * peak / bandwidth / n)))(e)
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

"""Expressions of CUDA C, many in one kernel, whose results are compared bit by bit with models in Python.

What compilers put behind an expression (a division of 128-bit integers, a sine of a huge angle, a conversion to 8 bits)
is a routine of their own, made of instructions in combinations that nobody writes by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Row:
    """An expression in x, y and z, and what Python makes of the raw bits of them: raw bits, or None for any NaN.

    close: instead of equality, whether the bits of a result will do: close(got, *inputs).
    """

    text: str
    model: Callable[..., int | None] | None = None
    close: Callable[..., bool] | None = None


@dataclass(frozen=True)
class Family:
    """Rows of one kernel: the types of x, y and z, what draws their bits, and what the compiler is given besides."""

    types: Sequence[str]
    rows: Sequence[Row]
    samples: Sequence[Callable]
    before: str = ""
    options: tuple[str, ...] = ()
    arch: str = "compute_80"
    is_nan: Callable[[int], bool] = lambda raw: False

    def inputs(self, random, n: int) -> list[tuple[int, ...]]:
        return [tuple(draw(random) for draw in self.samples) for _ in range(n)]

    def differences(self, engine, inputs) -> list[str]:
        """What differs from the models, in words: the expression, its inputs, what came and what should have."""
        found = []
        for row, column in zip(self.rows, evaluate(engine, self, inputs), strict=True):
            for given, got in zip(inputs, column, strict=True):
                wanted = None if row.close else row.model(*given)
                good = row.close(got, *given) if row.close else self.is_nan(got) if wanted is None else got == wanted
                if not good:
                    found.append(
                        f"{row.text} of {', '.join(map(hex, given))}: {got:#x}, and not {wanted and hex(wanted)}"
                    )
        return found


PUT = """
template <class T> __device__ void put(unsigned long long* out, T value) {
    unsigned long long words[2] = {0, 0};
    memcpy(words, &value, sizeof value);
    out[0] = words[0];
    out[1] = words[1];
}
template <class T> __device__ T take(const unsigned long long* in) {
    T value;
    memcpy(&value, in, sizeof value);
    return value;
}
"""


def source(types: Sequence[str], rows: Sequence[Row], before: str = "") -> str:
    """A kernel that puts each row's result where its number says, for the inputs of each thread."""
    arity = len(types)
    given = "\n".join(
        f"    {kind} {name} = take<{kind}>(in + (i * {arity} + {i}) * 2);"
        for i, (kind, name) in enumerate(zip(types, "xyz", strict=False))
    )
    lines = "\n".join(f"    put(out + ({k}ull * n + i) * 2, {row.text});" for k, row in enumerate(rows))
    return f"""{before}{PUT}
extern "C" __global__ void k(const unsigned long long* in, unsigned long long* out, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
{given}
{lines}
}}"""


def evaluate(engine, family: Family, inputs: Sequence[Sequence[int]]) -> list[list[int]]:
    """The raw bits of each row's results for each tuple of inputs, of which there are as many as fill warps."""
    n, rows = len(inputs), family.rows
    given = np.array([[v >> 64 * w & 2**64 - 1 for v in row for w in (0, 1)] for row in inputs], np.uint64)
    out = np.zeros((len(rows), n, 2), np.uint64)
    text = source(family.types, rows, family.before)
    engine.c(text, options=family.options, arch=family.arch)(n // 32, 32, given, out, n)
    return [[low | high << 64 for low, high in row] for row in out.tolist()]

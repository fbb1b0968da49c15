"""Heads first instead of tokens first: rows move, and none is turned."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, seeds
from helpers.exercises.lab02.budgets import COALESCED_LOADS, COALESCED_STORES

BLOCK = 128
SHAPES = ((1, 1, 1), (1, 3, 31), (31, 3, 1), (5, 4, 7), (4, 5, 13), (16, 2, 32))


def _case(tokens: int, heads: int, size: int, seed: int = 0) -> Case:
    x = numbers((tokens, heads, size), seed=seed or tokens)
    name = f"{plural(tokens, 'token')} × {plural(heads, 'head')} × {size}"
    return Case(name, (x, Out(x.swapaxes(0, 1).copy())), (cover(x.size, BLOCK),), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    shapes = [dice.integers(2, 9, 3), dice.integers(3, 14, 3), (dice.integers(33, 60), 1, 5)]
    shapes += [(dice.integers(20, 36), dice.integers(3, 7), 8 * dice.integers(5, 9))]
    return [_case(*map(int, shape), seed) for shape, seed in zip(shapes, seeds(dice, 4), strict=True)]


EXERCISE = Exercise(
    key="lab02.heads",
    title="heads before tokens, in Numba",
    language="numba",
    name="heads_first",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(30, 4, 40),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(COALESCED_LOADS, COALESCED_STORES),
    hints=(
        "Three indices hide in the thread's number. Which one should differ between lane 0 and lane 1?",
        "k = i % size; then i // size counts rows of `size` floats, of x or of out, as you like.",
        "k = i % size; token = i // size % tokens; head = i // size // tokens; out[head, token, k] = x[token, head, "
        "k].",
    ),
    why="Both layouts keep the `size` numbers of one head side by side, so a copy can be coalesced on both sides "
    "without shared memory: rows move, and none is turned. That is so whenever the last dimension stays the last; a "
    "transpose, where it does not, needs the tile of chapter 05. Order of work is yours to choose: the same elements "
    "cost up to eight times as much when neighbouring lanes take them a row apart.",
    stretch="swap the last two dimensions as well. Which of load and store can still be coalesced?",
    mistakes=(
        Mistake(
            "an index beyond its dimension",
            "Some thread left an array where every thread has an element, so it is an index and not the guard. x is "
            "(tokens, heads, size) and out is (heads, tokens, size). A number is taken apart from its end: a remainder "
            "by one size, then a division by the same size, then the next.",
            (
                ("out[head, token, k]", "out[token, head, k]"),
                (("size % tokens", "size % heads"), ("size // tokens", "size // heads")),
                ("tokens, heads, size = x.shape", "heads, tokens, size = x.shape"),
                ("i // size % tokens", "i // size"),
            ),
        ),
        Mistake(
            "copied as it lies",
            "The elements are in the order of x. Only the index of the innermost dimension stays the last one.",
            (("x[token, head, k]", "x[(i // size) // heads, (i // size) % heads, k]"),),
        ),
        Mistake(
            "every block does the work of block 0",
            "Written is as much as one block has threads, and the rest is not: threadIdx.x begins at 0 in every block. "
            "A thread's place in the grid is cuda.grid(1).",
            (
                ("cuda.grid(1)", "cuda.threadIdx.x"),
                (("cuda.grid(1)", "cuda.threadIdx.x"), ("size % tokens", "size // heads"),
                 ("size // tokens", "size % heads")),
            ),
        ),
        Mistake(
            "the same work many times",
            "The result is right, but several threads or blocks do the same. Each element has one owner in the grid.",
            (
                """    if i < x.size:
        for head in range(heads):
            for token in range(tokens):
                for k in range(size):
                    out[head, token, k] = x[token, head, k]""",
            ),
        ),
        Mistake(
            "sectors come twice",
            "The result is right, but sectors are loaded or stored to twice. Either each element is copied twice, or "
            "each thread takes elements of its own, so that the lanes of a warp are apart. One element for each "
            "thread, once.",
            (
                ("out[head, token, k] = x[token, head, k]",
                 "out[head, token, k] = x[token, head, k]\n        cuda.syncthreads()\n"
                 "        out[head, token, k] = x[token, head, k]"),
            ),
        ),
        Mistake(
            "neighbouring lanes are apart",
            "The result is right, but what a warp asks for at once does not lie side by side: its lanes are rows or "
            "runs apart, or one works alone. In both layouts the last index is the one whose neighbours touch: let it "
            "change fastest from thread to thread.",
            (
                """    if i < x.size:
        token, k, head = i % tokens, i // tokens % size, i // tokens // size
        out[head, token, k] = x[token, head, k]""",
                """    if i < x.size:
        head, token, k = i % heads, i // heads % tokens, i // heads // tokens
        out[head, token, k] = x[token, head, k]""",
                """    if i < tokens * heads:
        for k in range(size):
            out[i // tokens, i % tokens, k] = x[i % tokens, i // tokens, k]""",
                """    if i == 0:
        for head in range(heads):
            for token in range(tokens):
                for k in range(size):
                    out[head, token, k] = x[token, head, k]""",
                """    for j in range(4 * i, min(4 * i + 4, x.size)):
        row = j // size
        out[row // tokens, row % tokens, j % size] = x[row % tokens, row // tokens, j % size]""",
            ),
        ),
    ),
)  # fmt: skip

"""Collectives as lists of steps: who sends which chunk to whom, and what the receiver then holds.

A step is a list of `Send`s that happen at the same time. These are schedules to look at and to count; real ranks send
real messages in the notebook's own scripts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Send(NamedTuple):
    """Rank `source` sends chunk number `chunk` to rank `target`, which adds it to its own, or puts it in its place."""

    source: int
    target: int
    chunk: int
    adds: bool


Steps = Sequence[Sequence[Send]]


def ring_steps(ranks: int) -> list[list[Send]]:
    """A ring all-reduce: n − 1 steps that add (reduce-scatter), and n − 1 that copy (all-gather)."""
    adding = [[Send(r, (r + 1) % ranks, (r - s) % ranks, True) for r in range(ranks)] for s in range(ranks - 1)]
    copying = [[Send(r, (r + 1) % ranks, (r + 1 - s) % ranks, False) for r in range(ranks)] for s in range(ranks - 1)]
    return adding + copying


def star_steps(ranks: int) -> list[list[Send]]:
    """An all-reduce through rank 0: every other sends it all its chunks, and gets all sums; one message at a time."""
    come = [[Send(r, 0, chunk, True) for chunk in range(ranks)] for r in range(1, ranks)]
    go = [[Send(0, r, chunk, False) for chunk in range(ranks)] for r in range(1, ranks)]
    return come + go


@dataclass(frozen=True)
class Moment:
    """What each rank holds after a number of steps: `held[rank][chunk]` are the ranks whose numbers are in the sum."""

    held: tuple[tuple[frozenset[int], ...], ...]
    sent: tuple[int, ...]
    """Chunks that each rank has sent so far."""
    received: tuple[int, ...]


def after(steps: Steps, ranks: int, number: int) -> Moment:
    """The moment after `number` steps. ValueError for a sum that counts a rank twice, or a rank that is none."""
    held = [[frozenset([rank])] * ranks for rank in range(ranks)]
    sent, received = [0] * ranks, [0] * ranks
    for step in steps[:number]:
        before = [list(row) for row in held]
        for source, target, chunk, adds in step:
            if not (0 <= source < ranks and 0 <= target < ranks and 0 <= chunk < ranks):
                raise ValueError(f"there are ranks and chunks 0 to {ranks - 1}: {Send(source, target, chunk, adds)}")
            coming = before[source][chunk]
            if adds and held[target][chunk] & coming:
                raise ValueError(
                    f"chunk {chunk} of rank {target} would count rank {min(held[target][chunk] & coming)} twice"
                )
            held[target][chunk] = held[target][chunk] | coming if adds else coming
            sent[source] += 1
            received[target] += 1
    return Moment(tuple(map(tuple, held)), tuple(sent), tuple(received))

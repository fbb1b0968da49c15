"""The counter that a racy increment leaves, from the order in which its threads read and write."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake


def _left(order: list[int]) -> int:
    counter, seen = 0, {}
    for thread in order:
        if thread in seen:
            counter = seen[thread] + 1
        else:
            seen[thread] = counter
    return counter


def _random(threads: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).permutation([*range(threads), *range(threads)]).tolist()


WARPS = [lane for first in range(0, 128, 32) for lane in [*range(first, first + 32)] * 2]
ORDERS = {
    "one after the other": [0, 0, 1, 1],
    "both read first": [0, 1, 0, 1],
    "one within the other": [0, 1, 1, 0],
    "nobody": [],
    "one thread": [5, 5],
    "a late write": [0, 1, 1, 2, 2, 3, 3, 0],
    "a late write, then one more": [0, 1, 1, 2, 2, 0, 3, 3],
    "four warps, one after the other": WARPS,
    "9 threads in random order": _random(9, 1),
    "20 threads in random order": _random(20, 6),
}

EXERCISE = Exercise(
    key="ch06.replay",
    title="what a racy counter holds in the end",
    language="python",
    name="replay",
    cases=lambda: [Case(name, (list(order),), expected=_left(order)) for name, order in ORDERS.items()],
    hints=(
        "What does a thread remember between its two steps?",
        "When a thread comes for the first time, note what the counter holds. When it comes for the second time, the "
        "counter becomes what it has noted, plus one.",
        "seen = {}; for each thread: if thread not in seen: seen[thread] = counter, else: counter = seen[thread] + 1.",
    ),
    solution="""
def replay(order):
    counter = 0
    seen = {}
    for thread in order:
        if thread not in seen:
            seen[thread] = counter
        else:
            counter = seen[thread] + 1
    return counter
""",
    why="A thread writes what it has seen, plus one, whatever the counter holds by then. So one late write throws away "
    "all updates that came between, and the counter can even go down.",
    stretch="the smallest number that 256 threads can leave is 1, and the largest is 256. Find an order for 100.",
    mistakes=(
        Mistake(
            "no update is lost",
            "That counts every thread once. A thread writes what it saw when it read, plus one, and the counter may "
            "have changed since.",
            (("counter = seen[thread] + 1", "counter += 1"), "    return len(order) // 2"),
        ),
        Mistake(
            "every step counts",
            "Each thread comes twice: it reads the first time, and writes the second time. Only a write changes the "
            "counter.",
            ("    return len(order)",),
        ),
        Mistake(
            "the counter never goes down",
            "A late write puts its own number there, also if the counter is larger by then.",
            (("counter = seen[thread] + 1", "counter = max(counter, seen[thread] + 1)"),),
        ),
        Mistake(
            "the thread writes what it has read",
            "Between its read and its write the thread adds one.",
            (("seen[thread] + 1", "seen[thread]"),),
        ),
        Mistake(
            "the counter begins at one",
            "Before the first thread comes the counter holds 0.",
            (("counter = 0", "counter = 1"),),
        ),
        Mistake(
            "only the last thread counts",
            "The last write decides, but what it writes depends on what its thread has read before.",
            ("    return 1 if order else 0",),
        ),
    ),
)  # fmt: skip

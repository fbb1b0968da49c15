"""A rank that writes down what its program asks for: who sends what to whom, without any data.

A program of ranks decides by numbers and not by data what it sends, so it can be run for every rank beforehand. What
it asked for is a recording in plain lists, which `dry_run` carries out on data that the program has never seen.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

MOST = 20_000
"""Operations that one rank may ask for."""


class RecordedRank:
    """Rank `number` of `size`, as a program sees it. Parts of its tensor are slices, as in tensor[3:7]."""

    def __init__(self, number: int, size: int):
        self.number, self.size = number, size
        self.asked: list[list] = []

    def _ask(self, *what: object) -> None:
        if len(self.asked) >= MOST:
            raise ValueError(f"rank {self.number} asks for more than {MOST:,} operations: does a loop never end?")
        self.asked.append(list(what))

    # -- messages

    def exchange(self, *, to: int, send: slice, source: int, receive: slice, add: bool = False) -> None:
        """Send a part of the tensor to rank `to`, and receive another from rank `source`, both at the same time.

        What comes is added to what is there with `add`, and else put in its place.
        """
        self._ask("step", self._outgoing(to, send), self._incoming(source, receive, add))

    def send(self, to: int, part: slice) -> None:
        """Send a part of the tensor to rank `to`, and wait until it is taken."""
        self._ask("step", self._outgoing(to, part), None)

    def receive(self, source: int, part: slice, add: bool = False) -> None:
        """Wait for a part of the tensor from rank `source`."""
        self._ask("step", None, self._incoming(source, part, add))

    def _outgoing(self, to: int, part: slice) -> list:
        return [operator.index(to), *_ends(part)]

    def _incoming(self, source: int, part: slice, add: bool) -> list:
        return [operator.index(source), *_ends(part), bool(add)]

    # -- training

    def broadcast(self, source: int) -> None:
        """Give all ranks the weights of rank `source`; every rank has to call it."""
        self._ask("broadcast", operator.index(source))

    def backward(self, samples: Iterable[int], weight: float) -> None:
        """Add to the gradient that of `weight` times the mean loss over these samples, which are numbers of rows."""
        self._ask("backward", [operator.index(sample) for sample in samples], float(weight))

    def all_reduce(self) -> None:
        """Replace the gradient on all ranks by the mean of all; every rank has to call it."""
        self._ask("all_reduce")

    def clear(self) -> None:
        """Set the gradient to zero."""
        self._ask("clear")

    def update(self) -> None:
        """Take a step of gradient descent."""
        self._ask("update")


def _ends(part: slice) -> tuple[int, int]:
    if not isinstance(part, slice) or part.step not in (None, 1) or part.start is None or part.stop is None:
        raise TypeError(f"a part is a slice with a first element and an end, such as slice(3, 7), not {part!r}")
    return operator.index(part.start), operator.index(part.stop)


def recorded(program: Callable, size: int, *given: object) -> list[list]:
    """What each of `size` ranks asks for in `program(rank, *given)`: a list a rank."""
    found = []
    for number in range(size):
        rank = RecordedRank(number, size)
        program(rank, *given)
        found.append(rank.asked)
    return found

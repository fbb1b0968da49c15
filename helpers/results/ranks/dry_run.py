"""Messages that ranks have recorded, carried out on arrays in this process: what each then holds, and what it sent.

Each rank does its steps in their order. A step ends when its message is taken and the one that it waits for has come,
and all messages that can go at one time go in one step. So a rank can pass on nothing that it was not sent before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from helpers.results.ranks.recording import MOST
from vgpu.base.words import plural


class NotCarriedOut(ValueError):
    """What ranks asked for cannot be done; the message says on which rank, and why."""


class Stuck(NotCarriedOut):
    """Ranks wait for each other, or for one that has ended."""


class OtherLength(NotCarriedOut):
    """A message is longer or shorter than the part that it is received into."""


class Overwritten(NotCarriedOut):
    """A rank receives into elements that it is sending at the same time."""


class Outside(NotCarriedOut):
    """A rank, an element or a sample that does not exist."""


@dataclass(frozen=True, eq=False)
class Messages:
    """What came of it. `held` (ranks, elements); `sent`, in elements, and `messages` are of each rank.

    `longest`: the longest message of each step, summed, as a step takes as long as its longest message.
    """

    held: np.ndarray
    steps: int
    longest: int
    sent: tuple[int, ...]
    messages: tuple[int, ...]

    def __repr__(self) -> str:
        rows = [
            f"rank {rank}: {plural(count, 'message')}, {plural(elements, 'element')} sent"
            for rank, (count, elements) in enumerate(zip(self.messages, self.sent, strict=True))
        ]
        return "\n".join([plural(self.steps, "step"), *rows])


@dataclass
class _Step:
    """What a rank still waits for in its present step."""

    send: tuple[int, int, int] | None
    receive: tuple[int, int, int, bool] | None

    @property
    def done(self) -> bool:
        return self.send is None and self.receive is None


def plans_in(recording: object, size: int) -> list[list]:
    """The lists of all ranks in a recording of unknown origin; raises NotCarriedOut for anything else."""
    if not isinstance(recording, list) or len(recording) != size:
        raise NotCarriedOut(f"a recording has a list for each of {size} ranks")
    for plan in recording:
        if not isinstance(plan, list) or len(plan) > MOST or not all(isinstance(each, list) and each for each in plan):
            raise NotCarriedOut("a recording is what ranks.recorded returns")
    return recording


def is_whole(value: object) -> TypeGuard[int]:
    return type(value) is int


def _step(asked: list, rank: int, size: int, elements: int) -> _Step:
    if len(asked) != 3 or asked[0] != "step" or asked[1:] == [None, None]:
        raise NotCarriedOut(f"rank {rank} asks for {str(asked)[:60]}, which is no message")
    send, receive = (None if each is None else tuple(each) for each in asked[1:])
    for part, length in ((send, 3), (receive, 4)):
        if part is None:
            continue
        if len(part) != length or not all(map(is_whole, part[:3])):
            raise NotCarriedOut(f"rank {rank} asks for {str(asked)[:60]}, which is no message")
        other, first, last = part[:3]
        if not 0 <= other < size or other == rank:
            ranks = f"the ranks are 0 to {size - 1}" if size > 1 else "there is no other rank"
            raise Outside(f"rank {rank} exchanges with rank {other}; {ranks}")
        if not 0 <= first <= last <= elements:
            raise Outside(f"rank {rank} asks for elements {first} to {last}, and there are {elements}")
    if send and receive and max(send[1], receive[1]) < min(send[2], receive[2]):
        raise Overwritten(f"rank {rank} receives into elements {receive[1]} to {receive[2] - 1} while it sends "
                          f"{send[1]} to {send[2] - 1}: who receives them may get the new ones or the old")  # fmt: skip
    return _Step(send, receive)


def messages(recording: object, shares: np.ndarray) -> Messages:
    """Carry out a recording; rank r begins with row r of `shares`. Raises NotCarriedOut, in one of its kinds."""
    size, elements = shares.shape
    plans = [[_step(each, rank, size, elements) for each in plan]
             for rank, plan in enumerate(plans_in(recording, size))]  # fmt: skip
    held, at, steps, longest = shares.copy(), [0] * size, 0, 0
    sent, counts = [0] * size, [0] * size
    while any(at[rank] < len(plans[rank]) for rank in range(size)):
        now = [plan[place] if place < len(plan) else None for plan, place in zip(plans, at, strict=True)]
        carried = []
        for rank, other in _meeting(now):
            sender, receiver = now[rank], now[other]
            assert sender and sender.send and receiver and receiver.receive  # else they don't meet
            (_, first, last), (_, begin, end, adds) = sender.send, receiver.receive
            if last - first != end - begin:
                raise OtherLength(f"step {steps}: rank {rank} sends {last - first} elements, and rank {other} receives "
                                  f"{end - begin}")  # fmt: skip
            carried.append((other, slice(begin, end), held[rank, first:last].copy(), adds))
            sent[rank] += last - first
            counts[rank] += 1
            sender.send, receiver.receive = None, None
        if not carried:
            raise Stuck(_waiting(now, steps))
        for other, part, values, adds in carried:
            held[other, part] = held[other, part] + values if adds else values
        at = [place + (step is not None and step.done) for place, step in zip(at, now, strict=True)]
        steps, longest = steps + 1, longest + max(len(values) for _, _, values, _ in carried)
    return Messages(held, steps, longest, tuple(sent), tuple(counts))


def _meeting(now: list[_Step | None]) -> list[tuple[int, int]]:
    """Who sends to whom at this time: both are at it."""
    found = []
    for rank, step in enumerate(now):
        if step is not None and step.send is not None:
            other = now[step.send[0]]
            if other is not None and other.receive is not None and other.receive[0] == rank:
                found.append((rank, step.send[0]))
    return found


def _waiting(now: list[_Step | None], steps: int) -> str:
    words = []
    for rank, step in enumerate(now):
        for part, what in ((step and step.send, "to take its message"), (step and step.receive, "to send")):
            if part:
                words.append(f"rank {rank} waits for rank {part[0]} {what}")
    more = f", and {len(words) - 3} more wait" if len(words) > 3 else ""
    ended = [str(rank) for rank, step in enumerate(now) if step is None]
    gone = f" Ended: rank {', '.join(ended)}." if ended else ""
    return f"after {plural(steps, 'step')}, no rank can go on: {'; '.join(words[:3])}{more}.{gone}"

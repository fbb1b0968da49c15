"""How the banks of shared memory serve one request of a warp: the rule that the counters follow, step by step.

Shared memory has 32 banks, each 4 bytes wide; word `w` (bytes 4w to 4w + 3) lies in bank `w % 32`. In one wavefront
every bank serves one word, to all lanes that request it. A request whose fullest bank has *k* distinct words takes *k*
wavefronts. A warp's 8-byte accesses are served in two separate halves, its 16-byte accesses in four quarters. Atomics
update one lane at a time, so for them equal words count too.

Source: CUDA C++ Programming Guide, shared memory of the compute capabilities (banks, broadcast, 64- and 128-bit
accesses). Not modelled: hardware that merges parts whose lanes request the same words. `runtime/count.py` counts by
this rule in machine code; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

BANKS = 32
BANK_BYTES = 4
_WARP = 32


class SharedAccess(Protocol):
    """One warp's access, as `tools.steps.trace.Access` has it: 32 addresses, and which lanes take part."""

    @property
    def space(self) -> str: ...
    @property
    def op(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def lanes(self) -> Sequence[bool]: ...
    @property
    def addresses(self) -> Sequence[int]: ...


@dataclass(frozen=True)
class Word:
    """A word that a bank serves, by its number from the start of shared memory, and the lanes that get it."""

    number: int
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class Wavefront:
    """The word that each busy bank serves at once; `part` is the half or quarter of the warp."""

    part: int
    words: Mapping[int, Word]


def parts(nbytes: int) -> int:
    """The number of parts in which a warp's request of `nbytes` per lane is served: 1, 2 or 4."""
    return max(1, nbytes // BANK_BYTES)


def wavefronts(access: SharedAccess) -> tuple[Wavefront, ...]:
    """The wavefronts of one shared request, in order.

    `access`: a `trace.Access` of shared memory. Its conflicts are the wavefronts beyond `parts(access.nbytes)`.
    Raises ValueError for a request of another memory.
    """
    if access.space != "shared":
        raise ValueError(f"banks serve shared memory; this is a request of {access.space} memory: {access!r}")
    count = parts(access.nbytes)
    size = _WARP // count
    return tuple(
        Wavefront(part, words)
        for part in range(count)
        for words in _served(access, range(part * size, (part + 1) * size))
    )


def _served(access: SharedAccess, lanes: range) -> list[dict[int, Word]]:
    """For each wavefront a dictionary bank → word: the n-th word requested of a bank goes in the n-th wavefront."""
    queues: dict[int, list[Word]] = {}
    for lane in lanes:
        if not access.lanes[lane]:
            continue
        first = access.addresses[lane] // BANK_BYTES
        for number in range(first, first + parts(access.nbytes)):
            queue = queues.setdefault(number % BANKS, [])
            at = next((index for index, word in enumerate(queue) if word.number == number), None)
            if at is None or access.op == "atomic":
                queue.append(Word(number, (lane,)))
            else:
                queue[at] = Word(number, (*queue[at].lanes, lane))
    deepest = max(map(len, queues.values()), default=0)
    return [{bank: queue[n] for bank, queue in queues.items() if n < len(queue)} for n in range(deepest)]

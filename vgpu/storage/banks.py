"""How the banks of shared memory serve one request of a warp: the rule by which the counters count, laid out.

Shared memory has 32 banks, each 4 bytes wide; word `w` (bytes 4w to 4w + 3) lies in bank `w % 32`. In one wavefront
every bank serves one word, to as many lanes as want it. A request whose fullest bank has *k* distinct words takes *k*
wavefronts. A warp's 8-byte accesses are served in two halves and its 16-byte accesses in four quarters, each by
itself. Atomics update one lane at a time, so for them equal words count too.

Source: CUDA C++ Programming Guide, shared memory of the compute capabilities (banks, broadcast, 64- and 128-bit
accesses). Not modelled: hardware that merges parts whose lanes want the same words. `runtime/count.py` counts by this
rule in machine code; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BANKS = 32
BANK_BYTES = 4
_WARP = 32


@dataclass(frozen=True)
class Word:
    """A word that a bank serves, by its number from the start of shared memory, and the lanes that get it."""

    number: int
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class Wavefront:
    """What shared memory serves at once: for each busy bank its word; `part` is the half or quarter of the warp."""

    part: int
    words: Mapping[int, Word]


def parts(nbytes: int) -> int:
    """Into how many parts a warp's request of `nbytes` a lane falls, before any conflict: 1, 2 or 4."""
    return max(1, nbytes // BANK_BYTES)


def wavefronts(access) -> tuple[Wavefront, ...]:
    """The wavefronts of one shared request, in order.

    `access`: a `trace.Access` of shared memory. Its conflicts are the wavefronts beyond `parts(access.nbytes)`.
    Raises ValueError for a request of another memory.
    """
    if access.space != "shared":
        raise ValueError(f"banks serve shared memory; this is a request of {access.space} memory: {access!r}")
    pieces = parts(access.nbytes)
    size = _WARP // pieces
    return tuple(
        Wavefront(piece, words)
        for piece in range(pieces)
        for words in _served(access, range(piece * size, (piece + 1) * size))
    )


def _served(access, lanes: range) -> list[dict[int, Word]]:
    """One dictionary a wavefront, bank → word: the n-th word that a bank is asked for goes in the n-th wavefront."""
    queues: dict[int, list[Word]] = {}
    for lane in lanes:
        if not access.lanes[lane]:
            continue
        first = access.addresses[lane] // BANK_BYTES
        for number in range(first, first + parts(access.nbytes)):
            queue = queues.setdefault(number % BANKS, [])
            at = next((i for i, word in enumerate(queue) if word.number == number), None)
            if at is None or access.op == "atomic":
                queue.append(Word(number, (lane,)))
            else:
                queue[at] = Word(number, (*queue[at].lanes, lane))
    deepest = max(map(len, queues.values()), default=0)
    return [{bank: queue[turn] for bank, queue in queues.items() if turn < len(queue)} for turn in range(deepest)]

"""Races the slow way: the reference interpreter's accesses, every one remembered, with a full clock for every thread.

Nothing is shared with the sanitizer: one clock a thread that says what it knows of all others, one list of all
accesses a byte. Good for one block of a small launch with barriers of the whole block and full warps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vgpu import reference


@dataclass
class Observer:
    """Collects pairs of lines that race in shared memory, and lines that read what nobody has written."""

    threads: int
    races: set[frozenset] = field(default_factory=set)
    unwritten: set[int] = field(default_factory=set)

    def __post_init__(self):
        self.now = np.ones(self.threads, int)
        self.knows = np.zeros((self.threads, self.threads), int)
        self.at_barrier: set[int] = set()
        self.bytes: dict[int, list[tuple]] = {}

    def _join(self, threads) -> None:
        threads = sorted(threads)
        together = self.knows[threads].max(axis=0)
        together[threads] = self.now[threads]
        self.knows[threads] = together
        self.now[threads] += 1

    def step(self, step) -> None:
        lanes = {32 * step.warp + int(lane) for lane in np.flatnonzero(step.mask)}
        if self.at_barrier & lanes:  # they could not go on but that the barrier has opened, for all who wait there
            self._join(self.at_barrier)
            self.at_barrier = set()
        words = step.instruction.modifiers
        if step.instruction.opcode in ("bar", "barrier"):
            if "warp" in words:
                self._join(lanes)
            else:
                self.at_barrier |= lanes
        elif "sync" in words:
            self._join(lanes)

    def access(self, seen) -> None:
        if seen.space != "shared":
            return
        made = []
        for lane in np.flatnonzero(seen.mask):
            thread = 32 * seen.warp + int(lane)
            for byte in range(int(seen.addresses[lane]), int(seen.addresses[lane]) + seen.nbytes):
                history = self.bytes.setdefault(byte, [])
                if seen.op != "store" and not any(op != "load" for _, _, _, op in history):
                    self.unwritten.add(seen.line)
                for other, when, line, op in history:
                    reads = seen.op == op == "load"
                    atomics = seen.op == op == "atomic"
                    if other != thread and not reads and not atomics and self.knows[thread, other] < when:
                        self.races.add(frozenset((line, seen.line)))
                made.append((byte, (thread, int(self.now[thread]), seen.line, seen.op)))
        for byte, entry in made:
            self.bytes[byte].append(entry)


def observe(prepared, block, shared_bytes: int = 0) -> Observer:
    """Run one block of a prepared kernel under observation."""
    observer = Observer(int(np.prod(block)))
    reference.run(
        prepared.kernel, None, 1, block, prepared.params, shared_bytes=shared_bytes, on_step=observer.step,
        on_access=observer.access,
    )  # fmt: skip
    return observer

"""The same counts, found another way: from each step and each access of the reference interpreter."""

from __future__ import annotations

from collections import Counter

import numpy as np

SECTOR, BANKS, BANK = 32, 32, 4


def wavefronts(addresses, nbytes: int) -> int:
    """Phases of 32, 16 or 8 lanes; in each as many wavefronts as the busiest bank has different words."""
    lanes = 32 // max(1, nbytes // BANK)
    total = 0
    for start in range(0, 32, lanes):
        active = [a for a in addresses[start : start + lanes] if a is not None]
        words = {(a + k) // BANK for a in active for k in range(0, nbytes, BANK)}
        words |= {(a + nbytes - 1) // BANK for a in active}
        total += int(np.bincount([w % BANKS for w in words]).max()) if words else 0
    return total


class Naive:
    """Two observers for `reference.run`, and what they counted: `total`, and `lines` of what belongs to a line."""

    def __init__(self):
        self.total: Counter[str] = Counter()
        self.lines: dict[str, Counter] = {"instructions": Counter(), "branches": Counter()}

    def step(self, step) -> None:
        self.total["instructions"] += 1
        self.total["thread_instructions"] += int(step.mask.sum())
        self.lines["instructions"][step.line] += 1
        if step.instruction.opcode in ("bra", "brx"):
            self.total["branches"] += 1
            self.lines["branches"][step.line] += 1

    def access(self, access) -> None:
        lanes = [int(a) if m else None for a, m in zip(access.addresses, access.mask, strict=True)]
        kind = f"{access.space}_{access.op}"
        if access.op == "atomic" and access.space != "global":
            return
        if access.space == "global":
            touched = {b // SECTOR for a in lanes if a is not None for b in range(a, a + access.nbytes)}
            if access.op != "atomic":
                self.total[f"{kind}_bytes"] += access.nbytes * int(access.mask.sum())
        elif access.space == "local":  # words of the lanes lie side by side
            words = {(b // BANK * 32 + lane) for lane, a in enumerate(lanes) if a is not None
                     for b in range(a, a + access.nbytes)}  # fmt: skip
            touched = {word * BANK // SECTOR for word in words}
        elif access.space == "shared":
            self.total[f"{kind}_requests"] += 1
            self.total[f"{kind}_wavefronts"] += wavefronts(lanes, access.nbytes)
            return
        else:
            return
        self.total[f"{kind}_requests"] += 1
        self.total[f"{kind}_sectors"] += len(touched)

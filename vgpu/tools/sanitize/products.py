"""Products of warpgroups (`wgmma`) under the sanitizer: what they read in shared memory, and which are in flight.

A product reads its matrices by the asynchronous proxy, from its issue to the wait for its group. A wait covers all four
warps of the warpgroup, so who waited knows of what each of them read. Source: NVIDIA "PTX ISA", asynchronous proxy and
`wgmma.wait_group`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from vgpu.base.context import ENTRY_PLACE, ENTRY_THREADS, ENTRY_TIME
from vgpu.isa import tensor, warpgroup
from vgpu.lower.warpgroup import variant
from vgpu.reference.warpgroup import places

if TYPE_CHECKING:
    from vgpu.tools.sanitize.monitor import Monitor

MOST_BLOCKS = 256  # that are remembered
REMEMBERED = 64  # products of a warp of which other warps may come to know


@dataclass
class _Issued:
    """What one warp has issued: the groups it has committed, and (group, place, time) of each product."""

    committed: int = 0
    products: list[tuple[int, int, int]] = field(default_factory=list)
    waited: int = -1  # the latest group that it has waited for


class Products:
    """Records a launch's products in the shadows of its monitor."""

    def __init__(self, monitor: Monitor):
        self.monitor = monitor
        self.blocks: dict[int, dict[int, _Issued]] = {}  # by block and warp

    def _here(self, warp: int) -> _Issued:
        block = self.monitor.block()
        if block not in self.blocks and len(self.blocks) == MOST_BLOCKS:
            del self.blocks[next(iter(self.blocks))]  # which has probably ended
        return self.blocks.setdefault(block, {}).setdefault(warp, _Issued())

    def issued(self, number: int, is_a: bool, descriptor: int) -> None:
        """The running warp issues the product at a place, which reads A or B by a descriptor."""
        monitor, warp = self.monitor, self.monitor.worker["warp"]
        instruction = monitor.lowered.places[number - 1].instruction
        found = warpgroup.product(instruction.modifiers)
        assert found is not None, "only products that are known are compiled"
        made = variant(instruction, found)
        kind, turned = (found.a, made.a_turned) if is_a else (found.b, made.b_turned)
        rows = np.arange(warpgroup.ROWS) + warp % 4 * warpgroup.ROWS if is_a else np.arange(found.n)
        bits = 1 if kind == "b1" else tensor.BITS[kind]
        at = places(descriptor, rows, np.arange(found.k), bits, turned)
        part = np.unique(at >> monitor["shift"])
        monitor.copies.read(number, 32 * warp, part)
        self.mark(number, 32 * warp, part)
        if not is_a:  # which every product has in shared memory
            issued = self._here(warp)
            issued.products = [*issued.products, (issued.committed, number, monitor["time"])][-REMEMBERED:]

    def mark(self, number: int, thread: int, part: np.ndarray) -> None:
        """Note the reads; of those by other warps the last one is kept, too."""
        shadows = self.monitor.here.shadows
        before = shadows["reads"][part]
        other = (before != 0) & ((before & np.uint64(ENTRY_THREADS - 1)) >> np.uint64(5) != np.uint64(thread >> 5))
        shadows["others"][part] = np.where(other, before, shadows["others"][part])
        shadows["reads"][part] = np.uint64(self.monitor["time"] << ENTRY_TIME | number << ENTRY_PLACE | thread)

    def commit(self) -> None:
        """The running warp commits a group."""
        self._here(self.monitor.worker["warp"]).committed += 1

    def wait(self, pending: int) -> None:
        """The running warp has waited for all groups but the latest `pending`: it knows of what they read."""
        monitor, warp = self.monitor, self.monitor.worker["warp"]
        mine = self._here(warp)
        mine.waited = max(mine.waited, mine.committed - 1 - pending)
        known = monitor.order.here.known
        for other in range(warp // 4 * 4, warp // 4 * 4 + 4):
            for group, _, time in self._here(other).products:
                if group <= mine.waited:
                    rows = known[32 * warp : 32 * warp + 32, 32 * other]
                    np.maximum(rows, np.uint32(time + 1), out=rows)
        monitor.tick()

    def touched(self, number: int, product: int) -> None:
        """An instruction touches registers of the product at a place: is that in flight?"""
        mine = self._here(self.monitor.worker["warp"])
        if any(place == product and group > mine.waited for group, place, _ in mine.products):
            self.monitor.report.early(number, product, 32 * self.monitor.worker["warp"], self.monitor.block())

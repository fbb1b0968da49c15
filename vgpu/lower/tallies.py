"""What counted code notes besides the counters of its sites: how often basic blocks run, and what each warp does.

A followed warp also writes a log: every basic block it runs, and what each of its requests added to a site's counters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from vgpu.base.context import BY_WARP, BY_WARP_BYTES, ERROR_CODE, FAILED, SITE_BYTES
from vgpu.ir import Value
from vgpu.lower.basic_blocks import BasicBlock
from vgpu.lower.operands import Operands
from vgpu.lower.state import Site
from vgpu.ptx import Instruction

BASIC_BLOCK_SLOTS = 4  # executions, lanes, divergent branches, ends of loops that spin on memory


class Tallies(Operands):
    """The part of a lowering that counts."""

    def begin_tallies(self) -> None:
        """Nothing has been executed in this time slice of the warp."""
        self.steps = self.ir.variable("i64", 0, "steps_slot") if self.count else None
        self.followed: Value | None = None

    def begin_log(self) -> None:
        """Whether this warp is followed."""
        if self.follow:
            self.followed = self._number().eq(self.context("followed"))

    # ------------------------------------------------------------ sites

    def site(self, instruction: Instruction, kind: str, space: str = "", nbytes: int = 0, matrices: int = 0) -> int:
        located = replace(instruction, location=instruction.location or self.location)
        self.sites.append(Site(located, kind, space, nbytes, matrices, (self.here.index, self.position)))
        self.about_to_request(len(self.sites) - 1)
        return len(self.sites) - 1

    def site_pointer(self, number: int) -> Value:
        return self.ir.at(self.table("sites"), number * SITE_BYTES)

    def new_site(
        self, instruction: Instruction, kind: str, space: str = "", nbytes: int = 0, matrices: int = 0
    ) -> Value:
        """A pointer to a new site."""
        return self.site_pointer(self.site(instruction, kind, space, nbytes, matrices))

    def fail_where(self, lanes: Value, kind: str, site: int, address: Value) -> None:
        """End the run with an error if there are such lanes (bits)."""
        with self.ir.when(lanes.ne(0)):
            self.run_time("wb_fail_at", ERROR_CODE[kind], site, lanes, address)
            self.ir.give(self.ir.i32(FAILED))

    # ------------------------------------------------------------ basic blocks

    def tally(self, index: int, slot: int, amount: Value | int) -> None:
        """Add to one of a basic block's counters."""
        self.ir.add_to(self.ir.at(self.table("basic_blocks"), index * BASIC_BLOCK_SLOTS + slot, "i64"), amount)

    def executed(self, basic_block: BasicBlock, times: Value | int, lanes: Value) -> None:
        """The basic block runs, once or not at all (`times`), for `lanes` (bits)."""
        times = times if isinstance(times, Value) else self.ir.i64(times)
        self.tally(basic_block.index, 0, times)
        self.tally(basic_block.index, 1, self.ir.many(lanes).to("i64"))
        assert self.steps is not None
        self.steps.add(times * len(basic_block.counted))
        if self.follow:
            self._log(lambda: self.run_time("wb_follow_basic_block", basic_block.index, lanes), times.ne(0))

    def left(self, basic_block: BasicBlock, target: int) -> None:
        """Lanes go on at `target`: perhaps they leave loops that spin on memory; each counts."""
        loops = sum(basic_block.index in loop and target not in loop for loop in self.flow.spin_loops)
        if self.count and loops:
            self.tally(basic_block.index, 3, loops)

    def end_tallies(self) -> None:
        """The time slice of the warp is over: what it did is added to the table."""
        if self.steps is None:
            return
        ir, requests = self.ir, self.context_place("slice_requests")
        row = self.context("by_warp") + self._number() * BY_WARP_BYTES
        for name, amount in (("instructions", self.steps.get()), ("requests", ir.load(requests, "i64", 8))):
            self.ir.add_to((row + 8 * BY_WARP.index(name)).to("ptr"), amount)
        ir.store(requests, ir.i64(0), 8)

    # ------------------------------------------------------------ requests

    def not_global(self, lanes: Value) -> None:
        """The request that `lanes` (bits) have just made was counted as one to global memory, and is none."""
        self.ir.add_to(self.context_place("slice_requests"), -lanes.ne(0).to("i64"))

    def about_to_request(self, site: int) -> None:
        """Code that uses a site follows: keep its counters as they are for the log."""
        if self.follow:
            self.ir.call("void", "wb_follow_before", self.site_pointer(site))

    def requested(self, sites: Iterable[int]) -> None:
        """Code that used these sites has run: a followed warp logs what it added to their counters."""
        if self.follow and sites:
            codes = [(self.site_pointer(site), len(self.flow.basic_blocks) + site) for site in sites]
            self._log(lambda: [self.run_time("wb_follow_request", place, code) for place, code in codes])

    def _log(self, write: Callable[[], object], condition: Value | None = None) -> None:
        assert self.followed is not None
        with self.ir.when(self.followed if condition is None else self.followed & condition):
            write()

    def _number(self) -> Value:
        """The number of this warp among all of the launch."""
        return self.context("block") * self.context("warps") + self.context("warp")

"""What counted code notes besides the counters of its sites: how often basic blocks run, and what each warp does.

A followed warp also writes a log: every basic block it runs, and what each of its requests added to a site's counters.
"""

from __future__ import annotations

from collections.abc import Iterable

from vgpu.base.context import BY_WARP, BY_WARP_BYTES, SLOT
from vgpu.lower.basic_blocks import BasicBlock
from vgpu.runtime.emit import Value

BASIC_BLOCK_SLOTS = 4  # executions, lanes, divergent branches, ends of loops that ask memory whether they may go on


class Tallies:
    """The part of `lower.Lowering` that counts."""

    def begin_tallies(self) -> None:
        """Nothing has been executed in this turn of the warp."""
        if self.count:
            self.e.line("%steps_slot = alloca i64")
            self.e.line("store i64 0, ptr %steps_slot")
        self.logged = 0  # places where the log is written

    def begin_log(self) -> None:
        """Whether this warp is followed."""
        if self.follow:
            mine = self.e.icmp("eq", self._number(), self.context("followed"))
            self.e.line(f"%followed = and i1 {mine.text}, true")

    def tally(self, index: int, slot: int, amount: Value) -> None:
        """Add to one of a basic block's counters."""
        self._add(f"getelementptr i64, ptr %basic_blocks, i64 {index * BASIC_BLOCK_SLOTS + slot}", amount)

    def executed(self, basic_block: BasicBlock, times: Value, lanes: Value) -> None:
        """The basic block runs, once or not at all (`times`), for `lanes` (bits)."""
        e = self.e
        self.tally(basic_block.index, 0, times)
        self.tally(basic_block.index, 1, e.resize(e.intrinsic("llvm.ctpop", lanes), 64))
        steps = e.bin("mul", times, e.const("i64", len(basic_block.counted)))
        old = e.assign("load i64, ptr %steps_slot", "i64", False)
        e.line(f"store i64 {e.bin('add', old, steps).text}, ptr %steps_slot")
        if self.follow:
            call = f"@wb_follow_basic_block(ptr %ctx, i64 {basic_block.index}, i32 {lanes.text})"
            self._log([call], e.icmp("ne", times, e.const("i64", 0)))

    def left(self, basic_block: BasicBlock, target: int) -> None:
        """Lanes go on at `target`: perhaps they leave loops that ask memory whether they may; each counts."""
        loops = sum(basic_block.index in loop and target not in loop for loop in self.flow.asking)
        if self.count and loops:
            self.tally(basic_block.index, 3, self.e.const("i64", loops))

    def end_tallies(self) -> None:
        """The turn of the warp is over: what it did is added to the table."""
        if not self.count:
            return
        e = self.e
        table = self.context("by_warp")
        where = e.bin("add", table, e.bin("mul", self._number(), e.const("i64", BY_WARP_BYTES)))
        asked = e.assign(f"getelementptr i64, ptr %ctx, i64 {SLOT['slice_requests']}", "ptr", False)
        sums = {
            "instructions": e.assign("load i64, ptr %steps_slot", "i64", False),
            "requests": e.assign(f"load i64, ptr {asked.text}", "i64", False),
        }
        for name, amount in sums.items():
            place = e.bin("add", where, e.const("i64", 8 * BY_WARP.index(name)))
            self._add(f"inttoptr i64 {place.text} to ptr", amount)
        e.line(f"store i64 0, ptr {asked.text}")

    def not_asked(self, lanes: Value) -> None:
        """The request that `lanes` (bits) have just made was counted as one to global memory, and is none."""
        some = self.e.resize(self.e.icmp("ne", lanes, self.e.const("i32", 0)), 64)
        minus = self.e.bin("sub", self.e.const("i64", 0), some)
        self._add(f"getelementptr i64, ptr %ctx, i64 {SLOT['slice_requests']}", minus)

    def about_to_request(self, site: int) -> None:
        """Code that uses a site follows: keep its counters as they are for the log."""
        if self.follow:
            self.e.declarations.add("declare void @wb_follow_before(ptr)")
            self.e.line(f"call void @wb_follow_before(ptr {self.site_pointer(site)})")

    def requested(self, sites: Iterable[int]) -> None:
        """Code that used these sites has run: a followed warp logs what it added to their counters."""
        if self.follow and sites:
            codes = [(self.site_pointer(site), len(self.flow.basic_blocks) + site) for site in sites]
            self._log([f"@wb_follow_request(ptr %ctx, ptr {p}, i64 {code})" for p, code in codes])

    def _log(self, calls: list[str], where: Value | None = None) -> None:
        e = self.e
        e.declarations |= {
            "declare void @wb_follow_basic_block(ptr, i64, i32)", "declare void @wb_follow_request(ptr, ptr, i64)",
        }  # fmt: skip
        self.logged += 1
        log, on = f"log{self.logged}", f"logged{self.logged}"
        followed = Value("%followed", "i1", False)
        asked = followed if where is None else e.bin("and", followed, where)
        e.line(f"br i1 {asked.text}, label %{log}, label %{on}")
        e.label(log)
        for each in calls:
            e.line(f"call void {each}")
        e.line(f"br label %{on}")
        e.label(on)

    def _number(self) -> Value:
        """The number of this warp among all of the launch."""
        e = self.e
        return e.bin("add", e.bin("mul", self.context("block"), self.context("warps")), self.context("warp"))

    def _add(self, pointer: str, amount: Value) -> None:
        e = self.e
        p = e.assign(pointer, "ptr", False)
        old = e.assign(f"load i64, ptr {p.text}", "i64", False)
        e.line(f"store i64 {e.bin('add', old, amount).text}, ptr {p.text}")

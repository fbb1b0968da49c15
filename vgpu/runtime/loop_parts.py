"""What the two block loops have in common."""

from __future__ import annotations

from vgpu.base.context import FAILED, LAUNCH_SLOT, NAMED, OUT_OF_FUEL
from vgpu.ir.value import V64, Value
from vgpu.runtime.write import Routine

ROUNDS = 4096  # times that the barriers of blocks open before the loop looks up


class Loop(Routine):
    """A block loop: it returns one of DONE, OUT_OF_FUEL (to be called again), IDLE and FAILED."""

    def __init__(self, name: str):
        super().__init__(name, "ptr ctx", "i32", words="")
        self.launch, self.run = self.slot("launch", "ptr"), self.slot("run_warp", "ptr")
        self.warps, self.state_bytes = self.slot("warps"), self.slot("state_bytes")

    def stop(self, status: int) -> None:
        self.give(self.number("i32", status))

    def taken(self) -> Value:
        """How many of the launch's blocks have been taken; another worker may take one now."""
        place = self.at(self.launch, LAUNCH_SLOT["next_block"], "i64")
        return self.value("i64", f"load atomic i64, {place} monotonic, align 8")

    def take_blocks(self, count: Value | int = 1) -> Value:
        """The number of the launch's next block, the first of so many that no other worker gets."""
        place = self.at(self.launch, LAUNCH_SLOT["next_block"], "i64")
        count = count if isinstance(count, Value) else self.i64(count)
        return self.value("i64", f"atomicrmw add {place}, {count} monotonic")

    def exists(self, number: Value) -> Value:
        """Whether the launch has a block of this number."""
        return number.below(self.call("i64", "blocks_end", self.launch))

    def run_warp(self, state: Value) -> Value:
        """Run a warp until its fuel is burnt or it has to wait: what it returns. After a fault the loop ends."""
        status = self.call("i32", self.run, state, self["ctx"])
        self.go("fail", self.slot("error").ne(0))
        return status

    def open_barriers(self, states: Value, gathered: Value, told: bool) -> Value:
        """Open the barriers that can be opened: not 0 if there was one; `told` where the sanitizer may watch."""
        ctx, sizes = self["ctx"], (states, self.state_bytes, self.warps)
        whole = self.call("i64", "open_barriers", *sizes, gathered, self.slot("loose_barriers"))
        if told:
            with self.when(whole.ne(0)):
                self.call("void", "wb_s_opened", ctx)
        opened = self.variable("i64", whole)
        with self.when(self.load(self.at(gathered, NAMED), "i64", 8).ne(0)):
            parts = self.call("i64", "open_named", ctx, states, self.state_bytes, self.warps, gathered)
            opened.set(whole | parts)
        return opened.get()

    def spend_slice(self) -> None:
        """Count one slice of this call's; after the last the host looks at the clock."""
        with self.when(self.add_slot("slices", -1).above(0, signed=True) ^ 1):
            self.stop(OUT_OF_FUEL)

    def ends(self) -> None:
        """How the loop ends if warps wait for what cannot come, and after a fault."""
        self.label("deadlock")
        self.fail("deadlock", self.number("i64", 0), self.number("i32", 1), self.number(V64, 0))
        self.label("fail")
        self.set_slot("in_block", 0)
        self.stop(FAILED)

"""Routines of the sanitizer: slots of what it knows, and what the host is told."""

from __future__ import annotations

from vgpu.base.context import EVENT_CODE, WATCH_SLOT
from vgpu.ir.value import Value
from vgpu.runtime.write import Routine


class Watched(Routine):
    """One function that reads what the sanitizer knows."""

    def watched(self) -> Value:
        """Whether anybody watches."""
        return self.slot("watch").ne(0)

    def watch_place(self, name: str) -> Value:
        return self.at(self.slot("watch", "ptr"), 8 * WATCH_SLOT[name])

    def watch(self, name: str) -> Value:
        return self.load(self.watch_place(name), "i64", 8)

    def threads(self) -> Value:
        """The number of each lane's thread in its block."""
        return (self.slot("warp") << 5) + self.each_lane("i64")

    def event(
        self, code: str, a: Value | int = 0, b: Value | int = 0, mask: Value | int = 0, lanes: Value | None = None
    ) -> Value:
        """Tell the host: two numbers, a mask, and 64 bits a lane, as a vector or where they are."""
        numbers = [n.to("i64") if isinstance(n, Value) else self.number("i64", n) for n in (a, b, mask)]
        if lanes is not None and lanes.kind != "ptr":
            lanes = self.spread(lanes)
        event, number = self.watch("event").to("ptr"), self.i64(EVENT_CODE[code])
        return self.call("i64", event, self["ctx"], number, *numbers, lanes or self.null())

"""Writing functions of the runtime with the emitter: slots of the context, gathers, scatters, what the host is told."""

from __future__ import annotations

from helpers.vgpu.base.context import EVENT_CODE, SLOT, WATCH_SLOT
from helpers.vgpu.runtime.emit import Emitter, Value
from helpers.vgpu.runtime.text import V1, V64

RAMP = range(32)


class Body(Emitter):
    """One function of the runtime: slots, gathers and scatters in words."""

    def slot(self, name: str) -> Value:
        """A slot of the context."""
        p = self.assign(f"getelementptr i64, ptr %ctx, i64 {SLOT[name]}", "ptr", False)
        return self.assign(f"load i64, ptr {p.text}", "i64", False)

    def pointer(self, address: Value) -> str:
        return self.assign(f"inttoptr i64 {address.text} to ptr", "ptr", False).text

    def watch_place(self, name: str) -> str:
        base = self.pointer(self.slot("watch"))
        return self.assign(f"getelementptr i64, ptr {base}, i64 {WATCH_SLOT[name]}", "ptr", False).text

    def watch(self, name: str) -> Value:
        return self.assign(f"load i64, ptr {self.watch_place(name)}", "i64", False)

    def i64(self, value: int) -> Value:
        return self.const("i64", value)

    def lanes_of(self, mask: Value) -> Value:
        return self.assign(f"bitcast i32 {mask.text} to {V1}", "i1", True)

    def bits_of(self, lanes: Value) -> Value:
        return self.assign(f"bitcast {V1} {self.splat(lanes).text} to i32", "i32", False)

    def some(self, mask: Value) -> Value:
        return self.icmp("ne", mask, self.const("i32", 0))

    def gather(self, bits: int, addresses: Value, mask: Value) -> Value:
        v = f"<32 x i{bits}>"
        p = self.assign(f"inttoptr {V64} {addresses.text} to <32 x ptr>", "ptr", True)
        m = self.lanes_of(mask)
        align = max(1, bits // 8)
        call = f"call {v} @llvm.masked.gather.v32i{bits}.v32p0(<32 x ptr> {p.text}, i32 {align}, {V1} {m.text}, {v} zeroinitializer)"
        return self.assign(call, f"i{bits}", True)

    def scatter(self, values: Value, addresses: Value, mask: Value) -> None:
        bits = int(values.type[1:])
        p = self.assign(f"inttoptr {V64} {addresses.text} to <32 x ptr>", "ptr", True)
        m = self.lanes_of(mask)
        self.line(
            f"call void @llvm.masked.scatter.v32i{bits}.v32p0({values.full} {self.splat(values).text}, <32 x ptr> {p.text}, "
            f"i32 {bits // 8}, {V1} {m.text})"
        )

    def threads(self) -> Value:
        """The number of each lane's thread in its block."""
        first = self.bin("shl", self.slot("warp"), self.i64(5))
        return self.bin("add", first, self.vector_const("i64", RAMP))

    def when(self, condition: Value, tag: str):
        """Begin a block that runs where the condition holds; `after(tag)` ends it."""
        self.line(f"br i1 {condition.text}, label %{tag}, label %{tag}_end")
        self.label(tag)

    def after(self, tag: str) -> None:
        self.line(f"br label %{tag}_end")
        self.label(f"{tag}_end")

    def event(self, code: str, a: Value, b: Value, mask: Value, vector: str = "null") -> Value:
        f = self.pointer(self.watch("event"))
        return self.assign(
            f"call i64 {f}(ptr %ctx, i64 {EVENT_CODE[code]}, i64 {a.text}, i64 {b.text}, i64 {mask.text}, ptr {vector})",
            "i64",
            False,
        )


def function(head: str, build, attributes: str = "") -> str:
    e = Body()
    build(e)
    body = "\n".join(e.lines)
    return f"define {head} {attributes} {{\nentry:\n{body}\n}}\n"


def argument(name: str, kind: str, vector: bool = False) -> Value:
    return Value(f"%{name}", kind, vector)

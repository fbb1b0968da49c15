"""What writes the instructions of one function, in the order in which Python runs: memory, calls, conditions, loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from operator import or_

from vgpu.ir.value import LANES, Number, Value, constant, element_bits, vector

ENDS = ("br ", "ret ", "switch ", "unreachable")  # what ends a block


class Variable:
    """A place in the function's own memory, from where LLVM lifts it into registers."""

    def __init__(self, builder: Builder, kind: str, pointer: Value):
        self.builder, self.kind, self.pointer = builder, kind, pointer

    def get(self) -> Value:
        return self.builder.load(self.pointer, self.kind, 8)

    def set(self, value: Value | Number) -> None:
        value = value if isinstance(value, Value) else self.builder.number(self.kind, value)
        self.builder.store(self.pointer, value, 8)

    def add(self, amount: Value | Number) -> None:
        self.set(self.get() + amount)


class Builder:
    """Collects the lines of one function. LLVM declares its intrinsics by itself."""

    def __init__(self) -> None:
        self.rooms: dict[str, str] = {}  # name -> what sets its memory aside, at the function's start
        self.lines: list[str] = []
        self.declarations: set[str] = set()  # of the functions called
        self.masked: set[str] = set()  # results of "and"
        self.numbered = 0
        self.labels = 0  # written so far: a value of this stretch of lines is known in the rest of it
        self.ended = False

    def body(self) -> str:
        lines = [*self.rooms.values(), *self.lines]
        return "\n".join(f"  {text}" if not text.endswith(":") else text for text in lines)

    # -- lines

    def line(self, text: str) -> None:
        self.lines.append(text)
        self.ended = text.startswith(ENDS)

    def label(self, name: str) -> None:
        if not self.ended:
            self.line(f"br label %{name}")
        self.lines.append(f"{name}:")
        self.labels += 1
        self.ended = False

    def name(self) -> str:
        self.numbered += 1
        return f"v{self.numbered}"

    # -- values

    def value(self, kind: str, text: str) -> Value:
        """The result of an instruction."""
        name = self.name()
        self.line(f"%{name} = {text}")
        return Value(self, kind, f"%{name}")

    def named(self, kind: str, name: str) -> Value:
        """A value that has a name already: a parameter, or one of this function's."""
        return Value(self, kind, f"%{name}")

    def number(self, kind: str, value: Number) -> Value:
        return Value(self, kind, constant(kind, value))

    def i32(self, value: int) -> Value:
        return self.number("i32", value)

    def i64(self, value: int) -> Value:
        return self.number("i64", value)

    def null(self) -> Value:
        return Value(self, "ptr", "null")

    def each_lane(self, kind: str, values: Iterable[int] = range(LANES)) -> Value:
        """A vector of constants, the lanes' indices if no others are given."""
        listed = [f"{kind} {value}" for value in values]
        return Value(self, vector(kind, len(listed)), f"<{', '.join(listed)}>")

    def join(self, pieces: Sequence[Value]) -> Value:
        """Vectors of one kind, a power of two of them, one after the other in one."""
        while len(pieces) > 1:
            pairs = zip(pieces[::2], pieces[1::2], strict=True)
            pieces = [a.shuffle(b, range(2 * a.count)) for a, b in pairs]
        return pieces[0]

    # -- memory

    def variable(self, kind: str, initial: Value | Number | None = None, name: str = "") -> Variable:
        found = Variable(self, kind, self.room(kind, name, 8))
        if initial is not None:
            found.set(initial)
        return found

    def room(self, kind: str, name: str = "", align: int = 64) -> Value:
        """Memory of the function's own, one for each name: a pointer."""
        name = name or self.name()
        self.rooms.setdefault(name, f"%{name} = alloca {kind}, align {align}")
        return self.named("ptr", name)

    def spread(self, lanes: Value) -> Value:
        """A vector laid in memory, so that single lanes of it can be read: a pointer."""
        place = self.room(lanes.kind)
        self.store(place, lanes, 64)
        return place

    def at(self, pointer: Value, offset: Value | int, kind: str = "i8") -> Value:
        """A place so many bytes, or elements of another kind, after a pointer."""
        if isinstance(offset, int) and offset == 0:
            return pointer
        text = offset.to("i64").text if isinstance(offset, Value) else str(offset)
        return self.value("ptr", f"getelementptr {kind}, ptr {pointer.text}, i64 {text}")

    def load(self, pointer: Value, kind: str = "i64", align: int = 1, constant: bool = False) -> Value:
        """What a place holds; `constant`: it stays the same while the function runs."""
        tail = ", !invariant.load !0" if constant else ""
        return self.value(kind, f"load {kind}, ptr {pointer.text}, align {align}{tail}")

    def store(self, pointer: Value, value: Value, align: int = 1) -> None:
        self.line(f"store {value}, ptr {pointer.text}, align {align}")

    def add_to(self, pointer: Value, amount: Value | int) -> Value:
        """Add to the i64 at a place: the sum."""
        total = self.load(pointer, "i64", 8) + amount
        self.store(pointer, total, 8)
        return total

    def gather(self, kind: str, addresses: Value, mask: Value) -> Value:
        """One element from each lane's address (V64) where a mask is set, 0 elsewhere."""
        bits, whole = element_bits(kind), vector(kind)
        tail = f"i32 {max(1, bits // 8)}, {mask.lanes()}, {whole} zeroinitializer"
        name = f"llvm.masked.gather.v{LANES}i{bits}.v{LANES}p0"
        return self.value(whole, f"call {whole} @{name}({addresses.to('ptr')}, {tail})")

    def scatter(self, values: Value, addresses: Value, mask: Value) -> None:
        bits = element_bits(values.kind)
        name = f"llvm.masked.scatter.v{LANES}i{bits}.v{LANES}p0"
        self.line(f"call void @{name}({values}, {addresses.to('ptr')}, i32 {max(1, bits // 8)}, {mask.lanes()})")

    def load_lanes(self, pointer: Value, kind: str, mask: Value, align: int) -> Value:
        """Elements side by side, of those lanes whose bit is set in an i32; 0 in all others."""
        whole = vector(kind)
        name = f"llvm.masked.load.v{LANES}{kind}.p0"
        return self.value(
            whole, f"call {whole} @{name}({pointer}, i32 {align}, {mask.lanes()}, {whole} zeroinitializer)"
        )

    def store_lanes(self, pointer: Value, values: Value, mask: Value, align: int) -> None:
        name = f"llvm.masked.store.v{LANES}{values.element}.p0"
        self.line(f"call void @{name}({values}, {pointer}, i32 {align}, {mask.lanes()})")

    def copy(self, target: Value, source: Value, nbytes: Value | int) -> None:
        text = nbytes.to("i64").text if isinstance(nbytes, Value) else str(nbytes)
        self.line(f"call void @llvm.memcpy.p0.p0.i64({target}, {source}, i64 {text}, i1 false)")

    def fill(self, target: Value, byte: Value | int, nbytes: Value | int) -> None:
        text = nbytes.to("i64").text if isinstance(nbytes, Value) else str(nbytes)
        self.line(f"call void @llvm.memset.p0.i64({target}, i8 {getattr(byte, 'text', byte)}, i64 {text}, i1 false)")

    # -- calls

    def external(self, result: str, name: str, *kinds: str) -> Value:
        """A function of another module, declared: a pointer."""
        self.declarations.add(f"declare {result} @{name}({', '.join(kinds)})")
        return Value(self, "ptr", f"@{name}")

    def call(self, result: str, function: str | Value, *arguments: Value) -> Value:
        """Call a function by its name or its address: its result, which is not one where it is "void"."""
        if isinstance(function, str) and function.startswith("llvm."):
            function = Value(self, "ptr", f"@{function}")
        elif isinstance(function, str):
            function = self.external(result, function, *(a.kind for a in arguments))
        text = f"call {result} {function.text}({', '.join(map(str, arguments))})"
        if result == "void":
            self.line(text)
            return Value(self, result, "")
        return self.value(result, text)

    def many(self, mask: Value) -> Value:
        """How many bits are set in an i32."""
        return mask.intrinsic("llvm.ctpop")

    def lowest(self, mask: Value) -> Value:
        """The lowest lane whose bit is set in an i32, as an i32; of none 32."""
        return mask.intrinsic("llvm.cttz", flag=False)

    def among(self, value: Value, numbers: Sequence[int]) -> Value:
        """Whether a value is one of several numbers: an i1."""
        return reduce(or_, [value.eq(number) for number in numbers])

    # -- control

    def go(self, label: str, condition: Value | None = None) -> None:
        """Go on at a label, if an i1 is set or always."""
        if condition is None:
            return self.line(f"br label %{label}")
        name = self.name()
        self.branch(condition, label, f"{name}.else")
        self.label(f"{name}.else")

    def branch(self, condition: Value, yes: str, no: str) -> None:
        """Go on at one of two labels."""
        self.line(f"br {condition}, label %{yes}, label %{no}")

    def give(self, value: Value | None = None) -> None:
        """Return from the function."""
        self.line("ret void" if value is None else f"ret {value}")

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """The block runs if an i1 is set."""
        name = self.name()
        self.branch(condition, f"{name}.yes", f"{name}.on")
        self.label(f"{name}.yes")
        yield
        self.label(f"{name}.on")

    @contextmanager
    def repeat(self) -> Iterator[partial[None]]:
        """The block runs again and again until `stop()` or `stop(condition)`, which it gets, or `give` leaves it."""
        name = self.name()
        self.label(f"{name}.again")
        yield partial(self.go, f"{name}.out")
        if not self.ended:
            self.go(f"{name}.again")
        self.label(f"{name}.out")

    @contextmanager
    def once(self) -> Iterator[partial[None]]:
        """The block runs; it gets `leave()`, or `leave(condition)`, which goes to its end, also out of loops in it."""
        name = self.name()
        yield partial(self.go, f"{name}.out")
        self.label(f"{name}.out")

    @contextmanager
    def count_to(self, end: Value | int, start: Value | int = 0) -> Iterator[Value]:
        """The block runs for each number from `start` up to, and without, `end`: of its kind, or an i64."""
        index = self.variable(end.kind if isinstance(end, Value) else "i64", start)
        with self.repeat() as stop:
            i = index.get()
            stop(i.below(end) ^ 1)
            yield i
            index.add(1)

    @contextmanager
    def each(self, mask: Value) -> Iterator[Value]:
        """The block runs for each lane whose bit is set in an i32, the lowest first: it gets the lane as an i64."""
        rest = self.variable("i32", mask)
        with self.repeat() as stop:
            now = rest.get()
            stop(now.eq(0))
            rest.set(now & (now - 1))
            yield self.lowest(now).to("i64")

    @contextmanager
    def each_group(self, values: Value, mask: Value) -> Iterator[tuple[Value, Value, Value]]:
        """The block runs for each number (V64) that lanes of a mask have: it gets the number, its lanes' mask, and
        the lowest of its lanes."""
        kept = self.spread(values)  # LLVM would store all 32 of them again for each one that it takes out
        rest = self.variable("i32", mask)
        with self.repeat() as stop:
            now = rest.get()
            stop(now.eq(0))
            lane = self.lowest(now).to("i64")
            value = self.load(self.at(kept, lane, "i64"), "i64", 8)
            same = values.eq(value).bits()
            rest.set(now & ~same)
            yield value, same & now, lane

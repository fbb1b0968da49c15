"""The runtime's lane-by-lane operations: atomics, permutations, matches and 64-bit division."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import add, and_, or_, xor

from vgpu.ir.value import LANES, V32, V64, Value, element_bits, vector
from vgpu.runtime.write import Routine

WIDTHS = {"avx512": 16, "avx2": 8}  # lanes of the CPU's widest permutation of 32-bit values

# More than a relaxed atomic of PTX promises: the last block to add to a counter reads what the others wrote, in the
# "CUDA C++ Programming Guide" itself (memory fence functions) with no fence on its side. x86 orders atomics anyway.
ORDER = "acq_rel"

ATOMIC_OPS = {  # name -> (LLVM types, atomicrmw operation)
    "add": (("i32", "i64"), "add"), "fadd": (("float", "double"), "fadd"),
    "smin": (("i32", "i64"), "min"), "smax": (("i32", "i64"), "max"),
    "umin": (("i32", "i64"), "umin"), "umax": (("i32", "i64"), "umax"),
    "and": (("i32", "i64"), "and"), "or": (("i32", "i64"), "or"), "xor": (("i32", "i64"), "xor"),
    "exch": (("i32", "i64", "i128"), "xchg"), "inc": (("i32",), "uinc_wrap"), "dec": (("i32",), "udec_wrap"),
    "fmin": (("float", "double"), "fmin"), "fmax": (("float", "double"), "fmax"),
    "hadd": (("half",), "fadd"),
}  # fmt: skip

# The same for memory that no other thread of this machine works on, a block's shared memory: what stands there after.
PLAIN_OPS: dict[str, Callable[[Value, Value], Value]] = {
    "add": add, "fadd": add, "and": and_, "or": or_, "xor": xor,
    "min": lambda old, x: old.above(x, signed=True).select(x, old),
    "max": lambda old, x: old.below(x, signed=True).select(x, old),
    "umin": lambda old, x: old.above(x).select(x, old),
    "umax": lambda old, x: old.below(x).select(x, old),
    "xchg": lambda old, x: x,
    "uinc_wrap": lambda old, x: old.reaches(x).select(0, old + 1),
    "udec_wrap": lambda old, x: (old.eq(0) | old.above(x)).select(x, old - 1),
}  # fmt: skip


def _lane_by_lane(
    name: str, kind: str, step: Callable, expects: bool = False, shortcut: Callable = lambda r, places: None
) -> Routine:
    """An atomic: the active lanes take their turns in order.

    `step(r, pointer, value)`, with an expected value before that where it `expects` one, gives what stood there before.
    `shortcut(r, places)` comes before all turns; at `places` stand the addresses.
    """
    nbytes = element_bits(kind) // 8
    whole = vector(f"i{8 * nbytes}")
    given = ("expected", "value") if expects else ("value",)
    r = Routine(
        f"wb_{name}_{8 * nbytes}", ", ".join([f"{V64} addr", *(f"{whole} {g}" for g in given), "i32 mask"]), whole
    )
    places, *buffers = (r.spread(r[word]) for word in ("addr", *given))
    shortcut(r, places)
    with r.each(r["mask"]) as lane:
        memory = r.load(r.at(places, lane * 8), "i64", 8).to("ptr")
        mine = [r.at(buffer, lane * nbytes) for buffer in buffers]
        r.store(mine[-1], step(r, memory, *(r.load(place, kind, nbytes) for place in mine)), nbytes)
    r.give(r.load(buffers[-1], whole, 64))
    return r


def _plain(name: str, kind: str, operation: str) -> Routine:
    def step(r: Routine, memory: Value, x: Value) -> Value:
        nbytes = element_bits(kind) // 8
        old = r.load(memory, kind, nbytes)
        r.store(memory, PLAIN_OPS[operation](old, x), nbytes)
        return old

    return _lane_by_lane(f"own_{name}", kind, step, shortcut=partial(_one_place, kind, operation, True))


def _atomic(name: str, kind: str, operation: str) -> Routine:
    def step(r: Routine, memory: Value, x: Value) -> Value:
        return r.value(kind, f"atomicrmw {operation} {memory}, {x} {ORDER}")

    return _lane_by_lane(f"atom_{name}", kind, step, shortcut=partial(_one_place, kind, operation, False))


def _one_place(kind: str, operation: str, own: bool, r: Routine, places: Value) -> None:
    """All lanes at one address: the memory is read and written once, and each lane gets what it would have seen."""
    addr, mask = r["addr"], r["mask"]
    if operation not in PLAIN_OPS or kind == "i128":
        return
    with r.when((mask & mask - 1).ne(0)):
        last = 31 - mask.intrinsic("llvm.ctlz", flag=True)
        one, other = (r.load(r.at(places, lane, "i64"), "i64", 8) for lane in (r.lowest(mask), last))
        with r.when(one.eq(other)), r.when((addr.ne(one).bits() & mask).eq(0)):
            if operation == "add":
                _sums(r, one.to("ptr"), own)
            else:
                _in_registers(r, one.to("ptr"), kind, operation, own)


def _sums(r: Routine, memory: Value, own: bool) -> None:
    """Integers are added in any order."""
    value, lanes = r["value"], r["mask"].lanes()
    have = given = lanes.select(value, 0)
    for step in (1, 2, 4, 8, 16):
        # Lane i takes in lane i - step; the first lanes take in element 0 of a vector of zeros.
        order = [lane - step if lane >= step else 32 for lane in range(32)]
        have = have + have.shuffle(r.number(value.kind, 0), order)
    total = have.lane(31)
    if own:
        before = r.load(memory, total.kind, element_bits(total.kind) // 8)
        r.store(memory, before + total, element_bits(total.kind) // 8)
    else:
        before = r.value(total.kind, f"atomicrmw add {memory}, {total} {ORDER}")
    r.give(lanes.select(have - given + before, value))


def _in_registers(r: Routine, memory: Value, kind: str, operation: str, own: bool) -> None:
    """One lane's after the other's, all anew where another thread of this machine came between."""
    nbytes, whole = element_bits(kind) // 8, r["value"].kind
    values, seen, have = r.spread(r["value"]), r.spread(r["value"]), r.variable(kind)
    with r.repeat() as stop:
        before = r.load(memory, f"i{8 * nbytes}", nbytes)
        have.set(before.cast("bitcast", kind))
        with r.each(r["mask"]) as lane:
            old = have.get()
            r.store(r.at(seen, lane * nbytes), old, nbytes)
            have.set(PLAIN_OPS[operation](old, r.load(r.at(values, lane * nbytes), kind, nbytes)))
        after = have.get().as_int()
        if own:
            r.store(memory, after, nbytes)
            stop()
        else:
            stop(_swap(r, memory, before, after)[1])
    r.give(r.load(seen, whole, 64))


def _swap(r: Routine, memory: Value, expected: Value, value: Value) -> tuple[Value, Value]:
    """What stood there, and whether that was what was expected."""
    pair = r.value(f"{{ {value.kind}, i1 }}", f"cmpxchg {memory}, {expected}, {value} {ORDER} acquire")
    return r.value(value.kind, f"extractvalue {pair}, 0"), r.value("i1", f"extractvalue {pair}, 1")


def _compare_and_swap(bits: int, own: bool) -> Routine:
    def plain(r: Routine, memory: Value, expected: Value, value: Value) -> Value:
        old = r.load(memory, value.kind, bits // 8)
        r.store(memory, old.eq(expected).select(value, old), bits // 8)
        return old

    step = plain if own else lambda *given: _swap(*given)[0]
    return _lane_by_lane(f"{'own' if own else 'atom'}_cas", f"i{bits}", step, expects=True)


def _add_bfloat(r: Routine, memory: Value, x: Value) -> Value:
    """bfloat16 has no addition of its own on CPUs: add in float, round to nearest even, swap if no thread was faster."""
    wide = lambda value: (value.to("i32") << 16).cast("bitcast", "float")
    x, seen = wide(x), r.variable("i16", r.load(memory, "i16", 2))
    with r.repeat() as stop:
        old = seen.get()
        total = wide(old) + x
        bits = total.cast("bitcast", "i32")
        rounded = bits + 32767 + (bits >> 16 & 1) >> 16
        new = r.value("i1", f"fcmp uno {total}, {total.text}").select(32767, rounded.to("i16"))
        old, won = _swap(r, memory, old, new)
        seen.set(old)
        stop(won)
    return seen.get()


def _permute(vectors: str) -> Routine:
    """A shuffle: lane i gets the value of lane source[i]; sources are already in range."""
    r = Routine("wb_permute", f"{V32} value, {V32} source", V32, words="")
    width = WIDTHS.get(vectors)
    if width is None:
        where = (r["source"].to("i64") << 2) + r.spread(r["value"]).to("i64")
        r.give(r.gather("i32", where, r.number("i32", -1)))
        return r
    kind = vector("i32", width)
    values, sources = ([_part(r[name], at, width) for at in range(0, LANES, width)] for name in ("value", "source"))
    if vectors == "avx512":
        found = [r.call(kind, "llvm.x86.avx512.vpermi2var.d.512", values[0], at, values[1]) for at in sources]
    else:
        found = [_of_eights(r, values, at) for at in sources]
    r.give(r.join(found))
    return r


def _part(value: Value, start: int, width: int) -> Value:
    return value.shuffle(None, range(start, start + width))


def _of_eights(r: Routine, values: list[Value], source: Value) -> Value:
    """Eight lanes of a shuffle: each eight of the values permuted by the low bits, then chosen by the high ones."""
    found = [r.call(source.kind, "llvm.x86.avx2.permd", value, source) for value in values]
    low, high = ((source & bit).ne(0) for bit in (8, 16))
    return high.select(low.select(found[3], found[2]), low.select(found[1], found[0]))


def _match() -> Routine:
    """For each lane of a mask those that have its value."""
    r = Routine("wb_match", f"{V64} value, i32 mask", V32)
    values, result = r.spread(r["value"]), r.spread(r.number(V32, 0))
    with r.each(r["mask"]) as lane:
        same = r["value"].eq(r.load(r.at(values, lane * 8), "i64", 8))
        r.store(r.at(result, lane * 4), same.bits() & r["mask"], 4)
    r.give(r.load(result, V32, 64))
    return r


def _divide_64(signed: bool) -> Routine:
    """64-bit division: operands that fit 32 bits go through float64, which is exact for them."""
    r = Routine("wb_div_s64" if signed else "wb_div_u64", f"{V64} a, {V64} b", V64)
    operands = narrow = [r["a"], r["b"]]
    if signed:
        narrow = [value.to("i32") for value in operands]
        lost = [value ^ part.to("i64", signed=True) for value, part in zip(operands, narrow, strict=True)]
    high = r.call("i64", "llvm.vector.reduce.or.v32i64", lost[0] | lost[1] if signed else r["a"] | r["b"])
    with r.when((high if signed else high >> 32).eq(0)):
        a, b = (value.cast("sitofp", vector("double")) for value in narrow)
        r.give((a / b).cast("fptosi", V64))
    xs, ys = (r.spread(value) for value in operands)
    with r.count_to(32) as i:
        x, y = (r.load(r.at(place, i * 8), "i64", 8) for place in (xs, ys))
        stuck = y.eq(0) | x.eq(-(1 << 63)) & y.eq(-1) if signed else y.eq(0)
        r.store(r.at(xs, i * 8), x.binary("sdiv" if signed else "udiv", stuck.select(1, y)), 8)
    r.give(r.load(xs, V64, 64))
    return r


def source(vectors: str) -> str:
    parts = [_permute(vectors), _match(), _divide_64(True), _divide_64(False)]
    for name, (kinds, operation) in ATOMIC_OPS.items():
        parts += [_atomic(name, kind, operation) for kind in kinds]
        if operation in PLAIN_OPS:
            parts += [_plain(name, kind, operation) for kind in kinds]
    parts += [_compare_and_swap(bits, own) for bits in (16, 32, 64, 128) for own in (False, True)]
    parts += [_lane_by_lane(f"{whose}_badd", "i16", _add_bfloat) for whose in ("atom", "own")]
    return "".join(map(str, parts))

"""Products of warpgroups in LLVM IR: each warp's 16 rows, one function for each shape, types and operands.

`wb_wgmma_NAME(ctx, d, a, b, keep)` takes the registers of D side by side, those of A or its descriptor, the descriptor
of B, and whether D counts. A becomes columns in which each of its rows stands four times in a row, B eight columns at
a time those with even and those with odd numbers. So a vector of 16 sums is half a register of D: four rows of four
columns, and D is neither taken apart nor moved.

Each sum starts from D and takes the products in the order of k, one rounding to float32 a step, as `runtime.tensor`
does for `mma`; what is said there of hardware's order holds here. An f16 result is rounded once, at the end.
"""

from __future__ import annotations

import itertools

from vgpu.base.context import QUEUE
from vgpu.base.precision import BITS
from vgpu.ir.value import V64, Value, vector
from vgpu.isa.warpgroup import CHUNK, CHUNKS, DESCRIPTOR, GROUP, ROWS, GroupProduct, Variant, named
from vgpu.runtime.async_copy import own_queue, warp_queue
from vgpu.runtime.tensor import lay_rows, turn, widen
from vgpu.runtime.write import Routine

PREFIX = "wb_wgmma_"
SIDE = 16  # sums of a vector: four rows of four columns
PARTED = (0, 2, 4, 6, 1, 3, 5, 7)  # the columns of eight, as registers of D have them


_CHUNKS = dict(enumerate(CHUNKS))


class Matrix:
    """A matrix in shared memory, by the fields of its descriptor; `pairs`: swizzling keeps two chunks together."""

    def __init__(
        self,
        r: Routine,
        fields: dict[str, Value],
        turned: bool,
        shared: Value | None = None,
        pairs: Value | None = None,
    ):
        self.r, self.turned, self.shared, self.pairs = r, turned, shared or r.slot("shared_base"), pairs
        self.start, self.leading, self.stride, self.base = (fields[n] for n in ("start", "leading", "stride", "base"))
        self.chunks = fields["chunks"]
        self.plain = self.chunks.eq(1)
        self.pitch = self.chunks * CHUNK
        # Distances: to the next chunk of a row (K-major), from eight k to the next (MN-major).
        self.next = self.plain.select(self.leading, CHUNK)
        self.eight = self.plain.select(self.leading, self.stride)

    def rows(self, group: Value) -> Value:
        """How far eight rows, or one chunk of rows of an MN-major matrix, lie from the start."""
        if not self.turned:
            return group * self.stride
        across = group // self.chunks * self.leading + group % self.chunks * CHUNK
        return self.plain.select(group * self.stride, across)

    def place(self, offset: Value) -> Value:
        """A pointer to the chunk that is at an offset before swizzling."""
        address = self.start + offset
        line = (address >> 7) - self.base
        moved = (line & (self.chunks - 1)) << 4
        if self.pairs is not None:
            moved = self.pairs.select((line & 3) << 5, moved)
        return (self.shared + (address ^ moved)).to("ptr")

    def chunk(self, offset: Value, kind: str) -> Value:
        """The elements of the chunk at an offset, before swizzling."""
        return widen(kind, self.r.load(self.place(offset), "<4 x i32>", CHUNK))


def fields_of(
    r: Routine,
    descriptor: Value,
    layout: dict[str, tuple[int, int, int]] = DESCRIPTOR,
    chunks: dict[int, int] = _CHUNKS,
) -> dict[str, Value]:
    """The fields of a descriptor, and the chunks of its swizzling mode."""
    fields = {}
    for name, (first, bits, shift) in layout.items():
        fields[name] = (descriptor >> first & (1 << bits) - 1) << shift
    found = r.number("i64", chunks[0])
    for mode, count in chunks.items():
        found = fields["mode"].eq(mode).select(count, found)
    return fields | {"chunks": found}


def _kind(p: GroupProduct) -> str:
    return "i32" if p.whole else "float"


def _element(kind: str) -> str:
    return "s32" if kind == "b1" else kind  # single bits are multiplied a word at a time


# ---------------------------------------------------------------- A: [k][16 rows, each four times]


def _spread(r: Routine, p: GroupProduct, negated: bool, column: Value, to: Value) -> None:
    """Eight rows of one k, each four times."""
    value = column.shuffle(None, [row // 4 for row in range(32)])
    r.store(to, -value if negated else value, 64)


def _spread_rows(v: Variant) -> Routine:
    """Eight rows of A, one after the other, to where each k has them four times each."""
    p, kind = v.product, _kind(v.product)
    r = Routine("spread_rows", "ptr from, ptr to")
    across = r.room(f"[{8 * p.elements} x {kind}]")
    r.call("void", "turn", r["from"], across)
    with r.count_to(p.elements) as k:
        column = r.load(r.at(across, k << 5), vector(kind, 8), 32)
        _spread(r, p, v.negated, column, r.at(r["to"], k << 8))
    return r


def _read_rows(p: GroupProduct, role: str, kind: str) -> Routine:
    """Eight rows of a K-major matrix, one after the other: those of B as the registers of D have its columns."""
    r = Routine(f"read_{role}", "ptr ctx, i64 matrix, i64 group, ptr to")
    matrix = Matrix(r, fields_of(r, r["matrix"]), False)
    start, count = matrix.rows(r["group"]), p.elements // 2
    for row in range(8):
        at = (PARTED.index(row) if role == "b" else row) * p.elements
        for half in (0, 1):
            offset = start + matrix.pitch * row + (matrix.next if half else 0)
            r.store(r.at(r["to"], 4 * (at + half * count)), matrix.chunk(offset, _element(kind)), 4 * count)
    return r


def _read_columns(v: Variant, role: str, kind: str) -> Routine:
    """Eight rows of an MN-major matrix, whose chunks have one k each, to where A or B wants them."""
    p = v.product
    r = Routine(f"read_{role}", "ptr ctx, i64 matrix, i64 group, ptr to")
    matrix = Matrix(r, fields_of(r, r["matrix"]), True)
    start = matrix.rows(r["group"])
    for k in range(p.k):
        column = matrix.chunk(start + matrix.eight * (k // 8) + matrix.pitch * (k % 8), kind)
        if role == "a":
            _spread(r, p, v.negated, column, r.at(r["to"], k << 8))
        else:
            r.store(r.at(r["to"], k << 5), column.shuffle(None, PARTED), 32)
    return r


def _unpack_a(r: Routine, v: Variant, to: Value) -> None:
    p, kind = v.product, _kind(v.product)
    rows = r.room(f"[{ROWS * p.elements} x {kind}]")
    half = 8 * p.elements * 4
    if v.a_in_registers:
        lay_rows(r, p.a_fragment, r["a"], rows, kind)
    for eight in (0, 1):
        group = (r.slot("warp") & GROUP - 1) * 2 + eight
        if v.a_turned:
            r.call("void", "read_a", r["ctx"], r["a"], group, r.at(to, 128 * eight))
            continue
        if not v.a_in_registers:
            r.call("void", "read_a", r["ctx"], r["a"], group, r.at(rows, half * eight))
        r.call("void", "spread_rows", r.at(rows, half * eight), r.at(to, 128 * eight))


def _unpack_b(r: Routine, v: Variant, to: Value) -> None:
    """B: for each eight columns [k][4 even ones, 4 odd ones]."""
    p, kind = v.product, _kind(v.product)
    rows = r.room(f"[{8 * p.elements} x {kind}]")
    with r.count_to(p.n // 8) as group:
        place = r.at(to, group * (32 * p.elements))
        if v.b_turned:
            r.call("void", "read_b", r["ctx"], r["b"], group, place)
        else:
            r.call("void", "read_b", r["ctx"], r["b"], group, rows)
            r.call("void", "turn", rows, place)


# ---------------------------------------------------------------- sums


def _step(r: Routine, p: GroupProduct, a: Value, b: Value, total: Value) -> Value:
    if p.a == "b1":
        return total + (a & b).intrinsic("llvm.ctpop")
    return total + a * b if p.whole else a.intrinsic("llvm.fma", b, total)


def _finish(r: Routine, p: GroupProduct, start: Value, total: Value) -> Value:
    """Sums of integers wrap around; adding them to D may stop at the ends of the range."""
    if not p.whole:
        return total
    return start.intrinsic("llvm.sadd.sat", total) if p.saturates else start + total


def _eight_columns(p: GroupProduct, wide: bool) -> Routine:
    """Eight columns of sums: four registers of D, in place; `wide` vectors leave room for all of them at once."""
    kind = _kind(p)
    v = vector(kind, SIDE)
    r = Routine("eight_columns", "ptr columns, ptr rows, ptr sums, i1 keep")
    for odds in ((0, 1),) if wide else ((0,), (1,)):
        parts = [(odd, half) for odd in odds for half in range(4)]  # half: of rows 0 to 7, then of rows 8 to 15
        places = [r.at(r["sums"], 256 * (half // 2) + 128 * odd + 64 * (half % 2)) for odd, half in parts]
        starts = [r["keep"].select(r.load(place, v, 64), 0) for place in places]
        sums = [r.variable(v, 0 if p.whole else start) for start in starts]
        with r.count_to(p.elements) as k:
            b = {o: r.load(r.at(r["columns"], (k << 5) + 16 * o), vector(kind, 4), 16) for o in odds}
            b = {o: four.shuffle(None, [i % 4 for i in range(SIDE)]) for o, four in b.items()}
            rows = [r.load(r.at(r["rows"], (k << 8) + 64 * half), v, 64) for half in range(4)]
            for (odd, half), total in zip(parts, sums, strict=True):
                total.set(_step(r, p, rows[half], b[odd], total.get()))
        for place, start, total in zip(places, starts, sums, strict=True):
            r.store(place, _finish(r, p, start, total.get()), 64)
    return r


def _eight_narrow_columns(p: GroupProduct) -> Routine:
    """The same, of 8-bit floats, as Hopper sums them (`base.precision`)."""
    v, whole = vector("float", SIDE), vector("i32", SIDE)
    exponent, cut = 0x7F800000, (1 << 24 - BITS) - 1
    r = Routine("eight_narrow_columns", "ptr columns, ptr rows, ptr sums, i1 keep")
    for odd, half in itertools.product((0, 1), range(4)):
        place = r.at(r["sums"], 256 * (half // 2) + 128 * odd + 64 * (half % 2))
        start = r["keep"].select(r.load(place, v, 64), 0)

        def factors(k: Value, odd: int = odd, half: int = half) -> tuple[Value, Value]:
            four = r.load(r.at(r["columns"], (k << 5) + 16 * odd), vector("float", 4), 16)
            return r.load(r.at(r["rows"], (k << 8) + 64 * half), v, 64), four.shuffle(
                None, [i % 4 for i in range(SIDE)]
            )

        greatest = r.variable(whole, start.as_int() & 0x7FFFFFFF)
        with r.count_to(p.elements) as k:
            a, b = factors(k)
            greatest.set(greatest.get().intrinsic("llvm.umax", (a * b).as_int() & 0x7FFFFFFF))
        found = greatest.get()
        power = (found & exponent).intrinsic("llvm.umax", BITS << 23)
        unit, inverse = (power - (BITS - 1 << 23)).as_float(), (0 - power + (253 + BITS << 23)).as_float()
        total, plain = r.variable(whole, (start * inverse).cast("fptosi", "i32")), r.variable(v, start)
        with r.count_to(p.elements) as k:
            a, b = factors(k)
            total.add((a * b * inverse).cast("fptosi", "i32"))
            plain.set(a.intrinsic("llvm.fma", b, plain.get()))
        narrow = ((total.get().cast("sitofp", "float") * unit).as_int() & ~cut).as_float()
        r.store(place, found.below(exponent).select(narrow, plain.get()), 64)
    return r


def _halves(r: Routine, p: GroupProduct, sums: Value, load: bool) -> None:
    """The registers of an f16 D, of two elements each, to those of a float32 D, or back."""
    with r.count_to(p.n // 4) as register:
        packed, wide = r.at(r["d"], register << 7), r.at(sums, register << 8)
        if load:
            value = r.load(packed, vector("half", 64), 64).cast("fpext", "float")
            for odd in (0, 1):
                r.store(r.at(wide, 128 * odd), value.shuffle(None, range(odd, 64, 2)), 64)
        else:
            value = r.load(wide, vector("float", 64), 64).shuffle(None, [i // 2 + 32 * (i % 2) for i in range(64)])
            r.store(packed, value.cast("fptrunc", "half"), 64)


def multiply(v: Variant, vectors: str) -> str:
    """The module of one product."""
    p = v.product
    r = Routine(PREFIX + v.name, f"ptr ctx, ptr d, {'ptr' if v.a_in_registers else 'i64'} a, i64 b, i1 keep")
    rows, columns = (r.room(f"[{side * p.elements} x i32]") for side in (64, p.n))
    _unpack_a(r, v, rows)
    _unpack_b(r, v, columns)
    sums = r.room(f"[{16 * p.n} x float]") if p.d == "f16" else r["d"]
    if p.d == "f16":
        _halves(r, p, sums, True)
    with r.count_to(p.n // 8) as group:
        given = r.at(columns, group * (32 * p.elements)), rows, r.at(sums, group << 9), r["keep"]
        if p.eight_bit_floats:
            narrow = r.slot("narrow_sums").ne(0)
            with r.when(narrow):
                r.call("void", "eight_narrow_columns", *given)
            with r.when(narrow ^ 1):
                r.call("void", "eight_columns", *given)
        else:
            r.call("void", "eight_columns", *given)
    if p.d == "f16":
        _halves(r, p, sums, False)
    parts: list[Routine] = [turn(_kind(p), p.elements), _eight_columns(p, vectors == "avx512")]
    parts += [_eight_narrow_columns(p)] if p.eight_bit_floats else []
    parts += [] if v.a_turned else [_spread_rows(v)]
    if not v.a_in_registers:
        parts.append(_read_columns(v, "a", p.a) if v.a_turned else _read_rows(p, "a", p.a))
    parts.append(_read_columns(v, "b", p.b) if v.b_turned else _read_rows(p, "b", p.b))
    return f"{''.join(map(str, parts))}{r}"


# ---------------------------------------------------------------- checks


def _check() -> Routine:
    """The lanes that may multiply, all or none, `mask` being all or none.

    The block has all four warps of the warpgroup, and all lanes give the same descriptors and the same `keep`.
    """
    r = Routine("wb_warpgroup", f"ptr ctx, i64 site, i32 mask, {V64} a, {V64} b, i32 keep", "i32")
    mask, none = r["mask"], r.number("i32", 0)
    with r.when(mask.eq(0)):
        r.give(none)
    a, b = (r[name].ne(r[name].lane(0)).bits() for name in ("a", "b"))
    some = r["keep"].eq(-1).select(0, r["keep"])  # lanes that keep D where others don't
    with r.when((r.slot("warp") | GROUP - 1).below(r.slot("warps")) ^ 1):
        r.fail("warpgroup", r["site"], mask, r.slot("warps").splat())
        r.give(none)
    for unlike, shown in ((a, r["a"]), (b, r["b"]), (some, r["b"])):
        with r.when(unlike.ne(0)):
            r.fail("unlike", r["site"], unlike, shown)
            r.give(none)
    r.give(mask)
    return r


def end_of(fields: dict[str, Value], rows: Value, k: Value, turned: Value, eight: Value | int = 8) -> Value:
    """The byte of shared memory past a matrix of so many groups of rows (8 of them, or a chunk) and of `eight` k."""
    chunks, leading, stride = fields["chunks"], fields["leading"], fields["stride"]
    plain, rows, k = chunks.eq(1), rows - 1, k - 1
    along = rows * stride + plain.select(leading, CHUNK) + chunks * (7 * CHUNK)
    across = plain.select(
        k * leading + rows * stride,
        k * stride + rows // chunks * leading + rows.intrinsic("llvm.umin", chunks - 1) * CHUNK,
    ) + chunks * ((eight - 1) * CHUNK)
    last = fields["start"] + turned.select(across, along)
    # Swizzling leaves each chunk among those that it is exchanged with.
    return (last | chunks * CHUNK - 1) + 1


def _check_matrix() -> Routine:
    """The lanes that may multiply: all or none, where a matrix of 8·`rows` rows and 8·`k` columns isn't in shared memory.

    `k` counts for MN-major matrices only: rows of the others have 32 bytes.
    """
    r = Routine("wb_matrix", "ptr ctx, i64 site, i32 mask, i64 matrix, i64 rows, i64 k, i1 turned", "i32")
    end = end_of(fields_of(r, r["matrix"]), r["rows"], r["k"], r["turned"])
    beyond = end.above(r.slot("shared_bytes"))
    with r.when(beyond & r["mask"].ne(0)):
        r.fail("descriptor", r["site"], r["mask"], (end - 1).splat())
        r.give(r.number("i32", 0))
    r.give(r["mask"])
    return r


def _commit() -> Routine:
    """The warp has committed one more group of products."""
    r = Routine("wb_group_commit", "ptr ctx, i32 mask")
    with r.when(r["mask"].ne(0)):
        r.add_to(r.at(own_queue(r), QUEUE["products"]), 1)
        r.set_slot("barrier_events", 1)
    return r


def _ready() -> Routine:
    """Whether all warps of the warpgroup have committed this one's groups but the latest `pending`; else it stalls."""
    r = Routine("wb_group_ready", "ptr ctx, i64 site, i32 mask, i64 pending", "i1")
    wanted = r.load(r.at(own_queue(r), QUEUE["products"]), "i64", 8) - r["pending"]
    first = r.slot("warp") & -GROUP
    last = (first + GROUP).intrinsic("llvm.umin", r.slot("warps"))
    late = r.variable("i1", 0)
    with r.count_to(last, first) as warp:
        queue = warp_queue(r, warp)
        mine = r.load(r.at(queue, QUEUE["owner"]), "i64", 8).eq(r.slot("block") + 1)
        done = mine.select(r.load(r.at(queue, QUEUE["products"]), "i64", 8), 0)
        late.set(late.get() | done.below(wanted, signed=True))
    stalls = late.get() & r["mask"].ne(0)
    with r.when(stalls):
        for slot, value in (("stall_site", r["site"] + 1), ("stall_lane", 0), ("stall_offset", 0), ("stalled", 1)):
            r.set_slot(slot, value)
        r.set_slot("stall_warp", r.slot("warp"))
        r.set_slot("fuel", 0)
    r.give(stalls ^ 1)
    return r


def source() -> str:
    """What every kernel may call without asking."""
    return f"{_check()}{_check_matrix()}{_commit()}{_ready()}"


def later(name: str, vectors: str) -> str | None:
    """The module that defines a function which is only made when a kernel calls it, or None."""
    found = named(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    return multiply(found, vectors) if found else None

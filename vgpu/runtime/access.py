"""The runtime's memory accesses: bounds and alignment checked, sectors and wavefronts counted, lanes moved.

Kernels repeat themselves: a site nearly always sees the pattern of offsets (relative to lane 0) that it saw
last time. So the pattern is remembered with its extent and its counts, and the common path compares 32 offsets,
checks one address and adds to three counters. Everything else is the slow path.
"""

from __future__ import annotations

from vgpu.base.context import FOLLOWS, PATTERN, SEARCHES, SITE_SLOT
from vgpu.ir.value import LANES, V64, Value, vector
from vgpu.runtime import count, overwrites, repeated, slow
from vgpu.runtime.overwrites import LOAD, STORE
from vgpu.runtime.pattern import RUN, SAME
from vgpu.runtime.repeated import ADDRESSES, Repeated
from vgpu.runtime.slow import Access
from vgpu.runtime.write import Routine

# ---------------------------------------------------------------- which lanes may go on


def _check(space: str, counted: bool) -> Access:
    """The common path: if the pattern of an access fits the memory of the site it is counted, and its shape is told."""
    r = Access(f"wb_{{}}_{space}", counted, space, words="")
    request = Repeated(r, space, r["size"], counted)
    with r.when(request.fits):
        shape = r.known("shape")
        request.count(r["rule"])
        if request.marks:
            _mark(r, request, shape)
        r.give(shape << 32 | request.mask64)
    r.pass_on(f"slow_{r.letter}_{space}")
    return r


def _mark(r: Access, request: Repeated, shape: Value) -> None:
    """Mark the sectors of a pattern; where there are two, they are those of the lowest and of the highest address."""
    with r.once() as leave:
        with r.when(shape.eq(RUN)):
            request.mark_row(r["size"])
            leave()
        with r.when(request.units.above(2) ^ 1):
            extent = r.known("span") - request.room
            request.mark(request.lowest_mark, request.mark_at(request.from_base + extent))
            leave()
        r.call("void", "touch", r["ctx"], r["site"], r["where"] - request.base, request.learnt, r["rule"])


def _local(counted: bool) -> Access:
    """An access to local memory, at byte offsets within each thread's own area."""
    r = Access("wb_{}_local", counted, "local", words="")
    have, size = r.slot("local_bytes"), r["size"].to("i64")
    out = r["where"].above(have - size).bits()
    bad = have.reaches(size).select(out, -1) & r["mask"]
    good = r["mask"] & ~(bad | r.crooked(r["mask"]))
    with r.when(good.ne(r["mask"])):
        r.blame_for(bad, r["mask"] & ~good)
    if counted:
        with r.when(good.ne(0)):
            r.count_local(r["where"], good)
    r.give(good.to("i64"))
    return r


def _far(space: str, counted: bool, bits: int, stores: bool) -> Routine:
    """A check and then a move of 4 or 8 bytes a lane, where `repeated` knows no shorter way."""
    letter, kind = "c" if counted else "p", vector(f"i{bits}")
    given = f"ptr ctx, ptr site, {ADDRESSES[space]} where, i32 mask"
    if stores:
        r = Routine(f"far_{letter}_{space}_store{bits}", f"{given}, {kind} value")
    else:
        r = Routine(f"far_{letter}_{space}_load{bits}", given, kind)
    size, rule = r.number("i32", bits // 8), r.number("i32", STORE if stores else LOAD)
    access = (r[word] for word in ("ctx", "site", "where", "mask"))
    answer = r.call("i64", f"wb_{letter}_{space}", *access, size, rule)
    addr = r["where"] if space == "global" else r["where"].to("i64") + r.slot("shared_base")
    if not stores:
        r.give(r.call(kind, f"move_load{bits}", addr, answer))
    elif counted:
        r.call("void", f"move_told_store{bits}", r["site"], addr, r["value"], answer)
    else:
        r.call("void", f"move_store{bits}", addr, r["value"], answer)
    return r


def _far_row(word: str, space: str, counted: bool, bits: int) -> Routine:
    """A load or store of which the first address is given, with the addresses of all lanes."""
    r = repeated.routine(word, space, counted, bits, "far")
    steps = r.each_lane(repeated.element_of(space), [lane * bits // 8 for lane in range(LANES)])
    given = [r["value"]] if word in repeated.STORES else []
    function = r.function.replace("far_", "wb_").replace("_row_", "_")
    found = r.call(r.result, function, r["ctx"], r["site"], r["first"].splat() + steps, r["mask"], *given)
    r.give(*([] if given else [found]))
    return r


def _far_follower(space: str, counted: bool, bits: int) -> Routine:
    """A load that follows another, the long way; from then on it follows, if both have found the same pattern."""
    letter, kind = "c" if counted else "p", vector(f"i{bits}")
    r = Routine(f"far_{letter}_{space}_next{bits}", repeated.FOLLOWER, kind)
    where = r.load(r["base"], ADDRESSES[space], 64) + r["offset"].to(repeated.element_of(space))
    found = r.call(kind, f"wb_{letter}_{space}_load{bits}", r["ctx"], r["site"], where, r["mask"])
    offsets = where - where.lane(0)
    same = r["mask"].ne(0)
    for site in (r["site"], r["leader"]):
        learnt = r.load(r.at(site, PATTERN), ADDRESSES[space], 64)
        lanes = r.load(r.at(site, 8 * SITE_SLOT["mask"]), "i64", 8)
        same = same & (learnt.ne(offsets).bits() & r["mask"]).eq(0) & lanes.eq(r["mask"].to("i64"))
    with r.when(same):
        r.store(r.at(r["site"], FOLLOWS), r.load(r.at(r["leader"], SEARCHES), "i64", 8), 8)
    r.give(found)
    return r


# ---------------------------------------------------------------- moving the data


def _split(r: Routine) -> tuple[Value, Value]:
    """The good lanes and the shape in the answer of an access check."""
    return r["answer"].to("i32"), (r["answer"] >> 32).to("i32")


def _load(name: str, bits: int, words: str = "") -> Routine:
    """Load the lanes that an access check let through."""
    kind, nbytes = f"i{bits}", bits // 8
    r = Routine(f"{name}{bits}", f"{V64} addr, i64 answer", vector(kind), words)
    mask, shape = _split(r)
    with r.when(shape.eq(RUN)):
        r.give(r.load(r["addr"].lane(0).to("ptr"), vector(kind), nbytes))
    with r.when(shape.eq(SAME)):
        # The lanes agree, but lane 0 may not be among them: ask the first that is.
        r.give(r.load(r["addr"].lane(r.lowest(mask)).to("ptr"), kind, nbytes).splat())
    r.give(r.gather(kind, r["addr"], mask))
    return r


def _store(name: str, bits: int, words: str = "", told: bool = False) -> Routine:
    """Store the lanes that an access check let through; `told` where those that overwrite one another are counted."""
    kind, nbytes = vector(f"i{bits}"), bits // 8
    site = "ptr site, " if told else ""
    r = Routine(f"{name}{bits}", f"{site}{V64} addr, {kind} value, i64 answer", words=words)
    mask, shape = _split(r)
    with r.when(shape.eq(RUN)):
        r.store(r["addr"].lane(0).to("ptr"), r["value"], nbytes)
        r.give()
    r.scatter(r["value"], r["addr"], mask)
    if told:
        overwrites.tell(r, shape, mask)
    return r


def _once(bits: int) -> Routine:
    """Load one element for all lanes, if any was let through."""
    kind = f"i{bits}"
    r = Routine(f"wb_once{bits}", "i64 addr, i64 answer", kind, words="")
    with r.when(r["answer"].to("i32").ne(0)):
        r.give(r.load(r["addr"].to("ptr"), kind, bits // 8))
    r.give(r.number(kind, 0))
    return r


def _plain_access(word: str, space: str, counted: bool, bits: int, avx512: bool) -> Routine:
    """The shortest way to load or store."""
    if space == "shared" and "row" in word:
        return repeated.shared_row(word, counted, bits)
    if word in repeated.STORES:
        return repeated.store(word, space, counted, bits)
    return repeated.load(word, space, counted, bits, avx512)


def source(avx512: bool) -> str:
    """All of it; `avx512` allows instructions that only AVX-512 has."""
    parts: list[str | Routine] = [count.source(), overwrites.source(), slow.source(avx512)]
    for counted in (True, False):
        parts += [_check(space, counted) for space in ADDRESSES]
        parts += [_local(counted)]
        for space in ADDRESSES:
            for bits in (32, 64):
                for word in (*repeated.LOADS, *repeated.STORES):
                    parts += [_plain_access(word, space, counted, bits, avx512)]
                parts += [_far_row(word, space, counted, bits) for word in ("row_load", "row_store")]
                parts += [_far_follower(space, counted, bits)]
                parts += [_far(space, counted, bits, stores) for stores in (False, True)]
    for bits in (8, 16, 32, 64):
        for name, words in (("wb_", ""), ("move_", "alwaysinline")):
            parts += [_load(f"{name}load", bits, words), _store(f"{name}store", bits, words)]
            parts += [_store(f"{name}told_store", bits, words, told=True)]
        parts += [_once(bits)]
    return "".join(map(str, parts))

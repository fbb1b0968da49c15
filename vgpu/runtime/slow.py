"""The uncommon path of a memory access: look the address up, check every lane, count, and learn the pattern."""

from __future__ import annotations

from vgpu.base.context import ERROR_CODE, SEARCHES
from vgpu.ir.value import V64, Value
from vgpu.runtime.count import LOCAL, REMOTE, SHARED
from vgpu.runtime.overwrites import ATOMIC, LOAD, STORE
from vgpu.runtime.pattern import SHARED_ELEMENT, Request
from vgpu.runtime.repeated import ADDRESSES
from vgpu.runtime.write import Routine


class Access(Routine):
    """A function that is asked which lanes of an access may go on; see `pattern` for what it answers.

    `c` in its name is for what counts, `p` (plain) for what only checks.
    """

    def __init__(self, name: str, counted: bool, space: str, words: str = "noinline"):
        self.counted, self.letter = counted, "c" if counted else "p"
        parameters = f"ptr ctx, ptr site, {ADDRESSES.get(space, V64)} where, i32 mask, i32 size, i32 rule"
        super().__init__(name.format(self.letter), parameters, "i64", words)

    @property
    def writes(self) -> Value:
        """Whether the access writes, as an atomic does."""
        return self["rule"].ne(LOAD)

    def answer(self, lanes: Value) -> None:
        """Return these lanes (i32) of an access without a learnt pattern.

        Where it counts, the shape says of a store that the addresses have to be compared.
        """
        lanes = lanes.to("i64")
        if self.counted:
            lanes = lanes | self["rule"].eq(STORE).select(self.number("i64", SHARED_ELEMENT << 32), 0)
        self.give(lanes)

    def blame(self, code: str | Value, lanes: Value) -> None:
        """Report an error of some lanes."""
        code = code if isinstance(code, Value) else self.number("i64", ERROR_CODE[code])
        id_ = self.call("i64", "site_id", self["ctx"], self["site"])
        self.call("void", "fail", self["ctx"], code, id_, lanes, self["where"].to("i64"))

    def blame_for(self, outside: Value, faulty: Value) -> None:
        """Report the lanes outside, or where there are none, those of the faulty lanes that are misaligned."""
        out = outside.ne(0)
        code = out.select(self.number("i64", ERROR_CODE["bounds"]), ERROR_CODE["alignment"])
        self.blame(code, out.select(outside, faulty))

    def crooked(self, lanes: Value) -> Value:
        """Those whose address is no multiple of their size."""
        where, size = self["where"], self["size"]
        return (where & (size.to("i64") if where.kind == V64 else size) - 1).ne(0).bits() & lanes

    def count_shared(self, offsets: Value, lanes: Value) -> None:
        """Count a request to shared memory; the lanes that a site counts are those in global memory, if any may be."""
        wavefronts = self.wavefronts(offsets, lanes)
        self.bump("shared_requests", 1)
        self.bump("shared_wavefronts", wavefronts.to("i64"))

    def count_local(self, within: Value, lanes: Value) -> None:
        """Count a request to local memory."""
        sectors = self.call("i32", "local_sectors", within, lanes, self["size"])
        self.bump("local_requests", 1)
        self.bump("local_sectors", sectors.to("i64"))

    def count_remote(self, lanes: Value) -> None:
        """Count a request to the shared memory of other blocks of the cluster."""
        self.bump("remote_requests", 1)
        self.bump("remote_lanes", self.many(lanes).to("i64"))

    def others(self, offsets: Value) -> Value:
        """The lanes whose offsets into the block's local memory are another thread's, as no GPU lets them be."""
        threads = (self.slot("warp") << 5) + self.each_lane("i64")
        have, size = self.slot("local_bytes"), self["size"].to("i64")
        out = (offsets - threads * have).above(have - size).bits()
        return have.reaches(size).select(out, -1)

    def wavefronts(self, offsets: Value, lanes: Value) -> Value:
        """How many a request to shared memory needs, an i32."""
        every = self["rule"].eq(ATOMIC).to("i32")
        return self.call("i32", "wavefronts", offsets, lanes, self["size"], every)


def _slow_global(counted: bool) -> Access:
    """An access by addresses, which may be of any space, that its site knows no pattern of."""
    r = Access("slow_{}_global", counted, "global")
    r.add_to(r.at(r["site"], SEARCHES), 1)
    mixed = f"mixed_{r.letter}"
    where, mask, size = r["where"], r["mask"], r["size"]
    with r.when(mask.eq(0)):
        r.give(r.number("i64", 0))
    with r.when((where.lane(r.lowest(mask)) - r.slot("heap")).below(r.slot("heap_bytes"))):
        with r.when(r.call("i1", f"heap_{r.letter}", *r.parameters.values())):
            r.answer(mask)
        r.pass_on(mixed)
    span, off = r.variable("i64", 0), r.variable(V64, 0)

    def beyond() -> Value:
        """Lanes outside the allocation that the site knows."""
        span.set(r.known("span"))
        off.set(where - r.known("base"))
        return off.get().above(span.get()).bits() & mask

    bad = beyond()
    with r.when(bad.ne(0)):
        placed = r.call("i1", "place", r["ctx"], r["site"], where.lane(r.lowest(bad)), size.to("i64"), r.writes)
        with r.when(beyond().eq(0) & placed ^ 1):
            r.pass_on(mixed)
    crooked = r.crooked(mask)
    good = mask & ~crooked
    with r.when(crooked.ne(0)):
        r.blame("alignment", crooked)
        r.give(good.to("i64"))
    space = r.known("space")
    with r.when(space.ne(0)):
        with r.when(space.eq(LOCAL)):
            others = r.others(off.get()) & good
            with r.when(others.ne(0)):
                r.blame("bounds", others)
                r.give((good & ~others).to("i64"))
            if counted:
                r.count_local(off.get() % r.slot("local_bytes"), good)
        if counted:  # the site may know the place from another block of a cluster
            own = r.known("base").eq(r.slot("shared_base"))
            with r.when(space.ne(LOCAL) & own):
                r.count_shared(off.get().to("i32"), good)
            with r.when(space.ne(LOCAL) & (own ^ 1)):
                r.count_remote(good)
        r.answer(good)
    request = Request(r, where, mask, size)
    request.learn(span.get(), lambda: r.pass_on(mixed))
    if not counted:
        r.give(request.mask64)
        return r
    firsts = r.call("i32", "first_lanes", off.get() >> 5, mask)
    r.store(request.phase(), firsts, 4)
    # Lanes that have a sector each share no element.
    with r.when(r["rule"].eq(STORE) & r.many(firsts).below(r.many(mask))):
        r.call("void", "learn_shared_elements", r["site"], off.get(), mask)
    r.pass_on("wb_c_global")
    return r


def _mixed(counted: bool) -> Access:
    """Lanes in several allocations, or some outside all: each lane is looked up by itself."""
    r = Access("mixed_{}", counted, "global", words="noinline cold")
    where, size = r["where"], r["size"].to("i64")
    good, lost, places = r.variable("i32", 0), r.variable("i32", 0), r.spread(where)
    in_shared, in_local, in_remote = (r.variable("i32", 0) for _ in range(3))
    with r.each(r["mask"]) as lane, r.once() as leave:
        address, bit = r.load(r.at(places, lane, "i64"), "i64", 8), lane.bit()
        with r.when(r.call("i1", "place", r["ctx"], r["site"], address, size, r.writes) ^ 1):
            lost.set(lost.get() | bit)
            leave()
        with r.when(r.known("space").eq(LOCAL) & (r.others(where - r.known("base")) & bit).ne(0)):
            lost.set(lost.get() | bit)
            leave()
        with r.when((address & size - 1).ne(0)):
            r.blame("alignment", bit)
            leave()
        good.set(good.get() | bit)
        if counted:
            for space, lanes in ((SHARED, in_shared), (LOCAL, in_local), (REMOTE, in_remote)):
                with r.when(r.known("space").eq(space)):
                    lanes.set(lanes.get() | bit)
            with r.when(r.slot("reads").ne(0) & r.known("space").eq(0)):
                off = where - r.known("base")
                r.call("void", "touch", r["ctx"], r["site"], off, bit, r["rule"])
    with r.when(lost.get().ne(0)):
        r.blame("bounds", lost.get())
    if counted:  # a request to each of the spaces
        rest = good.get() & ~(in_shared.get() | in_local.get() | in_remote.get())
        with r.when(in_remote.get().ne(0)):
            r.count_remote(in_remote.get())
        with r.when(rest.ne(0)):
            r.bump("requests", 1)
            r.bump("sectors", r.call("i32", "distinct", where >> 5, rest).to("i64"))
            r.bump("lanes", r.many(rest).to("i64"))
        with r.when(in_shared.get().ne(0)):
            r.count_shared((where - r.slot("shared_base")).to("i32"), in_shared.get())
        with r.when(in_local.get().ne(0)):
            r.count_local((where - r.slot("local_base")) % r.slot("local_bytes"), in_local.get())
    r.set_site(span=0, base=-1, mask=-1)  # the next request starts with a fresh look-up
    r.answer(good.get())
    return r


def _slow_shared(counted: bool, windows: bool) -> Access:
    """An access by offsets into shared memory that its site knows no pattern of."""
    r = Access("slow_{}_shared", counted, "shared")
    r.add_to(r.at(r["site"], SEARCHES), 1)
    where, mask = r["where"], r["mask"]
    with r.when(mask.eq(0)):
        r.give(r.number("i64", 0))
    span = r.slot("shared_bytes") - r["size"].to("i64")
    bad = where.to("i64").above(span, signed=True).bits() & mask
    crooked = r.crooked(mask)
    faulty = bad | crooked
    with r.when(faulty.ne(0)):
        r.blame_for(bad, faulty)
        r.give((mask & ~faulty).to("i64"))
    request = Request(r, where, mask, r["size"])

    def strange() -> None:
        if counted:
            r.count_shared(where, mask)
            r.bump("lanes", r.many(mask).to("i64"))
        r.answer(mask)

    request.learn(span, strange, windows)
    if not counted:
        r.give(request.mask64)
        return r
    # What a shared access costs does not depend on where its pattern starts.
    r.store(request.phases(), r.wavefronts(where, mask).splat(8), 4)
    with r.when(r["rule"].eq(STORE)):
        r.call("void", "learn_shared_elements", r["site"], where.to("i64"), mask)
    r.pass_on("wb_c_shared")
    return r


def source(avx512: bool) -> str:
    """All of it; `avx512` lets patterns be marked that only AVX-512 serves faster."""
    return "".join(f"{_slow_global(c)}{_mixed(c)}{_slow_shared(c, avx512)}" for c in (True, False))

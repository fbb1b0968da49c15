"""The runtime's part of textures and surfaces: handles looked up team by team, sectors counted, addresses made.

Lanes that name one handle are a team; nearly always that is the whole warp. What reads a texel is compiled for the
texture (`lower.sampling`) and called through its descriptor.
"""

from __future__ import annotations

from collections.abc import Callable

from vgpu.base.context import CLAMP_OUTSIDE, TEXTURE_FIELD, TEXTURE_KEYS, TEXTURE_RESULTS, TRAP_OUTSIDE
from vgpu.ir.value import V32, V64, Value
from vgpu.runtime.write import Routine

_SLOTS = 512  # of the hash table; at most 8 texels a lane go in


def _distinct() -> Routine:
    """How many distinct numbers, all ones not counted, there are among n."""
    r = Routine("distinct_keys", "ptr keys, i32 n", "i32")
    seen, found = r.room(f"[{_SLOTS} x i32]"), r.variable("i32", 0)
    r.fill(seen, -1, 4 * _SLOTS)
    with r.count_to(r["n"].to("i64")) as i:
        key = r.load(r.at(r["keys"], i * 4), "i32", 4)
        with r.when(key.ne(-1)):
            at = r.variable("i32", key * -1640531527 >> 32 - _SLOTS.bit_length() + 1)
            with r.repeat() as stop:
                place = r.at(seen, at.get().to("i64") * 4)
                old = r.load(place, "i32", 4)
                stop(old.eq(key))
                free = old.eq(-1)
                with r.when(free):  # and in the next round it stands there
                    r.store(place, key, 4)
                    found.add(1)
                at.set(free.select(at.get(), at.get() + 1 & _SLOTS - 1))
    r.give(found.get())
    return r


def _field(r: Routine, desc: Value, name: str) -> Value:
    return r.load(r.at(desc, 8 * TEXTURE_FIELD[name]), "i64", 8)


def _same_code(r: Routine, have: Value) -> Value:
    return have.eq(r["code"])


def _same_family(r: Routine, have: Value) -> Value:
    """Three codes a geometry: the first is that of surfaces."""
    return (have % 3).eq(1).to("i64").eq(r["surface"])


def _team(r: Routine, handle: Value, group: Value, fits: Callable[[Routine, Value], Value]) -> Value:
    """The descriptor of a handle, of the right code; where there is none its lanes are told."""
    desc, usable = r.variable("ptr", r.null()), r.variable("i1", 0)
    with r.when(handle.below(r.slot("texture_count"))):
        desc.set(r.load(r.at(r.slot("textures", "ptr"), handle * 8), "ptr", 8))
    with r.when(desc.get().ne(r.null())):
        usable.set(fits(r, _field(r, desc.get(), "code")))
    _unless(r, usable.get(), group)
    return desc.get()


def _unless(r: Routine, fine: Value, lanes: Value) -> None:
    """Fail for some lanes where not all is well; the message needs all lanes' coordinates besides."""
    with r.when(fine ^ 1):
        data = r.slot("texture_data", "ptr")
        for index, name in enumerate("abc"):
            r.store(r.at(data, 128 * index), r[name] if name in r.parameters else r.number(V32, 0), 64)
        r.fail("texture", r.call("i64", "site_id", r["ctx"], r["site"]), lanes, r["handles"])
        r.give(None if r.result == "void" else r.number(r.result, 0))


def _read() -> Routine:
    r = Routine(
        "wb_texture",
        f"ptr ctx, ptr site, {V64} handles, i32 mask, i64 code, i64 slot, {V32} a, {V32} b, {V32} c, i32 count",
    )
    data, counting = r.slot("texture_data", "ptr"), r["count"].ne(0)
    results, keys = r.at(data, TEXTURE_RESULTS), r.at(data, TEXTURE_KEYS)
    r.fill(results, 0, 512)
    with r.each_group(r["handles"], r["mask"]) as (handle, group, _):
        desc = _team(r, handle, group, _same_code)
        function = r.load(r.at(desc, r["slot"] * 8), "ptr", 8)
        _unless(r, function.ne(r.null()), group)
        noted = counting.select(keys, r.null())
        n = r.call("i32", function, desc, group, r["a"], r["b"], r["c"], results, noted)
        with r.when(counting):
            r.bump("sectors", r.call("i32", "distinct_keys", keys, n).to("i64"))
    r.bump("requests", (r["mask"].ne(0) & counting).to("i64"))
    return r


def _surface() -> Routine:
    """A surface access: host addresses of the lanes, and which of them may go on. x is in bytes."""
    r = Routine(
        "wb_surface",
        f"ptr ctx, ptr site, {V64} handles, i32 mask, i64 code, i32 size, i32 mode, {V32} a, {V32} b, {V32} c, i32 count",
        "i64",
    )
    clamps, traps, counting = r["mode"].eq(CLAMP_OUTSIDE), r["mode"].eq(TRAP_OUTSIDE), r["count"].ne(0)
    results = r.at(r.slot("texture_data", "ptr"), TEXTURE_RESULTS)
    r.store(results, r.number(V64, 0), 64)
    good = r.variable("i32", 0)

    def limited(given: Value, most: Value) -> tuple[Value, Value]:
        """A coordinate, clamped to 0…most where that is the mode, and whether it lies there."""
        ends = most.splat()
        held = r.call(V32, "llvm.smin.v32i32", r.call(V32, "llvm.smax.v32i32", given, r.number(V32, 0)), ends)
        value = clamps.select(held, given)
        return value, (value.below(0, signed=True) | value.above(ends, signed=True)) ^ 1

    with r.each_group(r["handles"], r["mask"]) as (handle, group, _):
        desc = _team(r, handle, group, _same_code)
        width, texel, height, depth, tile = (
            _field(r, desc, name) for name in ("width", "texel_bytes", "height", "depth", "tile")
        )
        nbytes = width * texel
        x, x_in = limited(r["a"], nbytes.to("i32") - r["size"])
        y, y_in = limited(r["b"], height.to("i32") - 1)
        z, z_in = limited(r["c"], depth.to("i32") - 1)
        within = (x_in & y_in & z_in).bits()
        inside = within & group
        crooked = (x & r["size"] - 1).ne(0).bits() & inside
        wrong = crooked | traps.select(~within & group, 0)
        _unless(r, wrong.eq(0), wrong)
        x, y, z = (value.to("i64") for value in (x, y, z))
        row, piece, base = (_field(r, desc, name) for name in ("row_bytes", "slice_bytes", "address"))
        where = x + y * row + z * piece + base
        r.store(results, inside.lanes().select(where, r.load(results, V64, 64)), 64)
        good.set(good.get() | inside)
        with r.when(counting):
            # Blocks of 16 bytes by two rows, or runs of 32 bytes in one dimension.
            shift = r.number("i64", 5) - tile
            in_row = nbytes + ((r.number("i64", 1) << shift) - 1) >> shift
            key = ((y >> tile) + z * (height + tile >> tile)) * in_row + (x >> shift)
            r.bump("sectors", r.call("i32", "distinct", key, inside).to("i64"))
    r.bump("requests", (r["mask"].ne(0) & counting).to("i64"))
    r.give(good.get().to("i64"))
    return r


def _query() -> Routine:
    """One field of each lane's descriptor (`txq`, `suq`): the sizes that a handle has."""
    r = Routine("wb_texture_query", f"ptr ctx, ptr site, {V64} handles, i32 mask, i64 slot, i64 surface", V32)
    result = r.variable(V32, 0)
    with r.each_group(r["handles"], r["mask"]) as (handle, group, _):
        desc = _team(r, handle, group, _same_family)
        size = r.load(r.at(desc, r["slot"] * 8), "i64", 8).to("i32")
        result.set(group.lanes().select(size, result.get()))
    r.give(result.get())
    return r


def source() -> str:
    """All of it."""
    return f"{_distinct()}{_read()}{_surface()}{_query()}"

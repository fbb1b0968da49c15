"""Stores in which lanes of a warp overwrite one another: one of the lanes wins, and what the others stored is lost.

Whether lanes share an element is found when a pattern is learnt: then its shape is SHARED_ELEMENT. Only what stores
such a pattern compares values, and counts if lanes that share an element store different bits.
"""

from __future__ import annotations

from vgpu.ir.value import V64, Value
from vgpu.runtime.pattern import RUN, SHARED_ELEMENT
from vgpu.runtime.write import Routine

LOAD, STORE, ATOMIC = range(3)  # the rule of an access


def _learn() -> Routine:
    """Whether lanes share an element becomes the shape of the pattern that the site has just learnt."""
    r = Routine("learn_shared_elements", f"ptr site, {V64} where, i32 mask")
    with r.when(r.known("shape").ne(RUN)):
        fewer = r.call("i32", "distinct", r["where"], r["mask"]).below(r.many(r["mask"]))
        with r.when(fewer):
            r.set_site(shape=SHARED_ELEMENT)
    return r


def _tell() -> Routine:
    """Count a store in which lanes that share an element store different bits.

    A store of several elements a lane is asked about each and counts once: the requests tell whether it has counted.
    """
    r = Routine("tell_overwritten", f"ptr site, {V64} where, {V64} stored, i32 mask")
    stored = r["stored"]
    with r.each_group(r["where"], r["mask"]) as (_, group, lane):
        lost = stored.ne(stored.lane(lane)).bits() & group
        with r.when(lost.ne(0)):
            now = r.known("requests") + r.known("shared_requests") + r.known("local_requests")
            with r.when(r.known("overwritten_at").ne(now)):
                r.set_site(overwritten_at=now)
                r.bump("overwritten", 1)
            r.give()
    return r


def tell(r: Routine, shape: Value, mask: Value) -> None:
    """At the end of a store of `value` at `addr`: count it if lanes lose what they stored."""
    with r.when(shape.eq(SHARED_ELEMENT)):
        r.call("void", "tell_overwritten", r["site"], r["addr"], r["value"].to("i64"), mask)


def source() -> str:
    return f"{_learn()}{_tell()}"

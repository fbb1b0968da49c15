"""Put profiles side by side: the counters that differ, and the modelled time on several GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from vgpu.tools.profile_table import number, text_table
from vgpu.tools.roofline import seconds_text

if TYPE_CHECKING:
    from vgpu.tools.profile import Profile

GPUS_SHOWN = ("T4", "A100", "H100")

# In words, what kind of number it is, and the profile's key.
_METRICS = (
    ("warp instructions (PTX)", "counted", "instructions"),
    ("active lanes an instruction", "counted", "lanes_per_instruction"),
    ("global load sectors", "counted", "global_load_sectors"),
    ("sectors a load request", "counted", "sectors_per_load_request"),
    ("global store sectors", "counted", "global_store_sectors"),
    ("sectors a store request", "counted", "sectors_per_store_request"),
    ("shared wavefronts a load", "counted", "wavefronts_per_shared_load"),
    ("shared wavefronts a store", "counted", "wavefronts_per_shared_store"),
    ("texture and surface sectors a request", "counted", "sectors_per_texture_request"),
    ("global atomic requests", "counted", "global_atomic_requests"),
    ("asynchronous copies", "counted", "async_copies"),
    ("sectors an asynchronous copy", "counted", "sectors_per_async_copy"),
    ("bulk copies, bytes to shared memory", "counted", "bulk_load_bytes"),
    ("bulk copies, bytes to global memory", "counted", "bulk_store_bytes"),
    ("tensor-core products (PTX)", "counted", "tensor_instructions"),
    ("local load requests", "counted", "local_load_requests"),
    ("special functions", "counted", "special_functions"),
    ("registers a thread", "compiler", "registers"),
    ("occupancy, %", "compiler", "occupancy"),
)


@dataclass(frozen=True, repr=False)
class Comparison:
    """A table with a column for each profile; `rows` are (what, kind, a text for each profile)."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]

    def __repr__(self) -> str:
        cells = [[f"{kind}: {what}", *values] for what, kind, values in self.rows]
        return "\n".join(text_table(["", *self.names], cells, left=0))

    def _repr_html_(self) -> str:
        cell = "padding:0.15em 0.6em;text-align:right"
        left = cell.replace("right", "left")
        head = "".join(f'<th scope="col" style="{cell}">{escape(name)}</th>' for name in self.names)
        body = "".join(
            f'<tr><th scope="row" style="{left}">{escape(what)}</th><td style="{left}">{kind}</td>'
            + "".join(f'<td style="{cell}">{escape(value)}</td>' for value in values)
            + "</tr>"
            for what, kind, values in self.rows
        )
        return (
            '<table style="border-collapse:collapse;color:inherit;background:transparent">'
            '<caption style="text-align:left;color:inherit">Profiles side by side</caption>'
            f'<thead><tr><th scope="col" style="{left}">what</th><th scope="col" style="{left}">kind</th>{head}'
            f"</tr></thead><tbody>{body}</tbody></table>"
        )


def _by_name(profiles: Sequence[Profile | Mapping[str, Profile]]) -> dict[str, Profile]:
    if len(profiles) == 1 and isinstance(profiles[0], Mapping):
        return dict(profiles[0])
    found: dict[str, Profile] = {}
    for each in profiles:
        if isinstance(each, Mapping):
            raise TypeError("compare takes profiles, or one mapping from names to profiles")
        name, again = each.name, 2
        while name in found:
            name, again = f"{each.name} ({again})", again + 1
        found[name] = each
    return found


def compare(*profiles: Profile | Mapping[str, Profile], gpus: Sequence[str] = GPUS_SHOWN) -> Comparison:
    """Compare profiles, given one by one or as one mapping from names to profiles.

    The last rows are modelled times on `gpus`; a row in which no profile has a number is left out. Raises
    ValueError when there is nothing to compare.
    """
    named = _by_name(profiles)
    if not named:
        raise ValueError("compare takes at least one profile")
    rows = []
    for what, kind, key in _METRICS:
        values = tuple(number(each[key]) for each in named.values())
        if any(value not in ("", "0") for value in values):
            rows.append((what, kind, values))
    for gpu in gpus:
        models = [each.on(gpu).model for each in named.values()]
        values = tuple(f"{seconds_text(model.seconds)} ({model.bound})" for model in models)
        rows.append((f"time on {models[0].gpu}", "modelled", values))
    return Comparison(tuple(named), tuple(rows))

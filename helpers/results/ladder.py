"""Versions of one kernel, each a step better than the last, measured by one table.

What the table says is counted, from the compiler or modelled; on a real GPU it has measured times as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from vgpu.tools.compare import GPUS_SHOWN
from vgpu.tools.launch import Launch
from vgpu.tools.profile_table import METRICS, number, text_table
from vgpu.tools.roofline import seconds_text

if TYPE_CHECKING:
    from helpers.results.timing import Timing
    from vgpu.tools.profile import Profile

# Heading, kind and the profile's key. Without a choice of counters a ladder shows those in which its rungs differ.
_COUNTERS = (
    ("warp instr.", "counted", "instructions"),
    ("lanes / instr.", "counted", "lanes_per_instruction"),
    ("load sectors", "counted", "global_load_sectors"),
    ("sectors / load", "counted", "sectors_per_load_request"),
    ("store sectors", "counted", "global_store_sectors"),
    ("sectors / store", "counted", "sectors_per_store_request"),
    ("wavefronts / shared load", "counted", "wavefronts_per_shared_load"),
    ("wavefronts / shared store", "counted", "wavefronts_per_shared_store"),
    ("global atomics", "counted", "global_atomic_requests"),
    ("shared atomics", "counted", "shared_atomic_requests"),
    ("barriers", "counted", "barriers"),
    ("registers", "compiler", "registers"),
    ("occupancy %", "compiler", "occupancy"),
)


@dataclass(frozen=True, repr=False)
class Ladder:
    """A table with one row a rung; `columns` are (heading, kind), `rows` are (name, what changed, cells).

    `profiles` and, on a real GPU, `timings` have each rung's by its name.
    """

    profiles: Mapping[str, Profile]
    timings: Mapping[str, Timing]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]

    def __getitem__(self, name: str) -> Profile:
        return self.profiles[name]

    def values(self, key: str) -> dict[str, float | None]:
        """One counter or metric of every rung by the rung's name, as `plots.staircase` draws it."""
        return {name: each[key] for name, each in self.profiles.items()}

    def __repr__(self) -> str:
        heads = ["", *(f"{kind}: {heading}" for heading, kind in self.columns)]
        lines = text_table(heads, [[name, *cells] for name, _, cells in self.rows], left=0)
        changed = [f"{name}: {what}" for name, what, _ in self.rows if what]
        return "\n".join([*lines, *changed])

    def _repr_html_(self) -> str:
        cell = "padding:0.2em 0.5em;text-align:right;vertical-align:top;white-space:normal"
        left = cell.replace("right", "left")
        said = any(what for _, what, _ in self.rows)
        head = "".join(
            f'<th scope="col" style="{cell}">{escape(heading)}<br><small style="font-weight:normal">{kind}</small></th>'
            for heading, kind in self.columns
        )
        changed = f'<th scope="col" style="{left}">what changed</th>' if said else ""
        body = "".join(
            f'<tr><th scope="row" style="{left}">{escape(name)}</th>'
            + (f'<td style="{left};min-width:9em">{escape(what)}</td>' if said else "")
            + "".join(f'<td style="{cell}">{escape(value)}</td>' for value in cells)
            + "</tr>"
            for name, what, cells in self.rows
        )
        return (
            '<table style="border-collapse:collapse;color:inherit;background:transparent">'
            '<caption style="text-align:left;color:inherit">One row a version</caption>'
            f'<thead><tr><th scope="col" style="{left}">version</th>{changed}{head}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )


def chosen_counters(profiles: Sequence[Profile], keys: Sequence[str] | None) -> list[tuple[str, str, str]]:
    """The columns asked for; without a choice those whose numbers differ from rung to rung."""
    if keys is not None:
        known = {key: (heading, kind, key) for heading, kind, key in _COUNTERS}
        origins = {metric.key: metric.origin for metric in METRICS}
        return [known.get(key, (key.replace("_", " "), origins.get(key, "counted"), key)) for key in keys]
    return [row for row in _COUNTERS if len({each[row[2]] for each in profiles}) > 1]


def _reset(launch: Launch) -> None:
    """Let the result hold what it holds before the launch."""
    if launch.before is None:
        launch.out.view("uint8").fill(0xFF)
    else:
        launch.out.fill(launch.before)


def _explained(launch: Launch) -> str:
    """What the sanitizer finds first in a rung that is wrong, or ""; the result stays as the rung left it."""
    from vgpu.base.errors import VirtualGPUError
    from vgpu.tools.sanitize import sanitize

    left = launch.out.copy()
    _reset(launch)
    try:
        found = sanitize(
            launch.kernel, launch.grid, launch.block, launch.args, shared_bytes=launch.shared_bytes,
            races_in_global=True, **launch.meta,
        )  # fmt: skip
        return next((f"\nThe sanitizer says: {each}" for each in found if each.level == "error"), "")
    except VirtualGPUError as error:
        return f"\nThe sanitizer stops: {error}"
    finally:
        launch.out[...] = left


def _compare(name: str, launch: Launch, expected: Any, tolerance: float) -> None:
    import numpy as np

    got = launch.out.get() if hasattr(launch.out, "get") else np.asarray(launch.out)
    wanted = expected.get() if hasattr(expected, "get") else np.asarray(expected)
    if got.shape != wanted.shape:
        raise ValueError(f"{name!r} gives shape {got.shape}, expected is {wanted.shape}")
    wrong = ~np.isclose(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = at[0] if len(at) == 1 else at
        raise ValueError(
            f"{name!r} is wrong in {int(wrong.sum()):,} of {wrong.size:,} elements, first at {place}: "
            f"it gives {got[at]}, expected is {wanted[at]}{_explained(launch)}"
        )


def ladder(
    rungs: Mapping[str, Launch],
    *,
    expected: Any = None,
    counters: Sequence[str] | None = None,
    gpus: Sequence[str] = GPUS_SHOWN,
    tolerance: float = 1e-4,
) -> Ladder:
    """Profile every rung and put them into one table: counters, occupancy, modelled time, and measured on a GPU.

    `rungs` maps a version's name to its `Launch`. With `expected` (array-like) each rung's `out` is set to its
    `before`, or to 0xFF bytes, first and compared afterwards, and ValueError says which rung is wrong, where, and what
    the sanitizer, which runs it once more, finds first in it: a fast kernel with a wrong result is no rung. `counters`
    are keys of a profile, in order; without it those that differ. Raises ValueError when there is no rung, or nothing
    to compare with `expected`.
    """
    if not rungs:
        raise ValueError("a ladder takes at least one rung: {'1 naive': Launch(kernel, grid, block, args)}")
    profiles: dict[str, Profile] = {}
    for name, launch in rungs.items():
        if expected is not None:
            if launch.out is None:
                raise ValueError(f"{name!r} names no result to compare: give its Launch out=<the array it writes>")
            _reset(launch)
        profiles[name] = launch.profile()
        if expected is not None:
            _compare(name, launch, expected, tolerance)
    chosen = chosen_counters(list(profiles.values()), counters)
    columns = [(heading, kind) for heading, kind, _ in chosen]
    cells = {name: [number(each[key]) for _, _, key in chosen] for name, each in profiles.items()}
    for gpu in gpus:
        models = {name: each.on(gpu).model for name, each in profiles.items()}
        columns.append((next(iter(models.values())).gpu, "modelled"))
        for name, model in models.items():
            cells[name].append(f"{seconds_text(model.seconds)} {model.bound}")
    timings = _measure(rungs)
    if timings:
        columns.append(("median", "measured"))
        for name, timing in timings.items():
            cells[name].append(seconds_text(timing.median))
    rows = tuple((name, launch.what, tuple(cells[name])) for name, launch in rungs.items())
    return Ladder(profiles, timings, tuple(columns), rows)


def _measure(rungs: Mapping[str, Launch]) -> dict[str, Timing]:
    """Each rung's time on the GPU, or nothing where there is none: the virtual GPU's time says nothing about it."""
    from helpers.results.timing import benchmark
    from vgpu.hardware.device import real_gpu

    return {name: benchmark(launch.run) for name, launch in rungs.items()} if real_gpu() else {}

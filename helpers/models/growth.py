"""What a kernel would do on matrices far too large to run here, from counts of two small runs.

A kernel that multiplies square matrices of a side n in tiles launches blocks as n² and lets each go round as n. So
each of its counts is p·n³ + q·n², and two runs give both: no fit, but two equations with two unknowns. Sides have to
be multiples of the tile, for which guards do nothing. A third run shows whether a kernel is of that kind: `holds`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from helpers.results.ladder import Ladder, chosen_counters
from vgpu.hardware import gpus
from vgpu.hardware.gpus import GPU
from vgpu.hardware.occupancy import Occupancy
from vgpu.hardware.time_model import Model
from vgpu.launch.counters import Counters, Footprint
from vgpu.tools.launch import Launch
from vgpu.tools.profile import Profile, modelled
from vgpu.tools.profile_table import number
from vgpu.tools.roofline import flops_by_unit, peak_flops


def extrapolated(
    low: Counters, high: Counters, count: Callable[[int, int], int], blocks: Callable[[int, int], int]
) -> Counters:
    """The counters of a third launch from those of two: what `count` makes of two counts, and `blocks` of a grid's
    sides. Counts of single lines and warps aren't extrapolated."""
    x, y, z = map(blocks, low.grid, high.grid)
    return Counters(
        lines={},
        total={key: count(low.total.get(key, 0), value) for key, value in high.total.items()},
        footprint=Footprint(
            count(low.footprint.read_bytes, high.footprint.read_bytes),
            count(low.footprint.written_bytes, high.footprint.written_bytes),
        ),
        grid=(x, y, z),
        block=high.block,
        warps=count(low.warps, high.warps),
        shared_bytes=high.shared_bytes,
    )


@dataclass(frozen=True, repr=False)
class Growth:
    """Two counted runs of one kernel, `small` and `large`, on matrices of the two `sides`."""

    small: Profile
    large: Profile
    sides: tuple[int, int]
    what: str = ""

    def __repr__(self) -> str:
        return f"Growth({self.large.name}, counted on matrices of side {self.sides[0]} and {self.sides[1]})"

    def _at(self, side: int, small: int, large: int) -> int:
        """p·side³ + q·side², of which two values are known."""
        first, second = self.sides
        low, high = Fraction(small, first**2), Fraction(large, second**2)
        slope = (high - low) / (second - first)
        return round((low + slope * (side - first)) * side**2)

    def counts(self, side: int) -> Counters:
        """The counts of a launch on matrices of that side."""
        first, second = self.sides
        return extrapolated(
            self.small.counters,
            self.large.counters,
            lambda low, high: self._at(side, low, high),
            lambda low, high: high + (high - low) * (side - second) // (second - first),
        )

    def profile(self, side: int) -> Profile:
        """A profile whose counters are those extrapolated for that side; it has no source lines."""
        counts = self.counts(side)
        occupancy, model = modelled(self.large.kernel, counts, self.large.gpu)
        return replace(self.large, counters=counts, occupancy=occupancy, model=model, lines=())

    def holds(self, third: Profile, side: int) -> bool:
        """Whether a third run counted just what the two extrapolate for its side."""
        extrapolated, found = self.counts(side), third.counters
        return (
            all(extrapolated.total[key] == count for key, count in found.total.items())
            and extrapolated.warps == found.warps
        )

    def on(self, gpu: GPU | str, side: int) -> tuple[Occupancy, Model]:
        """Occupancy (compiler) and time (modelled) on matrices of that side. CompileError where it is not for `gpu`."""
        row = gpus.find(gpu) if isinstance(gpu, str) else gpu
        return modelled(self.large.kernel, self.counts(side), row)

    def rate(self, gpu: GPU | str, side: int) -> float:
        """FLOP/s, modelled: those counted for that side over the modelled time."""
        _, model = self.on(gpu, side)
        return sum(flops_by_unit(self.counts(side).total).values()) / model.seconds

    def unit(self) -> str:
        """The units that do most of its FLOPs, such as "fp32" or "fp16_tensor"."""
        by_unit = flops_by_unit(self.large.counters.total)
        return max(by_unit, key=by_unit.__getitem__)

    def share(self, gpu: GPU | str, side: int, library: float | None = None) -> float:
        """Its modelled rate over that of a library in FLOP/s; without one, over the peak of the units it uses."""
        row = gpus.find(gpu) if isinstance(gpu, str) else gpu
        return self.rate(row, side) / (library or peak_flops(row, self.unit()))


def growth(launch: Callable[[int], Launch], sides: tuple[int, int] = (128, 256)) -> Growth:
    """Count `launch(side)` for two sides of square matrices, and tell from them what it does at any other.

    `launch(side)` gives the `Launch` on matrices of that side, both sides being multiples of what the kernel asks for.
    ValueError for sides that are no two different ones, and for a kernel without FLOPs; TypeError for no `Launch`.
    """
    first, second = sides
    if not 0 < first < second:
        raise ValueError(f"two sides, the smaller one first, such as (128, 256); got {sides}")
    profiles, what = [], ""
    for side in sides:
        made = launch(side)
        if not isinstance(made, Launch):
            raise TypeError(f"launch gives a Launch(kernel, grid, block, args) for a side, not a {type(made).__name__}")
        profiles.append(made.profile())
        what = made.what
    small, large = profiles
    found = Growth(small, large, sides, what)
    if not flops_by_unit(found.large.counters.total):
        raise ValueError(f"{found.large.name} does no floating-point operation: there is no rate to compare")
    return found


def _short(value: float | None) -> str:
    """A count in full while it is short, then with three digits and a prefix: 4.43 G."""
    for scale, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value is not None and value >= scale:
            return f"{value / scale:.3g} {prefix}"
    return number(value)


def grown_ladder(
    grown: Mapping[str, Growth],
    side: int,
    counters: Sequence[str],
    *,
    published: Mapping[str, Mapping[str, str]] | None = None,
) -> Ladder:
    """A ladder's table of what versions do at a side at which they did not run: extrapolated counts, the compiler's
    numbers.

    `counters` are keys of a profile, in order; `published`: what others measured, in words by the
    versions' names, by the heading of its column. ValueError for no version.
    """
    if not grown:
        raise ValueError("a ladder takes at least one version: {'1 naive': growth(launch)}")
    profiles = {name: each.profile(side) for name, each in grown.items()}
    beside = published or {}
    chosen = chosen_counters(list(profiles.values()), counters)
    columns = [(heading, kind) for heading, kind, _ in chosen] + [(heading, "published") for heading in beside]
    rows = tuple(
        (
            name,
            grown[name].what,
            (*(_short(each[key]) for _, _, key in chosen), *(words.get(name, "") for words in beside.values())),
        )
        for name, each in profiles.items()
    )
    return Ladder(profiles, {}, tuple(columns), rows)

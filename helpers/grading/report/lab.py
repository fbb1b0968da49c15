"""What a report has to know of a lab: its graded cells and their points, the sandboxes' words, the versions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Part:
    """One graded cell: its grade_id, the key of its exercise, "results" or a budget's label, its points, and the
    title of the exercise."""

    cell: str
    exercise: str
    part: str
    points: float
    title: str = ""


@dataclass(frozen=True)
class Tier:
    """A sandbox in words: what it protects the grader and the class from, and what it leaves open."""

    name: str
    protects: str = ""
    leaves: str = ""


@dataclass(frozen=True)
class LabInfo:
    """A lab as reports see it.

    `name` is that of its file without the suffix, `title` what people call it; `tiers` the sandboxes in words, as
    many as there are; `versions` pairs such as ("nbval", "0.11.0"). Raises ValueError for cells named twice and for
    points that are no points.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    tiers: tuple[Tier, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        cells = [part.cell for part in self.parts]
        twice = sorted({cell for cell in cells if cells.count(cell) > 1})
        if twice:
            raise ValueError(
                f"lab {self.name}: graded cell {twice[0]!r} is there twice; each needs a grade_id of its own"
            )
        odd = [part for part in self.parts if not (math.isfinite(part.points) and part.points >= 0)]
        if odd:
            raise ValueError(f"lab {self.name}: {odd[0].points} points for {odd[0].cell!r}; points are 0 or more")

    @property
    def out_of(self) -> float:
        return sum(part.points for part in self.parts)

    def exercises(self) -> dict[str, tuple[Part, ...]]:
        """The parts of each exercise, in the lab's order."""
        found: dict[str, list[Part]] = {}
        for part in self.parts:
            found.setdefault(part.exercise, []).append(part)
        return {key: tuple(parts) for key, parts in found.items()}

    def title_of(self, exercise: str) -> str:
        """The title of an exercise; its key where it has none."""
        return next((part.title for part in self.parts if part.exercise == exercise and part.title), exercise)

    def tier(self, name: str) -> Tier:
        """A sandbox's words; none where the lab brings none."""
        return next((tier for tier in self.tiers if tier.name == name), Tier(name))

    def as_json(self) -> dict:
        """Plain dictionaries, lists, texts and numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping) -> LabInfo:
        """The inverse of `as_json`; raises KeyError or TypeError for anything else."""
        return cls(
            name=data["name"],
            title=data["title"],
            parts=tuple(Part(**part) for part in data["parts"]),
            tiers=tuple(Tier(**tier) for tier in data["tiers"]),
            versions=tuple((name, version) for name, version in data["versions"]),
        )

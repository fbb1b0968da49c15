"""Tables about a training step: what each suspect could give, how far kernels fill a GPU, what a change has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from vgpu.hardware.time_model import seconds_text
from vgpu.tools.profile_table import text_table
from vgpu.tools.streams.spans import table


@dataclass(frozen=True, repr=False)
class Rows(Sequence):
    """Rows of one kind, printed as a table; `about` goes into its heads or its caption."""

    rows: tuple
    about: str

    HEADS: ClassVar[tuple[str, ...]] = ()
    CAPTION: ClassVar[str] = ""

    def __getitem__(self, at: int | slice) -> Any:
        return self.rows[at]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def _heads(self) -> list[str]:
        return [head.format(self.about) for head in self.HEADS]

    def __repr__(self) -> str:
        return "\n".join(text_table(self._heads, [row.cells() for row in self.rows], left=0))

    def _repr_html_(self) -> str:
        return table(self.CAPTION.format(self.about), self._heads, [row.cells() for row in self.rows])


@dataclass(frozen=True)
class Ceiling:
    """What is left of a step, modelled seconds, if a suspect cost nothing; `gain`: how many times as fast that is."""

    suspect: str
    seconds: float
    gain: float

    def cells(self) -> list[str]:
        return [self.suspect, seconds_text(self.seconds), f"{self.gain:.2f} ×"]


class Ceilings(Rows):
    """The ceilings of a version, the most promising suspect first."""

    HEADS = ("if this cost nothing", "a step would take ({})", "at most faster by")
    CAPTION = "What each change could gain at most: <strong>modelled</strong>"


@dataclass(frozen=True)
class Filled:
    """Launches of one kernel with one grid: how many SMs get a block, how many waves, and modelled seconds a step."""

    kernel: str
    launches: float
    blocks: int
    sms: int
    waves: float
    seconds: float

    def cells(self) -> list[str]:
        busy, waves = min(self.blocks, self.sms), f"{self.waves:.2f}" if self.waves >= 0.01 else "under 0.01"
        return [self.kernel, f"{self.launches:.3g}", f"{self.blocks:,}", str(busy), waves, seconds_text(self.seconds)]


class Filling(Rows):
    """How far the kernels of a step fill a GPU, the one that takes longest first."""

    HEADS = ("kernel", "launches", "blocks", "SMs with a block, of {}", "waves", "work of a step")
    CAPTION = "How kernels fill {} SMs: blocks are <strong>counted</strong>, waves and work <strong>modelled</strong>"


@dataclass(frozen=True)
class Change:
    """One column of a log that a change has moved, as words before and after."""

    what: str
    before: str
    after: str

    def cells(self) -> list[str]:
        return [self.what, self.before, self.after]


class Changes(Rows):
    """What a version changes against the one that it was made from; what stays the same is left out."""

    HEADS = ("of a step", "before", "after")
    CAPTION = "{}: <strong>counted</strong>, but time and reserved memory are <strong>modelled</strong>"

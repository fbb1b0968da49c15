"""Changes to a program, one after another: what each was to improve, what came of it, and whether it stays.

    ratio = paired(found, fixed)                         # each returns its seconds; run in turns, nine rounds
    log = ChangeLog()
    log.enter("tensors at once", "the loader is 60 % of a step", ratio)
    log.enter("fused optimiser", "153 operators a step", Count(153, 2, "operators"))
    log                                                  # a row for each change; the rule decides which are kept

The rule is `better` of each result: a count has to fall, and of a ratio of times the whole interval has to lie below 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from vgpu.tools.profile_table import text_table
from vgpu.tools.streams.spans import table

ROUNDS = 9


@dataclass(frozen=True, repr=False)
class Ratio:
    """Seconds after a change over seconds before, one quotient a round, sorted.

    `low` to `high` leaves out the lowest and the highest round. With nine rounds it holds the true median in 96 of 100
    such measurements, whatever the noise looks like (a binomial interval).
    """

    quotients: tuple[float, ...]
    source: str = "measured"

    @property
    def median(self) -> float:
        return median(self.quotients)

    @property
    def low(self) -> float:
        return self.quotients[1]

    @property
    def high(self) -> float:
        return self.quotients[-2]

    @property
    def better(self) -> bool:
        return self.high < 1

    @property
    def verdict(self) -> str:
        """In words: faster, slower, or no difference beyond the error."""
        return "faster" if self.better else "slower" if self.low > 1 else "within the error"

    def __str__(self) -> str:
        return f"{self.median:.2f} × the time ({self.low:.2f} to {self.high:.2f}): {self.verdict}"

    def __repr__(self) -> str:
        return f"{self} (measured, {len(self.quotients)} rounds)"


@dataclass(frozen=True)
class Count:
    """Something that is counted, and so has no error: operators, bytes, graphs, values read back."""

    before: float
    after: float
    unit: str
    source: str = "counted"

    @property
    def better(self) -> bool:
        return self.after < self.before

    def __str__(self) -> str:
        return f"{_number(self.before)} → {_number(self.after)} {self.unit}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


@dataclass(frozen=True)
class Published:
    """What others measured of a change that this machine can't test: their words, and a source."""

    says: str
    source: str = "published"

    @property
    def better(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.says


def paired(before: Callable[[], float], after: Callable[[], float], rounds: int = ROUNDS) -> Ratio:
    """Run both in turns, each returning its seconds, so that what slows the machine down slows both.

    Every other round begins with `after`. Raises ValueError for fewer than five rounds, of which no interval is left.
    """
    if rounds < 5:
        raise ValueError(f"an interval needs at least 5 rounds, not {rounds}")
    quotients = []
    for number in range(rounds):
        if number % 2:
            late, early = after(), before()
        else:
            early, late = before(), after()
        quotients.append(late / early)
    return Ratio(tuple(sorted(quotients)))


@dataclass(frozen=True)
class Entry:
    """One change: why it was tried, what came of it, and what was decided.

    reason: why it stays, where the rule can't test it. differs: how the program's results differ, which ends it.
    """

    change: str
    evidence: str
    result: Ratio | Count | Published
    reason: str
    differs: str

    @property
    def kept(self) -> bool:
        return not self.differs and (self.result.better or bool(self.reason))

    def cells(self) -> list[str]:
        why = self.differs or ("" if self.result.better else self.reason)
        verdict = ("kept" if self.kept else "reverted") + (f": {why}" if why else "")
        return [self.change, self.evidence, str(self.result), self.result.source, verdict]


@dataclass(repr=False)
class ChangeLog:
    """Entries in the order in which changes were tried; a name that comes again replaces its entry."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def enter(
        self, change: str, evidence: str, result: Ratio | Count | Published, *, reason: str = "", differs: str = ""
    ) -> str:
        """Enter a change and say whether it stays.

        reason: why a change is kept that shows nothing here, stated before it was tried, with its source. differs: how
        the results of the program are others than before, so that it is reverted however fast it is.
        """
        entry = self.entries[change] = Entry(change, evidence, result, reason, differs)
        return f"{change}: {result}, so {'kept' if entry.kept else 'reverted'}"

    HEADS = ("change", "evidence", "before and after", "source", "decision")

    def __repr__(self) -> str:
        return "\n".join(text_table(self.HEADS, [entry.cells() for entry in self.entries.values()], left=0))

    def _repr_html_(self) -> str:
        rows = [entry.cells() for entry in self.entries.values()]
        return table("What was changed, and what came of it", self.HEADS, rows)

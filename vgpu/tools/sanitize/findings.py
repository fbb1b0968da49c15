"""What the sanitizer found: one `Finding` a mistake, and `Findings` of a launch, as text and as a table."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from vgpu.tools.sanitize.kinds import KINDS
from vgpu.tools.source_cells import in_box, source_code

Index = tuple[int, int, int]
SHOWN = 3
"""Findings of one kind and remedy that are shown in full, where at least two more follow."""


@dataclass(frozen=True)
class Finding:
    """One mistake, seen `count` times. Everything else describes the first time.

    kind: a key of `sanitize.KINDS`. line, source: the user's; other_line, other_source: those of the other access or
    the other barrier. thread, block and other_thread, other_block: x, y, z indices. array, index: the name of the
    argument or shared array, and the element (an int, or a tuple by dimensions). space: "global", "shared", "local" or
    "". For races, spans: "warp" (lanes of one warp), "block" (warps of one block) and "grid" (two blocks), as far as
    conflicting pairs were seen there; overwrites: whether some pairs are a write after the other's read. what: one
    sentence; fix: the usual fix.
    """

    kind: str
    line: int | None
    source: str
    what: str
    fix: str
    count: int = 1
    other_line: int | None = None
    other_source: str = ""
    thread: Index | None = None
    block: Index | None = None
    other_thread: Index | None = None
    other_block: Index | None = None
    array: str | None = None
    index: int | tuple[int, ...] | None = None
    space: str = ""
    address: int | None = None
    spans: tuple[str, ...] = ()
    overwrites: bool = False

    @property
    def title(self) -> str:
        """The kind in plain words."""
        return KINDS[self.kind].title

    @property
    def level(self) -> str:
        """ "error", or "hint" for what is legal but seldom meant."""
        return KINDS[self.kind].level

    @property
    def cause(self) -> tuple:
        """What two findings of one mistake have in common: kind, lines and array."""
        return self.kind, self.line, self.other_line, self.array

    def __str__(self) -> str:
        times = f" (seen {self.count} times)" if self.count > 1 else ""
        lines = [f"{self.level}: {self.title}{times}", f"  {self.what}"]
        if self.line is not None:
            lines.append(f"  line {self.line}: {self.source}".rstrip(": "))
        if self.other_line is not None and self.other_line != self.line:
            lines.append(f"  line {self.other_line}: {self.other_source}".rstrip(": "))
        return "\n".join([*lines, f"  Usual fix: {self.fix}"])


@dataclass(frozen=True, repr=False)
class Findings:
    """All findings of one launch, by line. `ok` says that there are no errors; hints may remain.

    A sequence of findings, so it is true where something was found. `ran_to_end` is False where a fault, a deadlock,
    the time-out or very many bad accesses (`monitor.MOST_FAULTS`) ended a block early. seeds: those of the random
    schedules, none where blocks and warps ran in order.
    """

    kernel: str
    findings: tuple[Finding, ...]
    ran_to_end: bool = True
    seeds: tuple[int, ...] = ()
    races_in_global: bool = True
    """Whether races in global memory were looked for."""

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.level == "error")

    @property
    def hints(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.level == "hint")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds found, each once."""
        return tuple(dict.fromkeys(f.kind for f in self.findings))

    def of(self, kind: str) -> tuple[Finding, ...]:
        """The findings of one kind; KeyError for a kind that does not exist."""
        KINDS[kind]
        return tuple(f for f in self.findings if f.kind == kind)

    def joined(self, other: Findings) -> Findings:
        """These findings and those of another run of the same launch, each mistake once."""
        known = {finding.cause for finding in self.findings}
        more = tuple(finding for finding in other.findings if finding.cause not in known)
        to_end = self.ran_to_end and other.ran_to_end
        return replace(self, findings=self.findings + more, ran_to_end=to_end, seeds=self.seeds + other.seeds)

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, at: int) -> Finding:
        return self.findings[at]

    @property
    def title(self) -> str:
        def many(n: int, word: str) -> str:
            return f"{n} {word}{'' if n == 1 else 's'}"

        if not self.findings:
            said = "nothing found"
            if not self.races_in_global:
                said += " (races_in_global=True looks for races in global memory, too)"
        else:
            parts = [many(len(self.errors), "error")] if self.errors else []
            parts += [many(len(self.hints), "hint")] if self.hints else []
            said = " and ".join(parts)
        ended = "" if self.ran_to_end else "; it did not run to its end"
        many_seeds = "schedules, seeds" if len(self.seeds) > 1 else "schedule, seed"
        how = f" (random {many_seeds} {', '.join(map(str, self.seeds))})" if self.seeds else ""
        return f"sanitizer: {self.kernel}{how}: {said}{ended}"

    def _grouped(self) -> tuple[tuple[Finding, ...], list[str]]:
        """The findings that are shown, and a sentence for each group of the others."""
        groups: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.findings:
            groups.setdefault((finding.kind, finding.fix), []).append(finding)
        left_out, sentences = set(), []
        for group in groups.values():
            if len(group) > SHOWN + 1:
                rest = group[SHOWN:]
                left_out |= set(map(id, rest))
                lines = sorted({line for f in rest for line in (f.line, f.other_line) if line is not None})
                places = f", at lines {', '.join(map(str, lines))}" if lines else ""
                sentences.append(f"{rest[0].level}: {len(rest)} more of the kind “{rest[0].title}”{places}")
        return tuple(f for f in self.findings if id(f) not in left_out), sentences

    def __repr__(self) -> str:
        shown, sentences = self._grouped()
        return "\n\n".join([self.title, *map(str, shown), *sentences])

    def _repr_html_(self) -> str:
        if not self.findings:
            return f"<p>{html.escape(self.title)}</p>"
        shown, sentences = self._grouped()
        rows = "".join(_table_row(f) for f in shown)
        rows += "".join(f"<tr><td></td><td colspan='3'>{html.escape(text)}</td></tr>" for text in sentences)
        head = "".join(f"<th style='text-align:left'>{h}</th>" for h in ("line", "what", "seen", "usual fix"))
        caption = f"<caption style='text-align:left;color:inherit'>{html.escape(self.title)}</caption>"
        return in_box(f"<table style='color:inherit;background:transparent'>{caption}<tr>{head}</tr>{rows}</table>")


def _table_row(finding: Finding) -> str:
    lines = {finding.line: finding.source, finding.other_line: finding.other_source}
    code = "".join(
        f'<div style="display:flex">{line}:&nbsp;{source_code(source)}</div>'
        for line, source in lines.items() if line is not None
    )  # fmt: skip
    what = f"<b>{html.escape(finding.title)}</b><br>{_as_html(finding.what)}"
    cells = (code, what, f"{finding.count}×", _as_html(finding.fix))
    return "<tr>" + "".join(f"<td style='text-align:left;vertical-align:top'>{c}</td>" for c in cells) + "</tr>"


def _as_html(text: str) -> str:
    """A sentence as HTML, with words in back quotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))

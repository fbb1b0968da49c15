"""Schedules: spans of time on the engines of a GPU, modelled (`streams.model`) or measured (`exported`)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from vgpu.hardware.time_model import seconds_text

WAITS = "waits"  # the label of a wait of the modelled host


@dataclass(frozen=True)
class Span:
    """One operation's time on an engine: seconds from the beginning of the recording, or from the first measured span.

    `kind` is "modelled" or "measured". The fields after it are None where they don't apply or aren't known: the bytes
    of a copy, whether its host memory is pinned, grid and block of a kernel as (x, y, z), the number of its call.
    """

    engine: str
    stream: str
    start: float
    end: float
    label: str
    kind: str = "modelled"
    nbytes: int | None = None
    pinned: bool | None = None
    grid: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None
    call: int | None = None


@dataclass(frozen=True, repr=False)
class Schedule:
    """Spans on engines, in the order they start; `seconds` until the last has ended and the host goes on.

    `kind` is "modelled" or "measured"; `assumptions` explain it. `host` has the host's calls of CUDA as spans on the
    engine "host": in a measured schedule those that were recorded, in a modelled one its launches and `WAITS`.
    """

    gpu: str
    spans: tuple[Span, ...]
    seconds: float
    assumptions: tuple[str, ...] = ()
    kind: str = "modelled"
    host: tuple[Span, ...] = ()

    def busy(self, engine: str) -> float:
        """Seconds in which an engine ("H2D", "D2H", "SMs", or the "host" where it was measured) is busy."""
        found = (span for span in (*self.spans, *self.host) if span.engine == engine)
        return sum(end - start for start, end in _merged(found))

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that were used."""
        return tuple(dict.fromkeys(span.engine for span in sorted(self.spans, key=lambda span: span.engine)))

    @property
    def overlap(self) -> float:
        """Seconds of work done beside other work: the engines' busy times together, less the time any is busy."""
        anything = sum(end - start for start, end in _merged(self.spans))
        return sum(map(self.busy, self.engines)) - anything

    def __repr__(self) -> str:
        lines = [f"Schedule {self.kind} on {self.gpu}: {seconds_text(self.seconds)}", *_lines(self.spans)]
        if self.host and self.kind == "measured":
            lines += [" meanwhile the host, in calls of CUDA:", *_lines(self.host)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        caption = f"{escape(self.gpu)}: <strong>{self.kind}</strong> {seconds_text(self.seconds)}"
        table = _table(caption, self.spans)
        if self.host:
            calls = _table(
                "What the host asks for, and how long it waits"
                if self.kind == "modelled"
                else "The host's calls of CUDA",
                self.host,
            )
            table += f"<details><summary>The host meanwhile</summary>{calls}</details>"
        notes = "".join(f"<li>{escape(line)}</li>" for line in self.assumptions)
        summary = "Assumptions" if self.kind == "modelled" else "How it was measured"
        return f"{table}<details><summary>{summary}</summary><ul>{notes}</ul></details>"


def _lines(spans: Sequence[Span]) -> list[str]:
    engines = max((4, *(len(span.engine) for span in spans)))
    streams = max((0, *(len(span.stream) for span in spans)))
    return [
        f"  {seconds_text(span.start):>9} to {seconds_text(span.end):>9}  {span.engine:<{engines}} "
        f"{span.stream:<{streams}}  {span.label}"
        for span in spans
    ]


def _table(caption: str, spans: Sequence[Span]) -> str:
    rows = [(seconds_text(span.start), seconds_text(span.end), span.engine, span.stream, span.label) for span in spans]
    return table(caption, ("start", "end", "engine", "stream", "operation"), rows)


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], left: Container[int] | None = None,
    padding: float = 0.6,
) -> str:  # fmt: skip
    """An HTML table in the page's own colours; `caption` is HTML, all else is escaped.

    left: the columns of words, beside numbers that go to the right. Without it all cells go to the left. padding: room
    beside each word, in widths of an m.
    """
    sides = ["left" if left is None or at in left else "right" for at in range(len(heads))]
    cells = [f"padding:0.15em {padding:g}em;text-align:{side}" for side in sides]

    def line(tag: str, texts: Sequence[str]) -> str:
        return "".join(
            f'<{tag} style="{cell}">{escape(text)}</{tag[:2]}>' for cell, text in zip(cells, texts, strict=True)
        )

    head = line('th scope="col"', heads)
    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return (
        '<table style="border-collapse:collapse;color:inherit;background:transparent">'
        f'<caption style="text-align:left;color:inherit">{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _merged(spans: Iterable[Span]) -> list[tuple[float, float]]:
    """The intervals covered by the spans."""
    found: list[tuple[float, float]] = []
    for span in sorted(spans, key=lambda span: span.start):
        if found and span.start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], span.end)
        else:
            found.append((span.start, span.end))
    return found

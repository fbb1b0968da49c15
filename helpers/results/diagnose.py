"""What limits a kernel: one question after another, each answered by counters, each with what a fix would gain.

A symptom alone is no bottleneck. So every row of `SYMPTOMS` also says which counters a fix would change, and the time
model works out the new time: the symptom whose fix gains most is named first.
Nsight Compute's rules estimate a speed-up for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape
from types import SimpleNamespace
from typing import Any

from vgpu.hardware.occupancy import Occupancy
from vgpu.hardware.time_model import SECTOR_BYTES, Model, model_time, seconds_text
from vgpu.tools.profile import Profile
from vgpu.tools.profile_table import many, number, ratio, text_table

WARP = 32
LEAST_GAIN = 1.2
"""A symptom whose fix would gain less than this factor of modelled time is not the bottleneck."""

_SHARED = ("load", "store")


@dataclass(frozen=True)
class Symptom:
    """One question to a profile: what it asks, what the counters answer, when that is a symptom, and the remedy.

    `fixed(profile)` gives what the launch would be without it: any of "total" (counters to replace), "blocks" (a
    factor), "occupancy". `line_by` is the counter that is at its worst on the line to look at. All questions have one
    polarity: yes is good, and no is the symptom. `chapter` is the number of the one with the remedy.
    """

    name: str
    chapter: str
    question: str
    reading: Callable[[Profile], str]
    present: Callable[[Profile], bool]
    fixed: Callable[[Profile], Mapping[str, Any]]
    remedy: str
    line_by: str = ""


@dataclass(frozen=True)
class Answer:
    """A question's answer: the reading, whether it is a symptom, how many times as fast the launch is without it."""

    symptom: Symptom
    reading: str
    present: bool
    gain: float
    line: str = ""

    @property
    def counts(self) -> bool:
        """Whether a fix would gain enough."""
        return self.present and self.gain >= LEAST_GAIN


# -- the questions --------------------------------------------------------------------------------------


def _waves(profile: Profile) -> str:
    blocks = math.prod(profile.counters.grid)
    return f"{many(blocks, 'block')} for {profile.gpu.sms} SMs: {profile['waves'] or 0:.2g} waves"


def _lanes(profile: Profile) -> str:
    total = profile.total
    return (
        f"{number(profile['lanes_per_instruction'])} of {WARP} lanes active; "
        f"{total['divergent_branches']:,} of {total['branches']:,} branches diverge"
    )


def _full_warps(profile: Profile) -> dict[str, Any]:
    """The same work of the threads, in warps without idle lanes."""
    total = profile.total
    share = total["thread_instructions"] / (WARP * total["instructions"])
    keys = ("instructions", "integer_divisions", *(key for key in total if key.endswith("_requests")))
    return {"total": {key: math.ceil(total[key] * share) for key in keys}}


def _conflicts(total: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sum(total[f"shared_{op}_{what}"] for op in _SHARED) for what in ("conflicts", "wavefronts"))


def _banks(profile: Profile) -> str:
    conflicts, wavefronts = _conflicts(profile.total)
    if not wavefronts:
        return "no shared memory"
    return f"{conflicts:,} of {many(wavefronts, 'wavefront')} are conflicts"


def _without_conflicts(profile: Profile) -> dict[str, Any]:
    total = profile.total
    return {"total": {f"shared_{op}_wavefronts": total[f"shared_{op}_wavefronts"] - total[f"shared_{op}_conflicts"]
                      for op in _SHARED}}  # fmt: skip


def _needed(total: Mapping[str, int], op: str) -> int:
    """The sectors that hold what lanes request, side by side; never more than were moved, never none for some bytes."""
    asked = total[f"global_{op}_bytes"]
    return min(total[f"global_{op}_sectors"], math.ceil(asked / SECTOR_BYTES))


def _use(total: Mapping[str, int]) -> float | None:
    moved = sum(total[f"global_{op}_sectors"] for op in _SHARED)
    return ratio(sum(_needed(total, op) for op in _SHARED), moved)


def _sectors(profile: Profile) -> str:
    use = _use(profile.total)
    return "no global memory" if use is None else f"{use:.0%} of the sectors' bytes are requested"


def _side_by_side(profile: Profile) -> dict[str, Any]:
    return {"total": {f"global_{op}_sectors": _needed(profile.total, op) for op in _SHARED}}


def _local(profile: Profile) -> str:
    requests = sum(profile.total[f"local_{op}_requests"] for op in _SHARED)
    return many(requests, "request") + f", {profile.registers} registers a thread"


def _without_local(profile: Profile) -> dict[str, Any]:
    return {"total": {f"local_{op}_{what}": 0 for op in _SHARED for what in ("requests", "sectors")}}


def _held(profile: Profile) -> str:
    held = profile.occupancy
    return f"{held.fraction:.0%}, {held.warps_per_sm} of {held.max_warps_per_sm} warps, limited by {held.limiter}"


def _full_occupancy(profile: Profile) -> dict[str, Any]:
    held = profile.occupancy
    warps = math.ceil(math.prod(profile.counters.block) / WARP)
    blocks = max(held.blocks_per_sm, held.max_warps_per_sm // warps)
    return {"occupancy": replace(held, blocks_per_sm=blocks, warps_per_sm=blocks * warps)}


SYMPTOMS = (
    Symptom(
        "launch too small",
        "09",
        "Is there work for every SM?",
        _waves,
        lambda profile: (profile["waves"] or 1) < 0.5,
        lambda profile: {"blocks": max(1, math.floor(1 / (profile["waves"] or 1)))},
        "Launch more blocks: split the loop over more threads, or merge several small launches.",
    ),
    Symptom(
        "divergence",
        "08",
        "Are most lanes of a warp active?",
        _lanes,
        lambda profile: (profile["lanes_per_instruction"] or WARP) < 0.85 * WARP,
        _full_warps,
        "Let the lanes of a warp take the same path: sort the work, or branch by warp; make blocks of whole warps.",
        "instructions",
    ),
    Symptom(
        "uncoalesced access",
        "04",
        "Are most bytes of the moved sectors requested?",
        _sectors,
        lambda profile: (_use(profile.total) or 1) < 0.8,
        _side_by_side,
        "Let neighbouring lanes touch neighbouring elements: swap indices, store by field, or go through a tile.",
        "global_load_sectors",
    ),
    Symptom(
        "bank conflicts",
        "05",
        "Is shared memory accessed without bank conflicts?",
        _banks,
        lambda profile: _conflicts(profile.total)[0] > 0.1 * max(1, _conflicts(profile.total)[1]),
        _without_conflicts,
        "Make rows an odd number of words long, or swizzle.",
        "shared_load_wavefronts",
    ),
    Symptom(
        "local memory",
        "03",
        "Do all variables stay in registers?",
        _local,
        lambda profile: any(profile.total[f"local_{op}_requests"] for op in _SHARED),
        _without_local,
        "Index arrays of a thread by constants only, unroll, or allow more registers.",
        "local_load_requests",
    ),
    Symptom(
        "low occupancy",
        "09",
        "Are there enough warps to hide latency?",
        _held,
        lambda profile: 0 < profile.occupancy.fraction < 0.5,
        _full_occupancy,
        "Use fewer registers or less shared memory in a block, or give each thread more independent work.",
    ),
)
"""The questions, in the order of a walk: from the whole GPU to one warp."""

HEALTHY = {
    "DRAM": ("memory-bound", "All moved bytes are used: move fewer, by fusing kernels or by smaller types."),
    "L2": ("memory-bound", "All moved bytes are used: move fewer, by tiles in shared memory or registers."),
    "L1 and shared memory": ("memory-bound", "All moved bytes are used: keep more values in registers."),
    "latency": ("latency-bound", "Each warp waits for its own results: give each thread more independent work."),
    "launch": (
        "launch-bound",
        "Its launch takes longer than its work: fuse it with others, or put launches into a graph.",
    ),
}
"""What a kernel without symptoms is called by the bound of its modelled time, and what could still help."""
_COMPUTE = ("compute-bound", "The units are busy: do less arithmetic, or use smaller types or tensor cores.")


# -- the answers ----------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """All questions with their answers; `name` is the symptom that would gain most, or what bounds a healthy kernel.

    `kernel` is what the launch is called.
    """

    profile: Profile
    answers: tuple[Answer, ...]
    kernel: str

    def __getitem__(self, name: str) -> Answer:
        """The answer about one symptom; a KeyError names those there are."""
        for answer in self.answers:
            if answer.symptom.name == name:
                return answer
        raise KeyError(f"no symptom {name!r}; there are {', '.join(symptom.name for symptom in SYMPTOMS)}")

    @property
    def worst(self) -> Answer | None:
        """The symptom worth fixing first, or None."""
        return max((answer for answer in self.answers if answer.counts), key=lambda answer: answer.gain, default=None)

    @property
    def name(self) -> str:
        return self.worst.symptom.name if self.worst else self._healthy[0]

    @property
    def remedy(self) -> str:
        """What to do next, as a sentence."""
        return self.worst.symptom.remedy if self.worst else self._healthy[1]

    @property
    def _healthy(self) -> tuple[str, str]:
        return HEALTHY.get(self.profile.model.bound, _COMPUTE)

    @property
    def verdict(self) -> str:
        """The name and what there is to gain, as one line."""
        model = self.profile.model
        now = f"modelled {seconds_text(model.seconds)} on {model.gpu}, bound by {model.bound}"
        if self.worst is None:
            return f"{self.name}, no symptom worth fixing; {now}"
        return f"{self.name}, {self.worst.gain:.2g} times as fast without; {now}"

    def _rows(self) -> list[tuple[str, str, str]]:
        return [(a.symptom.question, f"{'no' if a.present else 'yes'}: {a.reading}", _gain(a)) for a in self.answers]

    def __repr__(self) -> str:
        heads = ("question", "counters say", "if fixed")
        lines = text_table(heads, [list(row) for row in self._rows()], left=0)
        line = [f"look at {self.worst.line}"] if self.worst and self.worst.line else []
        return "\n".join([f"{self.kernel}: {self.verdict}", *lines, *line, self.remedy])

    def _repr_html_(self) -> str:
        cell = "padding:0.15em 0.6em;text-align:left"
        head = "".join(f'<th scope="col" style="{cell}">{text}</th>' for text in ("question", "answer", "if fixed"))
        body = "".join(
            f'<tr><th scope="row" style="{cell};font-weight:normal">{escape(question)}</th>'
            f'<td style="{cell}">{escape(reading)}</td>'
            f'<td style="{cell}{";font-weight:bold" if answer is self.worst else ""}">{escape(gain)}</td></tr>'
            for answer, (question, reading, gain) in zip(self.answers, self._rows(), strict=True)
        )
        line = f"<div>Look at <code>{escape(self.worst.line)}</code></div>" if self.worst and self.worst.line else ""
        return (
            f'<div style="max-width:760px"><b>{escape(self.kernel)}: {escape(self.verdict)}</b>'
            f'<table style="border-collapse:collapse;color:inherit;background:transparent">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{line}"
            f"<div>{escape(self.remedy)} Answers are counted, or the compiler's; gains are modelled.</div></div>"
        )


def _gain(answer: Answer) -> str:
    if not answer.present:
        return "–"
    return f"{answer.gain:.2g} times as fast" if answer.counts else "gains next to nothing"


def fixed_model(profile: Profile, change: Mapping[str, Any]) -> Model:
    """The modelled time of a launch with other counters, blocks or occupancy: what `Symptom.fixed` gives."""
    counters, factor = profile.counters, change.get("blocks", 1)
    held: Occupancy = change.get("occupancy", profile.occupancy)
    grid = (counters.grid[0] * factor, *counters.grid[1:])
    other = SimpleNamespace(
        total={**counters.total, **change.get("total", {})},
        footprint=counters.footprint,
        grid=grid,
        warps=counters.warps * factor,
    )
    return model_time(other, held, profile.gpu)


def _worst_line(profile: Profile, key: str) -> str:
    worst = max(profile.lines, key=lambda line: line[key], default=None)
    return f"line {worst.number}: {' '.join(worst.source.split())}" if worst is not None and worst[key] else ""


def _ask(symptom: Symptom, profile: Profile) -> Answer:
    present = symptom.present(profile)
    gain = profile.model.seconds / fixed_model(profile, symptom.fixed(profile)).seconds if present else 1.0
    return Answer(symptom, symptom.reading(profile), present, gain, _worst_line(profile, symptom.line_by))


def diagnose(profile: Profile, name: str = "") -> Diagnosis:
    """Ask a profile every question of `SYMPTOMS`; the GPU is the one it was profiled for, or `profile.on(…)`.

    `name`: what to call the launch, where one kernel is launched in several ways; else its kernel's name is taken.
    Raises TypeError for what is no profile.
    """
    if not isinstance(profile, Profile):
        raise TypeError(f"diagnose takes what profile(kernel, grid, block, args) gives, not a {type(profile).__name__}")
    return Diagnosis(profile, tuple(_ask(symptom, profile) for symptom in SYMPTOMS), name or profile.name)

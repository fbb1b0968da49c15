"""The results as a page: a summary, figures beside published ones, every kernel, and what was refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import geometric_mean

from vgpu.base.words import plural, sizes
from vgpu.bench.fidelity.manifest import Program, Published
from vgpu.bench.fidelity.outcome import RAN, RESULTS, Outcome
from vgpu.bench.fidelity.results import Results
from vgpu.bench.pages import made_with, table
from vgpu.hardware.time_model import seconds_text

HEAD = """\
# Outside kernels on the virtual GPU

This page is written by `python -m vgpu.bench.fidelity --sources FOLDER`. It fetches the repositories below, each at the
commit that is named, runs their programs unmodified with `vgpu profile`, and notes what became of them. None of these
programs is part of this repository; `bench/fidelity/manifest.toml` lists them with their arguments, which are often
smaller than their authors', because a CPU is slower than a GPU. It doesn't have all programs of a repository.

A row is a kernel that was launched; instances of a template are one kernel. Its result is its program's:
"""
Row = tuple[Program, Outcome]


def page(results: Results, listed: Sequence[Program], figures: Sequence[Published]) -> str:
    """The page as Markdown."""
    rows = [(program, results.programs[program.key]) for program in listed if program.key in results.programs]
    parts = [
        HEAD + "\n".join(f"- **{name}**: {meaning}" for name, meaning in RESULTS.items()),
        made_with(results.made),
        "## Summary",
        *_summary(rows),
        *_published(results, figures),
        *_kernels(rows),
        *_not_right(rows),
        *_refused(rows),
    ]
    return "\n\n".join(parts) + "\n"


def _summary(rows: Sequence[Row]) -> list[str]:
    head = ["repository", "commit", "programs", "kernels run", *(f"{name}" for name in RESULTS)]
    groups = _by_repository(rows)
    lines = []
    for repository, own in groups.items():
        commit = own[0][0].source.commit
        link = f"[{commit[:8]}](https://github.com/{repository}/tree/{commit})"
        lines.append([repository, link, *_counts(own)])
    kernels = sum(_counted(rows).values())
    total = [["**all**", "", *_counts(rows)]] if len(groups) > 1 else []
    says = (
        f"{plural(kernels, 'kernel')} of {plural(len(rows), 'program')} ran. The first five results are counted in "
        "kernels, the last four in programs."
    )
    return [says, table(head, [*lines, *total])]


def _counts(rows: Sequence[Row]) -> list[str]:
    of = _counted(rows)
    kernels = sum(of.values())
    of.update(outcome.result for _, outcome in rows if outcome.result not in RAN)
    return [str(len(rows)), str(kernels), *(str(of[name]) for name in RESULTS)]


def _counted(rows: Sequence[Row]) -> Counter[str]:
    """How many kernels ran, by result: each counts once, however many runs of its file launch it."""
    results: dict[tuple[str, str], str] = {}
    for program, outcome in rows:
        if outcome.result in RAN:
            for kernel in outcome.kernels:
                results.setdefault((program.path, kernel.name), outcome.result)
    return Counter(results.values())


def _published(results: Results, figures: Sequence[Published]) -> list[str]:
    known = [
        (each, name, theirs, results.published[each.key][name])
        for each in figures
        if each.key in results.published
        for name, theirs in each.figures.items()
    ]
    counters = [row for row in known if row[1] not in ("seconds", "registers")]
    times = [row for row in known if row[1] == "seconds"]
    registers = [row for row in known if row[1] == "registers"]
    parts = []
    if counters:
        head = ["kernel", "metric", "published", "here", "here / published", "source", ""]
        lines = [
            [_kernel(each), f"`{name}`", _number(theirs), _number(ours), _ratio(ours, theirs), _where(each), each.note]
            for each, name, theirs, ours in counters
        ]
        equal = sum(ours == theirs for _, _, theirs, ours in counters)
        parts += [
            "## Counters beside published figures of Nsight Compute",
            f"{equal} of {len(counters)} are equal.",
            table(head, lines),
        ]
    if times:
        head = ["kernel", "published", "modelled", "modelled / published", "source", ""]
        lines = [
            [_kernel(each), seconds_text(theirs), "not found" if ours is None else seconds_text(ours),
             _ratio(ours, theirs), _where(each), "; ".join(filter(None, (each.note, each.left_out)))]
            for each, _, theirs, ours in times
        ]  # fmt: skip
        parts += [
            "## Modelled times beside published ones",
            _off(times),
            table(head, lines),
        ]
    if registers:
        head = ["kernel", "published", "here", "source"]
        lines = [[_kernel(each), _number(theirs), _number(ours), _where(each)] for each, _, theirs, ours in registers]
        parts += [
            "## Registers beside published ones",
            "Nsight Compute shows at least 16, and the compilers' versions differ.",
            table(head, lines),
        ]
    return parts


def _off(times: Sequence[tuple[Published, str, float, float | None]]) -> str:
    """By which factor modelled times differ from published ones."""
    found = {
        left_out: [
            max(ours / theirs, theirs / ours) for each, _, theirs, ours in times if ours and each.left_out == left_out
        ]
        for left_out in dict.fromkeys(each.left_out for each, *_ in times)
    }
    parts = [
        f"by a factor of {geometric_mean(factors):.3g} in {plural(len(factors), 'row')}"
        + (f" whose time depends on what the model leaves out: {left_out}" if left_out else "")
        for left_out, factors in sorted(found.items())
        if factors
    ]
    return f"Off {', and '.join(parts)} (geometric means)."


def _kernel(each: Published) -> str:
    return f"`{each.kernel}` in {_file(each.program)}"


def _where(each: Published) -> str:
    return f"{each.measured_on or each.gpu}, {_link(each.address)}"


def _kernels(rows: Sequence[Row]) -> list[str]:
    parts = ["## Kernels"]
    head = ["kernel", "program", "result", "launches", "grid", "block", "registers", "modelled"]
    for repository, own in _by_repository(rows).items():
        lines = [
            [f"`{kernel.name}`" + (f" ({kernel.variants} instances)" if kernel.variants > 1 else ""),
             _file(program), outcome.result, f"{kernel.launches:,}", sizes(kernel.grid), sizes(kernel.block),
             str(kernel.registers), seconds_text(kernel.modelled)]
            for program, outcome in own
            for kernel in outcome.kernels
        ]  # fmt: skip
        if lines:
            parts += [f"### {repository}", table(head, lines)]
    return parts


def _not_right(rows: Sequence[Row]) -> list[str]:
    wrong = [
        [_file(program), outcome.reason, program.note]
        for program, outcome in rows
        if outcome.result in ("wrong", "failed")
    ]
    slow = [_file(program) for program, outcome in rows if outcome.result == "too long"]
    found = [[_file(program), outcome.reason] for program, outcome in rows if "found" in outcome.reason]
    parts = ["## Wrong", table(["program", "what it says", "why"], wrong)] if wrong else []
    if found:
        parts += ["## What the sanitizer found in programs without a check", table(["program", ""], found)]
    return parts + (["## Too long", ", ".join(slow)] if slow else [])


def _refused(rows: Sequence[Row]) -> list[str]:
    groups: dict[tuple[str, str], list[str]] = {}
    for program, outcome in rows:
        if outcome.result in ("refused", "doesn't compile"):
            groups.setdefault((outcome.result, _reason(outcome.reason)), []).append(_file(program))
    lines = [
        [str(len(files)), result, reason, ", ".join(files)]
        for (result, reason), files in sorted(groups.items(), key=lambda group: -len(group[1]))
    ]
    return ["## Refused", table(["programs", "", "reason", "which"], lines)] if lines else []


GROUPS = {
    r"\bcublasLt": "cuBLASLt", r"\bcublas": "cuBLAS", r"\bcusparse": "cuSPARSE", r"\bcurand": "cuRAND",
    r"\bcufft": "cuFFT", r"\bcusolver": "cuSOLVER", r"\bcudnn": "cuDNN", r"\bnccl": "NCCL", r"\bMPI_|\bmpi\.h": "MPI",
    r"\bthrust": "Thrust", r"\bcub\b": "CUB", r"^calls cu[A-Z]": "the driver API", r"cudaGraphics": "graphics",
    r"cudaIpc": "memory of other processes",
    r"cudaDeviceProp. has no member": "what CUDA 13 has removed from cudaDeviceProp",
}  # fmt: skip


def _reason(text: str) -> str:
    """A reason without what is special to one program: a library stands for all of its functions."""
    return next((name for pattern, name in GROUPS.items() if re.search(pattern, text)), text)


def _by_repository(rows: Iterable[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for program, outcome in rows:
        groups.setdefault(program.source.repository, []).append((program, outcome))
    return groups


def _file(program: Program) -> str:
    address = f"https://github.com/{program.source.repository}/blob/{program.source.commit}/{program.file}"
    words = " ".join([program.file, *program.arguments])
    return f"[{words.replace('|', '/')}]({address.replace(' ', '%20')})"


def _link(address: str) -> str:
    return f"[{re.sub(r'^https?://', '', address).partition('/')[0]}]({address})"


def _number(ours: float | None) -> str:
    return "not found" if ours is None else f"{ours:,.10g}"


def _ratio(ours: float | None, published: float) -> str:
    return "" if ours is None or not published else f"{ours / published:.3g}"

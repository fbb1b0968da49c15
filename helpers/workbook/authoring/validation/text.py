"""The report as Markdown."""

from __future__ import annotations

from helpers.workbook.authoring.validation import report
from helpers.workbook.authoring.validation.ladders import Ladder

_HEAD = """# The time model against published measurements

Written by `python -m helpers.workbook.authoring.validation --write`; a test checks that it is up to date. Times are
**modelled** from counts of our own kernels, written after the published descriptions, and compared with what the
authors **measured**. The ratio is modelled over published *time*: below 1 the model is optimistic. One constant of the
model is chosen by these rows. `vgpu/hardware/TIME_MODEL.md` says how much that matters, and what the model leaves out.
"""


def page(ladders: list[tuple[Ladder, list]]) -> str:
    """Summary first, then one table a ladder."""
    every = [(ladder, row) for ladder, found in ladders for row in found]
    ratios = [row.ratio for _, row in every]
    ladder, worst = max(every, key=lambda pair: abs(report.math.log(pair[1].ratio)))
    families: dict[str, list[float]] = {}
    for of, row in every:
        families.setdefault(of.family.partition(",")[0] + " on an L4" * (of.gpu == "L4"), []).append(row.ratio)
    lines = [
        _HEAD,
        f"{len(every)} rows on {len({ladder.gpu for ladder, _ in every})} GPUs: the modelled time is off by a factor "
        f"of {report.factor(ratios):.2f} (geometric mean), and {report.bias(ratios):.2f} times the published one on "
        f"average. Worst row: {ladder.name}, {worst.kernel}, {worst.ratio:.2f}.",
        "",
        "| family | rows | off by a factor of | from … to … |",
        "|---|---:|---:|---|",
        *(
            f"| {family} | {len(found)} | {report.factor(found):.2f} | {min(found):.2f} … {max(found):.2f} |"
            for family, found in families.items()
        ),
        "",
        "| ladder | rows | off by a factor of | modelled / published | Kendall's tau of the order |",
        "|---|---:|---:|---:|---:|",
    ]
    for ladder, found in ladders:
        own = [row.ratio for row in found]
        tau = report.kendall([(row.published, row.modelled) for row in found])
        lines.append(
            f"| {ladder.name} | {len(found)} | {report.factor(own):.2f} | {report.bias(own):.2f} | {tau:.2f} |"
        )
    for ladder, found in ladders:
        lines += [
            "",
            f"## {ladder.name}",
            "",
            f"{ladder.source.title}, <{ladder.source.url}>."
            + ("" if ladder.checked else " Figures as commonly quoted; not compared with the page itself.")
            + (f" {ladder.note}" if ladder.note else ""),
            "",
            f"| kernel | published, {ladder.unit} | modelled, {ladder.unit} | ratio of times | modelled bound |",
            "|---|---:|---:|---:|---|",
        ]
        lines += [
            f"| {row.kernel} | {row.published:.4g} | {row.modelled:.4g} | {row.ratio:.2f} | {row.bound} |"
            for row in found
        ]
    return "\n".join(lines) + "\n"

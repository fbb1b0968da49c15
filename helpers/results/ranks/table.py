"""Kinds of parallelism beside one another: what each rank sends and keeps, and how exact its gradients are."""

from __future__ import annotations

import math
from collections.abc import Mapping

from helpers.results.ranks.cost import seconds, sent_bytes, sent_messages
from helpers.results.ranks.launcher import Ranks
from vgpu.hardware.interconnects import find as link
from vgpu.hardware.time_model import seconds_text
from vgpu.tools.profile_table import text_table

MOST_DIGITS = 6


class ParallelTable:
    """A row a kind of parallelism; displayed as a table."""

    def __init__(self, head: list[str], rows: list[list[str]]):
        self.head, self.rows = head, rows

    def __repr__(self) -> str:
        return "\n".join(text_table(self.head, self.rows, left=0))


def parallel_table(
    runs: Mapping[str, tuple[Ranks, float]], *, links: tuple[str, ...] = ("NVLink (A100)", "PCIe 4", "Ethernet 10 Gb/s")
) -> ParallelTable:
    """One row for each run by name: (run, bytes that a rank sends by the formula).

    Each rank has reported `traffic` (of `traffic.as_dict()`), `kept` in bytes, and `difference`. Of the ranks the one
    is shown that sends most. Sent are the bytes of collectives as rings; seconds are modelled, without overlap.
    """
    head = ["kind", "ranks", "messages", "bytes sent", "by formula", "bytes kept", "difference", *links]
    rows = []
    for name, (run, formula) in runs.items():
        traffic = max(run.every("traffic"), key=sent_bytes)
        times = [seconds_text(seconds(traffic, link(each))) for each in links]
        kept, difference = max(run.every("kept")), max(run.every("difference"))
        # Last digits are the CPU's affair: the power of ten that the difference stays below.
        told = "0" if difference == 0 else f"< 1e-{min(MOST_DIGITS, math.floor(-math.log10(difference)))}"
        sent = [f"{sent_messages(traffic):,}", f"{sent_bytes(traffic):,.0f}", f"{formula:,.0f}"]
        rows.append([name, str(len(run)), *sent, f"{kept:,}", told, *times])
    return ParallelTable(head, rows)

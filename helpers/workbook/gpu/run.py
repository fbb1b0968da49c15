"""Run the parts one after another, and keep what came of them in one file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from helpers.workbook.gpu import machine
from helpers.workbook.gpu.outcome import NotRun, Outcome
from helpers.workbook.gpu.parts import PARTS, Part


def run(root: Path, target: Path, chosen: Collection[str] = ()) -> int:
    """Run the chosen parts, or all, write `target` after each, and print the tables; returns an exit status.

    Without a GPU nothing is run, which isn't a failure.
    """
    if reason := machine.missing():
        print(f"Nothing to measure: {reason}")
        return 0
    results: dict[str, Any] = {"machine": machine.describe(), "parts": {}}
    target.parent.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        if chosen and part.name not in chosen:
            continue
        print(f"{part.name}: {part.what} …", flush=True)
        results["parts"][part.name] = _outcome(part, root)
        print(f"{part.name}: {results['parts'][part.name]['summary']}", flush=True)
        target.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    show(target)
    return int(any(part["failed"] for part in results["parts"].values()))


def _outcome(part: Part, root: Path) -> dict[str, Any]:
    try:
        outcome = part.outcome(root)
    except NotRun as reason:
        outcome = Outcome(f"not run: {reason}")
    return {"summary": outcome.summary, "failed": list(outcome.failed), **dataclasses.asdict(outcome)["found"]}


def show(target: Path) -> None:
    """Print the tables of a file of results, and write its page beside it."""
    try:
        from helpers.workbook.gpu import page
    except ImportError as error:  # NumPy is enough to measure, but not to draw
        print(f"The results are in {target}. No tables or charts: {error}.")
        return
    results = json.loads(target.read_text(encoding="utf-8"))
    print(f"\n{page.markdown(results)}")
    written = target.with_suffix(".html")
    written.write_text(page.html(results), encoding="utf-8")
    print(f"Results: {target}, with charts: {written}")

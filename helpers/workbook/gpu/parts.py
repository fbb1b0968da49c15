"""The parts of `warpbook gpu`: a table of what each needs and what runs it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from helpers.workbook.chapters import PAGES
from helpers.workbook.gpu import counters, ladders
from helpers.workbook.gpu.outcome import NotRun, Outcome
from vgpu.base.words import plural

TESTS = "tests/gpu"
"""Where the tests marked `gpu` are."""
BUDGET = 600.0
"""Seconds a chapter may take: on a GPU the cells that measure have larger sizes."""


def run_tests(root: Path) -> Outcome:
    """The tests marked `gpu`."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", TESTS, f"--junitxml={report}"]
        said = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if not report.is_file():
            raise NotRun(f"pytest didn't start: {(said.stderr or said.stdout).strip()[-500:]}")
        return read_junit(report.read_text(encoding="utf-8"))


def read_junit(text: str) -> Outcome:
    """What pytest's report in JUnit's format says."""
    cases = list(ElementTree.fromstring(text).iter("testcase"))
    failed, skipped = [], 0
    for case in cases:
        problem = next((each for each in case if each.tag in ("failure", "error")), None)
        skipped += any(each.tag == "skipped" for each in case)
        if problem is not None:
            first = (problem.get("message") or "").splitlines() or [""]
            failed.append(f"{case.get('name')}: {first[0]}")
    passed = len(cases) - len(failed) - skipped
    return Outcome(f"{plural(passed, 'test')} passed, {len(failed)} failed, {skipped} skipped", tuple(failed))


def run_chapters(root: Path) -> Outcome:
    """Every chapter in a kernel of its own, where the cells that measure find the GPU."""
    from helpers.workbook import run as runner

    seconds, failed = {}, []
    for path in sorted((root / "notebooks").glob(PAGES)):
        result = runner.run(path, budget=BUDGET, stored=False)
        print(f"  {result.report()}", flush=True)
        seconds[path.stem] = round(result.seconds, 1)
        failed += [f"{path.stem}: {problem}" for problem in result.problems]
    return Outcome(
        f"{plural(len(seconds), 'chapter')} ran, {plural(len(failed), 'problem')}", tuple(failed), {"seconds": seconds}
    )


@dataclass(frozen=True)
class Part:
    """One row: its name, what it shows, the modules without which it can't run, and what runs it."""

    name: str
    what: str
    needs: tuple[str, ...]
    run: Callable[[Path], Outcome]

    def outcome(self, root: Path) -> Outcome:
        """Run it. Raises NotRun where something is missing; anything else that goes wrong is a failure."""
        if absent := [name for name in self.needs if importlib.util.find_spec(name) is None]:
            raise NotRun(f"needs {', '.join(absent)}")
        try:
            return self.run(root)
        except NotRun:
            raise
        except Exception as error:  # the other parts are to run whatever this one meets
            return Outcome("stopped", (f"{type(error).__name__}: {error}",))


PARTS = (
    Part("tests", "the tests that need a GPU", ("pytest", "cupy", "numba"), run_tests),
    Part("counters", "the virtual GPU's counters beside those of Nsight Compute", ("cupy",), counters.run),
    Part("ladders", "versions of kernels, timed beside NVIDIA's and PyTorch's", ("cupy", "torch"), ladders.run),
    Part("chapters", "every chapter", ("nbclient", "nbformat", "ipykernel", "cupy", "torch"), run_chapters),
)

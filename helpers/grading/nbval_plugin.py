"""`pytest --nbval` with another kernel and another comparison: the kernel runs in a sandbox, the judge compares.

nbval compares outputs with stored ones in pytest's own process; so here, where no code of a student's runs, each cell's
outcome is decided. A plugin puts `SandboxedFile` and `SandboxedCell` in place of nbval's collector and items.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from helpers.grading.marking import Marker
from helpers.grading.merged import GRADED, Planned
from helpers.grading.results import FAULTS
from helpers.grading.sandbox import InfrastructureFault
from helpers.grading.session import Session

NAME = "submission.ipynb"
NOT_NEEDED = (
    "cacheprovider", "doctest", "faulthandler", "junitxml", "logging", "pastebin", "recwarn", "setuponly", "setupplan",
    "stepwise", "threadexception", "tmpdir", "unittest", "unraisableexception", "warnings",
)  # fmt: skip
"""Plugins of pytest that do nothing for notebooks, or would keep something of a run for the next."""
ISOLATED = (
    "-c", os.devnull, "--noconftest", "--disable-plugin-autoload", "--assert=plain", "--capture=no", "--color=no",
    "--tb=line", "-q", *(word for name in NOT_NEEDED for word in ("-p", f"no:{name}")), "-p", "nbval.plugin", "--nbval",
)  # fmt: skip


class SandboxedCell(IPyNbCell):
    """One cell: run in the session, and if it is a graded one, judged."""

    def setup(self) -> None:
        pass

    def runtest(self) -> None:
        file, planned = self.parent, self.parent.planned.cells[self.cell_num]
        run = file.kernel.run(self.cell_num, self.cell.source, again=planned.kind != GRADED)
        self.test_outputs = run.outputs
        mark = file.marker.ended(planned, self.cell.source, run)
        if mark is not None and mark.outcome != "right":
            self.raise_cell_error(mark.why)
        if mark is None and run.outcome in FAULTS:
            self.raise_cell_error(run.says)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name


class SandboxedFile(IPyNbFile):
    """The notebook; its session starts a kernel when the first cell needs one."""

    def bound(self, planned: Planned, session: Session, marker: Marker) -> SandboxedFile:
        self.planned, self.kernel, self.marker = planned, session, marker
        return self

    def setup(self) -> None:
        pass

    def collect(self) -> Iterator[SandboxedCell]:
        self.nb = nbformat.read(str(self.path), as_version=4)
        for number, (cell, planned) in enumerate(zip(self.nb.cells, self.planned.cells, strict=True)):
            name = f"{number} {planned.kind} {planned.id}".strip()
            yield SandboxedCell.from_parent(self, name=name, cell_num=number, cell=cell, options={"check": True})

    def teardown(self) -> None:
        self.kernel.close()


class Plugin:
    """What pytest is given for one notebook. `fault` is an InfrastructureFault that ended the run, if any did."""

    def __init__(self, planned: Planned, session: Session, marker: Marker):
        self._bound = (planned, session, marker)
        self.fault: BaseException | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
        found = yield  # nbval's own collector, where it is a notebook
        return [] if not found else [SandboxedFile.from_parent(parent, path=file_path).bound(*self._bound)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> Generator[None, Any, Any]:
        report = yield
        error = call.excinfo.value if call.excinfo else None
        if error is not None and not isinstance(error, _expected()):
            self.fault = self.fault or error
            item.session.shouldstop = "the grader failed"
        return report


def _expected() -> tuple[type[BaseException], ...]:
    from nbval.plugin import NbCellError

    return (NbCellError,)


def run(planned: Planned, session: Session, marker: Marker, folder: str) -> str:
    """Run `pytest --nbval` on a notebook and return what pytest printed; the marks are the marker's.

    `folder` is an empty one, in which the notebook is put. Raises InfrastructureFault where anything failed but what
    the notebook holds.
    """
    plugin = Plugin(planned, session, marker)
    with _pytests_own_environment(), _quiet() as printed:
        notebook = Path(folder, NAME)
        notebook.write_text(nbformat.writes(nbformat.from_dict(planned.notebook)), encoding="utf-8")
        # Without the last, pytest looks into every folder above this one on its way.
        places = ("--rootdir", folder, "--confcutdir", folder)
        status = pytest.main([*ISOLATED, *places, str(notebook)], plugins=[plugin])
    if isinstance(plugin.fault, InfrastructureFault):
        raise plugin.fault
    if plugin.fault is not None:
        raise InfrastructureFault(f"{type(plugin.fault).__name__}: {plugin.fault}") from plugin.fault
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise InfrastructureFault(f"pytest ended with {status!r}: {printed.getvalue()[-2000:]}")
    return printed.getvalue()


@contextlib.contextmanager
def _pytests_own_environment() -> Iterator[None]:
    """Without what the instructor's shell says to pytest, and without what pytest leaves there."""
    before = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("PYTEST_")}
    try:
        yield
    finally:
        for name in [name for name in os.environ if name.startswith("PYTEST_")]:
            del os.environ[name]
        os.environ.update(before)


@contextlib.contextmanager
def _quiet() -> Iterator[io.StringIO]:
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
        yield printed

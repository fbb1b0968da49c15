"""What the workbook's tests add to what all share (vgpu/tests/plugin.py): a browser, and rows of the tier `check`."""

from __future__ import annotations

import importlib.util
import os
from functools import cache

import pytest

from vgpu.tests.plugin import let_processes_find
from vgpu.tests.tiers import CHECK, EVERY, FIRST, NONE

CHECK |= {
    "tests/exercises/test_by_example.py": NONE,
    "tests/exercises/test_by_example.py::test_the_solution_passes": EVERY,
    "tests/exercises/test_by_example.py::test_it_teaches": EVERY,
    "tests/gpu": NONE,
    "tests/grading/sandbox": NONE,  # each way to start jobs takes seconds to open
    "tests/test_imports.py": EVERY,
    "tests/vgpu": NONE,
    "tests/workbook/test_chapters.py::test_it_runs": FIRST,
    "tests/workbook/test_chapters.py::test_its_style": EVERY,
}

let_processes_find("warpbook")  # kernels, nbval and JupyterLab
os.environ["WARPBOOK_STATE"] = "off"  # what tests answer and solve is no progress of whoever runs them
# There is a process for each core already: networks that train in all of them must not wait for one another's threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    browser = "drives a real Chromium through JupyterLab; skipped where there is none, but failing when CI is set"
    config.addinivalue_line("markers", f"browser: {browser}")


@cache
def no_browser() -> str:
    """Why the tests marked `browser` cannot run here; empty when they can."""
    from helpers.workbook.checks import browser_paths

    missing = [name for name, path in zip(("chromium", "chromium-driver"), browser_paths(), strict=True) if not path]
    missing += [] if importlib.util.find_spec("selenium") else ["selenium (python -m pip install selenium)"]
    if not missing:
        return ""
    return f"needs {' and '.join(missing)}: on Debian, apt-get install chromium chromium-driver"


def pytest_itemcollected(item: pytest.Item) -> None:
    if "chromium" in getattr(item, "fixturenames", ()):
        item.add_marker("browser")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser") and (reason := no_browser()):
        # A build machine that lost its browser must not turn green for it.
        if os.environ.get("CI"):
            pytest.fail(f"CI is set, and the test {reason}", pytrace=False)
        pytest.skip(reason)

"""What every test shares: where the project is, and which tests this machine can run."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Kernels, nbval and JupyterLab are processes of their own: they find `helpers` installed, or here.
try:
    importlib.metadata.version("warpbook")
except importlib.metadata.PackageNotFoundError:
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


os.environ["WARPBOOK_STATE"] = "off"  # what tests answer and solve is no progress of whoever runs them
# Workers, and the kernels of notebooks, share what was compiled, with one another and with the next run: it is kept by
# the sources of the virtual GPU, so a compiler that was changed compiles anew.
os.environ.setdefault("WARPBOOK_CACHE", str(ROOT / ".pytest_cache" / "compiled"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@cache
def no_gpu() -> str:
    """Why the tests marked `gpu` cannot run here; empty when they can."""
    from helpers.hardware.device import device

    return "" if device.real_gpu() else "no NVIDIA GPU found: run on a machine with one and its driver"


@cache
def no_browser() -> str:
    """Why the tests marked `browser` cannot run here; empty when they can."""
    from helpers.workbook.doctor import browser_paths

    missing = [name for name, path in zip(("chromium", "chromium-driver"), browser_paths(), strict=True) if not path]
    missing += [] if importlib.util.find_spec("selenium") else ["selenium (python -m pip install selenium)"]
    if not missing:
        return ""
    return f"needs {' and '.join(missing)}: on Debian, apt-get install chromium chromium-driver"


NEEDS = {"gpu": no_gpu, "browser": no_browser}


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, reason in NEEDS.items():
        if item.get_closest_marker(marker) and reason():
            # A build machine that lost its browser must not turn green for it; it never had a GPU.
            if marker == "browser" and os.environ.get("CI"):
                pytest.fail(f"CI is set, and the test {reason()}", pytrace=False)
            pytest.skip(reason())

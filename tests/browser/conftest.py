"""One JupyterLab and one browser for all walks, and what a walk asks for: `lab`, `chapter`, or a bare `browser`."""

from __future__ import annotations

import pytest

from tests.browser.explorers import NOTEBOOKS, explorers_only

WHOLE = "00"
"""The chapter that is always run from its first cell to its last in the browser."""


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    from tests.browser.started import Browser

    started = Browser(tmp_path_factory.mktemp("chromium"))
    yield started
    started.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    from tests.browser.started import serving

    with serving(tmp_path_factory.mktemp("jupyterlab")) as ready:
        yield ready


@pytest.fixture
def browser(chromium):
    """The browser as if it were new, without JupyterLab."""
    return chromium.as_new()


@pytest.fixture
def lab(browser, server, tmp_path_factory):
    """`lab(folder)` gives a `Lab` over a copy of that folder; what it started is ended after the test."""
    from tests.browser.lab import Lab

    opened = []

    def lay_out(folder):
        opened.append(Lab(folder, tmp_path_factory.mktemp("walk"), server, browser))
        return opened[-1]

    yield lay_out
    for each in opened:
        each.close()


@pytest.fixture
def chapter(lab, pytestconfig):
    """`chapter(number)` gives a `Lab` with that chapter on a small screen, its explorers run.

    Only the cells are there that the explorers need, as every chapter is run whole without a browser; in the tier
    `all`, and of one chapter always, all are.
    """

    def opened(number: str, size: tuple[int, int] | None = (1366, 768)):
        (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
        page = lab(NOTEBOOKS)
        if number != WHOLE and pytestconfig.getoption("tier") != "all":
            explorers_only(page.served / path.name)
        if size:
            page.resize(*size)
        page.open(path.name)
        page.run_all()
        return page

    return opened

"""The fixture `lab`: a function that opens a folder of notebooks in JupyterLab, in a real browser."""

from __future__ import annotations

import contextlib

import pytest


@pytest.fixture
def lab(tmp_path_factory):
    """`lab(folder)` gives a `Lab` over a copy of that folder; it is closed after the test."""
    from tests.browser.lab import Lab

    with contextlib.ExitStack() as stack:

        def start(folder):
            opened = Lab(folder, tmp_path_factory.mktemp("lab"))
            stack.callback(opened.close)
            return opened

        yield start

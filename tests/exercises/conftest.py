"""What holds for every check: it counts and watches compiled code, and never asks the slow interpreter."""

from __future__ import annotations

import pytest

from vgpu import reference


@pytest.fixture(autouse=True)
def no_interpreter(monkeypatch):
    def asked(*given, **named):
        raise AssertionError("a check runs a kernel in the interpreter")

    monkeypatch.setattr(reference, "run", asked)

"""Python values out of a kernel."""

from __future__ import annotations

import ast


def value(kernel, expression: str, timeout: float = 60):
    """What an expression is there, where that is a plain value."""
    run = kernel.execute(expression, timeout)
    assert run.outcome == "ok", (run.outcome, run.says, run.error)
    return ast.literal_eval(run.outputs[-1]["data"]["text/plain"])

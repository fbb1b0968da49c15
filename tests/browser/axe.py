"""axe-core's audit of what a page shows: names, roles, contrast, keyboard.

It comes from PyPI's axe-playwright-python, of which only the script is used: installed with `--no-deps`, as in .ci/run.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

HOW = "python -m pip install --constraint constraints.txt --no-deps axe-playwright-python"
SECONDS = 300
AUDIT = """
const [selector, done] = arguments;
axe.run(selector, {resultTypes: ["violations"]}).then(
    ({violations}) => done(violations.flatMap(({id, impact, nodes}) => nodes.map(
        ({html, any}) => [impact, `${id}: ${html.slice(0, 160)} (${any.map(({message}) => message).join("; ")})`]))),
    reason => done([["critical", `axe itself failed: ${reason}`]]));
"""
"""Gives pairs: how bad it is, and what it is about which element."""


def serious(page: Chrome, selector: str = "html") -> list[str]:
    """What axe calls serious or critical in the elements that `selector` finds; skips where axe isn't installed."""
    page.execute_script(_script())
    page.set_script_timeout(SECONDS)  # a long page on a busy machine
    return [text for impact, text in page.execute_async_script(AUDIT, selector) if impact in ("serious", "critical")]


@cache
def _script() -> str:
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"needs axe-core: {HOW}")
    return Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8")

"""Markdown read as text."""

from __future__ import annotations

import re

_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def anchor(title: str) -> str:
    """What stands behind the # of a link to a heading, in JupyterLab and on GitHub alike."""
    return title.replace("`", "").replace(" ", "-")


def unfenced(markdown: str) -> str:
    """Markdown without fenced code."""
    return _FENCED.sub("", markdown)

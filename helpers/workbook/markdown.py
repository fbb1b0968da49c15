"""Markdown read as text."""

from __future__ import annotations

import re

_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def unfenced(markdown: str) -> str:
    """Markdown without fenced code."""
    return _FENCED.sub("", markdown)

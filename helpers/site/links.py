"""Links within the site: anchors as JupyterLab makes them, and what a glossary term means, to whoever points at it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

ENTRY = re.compile(r"^### (?P<term>.+)\n\n(?:\*also:.*\*\n\n)?(?P<text>(?:.+\n)+)", re.MULTILINE)
_SENTENCE = re.compile(r".+?[.!?](?= [A-Z]| →|$)")
_MARKS = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*`]")
PAGE = "glossary.html#"


def anchor(title: str) -> str:
    """The anchor that JupyterLab gives a heading, so that links within chapters hold on both."""
    return title.replace(" ", "-")


@cache
def definitions(glossary: Path) -> dict[str, str]:
    """The first sentence of each entry, by its anchor."""
    found = {}
    for entry in ENTRY.finditer(glossary.read_text(encoding="utf-8")):
        text = _MARKS.sub(lambda mark: mark[1] or "", " ".join(entry["text"].split()))
        sentence = _SENTENCE.match(text)
        found[anchor(entry["term"].strip())] = (sentence[0] if sentence else text).strip()
    return found


def _explain(app: Any, doctree: Any, _name: str) -> None:
    from docutils import nodes

    known = definitions(Path(app.srcdir) / "notebooks" / "glossary.md")
    for reference in doctree.findall(nodes.reference):
        anchor = reference.get("refuri", "").partition(PAGE)[2]
        if anchor in known:
            reference["reftitle"] = known[anchor]
            reference["classes"].append("wb-term")


def setup(app: Any) -> dict[str, Any]:
    app.connect("doctree-resolved", _explain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

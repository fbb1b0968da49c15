"""Links to the glossary say what their term means, to whoever points at them: the first sentence of its entry."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from helpers.workbook import glossary

_SENTENCE = re.compile(r".+?[.!?](?= [A-Z]| →|$)")
_MARKS = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*`]")
PAGE = "glossary.html#"


@cache
def definitions(folder: Path) -> dict[str, str]:
    """The first sentence of each entry of the glossary in a folder, by its anchor."""
    found = {}
    for term in glossary.read(folder):
        text = _MARKS.sub(lambda mark: mark[1] or "", " ".join(term.text.split()))
        sentence = _SENTENCE.match(text)
        found[term.anchor] = sentence[0] if sentence else text
    return found


def _explain(app: Any, doctree: Any, _name: str) -> None:
    from docutils import nodes

    known = definitions(Path(app.srcdir) / "notebooks")
    for reference in doctree.findall(nodes.reference):
        anchor = reference.get("refuri", "").partition(PAGE)[2]
        if anchor in known:
            reference["reftitle"] = known[anchor]
            reference["classes"].append("wb-term")


def setup(app: Any) -> dict[str, Any]:
    app.connect("doctree-resolved", _explain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

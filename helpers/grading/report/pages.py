"""Pages for people, as HTML and as Markdown, from the templates that lie beside this file.

`feedback.j2` and `summary.j2` hold the prose, once; what a section, a table or a drawing is stands in `html.j2` and in
`md.j2`. Every text becomes one clean line and is escaped for its format when it is put in, whatever wrote it: only
what a template itself makes is markup.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from helpers.grading.report import verdicts, words
from vgpu.base.words import plural

HERE = Path(__file__).parent
STYLE = (HERE / "page.css").read_text(encoding="utf-8")
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"
"""What a browser may do for the page: apply its own style sheet, known by its hash, and nothing else."""
_CODE = re.compile("`([^`\n]+)`")


def _html(text: str) -> Markup:
    """Escaped text whose `code` is set as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


_ANSWERS = {
    "html": (_html, lambda text: _html(words.plain(text))),
    "md": (words.markdown, words.fenced),
}
"""For each format: what escapes one clean line, and what shows several lines as they are."""


def pages(template: str, stem: str, **context: object) -> dict[str, bytes]:
    """`stem`.html and `stem`.md, made of one template."""
    return {f"{stem}.{kind}": render(kind, template, **context) for kind in _ANSWERS}


def render(kind: str, template: str, **context: object) -> bytes:
    """One page; `kind` is html or md."""
    return (_environment(kind).get_template(template).render(context).strip() + "\n").encode()


@cache
def _environment(kind: str) -> Environment:
    line, block = _ANSWERS[kind]

    def shown(value: object, longest: int | None = 300) -> Markup:
        return value if isinstance(value, Markup) else Markup(line(words.one_line(str(value), longest)))

    found = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.do"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "whole": lambda text: shown(text, None),
        "block": lambda text: Markup(block(text)),
        "anchor": lambda key: re.sub("[^0-9A-Za-z]", "-", key),
        **{name: getattr(words, name) for name in ("amount", "first_line", "listed", "one_line")},
        "plural": plural,
    }
    found.globals |= {"kind": kind, "style": Markup(STYLE), "policy": Markup(POLICY)}
    found.globals |= {name: getattr(verdicts, name) for name in ("next_steps", "verdict", "what_for")}
    return found

"""The course's own prose as text for language models: `text()` is what to train on, `text(held_out=True)` the rest.

It is read from the notebooks as they stand, so it changes with them: a figure that depends on it holds for one version
of the course.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

COURSE = Path(__file__).resolve().parents[2]
_APART = 6
"""One chapter in so many is held out."""
_PLAIN = str.maketrans(
    {
        "×": "x",
        "·": "*",
        "−": "-",
        "–": "-",
        "—": "-",
        "“": '"',
        "”": '"',
        "’": "'",
        "→": "->",
        "…": "...",
        "²": "2",
        "µ": "u",
    }
)


def chapters(folder: Path = COURSE) -> dict[str, str]:
    """The prose of each chapter by the name of its notebook, without code, links, tables, formulas and markup.

    All is printable ASCII and line breaks; a paragraph is one line. Raises FileNotFoundError where the folder has no
    `notebooks/` with chapters.
    """
    found = {path.stem: _prose(path) for path in sorted(folder.glob("notebooks/[0-9][0-9]*_*.ipynb"))}
    if not found:
        raise FileNotFoundError(f"There are no chapters in {folder / 'notebooks'}. Give the folder of the course.")
    return found


def text(*, held_out: bool = False, folder: Path = COURSE) -> str:
    """The prose of the labs and of five chapters in six, or with `held_out` that of every sixth chapter.

    Whole chapters are held out, so that no paragraph is on both sides.
    """
    parts = [words for at, words in enumerate(chapters(folder).values()) if (at % _APART == 3) == held_out]
    if not held_out:
        parts += [_prose(path) for path in sorted(folder.glob("labs/lab*/lab*.ipynb"))]
    return "\n".join(parts)


def _prose(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return "\n".join(filter(None, map(_plain, sources[1:-1])))  # the first and the last are title and links


def _plain(source: str) -> str:
    source = re.sub(r"```.*?```|\$\$.*?\$\$|<[^>\n]*>|^\|.*$", "", source, flags=re.DOTALL | re.MULTILINE)
    source = re.sub(r"!?\[([^\]]*)\]\([^)\s]*\)", r"\1", source)
    source = re.sub(r"[*`$\\]|^#+ |https?://\S+", "", source, flags=re.MULTILINE)
    source = re.sub(r"[^\x20-\x7e\n]", "", source.translate(_PLAIN))
    paragraphs = re.split(r"\n\s*\n|\n(?=\d+\. |- )", source)
    return "\n".join(filter(None, (" ".join(paragraph.split()) for paragraph in paragraphs)))

"""Bytes of an unknown notebook → its cells, or a refusal in words; nothing is executed, no field is believed.

nbformat is not asked: it accepts what it should not (a number for `source`), and fails on what it should name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

MOST_BYTES = 5_000_000
MOST_CELLS = 1_000
MOST_CHARACTERS = 200_000
"""Of the code of one cell."""
MOST_DEPTH = 60
"""Of brackets in brackets: notebooks with rich outputs reach about 15."""
LONGEST_NUMBER = 300
LONGEST_ID = 200
BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
SURROGATE = re.compile(r"[\ud800-\udfff]")

NOT_A_NOTEBOOK = "hand in the .ipynb file itself, saved from JupyterLab"


class Refused(ValueError):
    """Something is not taken; the message says why and what the student can do."""


@dataclass(frozen=True)
class HandedIn:
    """One cell as handed in: `id` is Jupyter's and `grade_id` nbgrader's, "" where there is none."""

    cell_type: str
    source: str
    id: str = ""
    grade_id: str = ""

    @property
    def is_code(self) -> bool:
        return self.cell_type == "code"


def read_cells(data: bytes) -> tuple[HandedIn, ...]:
    """The cells of the notebook that `data` holds; raises Refused."""
    notebook = parse(data)
    if not isinstance(notebook, dict) or ("cells" not in notebook and "nbformat" not in notebook):
        raise Refused(f"it is JSON, but not a notebook: {NOT_A_NOTEBOOK}")
    version = notebook.get("nbformat")
    if type(version) is not int or version != 4:
        raise Refused(f"it is a notebook of format {_short(version)}, not 4: open it in JupyterLab and save it again")
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise Refused(f"its cells aren't a list: {NOT_A_NOTEBOOK}")
    if not cells:
        raise Refused("it has no cells: hand in the notebook with your answers")
    if len(cells) > MOST_CELLS:
        raise Refused(f"it has {len(cells):,} cells, and {MOST_CELLS:,} are the most that are read")
    return tuple(_cell(number, cell) for number, cell in enumerate(cells, 1))


def parse(data: bytes) -> object:
    """The JSON in `data`, depth and lengths guarded; raises Refused."""
    if len(data) > MOST_BYTES:
        raise Refused(f"it has more than {MOST_BYTES // 1_000_000} MB: clear its outputs (Edit menu), then save it")
    if not data.strip():
        raise Refused("the file is empty: save the notebook, then hand it in again")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(f"it isn't UTF-8 text: {NOT_A_NOTEBOOK}") from None
    if depth(text) > MOST_DEPTH:
        raise Refused(f"its JSON is nested more than {MOST_DEPTH} levels deep: {NOT_A_NOTEBOOK}")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer, parse_float=_number)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        at = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise Refused(f"it isn't valid JSON{at}, so it is damaged or not a notebook: {NOT_A_NOTEBOOK}") from None


def depth(text: str, enough: int = MOST_DEPTH) -> int:
    """How deep brackets stand in brackets, those in strings left out; stops counting soon after `enough`."""
    now = most = 0
    for found in BRACKETS.finditer(text):
        sign = text[found.start()]
        if sign in "[{":
            now += 1
            most = max(most, now)
            if most > enough:
                break
        elif sign in "]}":
            now -= 1
    return most


def _object(pairs: Iterable[tuple[str, object]]) -> dict:
    made: dict[str, object] = {}
    for key, value in pairs:
        if key in made:
            raise Refused(f"its JSON has the key {_short(key)} twice in one object: {NOT_A_NOTEBOOK}")
        made[key] = value
    return made


def _integer(text: str) -> int | float:
    # Outputs may hold any number, and none is read; a number of a million digits takes minutes to convert.
    return int(text) if len(text) <= LONGEST_NUMBER else math.inf


def _number(text: str) -> float:
    return float(text) if len(text) <= LONGEST_NUMBER else math.inf


def _cell(number: int, cell: object) -> HandedIn:
    if not isinstance(cell, dict):
        raise Refused(f"cell {number} isn't an object: {NOT_A_NOTEBOOK}")
    cell_type, source = cell.get("cell_type"), cell.get("source")
    if cell_type not in ("code", "markdown", "raw"):
        raise Refused(f"cell {number} has an unknown type ({_short(cell_type)}): {NOT_A_NOTEBOOK}")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise Refused(f"the source of cell {number} isn't text: {NOT_A_NOTEBOOK}")
    if cell_type == "code" and len(source) > MOST_CHARACTERS:
        raise Refused(
            f"cell {number} has {len(source):,} characters of code, and {MOST_CHARACTERS:,} are the most: "
            "compute data instead of pasting it"
        )
    metadata = cell.get("metadata", {})
    if not isinstance(metadata, dict):
        raise Refused(f"the metadata of cell {number} isn't an object: {NOT_A_NOTEBOOK}")
    marks = metadata.get("nbgrader")
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    # Half a character (a lone surrogate) can not be written as UTF-8 later.
    return HandedIn(cell_type, SURROGATE.sub("\N{REPLACEMENT CHARACTER}", source), _id(cell.get("id")), _id(grade_id))


def _id(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= LONGEST_ID and not SURROGATE.search(value) else ""


def _short(value: object) -> str:
    """A value of the student's in a message: never long, never on several lines."""
    text = ascii(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return text if len(text) <= 40 else text[:37] + "..."

"""Bytes that claim to be a notebook: read as cells, or refused in words, and never slowly."""

from __future__ import annotations

import json
import random

import nbformat
import pytest

from helpers.grading.release import as_bytes, released
from helpers.grading.untrusted import (
    MOST_BYTES,
    MOST_CELLS,
    MOST_CHARACTERS,
    MOST_DEPTH,
    HandedIn,
    Refused,
    depth,
    read_cells,
)
from tests.grading.made_lab import code, lab, notebook, text


def made(*cells: dict, **top) -> bytes:
    return json.dumps({**notebook(), "cells": list(cells), **top}).encode()


def refusal(data: bytes) -> str:
    with pytest.raises(Refused) as raised:
        read_cells(data)
    message = str(raised.value)
    assert "\n" not in message and len(message) < 300, message
    return message


def test_cells_are_read_as_nbformat_reads_them():
    data = as_bytes(released(lab()))
    peer = nbformat.reads(data.decode(), as_version=4)
    seen = read_cells(data)
    assert [(cell.cell_type, cell.source, cell.id) for cell in seen] == [
        (cell.cell_type, cell.source, cell.id) for cell in peer.cells
    ]
    assert [cell.grade_id for cell in seen if cell.grade_id] == list(lab().ids)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + made(code(1, "x")),
        made(code(1, ["x = 1\n", "y"]), text(2, "")),
        made(code(1, "x"), nbformat_minor=2),
        made({"cell_type": "code", "source": "x"}),
        made(code(1, "x") | {"outputs": [{"data": {"application/json": {"big": 10**250, "odd": float("nan")}}}]}),
    ],
    ids=["byte order mark", "lines", "older minor version", "no metadata", "numbers in outputs"],
)
def test_honest_files_are_read(data):
    assert read_cells(data)[0].is_code


def test_huge_numbers_cost_nothing():
    data = made(code(1, "x")).replace(b'"nbformat_minor": 5', b'"nbformat_minor": ' + b"9" * 4_000_000)
    assert read_cells(data)[0].source == "x"
    assert "format inf, not 4" in refusal(data.replace(b'"nbformat": 4', b'"nbformat": ' + b"4" * 1000))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"\x00\xff\xfe" * 100, "isn't UTF-8 text"),
        (made(code(1, "x")).decode().encode("utf-16"), "isn't UTF-8 text"),
        (b"%PDF-1.7", "isn't valid JSON (line 1)"),
        (made(code(1, "x"))[:-5], "isn't valid JSON"),
        (made(code(1, "x")) + b"{}", "isn't valid JSON"),
        (b"[" * 100_000, "nested more than"),
        (b'{"a":' * 100_000, "nested more than"),
        (made(code(1, "x"))[:-1] + b', "x": ' + b"[" * 61 + b"]" * 61 + b"}", "nested more than"),
        (b"17", "not a notebook"),
        (b"[]", "not a notebook"),
        (b'{"a": 1}', "not a notebook"),
        (made(code(1, "x"), nbformat=3), "format 3, not 4: open it in JupyterLab"),
        (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "format 3, not 4"),
        (made(code(1, "x"), nbformat=True), "format True"),
        (made(code(1, "x"), nbformat="4"), "format '4'"),
        (b'{"nbformat": 4}', "its cells aren't a list"),
        (made(cells={}), "its cells aren't a list"),
        (made(), "no cells"),
        (made(*[code(1, "x")] * (MOST_CELLS + 1)), "1,001 cells"),
        (made(5), "cell 1 isn't an object"),
        (made(code(1, "x"), {"cell_type": "shell", "source": ""}), "cell 2 has an unknown type"),
        (made({"cell_type": ["code"], "source": ""}), "cell 1 has an unknown type"),
        (made({"source": ""}), "cell 1 has an unknown type"),
        (made(code(1, 5)), "the source of cell 1 isn't text"),
        (made(code(1, ["x", 5])), "the source of cell 1 isn't text"),
        (made({"cell_type": "code", "metadata": {}}), "the source of cell 1 isn't text"),
        (made(code(1, "x") | {"metadata": []}), "metadata of cell 1"),
        (made(code(1, "x" * (MOST_CHARACTERS + 1))), "200,001 characters"),
        (b'{"nbformat": 4, "cells": [], "cells": []}', "has the key 'cells' twice"),
        (b" " * (MOST_BYTES + 1), "more than 5 MB"),
    ],
)
def test_what_is_no_notebook_is_refused(data, says):
    assert says in refusal(data)


def test_refusals_quote_no_more_than_a_little():
    assert len(refusal(made(code(1, "x"), nbformat="x\n" * 10_000))) < 200


def test_ids_that_are_no_texts_are_none():
    cells = [
        code(1, "x", nbgrader=5),
        code(1, "x", nbgrader={"grade_id": ["made01-total"]}),
        code(1, "x", nbgrader={"grade_id": "x" * 1000}),
        code(1, "x") | {"id": 7},
    ]
    assert [(cell.grade_id, cell.id) for cell in read_cells(made(*cells))] == [("", "made-1")] * 3 + [("", "")]


def test_half_characters_can_be_written_again():
    data = b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "a = \'\\ud83d\'", "id": "\\udfff"}]}'
    assert read_cells(data) == (HandedIn("code", "a = '\N{REPLACEMENT CHARACTER}'"),)


def test_brackets_in_strings_do_not_count():
    assert depth(json.dumps({"a": "[" * 1000, 'b"\\': ['{"', [1]]})) == 3
    assert depth("[" * 10_000_000) == MOST_DEPTH + 1
    assert depth('"' + "\\n" * 2_000_000) == 0


@pytest.mark.parametrize("seed", range(300))
def test_damaged_notebooks_are_read_or_refused(seed):
    """Whatever happens to the bytes: cells or a refusal, no other exception."""
    chance = random.Random(seed)
    data = bytearray(as_bytes(released(lab())))
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at : at + chance.randint(1, 200)]
            case 2:
                data[at:at] = chance.choice([b"[", b"{", b'"', b"null", b"-1e999", b"\\ud800", b"5,", b'"source": 5,'])
            case 3:
                other = chance.randrange(len(data))
                data[at : at + 40] = data[other : other + 40]
    try:
        cells = read_cells(bytes(data))
    except Refused as refused:
        assert str(refused)
    else:
        assert all(isinstance(cell.source, str) for cell in cells)

"""Chapter 13's layout algebra: whatever `compose` accepts is the composition."""

import contextlib
import io
import random

import nbformat
import pytest

from helpers.workbook.run import ROOT

CHAPTER = ROOT / "notebooks" / "13_matmul_ladder.ipynb"
CELLS = ("class Layout:", "def coalesce(", "def compose_parts(", "def compose(")


@pytest.fixture(scope="module")
def algebra():
    """The names defined by the cells above, run in the chapter's order."""
    names = {}
    exec("from dataclasses import dataclass", names)
    cells = [cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells if cell.cell_type == "code"]
    for wanted in CELLS:
        (source,) = (source for source in cells if wanted in source)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(source, names)
    return names


def any_layout(layout, draw, most):
    parts = draw.randint(1, most)
    shape = tuple(draw.choice((1, 2, 3, 4, 6, 8)) for _ in range(parts))
    return layout(shape, tuple(draw.choice((0, 1, 2, 3, 4, 6, 8, 12)) for _ in range(parts)))


def test_what_compose_accepts_is_the_composition_for_every_number(algebra):
    draw, accepted, refused = random.Random(0), 0, 0
    for _ in range(4000):
        outer, inner = any_layout(algebra["Layout"], draw, 3), any_layout(algebra["Layout"], draw, 2)
        try:
            result = algebra["compose"](outer, inner)
        except ValueError:
            refused += 1
            continue
        accepted += 1
        numbers = range(algebra["size"](inner.shape))
        assert [result(i) for i in numbers] == [outer(inner(i)) for i in numbers], (outer, inner, result)
    assert accepted > 500
    assert refused > 500


def test_parts_that_carry_are_refused(algebra):
    outer, inner = algebra["Layout"]((6, 8, 4), (2, 2, 1)), algebra["Layout"]((2, 6), (3, 2))
    with pytest.raises(ValueError, match="gives 14 at 5, not 4"):
        algebra["compose"](outer, inner)

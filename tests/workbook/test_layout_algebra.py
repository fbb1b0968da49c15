"""Chapter 13's layout algebra: whatever `compose` accepts is the composition, every complement tiles its range, and all
of it is what CuTe DSL gives."""

import ast
import contextlib
import io
import random

import nbformat
import pytest

from helpers.workbook.run import ROOT

CHAPTER = ROOT / "notebooks" / "13c_tiles_in_triton_and_cute.ipynb"
CELLS = ("class Layout:", "def coalesce(", "def compose_parts(", "def compose(", "def complement(", "def divide(")


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


def place(number, layout, flatten):
    """Where `number` lies, counted through all parts; AssertionError past the last one."""
    total = 0
    for length, step in zip(flatten(layout.shape), flatten(layout.stride), strict=True):
        total += number % length * step
        number //= length
    assert number == 0
    return total


def any_layout(layout, draw, most):
    parts = draw.randint(0, most)
    if not parts:
        return layout(draw.choice((1, 2, 3, 4, 6, 8, 12)), draw.choice((0, 1, 2, 3, 4, 6)))
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
        flatten = algebra["flatten"]
        for i in range(algebra["size"](inner.shape)):
            found, wanted = place(i, result, flatten), place(place(i, inner, flatten), outer, flatten)
            assert found == wanted, (outer, inner, result)
    assert accepted > 500
    assert refused > 500


@pytest.mark.parametrize(
    ("outer", "inner", "words"),
    [
        (((6, 8, 4), (2, 2, 1)), ((2, 6), (3, 2)), "gives 14 at 5, not 4"),  # 3 + 4 carries
        (((6, 2), (1, 7)), ((3, 2), (2, 3)), "gives 7 at 5, not 8"),  # the example of NVIDIA/cutlass issue 2955
        ((4, 1), (8, 1), "gives 4 at 4, and 4:1 ends at 3"),
    ],
)
def test_parts_that_carry_and_layouts_that_leave_are_refused(algebra, outer, inner, words):
    with pytest.raises(ValueError, match=words):
        algebra["compose"](algebra["Layout"](*outer), algebra["Layout"](*inner))


def test_a_complement_and_its_tile_fill_a_range_without_holes_or_it_is_refused(algebra):
    draw, accepted, refused = random.Random(0), 0, 0
    for _ in range(4000):
        tile = any_layout(algebra["Layout"], draw, 3)
        starts = [tile(i) for i in range(algebra["size"](tile.shape))]
        if len(set(starts)) < len(starts):
            continue
        try:
            rest = algebra["complement"](tile, 48)
        except ValueError:
            refused += 1
            continue
        accepted += 1
        places = sorted(start + rest(copy) for start in starts for copy in range(algebra["size"](rest.shape)))
        assert places == list(range(max(len(places), 48))), (tile, rest)
    assert accepted > 500
    assert refused > 100


def drawn(algebra):
    """Random layouts for each operation: its name in CuTe, its arguments, and what the chapter's algebra gives."""
    draw, layout, size = random.Random(0), algebra["Layout"], algebra["size"]
    ours = {
        "composition": algebra["compose"],
        "complement": lambda tile, other: algebra["complement"](tile, 48),
        "logical_divide": algebra["divide"],
        "logical_product": algebra["multiply"],
    }
    for name, operation in ours.items():
        found = 0
        while found < 40:
            first, second = any_layout(layout, draw, 3), any_layout(layout, draw, 2)
            numbers = [n for each in (first, second) for n in algebra["flatten"]((each.shape, each.stride))]
            if 0 in numbers or any(1 in algebra["flatten"](each.shape) for each in (first, second)):
                continue  # CuTe refuses some layouts with parts of one element
            if name == "logical_divide" and size(first.shape) % size(second.shape):
                continue
            starts = [first(i) for i in range(size(first.shape))]
            if name in ("complement", "logical_product") and len(set(starts)) < len(starts):
                continue
            try:
                result = operation(first, second)
            except ValueError:
                continue
            found += 1
            yield name, first, second, result


@pytest.mark.slow
def test_cute_dsl_gives_the_same(algebra):
    pytest.importorskip("cutlass.cute", reason="CuTe DSL is optional")
    from helpers import cute

    rows, theirs = list(drawn(algebra)), []

    def compute():
        for name, *both, _ in rows:
            first, second = (cute.make_layout(each.shape, stride=each.stride) for each in both)
            theirs.append(str(getattr(cute, name)(first, 48 if name == "complement" else second)))

    @cute.jit
    def traced():
        compute()

    traced()
    for (name, first, second, ours), text in zip(rows, theirs, strict=True):
        found = algebra["Layout"](*map(ast.literal_eval, text.split(":")))
        for i in range(algebra["size"](ours.shape)):
            assert place(i, found, algebra["flatten"]) == ours(i), (name, first, second, ours, text)

"""Every kernel of the corpus, asked the same questions.

One kernel a feature is asked all of them; the others whether compiled code, counted code and the interpreter agree with
NumPy and count alike, and the rest in the exhaustive tier.
"""

import pytest

from vgpu.base.schedule import scheduled
from vgpu.tests.corpus import harness
from vgpu.tests.corpus.row import rows

ROWS = rows()
pytestmark = pytest.mark.filterwarnings("ignore:.*Host array used in CUDA kernel", "ignore:.*Grid size")


def each(marked, rows=ROWS):
    """Every row in turn, with the mark that `marked` gives it."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.name, marks=marked(row)) for row in rows])


def unless(quick):
    """The mark of rows that wait for the exhaustive tier: those for which `quick` is false."""
    return lambda row: () if quick(row) else pytest.mark.exhaustive


@each(lambda row: pytest.mark.check if row.check else ())
def test_compiled_code_agrees_with_numpy(row):
    harness.run(row, "plain")


@each(unless(lambda row: not row.long))
def test_both_engines_count_alike(row):
    with scheduled("sequential"):  # how often a compare-and-swap is tried again depends on who comes between
        counters, naive = harness.run(row, "counted"), harness.run(row, "interpreted")
    if row.counts:
        assert not harness.differences(row, counters, naive)


@each(unless(lambda row: row.check))
def test_a_launch_that_is_watched_as_well_counts_alike(row):
    """A checked answer is launched once: the sanitizer watches the launch that's counted."""
    with scheduled("sequential"):
        plain, both = harness.run(row, "counted"), harness.run(row, "watched and counted")
    if row.counts:
        assert both.total == plain.total and both.lines == plain.lines and both.footprint == plain.footprint


@each(unless(lambda row: row.check), [row for row in ROWS if not row.in_order])
@pytest.mark.parametrize("way", ("random 1", "random 2", "watched 1"))
def test_any_schedule_gives_the_same(row, way):
    harness.run(row, way)


@each(unless(lambda row: row.check))
def test_the_sanitizer_blames_nothing(row):
    harness.run(row, "watched")

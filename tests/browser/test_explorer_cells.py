"""What is left of a chapter for a walk through its explorers."""

from __future__ import annotations

import nbformat

from tests.browser.explorers import explorers_only
from tests.workbook.made import code, text, written

SOURCES = (
    ("import numpy as np\nfrom helpers import widgets", True),
    ("x = np.zeros(3)", True),
    ("y = 2", False),
    ("print(y)", False),
    ("%time y", False),
    ("x[0] = 1", True),
    ("x.sort()", True),
    ("np.set_printoptions()", False),
    ("def f(y):\n    return x", True),
    ("widgets.banks(f)", True),
    ("x = 3", False),
)


def test_cells_are_left_that_give_a_name_which_an_explorer_needs(tmp_path):
    path = written(tmp_path, text("# Title"), *(code(source) for source, _ in SOURCES))
    explorers_only(path)
    left = [cell.source for cell in nbformat.read(path, 4).cells]
    assert left == ["# Title", *(source for source, needed in SOURCES if needed)]

"""What one name of a chapter needs is kept, and nothing else."""

from __future__ import annotations

import pytest

from helpers.workbook.gpu.needed import needed

CASES = {
    "only what it depends on": (["a = 1\nb = 2", "x = a + 1\nprint(x)"], "a = 1\nx = a + 1"),
    "the latest definition": (["a = 1", "a = 2", "x = a", "a = 3"], "a = 2\nx = a"),
    "a definition that needs an earlier one": (["a = 1", "a = a + 1", "x = a"], "a = 1\na = a + 1\nx = a"),
    "imports in use": (["import os, sys\nfrom m import p, q as r", "x = sys.path + r"],
                       "import sys\nfrom m import q as r\nx = sys.path + r"),
    "the first part of a module's name": (["import a.b", "x = a.b.c"], "import a.b\nx = a.b.c"),
    "what a function reads": (["k = 3\nv = 4\ndef f(v):\n    w = v * k\n    return w", "x = f(1)"],
                              "k = 3\ndef f(v):\n    w = v * k\n    return w\nx = f(1)"),
    "what a lambda in a comprehension reads": (["n = 2", "x = [lambda i: i + n for i in range(2)]"],
                                               "n = 2\nx = [lambda i: i + n for i in range(2)]"),
    "items and attributes": (["x = {}", "y = 2\nx['y'] = y\nz = 3", "x.size = 5\nx.show()"],
                             "x = {}\ny = 2\nx['y'] = y\nx.size = 5"),
    "what a loop fills": (["x = {}\nname = 'other'", "for name in ('a', 'b'):\n    x[name] = 1"],
                          "x = {}\nfor name in ('a', 'b'):\n    x[name] = 1"),
    "what a loop may leave as it was": (["x = 1", "for i in ():\n    x = i"], "x = 1\nfor i in ():\n    x = i"),
    "a name that a block defines first": (["y = 1", "with f() as y:\n    x = y"], "with f() as y:\n    x = y"),
    "a branch that may not run": (["x = 1\nc = 0", "if c:\n    x = 2"], "x = 1\nc = 0\nif c:\n    x = 2"),
    "the GPU that is modelled": (["device('H100')", "x = 1"], "device('H100')\nx = 1"),
    "no magics": (["%time\nx = 1", "x = 2"], "x = 2"),
}  # fmt: skip


@pytest.mark.parametrize(("cells", "expected"), CASES.values(), ids=CASES)
def test_it_is_kept(cells, expected):
    assert needed("x", cells) == expected + "\n"

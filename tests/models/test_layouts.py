"""Layouts as tables: CuTe's documented examples, in every form in which a layout may be given."""

import numpy as np
import pytest

from helpers.models.layouts import places

# https://docs.nvidia.com/cutlass/media/docs/cpp/cute/01_layout.html
DOCUMENTED = {
    "(2, 4):(1, 2)": [[0, 2, 4, 6], [1, 3, 5, 7]],
    "(2, 4):(12, 1)": [[0, 1, 2, 3], [12, 13, 14, 15]],
    "(2, (2, 2)):(4, (2, 1))": [[0, 2, 1, 3], [4, 6, 5, 7]],
    "((2, 2), 2):((4, 1), 2)": [[0, 2], [4, 6], [1, 3], [5, 7]],
    "8:2": [[0, 2, 4, 6, 8, 10, 12, 14]],
}


@pytest.mark.parametrize("text", DOCUMENTED)
def test_a_documented_layout(text):
    assert places(text).offsets.tolist() == DOCUMENTED[text]


class Given:
    shape = (2, 4)

    def __call__(self, row, column):
        return 4 * row + column


def test_every_form_of_one_layout_gives_one_table():
    wanted = np.arange(8).reshape(2, 4).tolist()
    forms = ("(2, 4):(4, 1)", ((2, 4), (4, 1)), (lambda row, column: 4 * row + column, (2, 4)), Given())
    assert [places(form).offsets.tolist() for form in forms] == [wanted] * 4


def test_the_inverse_names_who_lies_where():
    found = places("(2, 2):(0, 3)")
    assert found.inverse == {0: [(0, 0), (1, 0)], 3: [(0, 1), (1, 1)]}
    assert found.cosize == 4 and not found.one_to_one() and places("(2, 2):(1, 2)").one_to_one()


WRONG = {
    "no colon": ("(2, 4)", ValueError, "shape:stride"),
    "no numbers": ("a:b", ValueError, "shape:stride"),
    "too few strides": ("(2, 4):(1,)", ValueError, "as many numbers"),
    "too large": ("(64, 64):(64, 1)", ValueError, "1 to 512"),
    "before the start": ((lambda row, column: row - 1, (2, 2)), ValueError, "0 or more"),
    "a number": (7, TypeError, "a layout is text"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_layout_is_told(name):
    given, error, words = WRONG[name]
    with pytest.raises(error, match=words):
        places(given)

"""A way to be wrong that is of no use says so, to whoever writes an exercise."""

from dataclasses import replace

import pytest

from helpers.checking.exercise import exercise
from helpers.checking.renew import computed
from helpers.checking.solutions import NoWay


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (("no such words", "others"), "the solution has no 'no such words'"),
        (("out", "out"), "changes nothing"),
        ("not C at all", "it doesn't compile"),
        ("    out[1 << 28] = 0;", "stops far outside its array"),
        (("out[i]", "out[0 + i]"), "it passes"),
        (("out[i]", "out[0]"), None),
    ],
)
def test_a_way_of_no_use_is_named(way, said):
    task = exercise("ch04.grey")
    only = replace(task, mistakes=(replace(task.mistakes[0], ways=(way,)),))
    if said is None:
        assert computed(only)[task.mistakes[0].name]
    else:
        with pytest.raises(NoWay, match=said):
            computed(only)

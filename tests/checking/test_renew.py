"""A way to be wrong that is of no use says so, to whoever writes an exercise."""

from dataclasses import replace

import pytest

from helpers.checking import fingerprint, renew
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


def test_one_exercise_after_another_of_a_book_is_kept(tmp_path, monkeypatch):
    """What is renewed second would else be written beside the first as it was before."""
    for module in (renew, fingerprint):
        monkeypatch.setattr(module, "book_folder", lambda book: tmp_path)
    monkeypatch.setattr(renew, "pass_all", lambda task: None)
    monkeypatch.setattr(renew, "computed", lambda task: {"new": [{"cases": [task.key]}]})
    (tmp_path / fingerprint.KEPT).write_text("{}", encoding="utf-8")
    fingerprint.forget()
    try:
        renew.main(["lab15.fooling", "lab15.judging"])
        assert fingerprint.kept(exercise("lab15.fooling"))["new"]
        assert fingerprint.kept(exercise("lab15.judging"))["new"]
    finally:
        fingerprint.forget()

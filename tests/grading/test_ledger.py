"""The ledger: whole lines, one grader at a time, and what stands."""

import json
import os
import subprocess
import sys

import pytest

from helpers.grading import ledger, secret
from helpers.grading.ledger import Ledger, Taken
from helpers.grading.results import GRADED, UNGRADED, Mark, Result

MARK = Mark("one-results", "lab99.one", "results", 2.0, 2.0, "right")


def result(student, key="key", state=GRADED, marks=(MARK,)):
    return Result(student, f"{student}.ipynb", "lab99_made", state, marks, key=key, seconds=1.5)


def written(folder, *results):
    with Ledger(folder) as book:
        for each in results:
            book.add(each)
    return folder / ledger.NAME


def test_a_result_stands_as_long_as_its_key_does(tmp_path):
    written(tmp_path, result("ann"))
    with Ledger(tmp_path) as book:
        assert book.settled("ann", "ann.ipynb", "key") == result("ann")
        assert book.settled("ann", "ann.ipynb", "another key") is None
        assert book.settled("ann", "again.ipynb", "key") is None
        assert book.settled("bob", "bob.ipynb", "key") is None


def test_what_is_ungraded_never_stands(tmp_path):
    written(tmp_path, result("ann", state=UNGRADED))
    with Ledger(tmp_path) as book:
        assert book.settled("ann", "ann.ipynb", "key") is None


def test_the_last_line_of_a_submission_counts(tmp_path):
    written(tmp_path, result("ann"), result("ann", key="new"))
    with Ledger(tmp_path) as book:
        assert book.settled("ann", "ann.ipynb", "key") is None
        assert book.settled("ann", "ann.ipynb", "new") is not None


def test_lines_are_only_added(tmp_path):
    path = written(tmp_path, result("ann"))
    before = path.read_bytes()
    written(tmp_path, result("bob"))
    assert path.read_bytes().startswith(before)
    assert [json.loads(line)["student"] for line in path.read_bytes().splitlines()] == ["ann", "bob"]


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_a_torn_last_line_is_told_and_costs_nobody_else(tmp_path, kept):
    path = written(tmp_path, result("ann"), result("bob"))
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:kept])  # without its line end, or much more
    torn = kept > 0
    with Ledger(tmp_path) as book:
        assert [("line 2" in words) for words in book.told] == ([True] if torn else [])
        assert book.settled("ann", "ann.ipynb", "key") is not None
        assert (book.settled("bob", "bob.ipynb", "key") is None) is torn
        book.add(result("cid"))
    with Ledger(tmp_path) as book:
        assert book.settled("cid", "cid.ipynb", "key") is not None


@pytest.mark.parametrize("line", [b"[]", b"null", b'{"student": "ann"}', b"\xff\xfe", b'{"marks": 3, "notes": []}'])
def test_a_line_that_is_no_result_is_told(tmp_path, line):
    path = written(tmp_path, result("ann"))
    path.write_bytes(line + b"\n" + path.read_bytes())
    with Ledger(tmp_path) as book:
        assert len(book.told) == 1
        assert book.settled("ann", "ann.ipynb", "key") is not None


def test_names_of_any_sort_come_back(tmp_path):
    names = ["Zoë", "=1+1", "a\nb", "\u202egnp", "\ud800", "x" * 255]
    written(tmp_path, *map(result, names))
    with Ledger(tmp_path) as book:
        assert book.told == []
        assert all(book.settled(name, f"{name}.ipynb", "key") for name in names)


def test_two_graders_in_one_folder_are_one_too_many(tmp_path):
    with Ledger(tmp_path), pytest.raises(Taken, match="at work"), Ledger(tmp_path):
        pass
    with Ledger(tmp_path):
        pass


def test_a_grader_that_was_killed_leaves_no_lock(tmp_path):
    code = (
        "import os, pathlib, signal, sys; from helpers.grading.ledger import Ledger\n"
        "with Ledger(pathlib.Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=60)
    with Ledger(tmp_path):
        pass


# -- the seed -------------------------------------------------------------------------------------------


def test_a_seed_is_drawn_once_and_kept_from_others(tmp_path):
    seed = secret.seed_of(tmp_path)
    assert secret.seed_of(tmp_path) == seed
    assert os.stat(tmp_path / secret.NAME).st_mode & 0o077 == 0
    other = tmp_path / "other"
    other.mkdir()
    assert secret.seed_of(other) != seed


def test_a_seed_that_is_given_is_the_one_that_is_kept(tmp_path):
    secret.seed_of(tmp_path)
    assert secret.seed_of(tmp_path, 7) == 7
    assert secret.seed_of(tmp_path) == 7


def test_a_file_that_holds_no_seed_is_said_so(tmp_path):
    (tmp_path / secret.NAME).write_text("seven")
    with pytest.raises(ValueError, match="holds no seed"):
        secret.seed_of(tmp_path)

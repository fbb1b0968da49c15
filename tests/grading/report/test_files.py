"""What lies in a results folder: the same bytes each time, safe names, nothing old, nothing half written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from dataclasses import replace

import pytest

from helpers.grading import report
from helpers.grading.report.files import folded, put, safe, stems
from helpers.grading.results import GRADED, UNGRADED
from tests.grading.report.made_class import LAB, NAMES, PRINTS, RIGHT, made_class, marks, result


def contents(folder) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_every_format_is_written_and_told(tmp_path):
    paths = report.write(tmp_path, made_class(), LAB)
    assert sorted(paths) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    names = {path.relative_to(tmp_path).as_posix() for path in paths}
    assert {"gradebook.csv", "junit.xml", "seconds.csv", "summary.html", "summary.md", "transcript.txt"} <= names
    assert len([name for name in names if name.startswith("feedback/")]) == 2 * 60
    assert len([name for name in names if name.startswith("gradescope/")]) == 56, "none for what is not graded"


def test_the_same_results_give_the_same_bytes_in_any_order(tmp_path):
    results = made_class()
    report.write(tmp_path / "one", results, LAB, fingerprints=PRINTS)
    report.write(tmp_path / "two", results[::-1], LAB, fingerprints=PRINTS)
    report.write(tmp_path / "two", results[::-1], LAB, fingerprints=PRINTS)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_only_one_report_depends_on_a_clock(tmp_path):
    results = made_class()
    slower = [
        replace(found, seconds=found.seconds + 7, marks=tuple(replace(m, seconds=m.seconds * 3) for m in found.marks))
        for found in results
    ]
    report.write(tmp_path / "one", results, LAB, fingerprints=PRINTS)
    report.write(tmp_path / "two", slower, LAB, fingerprints=PRINTS)
    one, two = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert [name for name in one if one[name] != two[name]] == ["seconds.csv"]


def test_the_same_bytes_in_another_process(tmp_path, root):
    code = (
        "import sys\nfrom pathlib import Path\nfrom helpers.grading import report\n"
        "from tests.grading.report.made_class import LAB, PRINTS, made_class\n"
        "report.write(Path(sys.argv[1]), made_class(), LAB, fingerprints=PRINTS)\n"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        subprocess.run([sys.executable, "-c", code, str(tmp_path / seed)], cwd=root, env=environment, check=True)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_what_is_no_more_goes_and_what_was_not_asked_for_stays(tmp_path):
    results = made_class()
    report.write(tmp_path, results, LAB)
    (tmp_path / "mine.txt").write_text("notes")
    assert (tmp_path / "gradescope/student01.json").is_file()
    gone = [result("student01", UNGRADED, reason="gone") if r.student == "student01" else r for r in results]
    report.write(tmp_path, gone, LAB, ["gradescope"])
    assert not (tmp_path / "gradescope/student01.json").exists()
    assert (tmp_path / "feedback/student01.html").is_file() and (tmp_path / "mine.txt").is_file()
    report.write(tmp_path, results[:3], LAB)
    assert len(list((tmp_path / "feedback").iterdir())) == 6


def test_an_index_cannot_remove_what_lies_outside(tmp_path):
    (tmp_path / "precious.txt").write_text("keep")
    folder = tmp_path / "results"
    folder.mkdir()
    for name in ("../precious.txt", str(tmp_path / "precious.txt"), "..\\precious.txt"):
        (folder / "files.json").write_text(json.dumps({"reports": {"feedback": [name]}}))
        report.write(folder, made_class()[:1], LAB)
        assert (tmp_path / "precious.txt").read_text() == "keep"
    (folder / "files.json").write_text("not JSON")
    assert report.write(folder, made_class()[:1], LAB)


def test_files_are_whole_or_not_there(tmp_path, monkeypatch):
    put(tmp_path / "a.txt", b"old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        put(tmp_path / "a.txt", b"new")
    assert contents(tmp_path) == {"a.txt": b"old"}


def test_a_link_in_the_folder_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "precious.txt").write_text("keep")
    folder = tmp_path / "results"
    folder.mkdir()
    try:
        (folder / "gradebook.csv").symlink_to(tmp_path / "precious.txt")
    except OSError:
        pytest.skip("this system makes no links")
    report.write(folder, made_class()[:1], LAB, ["gradebook"])
    assert (tmp_path / "precious.txt").read_text() == "keep"
    assert not (folder / "gradebook.csv").is_symlink()


# -- names


def test_names_are_safe_and_differ():
    keys = [(name, "a.ipynb") for name in NAMES] + [("ada", "b.ipynb")]
    found = stems(keys)
    assert len({folded(stem) for stem in found.values()}) == len(keys)
    for stem in found.values():
        assert len(f"{stem}.html".encode()) <= 255
        assert not set(stem) & set('/\\:*?"<>|%#&;$`!\0\n\t')
        assert not stem.startswith((".", "-")) and stem == stem.rstrip(". ")
        assert all(unicodedata.category(sign)[0] != "C" for sign in stem)
    assert found["Doe, Jane", "a.ipynb"] == "Doe, Jane" and found["李雷", "a.ipynb"] == "李雷"


@pytest.mark.parametrize("name", ["", ".", "..", "...", "/", "\0", " ", "\u200b", "\ud800"])
def test_a_name_that_is_none_gets_one(name):
    assert safe(name).strip("_") == "" and safe(name)
    assert stems([(name, "f")])[name, "f"] != safe(name)


def test_a_file_of_ones_own_does_not_depend_on_the_others():
    alone = stems([("../x", "f")])["../x", "f"]
    assert stems([("../x", "f"), ("ada", "f"), ("..\\x", "f")])["../x", "f"] == alone


def test_a_name_that_looks_like_anothers_hash_is_still_another():
    taken = stems([("../x", "f")])["../x", "f"]
    found = stems([("../x", "f"), (taken, "g")])
    assert len({folded(stem) for stem in found.values()}) == 2


def test_the_index_says_which_file_is_whose(tmp_path):
    report.write(tmp_path, made_class(), LAB)
    index = json.loads((tmp_path / "files.json").read_bytes())
    assert {row["student"] for row in index["students"]} == set(NAMES) | {f"student{n:02d}" for n in range(30)}
    for row in index["students"]:
        assert (tmp_path / "feedback" / f"{row['name']}.html").is_file()
    assert "files.json says which file is whose" in report.as_text(made_class(), LAB)


# -- the terminal


def test_the_terminal_has_a_line_for_each_and_ends_loud():
    text = report.as_text(made_class(), LAB)
    lines = text.splitlines()
    assert lines[-1].startswith("!!! 4 submissions NOT GRADED")
    assert (
        sum(" graded " in line or " stopped " in line or " rejected " in line or " UNGRADED " in line for line in lines)
        >= 60
    )
    assert "60 submissions: 4 UNGRADED, 46 graded, 5 stopped, 5 rejected" in text
    assert not set(text) & set("\x00\x07\x08\x1b\r\u202e\ud83d")
    assert max(map(len, lines)) < 200
    assert "sandbox bubblewrap, 55 submissions; it does not protect from a flaw" in text
    assert "3/12.5" in text and "✗✗     ✓✗    ·" in text


def test_the_terminal_is_quiet_when_all_is_done():
    done = [result("ada", GRADED, marks(*RIGHT))]
    assert report.as_text(done, LAB).splitlines()[-1] == "every submission is graded, stopped or rejected"
    assert "!!!" not in report.as_text(done, LAB)


def test_the_exit_status_is_zero_only_when_nothing_is_left():
    done = [found for found in made_class() if found.state != UNGRADED]
    assert report.exit_status(done) == report.exit_status(done, LAB) == report.exit_status([]) == 0
    assert report.exit_status(made_class()) == 1
    unjudged = result("ada", GRADED, marks("right", "unjudged", *RIGHT[2:]))
    assert report.exit_status([unjudged]) == 1
    short = result("ada", GRADED, marks(*RIGHT)[:2])
    assert (report.exit_status([short]), report.exit_status([short], LAB)) == (0, 1)


def test_the_graders_own_troubles_are_for_the_instructor_only(tmp_path):
    report.write(tmp_path, made_class(), LAB)
    for name, data in contents(tmp_path).items():
        known = b"secret-path" in data
        assert known == (name in ("summary.html", "summary.md", "transcript.txt", "junit.xml")), name


def test_an_unknown_format_is_named():
    with pytest.raises(ValueError, match="no format 'pdf'; there are gradebook, canvas"):
        report.make([], LAB, ["pdf"])


def test_a_lab_with_one_cell_twice_is_refused():
    with pytest.raises(ValueError, match="'lab05-total-results' is there twice"):
        replace(LAB, parts=LAB.parts + LAB.parts[:1])
    with pytest.raises(ValueError, match="points are 0 or more"):
        replace(LAB, parts=(replace(LAB.parts[0], points=float("nan")),))


def test_an_empty_class_has_reports_too(tmp_path):
    report.write(tmp_path, [], LAB, fingerprints=PRINTS)
    assert "0 submissions: none" in (tmp_path / "transcript.txt").read_text(encoding="utf-8")
    report.write(tmp_path, made_class(), replace(LAB, parts=()), fingerprints=PRINTS)

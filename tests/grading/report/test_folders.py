"""Results folders read, merged, and reported on from the command line."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from helpers import cli
from helpers.grading import report
from helpers.grading.results import GRADED, REJECTED, UNGRADED
from tests.grading.report.made_class import LAB, PRINTS, RIGHT, WRONG, made_class, marks, result


def graded(student: str, *outcomes: str, **others):
    return result(student, GRADED, marks(*(outcomes or RIGHT)), **others)


def folder(path, results, lab=LAB, shard=None, **others):
    report.write(path, results, lab, None if others else ["transcript"], shard=shard, **others)
    report.keep(path, results)
    return path


def call(capsys, *arguments) -> tuple[int, str, str]:
    status = cli.main(["report", *map(str, arguments)])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


# -- reading


def test_what_is_written_is_read(tmp_path):
    results = made_class()
    found = report.read(folder(tmp_path, results, shard=(1, 3)))
    assert sorted(found.results, key=lambda r: r.student) == sorted(results, key=lambda r: r.student)
    assert (found.lab, found.shard, found.lacks, found.remarks) == (LAB, (1, 3), (), ())


def test_what_was_told_and_whose_answers_are_the_same_is_told_again(tmp_path, capsys):
    told = (report.Told("left out 'notes.txt': not a notebook"), report.Told("see to this", loud=True))
    one = folder(tmp_path / "one", made_class()[30:], shard=(1, 2), fingerprints=PRINTS, told=told)
    two = folder(tmp_path / "two", made_class()[:30], shard=(2, 2), told=told[:1])
    summary = (one / "summary.md").read_bytes()
    assert b"student03; student05; student08" in summary
    call(capsys, one)
    assert (one / "summary.md").read_bytes() == summary
    text = call(capsys, tmp_path / "all", "--merge", two, one)[1]
    assert text.count("notes.txt") == 1 and "!!! see to this" in text
    assert "student03; student05; student08" in (tmp_path / "all" / "summary.md").read_text(encoding="utf-8")


def test_the_last_line_of_a_student_and_file_wins(tmp_path):
    folder(tmp_path, [])
    lines = [result("ada", UNGRADED, reason="gone"), graded("bob"), graded("ada"), graded("ada", file="second.ipynb")]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(line.as_json()) + "\n" for line in lines))
    found = report.read(tmp_path)
    assert [(r.student, r.state) for r in found.results] == [("ada", GRADED), ("bob", GRADED), ("ada", GRADED)]


@pytest.mark.parametrize(
    "torn", [b'{"student": "eve", "fi', b"\x00\x00\x00", b"[]", b'{"marks": 3}', b"[" * 5000, b"\xff"]
)
def test_a_torn_last_line_is_told_and_loud(tmp_path, capsys, torn):
    folder(tmp_path, [graded("ada")])
    with open(tmp_path / "results.jsonl", "ab") as file:
        file.write(torn)
    found = report.read(tmp_path)
    assert [r.student for r in found.results] == ["ada"]
    assert "line 2 is torn" in found.lacks[0]
    status, text, _ = call(capsys, tmp_path)
    assert status == 1
    assert "!!! results.jsonl: line 2 is torn" in text and text.splitlines()[-1].startswith("!!!")


def test_a_run_taken_up_again_reports_as_if_it_had_never_stopped(tmp_path, capsys):
    whole = folder(tmp_path / "whole", [graded("ada"), graded("bob")])
    again = folder(tmp_path / "again", [])
    lines = (whole / "results.jsonl").read_bytes().splitlines(keepends=True)
    (again / "results.jsonl").write_bytes(lines[0] + lines[1][:40] + b"\n" + lines[1])
    assert call(capsys, whole)[0] == 0
    status, _, remarks = call(capsys, again)
    assert status == 0 and "line 2 is torn" in remarks
    for path in whole.rglob("*"):
        if path.is_file() and path.name != "results.jsonl":
            assert (again / path.relative_to(whole)).read_bytes() == path.read_bytes()


# -- merging


def test_shards_are_merged(tmp_path):
    results = made_class()
    shards = [folder(tmp_path / f"s{n}", results[n - 1 :: 3], shard=(n, 3)) for n in (1, 2, 3)]
    found = report.merge(shards)
    assert sorted(map(repr, found.results)) == sorted(map(repr, results))
    assert found.lacks == () and found.told == ()


def test_a_missing_shard_is_loud_now_and_later(tmp_path, capsys):
    shards = [folder(tmp_path / f"s{n}", [graded(f"a{n}")], shard=(n, 4)) for n in (1, 3)]
    status, text, _ = call(capsys, tmp_path / "all", "--merge", *shards)
    assert status == 1 and "SHARDS MISSING of 4: 2; 4" in text
    status, text, _ = call(capsys, tmp_path / "all")
    assert status == 1 and "SHARDS MISSING of 4: 2; 4" in text, "the merged folder remembers"


def test_what_overlaps_is_told_and_a_verdict_counts_before_none(tmp_path):
    one = folder(tmp_path / "one", [result("ada", UNGRADED, reason="gone"), graded("bob")])
    two = folder(tmp_path / "two", [graded("ada"), replace(graded("bob"), key="other", seconds=9)])
    found = report.merge([one, two])
    assert [(r.student, r.state) for r in found.results] == [("ada", GRADED), ("bob", GRADED)]
    assert "2 submissions in several folders: ada; bob" in found.told[0].text


def test_two_verdicts_that_differ_are_none(tmp_path, capsys):
    one = folder(tmp_path / "one", [graded("ada"), graded("bob")])
    two = folder(tmp_path / "two", [graded("ada", *WRONG), graded("cat")])
    three = folder(tmp_path / "three", [result("bob", REJECTED, reason="not JSON")])
    found = report.merge([one, two, three])
    assert [(r.student, r.state) for r in found.results] == [("ada", UNGRADED), ("bob", UNGRADED), ("cat", GRADED)]
    assert "one: graded, 12.5 points; two: graded, 3 points" in found.results[0].reason
    status, text, _ = call(capsys, tmp_path / "all", "--merge", one, two, three)
    assert status == 1 and "2 submissions NOT GRADED" in text


def test_verdicts_that_differ_in_words_only_are_one(tmp_path, capsys):
    one = folder(tmp_path / "one", [result("ada", GRADED, marks(*WRONG, why={0: "with 3 threads"}))])
    two = folder(tmp_path / "two", [result("ada", GRADED, marks(*WRONG, why={0: "with 5 threads"}))])
    status, text, _ = call(capsys, tmp_path / "all", "--merge", one, two)
    assert status == 0 and "disagree" not in text


def test_shards_of_different_seeds_are_told_loud(tmp_path, capsys):
    shards = [folder(tmp_path / f"s{n}", [graded(f"a{n}")], shard=(n, 2)) for n in (1, 2)]
    for shard in shards:
        (shard / "seed").write_text("1\n")
    assert "different seeds:" not in call(capsys, tmp_path / "all", "--merge", *shards)[1]
    (shards[1] / "seed").write_text("2\n")
    text = call(capsys, tmp_path / "all", "--merge", *shards)[1]
    assert "!!! the folders were graded with different seeds" in text


def test_a_run_that_was_stopped_is_not_called_another_folder(tmp_path, capsys):
    (tmp_path / "ledger.jsonl").write_text("")
    status, _, error = call(capsys, tmp_path)
    assert status == 2 and "call `warpbook grade` again" in error


def test_different_labs_are_not_merged(tmp_path, capsys):
    one = folder(tmp_path / "one", [graded("ada")])
    other = folder(tmp_path / "other", [], replace(LAB, parts=LAB.parts[:2]))
    status, _, said = call(capsys, tmp_path / "all", "--merge", one, other)
    assert status == 2 and "different labs, or of other points" in said
    versions = folder(tmp_path / "versions", [], replace(LAB, versions=(("nbval", "0.12"),)))
    assert "different versions" in report.merge([one, versions]).told[0].text


# -- the command


def test_the_command_writes_and_shows_the_class(tmp_path, capsys):
    status, text, _ = call(capsys, folder(tmp_path, made_class()))
    assert status == 1 and "!!! 4 submissions NOT GRADED" in text.splitlines()[-1]
    assert (tmp_path / "summary.html").is_file() and "files in" in text
    done = folder(tmp_path / "done", [graded("ada"), result("bob", REJECTED, reason="not JSON")])
    assert call(capsys, done)[0] == 0


def test_the_command_fills_canvas(tmp_path, capsys):
    template = tmp_path / "exported.csv"
    template.write_bytes(
        b"Student,ID,SIS Login ID,Section,Lab five (1)\n    Points Possible,,,,12.5\nLovelace,1,ada,A,\n"
    )
    there = folder(tmp_path / "results", [graded("ada")])
    status, _, said = call(capsys, there, "--canvas", template)
    assert status == 2 and "there are: Lab five (1). Name one with --column" in said
    assert call(capsys, there, "--canvas", template, "--column", "Lab five", "--format", "canvas")[0] == 0
    assert (there / "canvas.csv").read_bytes() == template.read_bytes().replace(b"ada,A,", b"ada,A,12.5")
    assert not (there / "junit.xml").exists()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: (path / "lab.json").unlink(), "has no lab.json: give the folder"),
        (lambda path: (path / "results.jsonl").unlink(), "has no results.jsonl"),
        (lambda path: (path / "lab.json").write_text("{}"), "is not what `warpbook grade` writes"),
        (lambda path: (path / "lab.json").write_text("[1]"), "is not what `warpbook grade` writes"),
        (lambda path: (path / "lab.json").write_text("torn"), "is not what `warpbook grade` writes"),
    ],
)
def test_a_folder_that_is_none_is_told(tmp_path, capsys, spoil, words):
    spoil(folder(tmp_path, [graded("ada")]))
    status, _, said = call(capsys, tmp_path)
    assert status == 2 and words in said


def test_merging_into_one_of_the_folders_is_refused(tmp_path, capsys):
    one = folder(tmp_path / "one", [graded("ada")])
    status, _, said = call(capsys, one, "--merge", one)
    assert status == 2 and "give a new folder" in said

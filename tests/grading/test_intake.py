"""What lies in a folder of submissions, and whose it is; hostile files among honest ones."""

from __future__ import annotations

import io
import os
import unicodedata
import zipfile
from pathlib import Path

import pytest

from helpers.grading.archives import OF_ONE_STUDENT, Limits, members
from helpers.grading.intake import Rejected, Submission, scattered, submissions, take_in
from helpers.grading.merged import solved
from helpers.grading.names import natural
from helpers.grading.release import as_bytes, released
from helpers.grading.untrusted import MOST_BYTES, Refused, read_cells
from tests.grading.made_lab import NAME, code, lab, marks, notebook

LAB = lab()
SOLVED = as_bytes(solved(LAB))
OLD = as_bytes(released(LAB))
OTHER = as_bytes({**notebook(), "cells": [code(1, "x", **marks("made02-sum", "solution"))]})


def put(folder: Path, name: str, data: bytes = SOLVED) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def told(folder: Path) -> list[tuple[str, str, bool]]:
    """Student, file, and whether it is a submission that counts."""
    return [
        (piece.student, piece.file, isinstance(piece, Submission) and piece.counts)
        for piece in submissions(folder, LAB)
    ]


def reason(folder: Path) -> str:
    """Why the one thing handed in was rejected."""
    (piece,) = submissions(folder, LAB)
    assert isinstance(piece, Rejected), piece
    return piece.reason


# -- honest students ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "student"),
    [
        ("alice.ipynb", "alice"),
        ("alice smith.ipynb", "alice smith"),
        ("alice.b.ipynb", "alice.b"),
        (f"alice_{NAME}.ipynb", "alice"),
        (f"alice-{NAME} (2).ipynb", "alice"),
        ("alice_made01.ipynb", "alice"),
        (f"student_01_{NAME}.ipynb", "student_01"),
        (f"{NAME}.ipynb", NAME),
        (f"alice/{NAME}.ipynb", "alice"),
        ("alice/work/week 5/mine.ipynb", "alice"),
        (f"alice/{NAME}/{NAME}.ipynb", "alice"),
        (f"submitted/alice/{NAME}/{NAME}.ipynb", "alice"),
        ("submissions/alice.ipynb", "alice"),
        (f"student_01/{NAME}.ipynb", "student_01"),
        (f"aliceliddell_12345_67890_{NAME}-1.ipynb", "aliceliddell"),
        (f"aliceliddell_LATE_12345_67890_{NAME}.ipynb", "aliceliddell"),
        (f"Alice Liddell_123456_assignsubmission_file_{NAME}.ipynb", "Alice Liddell"),
        (f"Alice Liddell_123456_assignsubmission_file_/{NAME}.ipynb", "Alice Liddell"),
        ("alice.IPYNB", "alice"),
    ],
)
def test_whose_it_is(tmp_path, file, student):
    path = put(tmp_path, file)
    (piece,) = submissions(tmp_path, LAB)
    assert (piece.student, piece.file, piece.path, piece.notes) == (student, file, path, ())
    assert piece.cells[4].grade_id == "made01-total"


@pytest.mark.parametrize(
    "name",
    [
        "дмитрий",
        "李雷",
        "=1+2",
        "@SUM(A1)",
        "-x",
        "x" * 248,
        "two\nlines",
        "a'b\"c",
        "..ipynb",
        "con",
        "🦆" * 60,
        "a  b ",
    ],
)
def test_odd_names_are_names(tmp_path, name):
    put(tmp_path, f"n/{name}.ipynb") if name.startswith(".") else put(tmp_path, f"{name}.ipynb")
    (piece,) = submissions(tmp_path, LAB)
    assert isinstance(piece, Submission) or name.startswith(".")
    assert piece.student == ("n" if name.startswith(".") else name)


def test_names_that_are_no_utf8_can_be_written(tmp_path):
    try:
        with open(os.fsencode(tmp_path) + b"/al\xffce.ipynb", "wb") as opened:
            opened.write(SOLVED)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (piece,) = submissions(tmp_path, LAB)
    assert piece.student == "al\\xffce" and piece.file.encode()
    assert piece.path.read_bytes() == SOLVED


def test_one_name_in_two_spellings_is_one_student(tmp_path):
    names = [unicodedata.normalize(form, "zoé") for form in ("NFC", "NFD")]
    put(tmp_path, f"{names[0]}.ipynb")
    put(tmp_path, f"{names[1]}/lab.ipynb")
    assert [piece.student for piece in submissions(tmp_path, LAB)] == ["zo\xe9"] * 2


def test_students_of_one_name_are_told_apart_by_the_platforms_number(tmp_path):
    put(tmp_path, "leewei_111_900_lab.ipynb")
    put(tmp_path, "leewei_222_901_lab.ipynb")
    put(tmp_path, "zoe_333_902_lab.ipynb")
    put(tmp_path, "zoe_333_903_lab-1.ipynb")
    assert told(tmp_path) == [
        ("leewei_111", "leewei_111_900_lab.ipynb", True),
        ("leewei_222", "leewei_222_901_lab.ipynb", True),
        ("zoe", "zoe_333_902_lab.ipynb", False),
        ("zoe", "zoe_333_903_lab-1.ipynb", True),
    ]


def test_the_last_by_name_counts_and_all_are_told(tmp_path):
    for name in ("lab-10", "lab", "lab-9"):
        put(tmp_path, f"alice/{name}.ipynb")
    os.utime(tmp_path / "alice" / "lab.ipynb", (2e9, 2e9))  # the newest file, which decides nothing
    assert told(tmp_path) == [
        ("alice", "alice/lab-9.ipynb", False),
        ("alice", "alice/lab-10.ipynb", True),
        ("alice", "alice/lab.ipynb", False),
    ]
    for piece in submissions(tmp_path, LAB):
        assert piece.notes == ("handed in 3 times: 'alice/lab-10.ipynb', the last by name, counts",)


def test_one_that_can_be_read_counts_before_one_that_can_not(tmp_path):
    put(tmp_path, "alice/a.ipynb")
    put(tmp_path, "alice/b.ipynb", b"{")
    assert told(tmp_path) == [("alice", "alice/a.ipynb", True), ("alice", "alice/b.ipynb", False)]
    (tmp_path / "alice" / "a.ipynb").write_bytes(b"[")
    assert [piece.notes for piece in submissions(tmp_path, LAB)] == [("handed in 2 times: none can be read",)] * 2


def test_other_files_are_left_out_and_noted(tmp_path):
    put(tmp_path, f"alice/{NAME}/{NAME}.ipynb")
    put(tmp_path, f"alice/{NAME}/timestamp.txt", b"2026-11-21")
    put(tmp_path, "alice/made02/made02.ipynb", OTHER)
    for name in ("conftest.py", "numpy.py", ".ipynb_checkpoints/x.ipynb", ".hidden.ipynb", "__MACOSX/y.ipynb"):
        put(tmp_path, f"alice/{name}")
    put(tmp_path, "pytest.ini", b"")
    put(tmp_path, ".DS_Store", b"")
    found = take_in(tmp_path, LAB)
    (piece,) = found.found
    assert piece.notes == (
        "left out 'alice/.hidden.ipynb': hidden, or a tool's own",
        "left out 'alice/.ipynb_checkpoints': hidden, or a tool's own",
        "left out 'alice/__MACOSX': hidden, or a tool's own",
        "left out 'alice/conftest.py': not a notebook",
        "left out 'alice/made02/made02.ipynb': it is not made01_sums: its cells have names such as 'made02-sum'; "
        "hand in this lab's notebook",
        "left out 'alice/numpy.py': not a notebook",
    )
    assert {".DS_Store", "pytest.ini"} <= {other.file for other in found.ignored}


def test_many_files_beside_make_few_notes(tmp_path):
    put(tmp_path, "alice/lab.ipynb")
    for number in range(100):
        put(tmp_path, f"alice/data/{number}.csv", b"")
    (piece,) = submissions(tmp_path, LAB)
    assert len(piece.notes) == 21 and piece.notes[-1] == "left out 80 more files"


def test_who_handed_in_no_notebook_is_told(tmp_path):
    put(tmp_path, "alice/report.pdf", b"%PDF")
    put(tmp_path, "bob_123_456_lab.html", b"<html>")
    put(tmp_path, "instructions.txt", b"")
    (tmp_path / "carol").mkdir()
    (tmp_path / "dave" / ".ipynb_checkpoints").mkdir(parents=True)
    assert [(piece.student, piece.reason) for piece in submissions(tmp_path, LAB)] == [
        (name, "no notebook was handed in: its name ends in .ipynb") for name in ("alice", "bob", "carol", "dave")
    ]


def test_the_same_folder_gives_the_same_list(tmp_path):
    for name in ("b", "a", "C", "a10", "a9"):
        put(tmp_path, f"{name}.ipynb")
    first = submissions(tmp_path, LAB)
    assert first == submissions(tmp_path, LAB)
    assert [piece.student for piece in first] == ["C", "a", "a9", "a10", "b"]
    assert repr(first[0]).startswith("Submission(student='C', file='C.ipynb', path=")


def test_natural_order_takes_any_name():
    names = ["", "9", "10", "a", "a1", "a" + "9" * 10_000, "a-1", "x", "x9", "x10", "x٣"]
    shuffled = names[5:] + names[:5]
    assert sorted(shuffled, key=natural) == names


def test_a_folder_that_there_is_not(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder or archive of submissions"):
        submissions(tmp_path / "nothing", LAB)
    assert submissions(tmp_path, LAB) == []


def test_a_program_that_drops_nbgraders_ids_drops_no_submission(tmp_path):
    made = solved(LAB)
    for each in made["cells"]:
        each["metadata"] = {}
    put(tmp_path, "alice.ipynb", as_bytes(made))
    assert told(tmp_path) == [("alice", "alice.ipynb", True)]
    made["cells"].pop(4)
    put(tmp_path, "alice.ipynb", as_bytes(made))
    assert "another program dropped the marks" in reason(tmp_path)


def test_only_what_the_lab_needs_is_matched(tmp_path):
    """The file's name says nothing; one cell of the lab is enough."""
    one = as_bytes({**notebook(), "cells": [code(1, "total = sum", **marks("made01-total", "solution"))]})
    put(tmp_path, "alice/other_lab.ipynb", one)
    assert told(tmp_path) == [("alice", "alice/other_lab.ipynb", True)]


# -- what is no submission ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (os.urandom(64) + b"\xff", "isn't UTF-8 text"),
        (b"{" * 1000, "nested"),
        (OTHER, "it is not made01_sums: its cells have names such as 'made02-sum'"),
        (as_bytes({**notebook(), "cells": [code(1, "x")]}), "none of its cells is marked as one of made01_sums"),
        (as_bytes({**notebook(), "nbformat": 3}), "format 3"),
    ],
    ids=["empty", "junk", "deep", "another lab", "no marks", "old"],
)
def test_a_rejection_says_why(tmp_path, data, says):
    put(tmp_path, "alice.ipynb", data)
    assert says in reason(tmp_path)


def test_a_huge_file_is_not_read_whole(tmp_path):
    path = put(tmp_path, "alice.ipynb", b"{")
    os.truncate(path, 100_000_000)
    assert "more than 5 MB" in reason(tmp_path)


def test_links_are_not_followed(tmp_path):
    secret = put(tmp_path / "elsewhere", "secret.ipynb")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "alice.ipynb").symlink_to(secret)
    assert "a link" in reason(folder)
    (folder / "alice.ipynb").unlink()
    (folder / "alice").symlink_to(secret.parent)
    assert "a link" in reason(folder)
    (folder / "alice").unlink()
    (folder / "alice.ipynb").symlink_to(tmp_path / "nothing")
    assert "a link" in reason(folder)


def test_a_link_beside_a_notebook_is_a_note(tmp_path):
    put(tmp_path, "alice/lab.ipynb")
    (tmp_path / "alice" / "data").symlink_to("/etc")
    (piece,) = submissions(tmp_path, LAB)
    assert "a link" in piece.notes[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_does_not_hold_up(tmp_path):
    os.mkfifo(tmp_path / "alice.ipynb")
    assert "a pipe" in reason(tmp_path)


def test_what_became_a_link_meanwhile_is_not_opened(tmp_path):
    from helpers.grading.intake import open_regular

    (tmp_path / "alice.ipynb").symlink_to(put(tmp_path, "secret"))
    with pytest.raises(OSError):
        open_regular(tmp_path / "alice.ipynb")
    with pytest.raises(Refused):
        open_regular(Path(os.devnull))


def test_folders_without_end(tmp_path):
    put(tmp_path, "alice/" + "d/" * 60 + "lab.ipynb")
    assert "more than 12 folders deep" in reason(tmp_path)


def test_files_without_end_of_one_student_are_no_harm_to_others(tmp_path, monkeypatch):
    monkeypatch.setattr("helpers.grading.intake.MOST_FILES_OF_ONE", 20)
    monkeypatch.setattr("helpers.grading.intake.MOST_FILES", 60)
    for number in range(100):
        put(tmp_path, f"submitted/mallory/{number:03}.txt", b"")
    for student in ("alice", "zoe"):
        put(tmp_path, f"submitted/{student}/lab.ipynb")
    alice, mallory, zoe = submissions(tmp_path, LAB)
    assert (alice.counts, zoe.counts) == (True, True)
    assert "more than 20 files" in mallory.reason


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is closed to root")
def test_what_may_not_be_read_is_said(tmp_path):
    put(tmp_path, "alice.ipynb").chmod(0)
    assert "can't be read (Permission denied)" in reason(tmp_path)


# -- archives -------------------------------------------------------------------------------------------


def zipped(files: dict[str, bytes], **options) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def test_an_archive_for_each_student(tmp_path):
    files = {f"work/{NAME}.ipynb": SOLVED, "work/data.csv": b"1", "__MACOSX/._x.ipynb": b"", ".git/x.ipynb": b""}
    put(tmp_path, "alice.zip", zipped(files))
    put(tmp_path, "bob/bob.ZIP", zipped({"x.ipynb": SOLVED}))
    alice, bob = submissions(tmp_path, LAB)
    assert (alice.student, alice.file) == ("alice", f"alice.zip/work/{NAME}.ipynb")
    assert len(alice.notes) == 3 and "data.csv': not a notebook" in "".join(alice.notes)
    assert (bob.student, bob.digest) == ("bob", alice.digest)


@pytest.mark.parametrize("top", ["", "class05/", "submitted/"])
def test_an_archive_of_a_class(tmp_path, top):
    files = {
        f"{top}alice.ipynb": SOLVED,
        f"{top}bob/lab.ipynb": SOLVED,
        f"{top}carol_1_2_lab.ipynb": b"{",
        f"{top}dave.zip": zipped({"lab.ipynb": SOLVED}),
    }
    path = put(tmp_path, "class05.zip", zipped(files))
    assert [(student, good) for student, _, good in told(path)] == [
        *(("alice", True), ("bob", True), ("carol", False), ("dave", False))
    ]
    assert "an archive in an archive" in submissions(path, LAB)[3].reason


def link_in_zip() -> bytes:
    info = zipfile.ZipInfo("lab.ipynb")
    info.create_system, info.external_attr = 3, 0o120777 << 16
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return made.getvalue()


def encrypted() -> bytes:
    data = bytearray(zipped({"lab.ipynb": SOLVED}))
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(sign) + flags] |= 1
    return bytes(data)


def lying_zip(claimed: int) -> bytes:
    """Ten megabytes of spaces whose size is given as `claimed` bytes in both headers."""
    data = bytearray(zipped({"lab.ipynb": b" " * 10_000_000}))
    for sign, size in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(sign) + size
        data[at : at + 4] = claimed.to_bytes(4, "little")
    return bytes(data)


GOOD = {"lab.ipynb": SOLVED}
HOSTILE = {
    "dots.zip": (zipped(GOOD | {"a/../../x.ipynb": SOLVED}), "path with .."),
    "absolute.zip": (zipped(GOOD | {"/etc/x.ipynb": SOLVED}), "absolute path"),
    "drive.zip": (zipped(GOOD | {"C:/x.ipynb": SOLVED}), "absolute path"),
    "drive2.zip": (zipped(GOOD | {"c:x.ipynb": SOLVED}), "absolute path"),
    "backslash.zip": (zipped(GOOD | {"..\\x.ipynb": SOLVED}), "backslash"),
    "nul.zip": (zipped(GOOD | {"lab.ipynbX.txt": b""}).replace(b"ipynbX", b"ipynb\0"), "backslash"),
    "name.zip": (zipped(GOOD | {"-" * 60_000: b""}), "more than 1,000 characters"),
    "link.zip": (link_in_zip(), "a link or a device"),
    "bomb.zip": (zipped({f"{n}.ipynb": bytes(4_900_000) for n in range(11)}), "unpacks to more than 50 MB"),
    "many.zip": (zipped({str(n): b"" for n in range(1001)}), "more than 1,000 files"),
    "large.zip": (zipped({"lab.ipynb": bytes(MOST_BYTES + 1)}), "more than 5 MB"),
    "lying.zip": (lying_zip(1_000_000_000), "more than 5 MB"),
    "nested.zip": (zipped({"lab.zip": zipped(GOOD)}), "an archive in an archive"),
    "encrypted.zip": (encrypted(), "encrypted"),
    "cut.zip": (zipped(GOOD)[:-30], "damaged"),
    "junk.zip": (b"junk", "damaged"),
    "html.zip": (b"<html>", "damaged"),
    "empty.zip": (zipped({}), "no notebook"),
    "alice.rar": (b"Rar!", "only .zip archives"),
    "alice.7z": (b"7z", "only .zip archives"),
    "alice.ipynb.gz": (b"\x1f\x8b", "only .zip archives"),
    "nameless.zip": (zipped(GOOD | {".": b""}), "without a name"),
    **dict.fromkeys(("alice.tar", "alice.tar.gz", "alice.TGZ", "alice.tar.xz"), (b"tar", "only .zip archives")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_rejected(tmp_path, name):
    data, says = HOSTILE[name]
    put(tmp_path, name, data)
    assert says in reason(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]  # nothing was unpacked


def test_a_file_that_was_added_again_replaces_the_first(tmp_path):
    """As where an archive is unpacked; and no two results have one name."""
    put(tmp_path, "alice.zip", zipped({"./lab.ipynb": OLD, "lab.ipynb": SOLVED}))
    assert told(tmp_path) == [("alice", "alice.zip/lab.ipynb", False), ("alice", "alice.zip/lab.ipynb (2)", True)]
    assert [piece.cells == read_cells(SOLVED) for piece in submissions(tmp_path, LAB)] == [False, True]


def test_a_size_that_lies_low_gives_no_more_than_it_says(tmp_path):
    put(tmp_path, "alice.zip", lying_zip(10))
    assert isinstance(submissions(tmp_path, LAB)[0], Rejected)


def test_an_archive_that_is_large_as_it_lies_there_is_not_opened(tmp_path):
    path = put(tmp_path, "alice.zip", zipped(GOOD))
    os.truncate(path, OF_ONE_STUDENT.packed + 1)
    assert "more than 20 MB" in reason(tmp_path)


def test_hostile_files_change_nothing_for_others(tmp_path):
    for name, (data, _) in HOSTILE.items():
        put(tmp_path, f"{name.split('.')[0]}-{name}", data)
    put(tmp_path, "honest.ipynb")
    (honest,) = (piece for piece in submissions(tmp_path, LAB) if isinstance(piece, Submission))
    (tmp_path / "alone").mkdir()
    put(tmp_path, "alone/honest.ipynb")
    assert [honest] == submissions(tmp_path / "alone", LAB)


def test_a_class_archive_that_is_not_to_be_opened_is_said(tmp_path):
    path = put(tmp_path, "class.zip", HOSTILE["dots.zip"][0])
    with pytest.raises(Refused, match="path with"):
        submissions(path, LAB)
    with pytest.raises(Refused, match="neither a notebook"):
        submissions(put(tmp_path, "class.rar"), LAB)


def test_one_notebook_may_be_given_by_itself(tmp_path):
    path = put(tmp_path, "alice.ipynb")
    assert told(path) == [("alice", "alice.ipynb", True)]
    assert "damaged" in reason(put(tmp_path, "bob.ipynb", b"{"))


@pytest.mark.parametrize("packed", [True, False])
def test_a_folder_that_holds_all_others_is_nobodys(tmp_path, packed):
    files = {"handed in/alice/lab.ipynb": SOLVED, "handed in/bob/lab.ipynb": SOLVED, "handed in/bob/notes.txt": b""}
    for name, data in files.items():
        put(tmp_path / "class", name, data)
    path = put(tmp_path, "download.zip", zipped(files)) if packed else tmp_path / "class"
    assert told(path) == [("alice", "handed in/alice/lab.ipynb", True), ("bob", "handed in/bob/lab.ipynb", True)]
    assert submissions(path, LAB)[1].notes == ("left out 'handed in/bob/notes.txt': not a notebook",)


def test_students_of_one_name_are_told_apart_below_a_folder_around_the_class_too(tmp_path):
    put(tmp_path, "download/doejohn_12_345_lab.ipynb")
    put(tmp_path, "download/doejohn_67_890_lab.ipynb")
    assert {piece.student for piece in submissions(tmp_path, LAB)} == {"doejohn_12", "doejohn_67"}


def test_folders_within_a_folder_may_be_students(tmp_path):
    for name in ("group A/alice", "group A/bob", "group B/carol", f"group B/{NAME}.zip"):
        put(tmp_path, f"{name}/lab.ipynb")
    put(tmp_path, "dave/lab.ipynb")
    put(tmp_path, "dave/lab-1.ipynb")
    found = take_in(tmp_path, LAB).found
    assert list(scattered(found)) == [("group A", ["alice", "bob"]), ("group B", ["carol", f"{NAME}.zip"])]


def test_a_class_of_one_keeps_its_name(tmp_path):
    put(tmp_path, "alice/lab.ipynb")
    put(tmp_path, "alice/lab-1.ipynb")
    put(tmp_path, "alice/old/lab.ipynb")
    assert {piece.student for piece in submissions(tmp_path, LAB)} == {"alice"}


def test_limits_are_kept_while_reading():
    data = zipped({f"{n}.ipynb": b" " * 1000 for n in range(10)})
    seen = []
    with pytest.raises(Refused, match="unpacks to more"):
        for member in members("x.zip", io.BytesIO(data), len(data), Limits(unpacked=5000)):
            seen.append(member.path.name)
    assert seen == [f"{n}.ipynb" for n in range(5)]


@pytest.mark.parametrize("seed", range(40))
def test_damaged_archives_are_read_or_refused(seed):
    import random

    chance = random.Random(seed)
    data = bytearray(zipped({"a/lab.ipynb": SOLVED[:3000], "b.txt": b"x" * 600, "c.ipynb": b"{}"}))
    for _ in range(chance.randint(1, 12)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    try:
        for member in members("x.zip", io.BytesIO(bytes(data)), len(data)):
            assert len(member.data or b"") <= MOST_BYTES + 1
    except Refused as refused:
        assert "\n" not in str(refused)

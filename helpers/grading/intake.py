"""A folder or archive of what students handed in → submissions and rejections, each with the student's name.

Nothing is executed and no file is believed: links, devices and whatever is no notebook of this lab are left out, and
each time it is said why. Who handed something in is read from where it lies:

    alice.ipynb                                              a file for each student
    alice/anything.ipynb, alice.zip                          a folder or an archive for each student
    submitted/alice/lab05_reduction/lab05_reduction.ipynb    as nbgrader keeps them
    aliceliddell_12345_67890_lab05_reduction-1.ipynb         as learning platforms name them: the part before the number
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from helpers.grading import archives
from helpers.grading.source import Lab
from helpers.grading.untrusted import MOST_BYTES, HandedIn, Refused, read_cells

MOST_FILES = 200_000
MOST_FOLDERS_DEEP = 12
IGNORED_FOLDERS = ("__MACOSX", ".ipynb_checkpoints", "__pycache__")
MOST_NOTES = 20
HIDDEN = "hidden, or a tool's own"
# Canvas: name, number of the student, number of the file; Moodle: name, number. One number alone may be part of a name.
PLATFORM = re.compile(r"(?P<student>.+?)(?:_LATE)?_(?P<number>\d+)_(?:\d+_|assignsubmission_)")
NBGRADER_FOLDER = "submitted"


@dataclass(frozen=True)
class Submission:
    """One notebook of the lab: `path` is its file or the archive that holds it, `file` the same and the member in
    words, relative to the folder. `digest` is the SHA-256 of its bytes. `counts` is false where the same student
    handed in another one that counts instead."""

    student: str
    file: str
    path: Path = field(compare=False)
    cells: tuple[HandedIn, ...] = field(repr=False)
    digest: str
    counts: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rejected:
    """Something handed in that is no submission to this lab, and the reason in words for the student."""

    student: str
    file: str
    path: Path = field(compare=False)
    reason: str
    notes: tuple[str, ...] = ()
    other_lab: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class Ignored:
    """A file that was not looked into, and why."""

    student: str
    file: str
    why: str


@dataclass(frozen=True)
class Intake:
    """All that lay in the folder."""

    found: tuple[Submission | Rejected, ...]
    ignored: tuple[Ignored, ...]


def submissions(folder: Path | str, lab: Lab) -> list[Submission | Rejected]:
    """What students handed in, by student and file; of several by one student, the last by name counts.

    Names are compared with numbers as numbers, so that lab05-2 follows lab05-1 and lab05. Times are not asked: copying
    and unpacking changes them, and a grader elsewhere must come to the same.
    """
    return list(take_in(folder, lab).found)


def take_in(folder: Path | str, lab: Lab) -> Intake:
    """What students handed in, and what was left out; `folder` may also be one archive of a whole class.

    Raises FileNotFoundError where there is neither.
    """
    folder = Path(folder)
    if not folder.exists():
        raise FileNotFoundError(f"There is no folder or archive of submissions at {folder}.")
    pieces = _class_archive(folder, lab) if folder.is_file() else _folder(folder, lab)
    found, ignored = [], []
    for piece in pieces:
        (ignored if isinstance(piece, Ignored) else found).append(piece)
    grouped = defaultdict(list)
    for piece in found:
        grouped[piece.student].append(piece)
    beside = defaultdict(list)
    for piece in ignored:
        beside[piece.student].append(piece)
    for student, group in list(grouped.items()):
        kept, others = _one_student(group)
        ignored += others
        beside[student] += others
        grouped[student] = [_noted(piece, beside[student]) for piece in kept]
    every = [piece for group in grouped.values() for piece in group]
    order = lambda piece: (natural(piece.student), piece.student, natural(piece.file), piece.file)
    return Intake(tuple(sorted(every, key=order)), tuple(sorted(ignored, key=order)))


def _one_student(group: Sequence[Submission | Rejected]) -> tuple[list[Submission | Rejected], list[Ignored]]:
    """What one student handed in, with one that counts, and the notebooks of other labs apart."""
    if any(isinstance(piece, Submission) for piece in group):
        others = [piece for piece in group if isinstance(piece, Rejected) and piece.other_lab]
        group = [piece for piece in group if piece not in others]
    else:
        others = []
    readable = sorted((piece for piece in group if isinstance(piece, Submission)), key=lambda piece: last(piece.file))
    if len(group) > 1:
        chosen = f"{readable[-1].file!r}, the last by name, counts" if readable else "none can be read"
        note = f"handed in {len(group)} times: {chosen}"
        group = [_with_note(piece, note) for piece in group]
        group = [
            replace(piece, counts=piece.file == readable[-1].file) if isinstance(piece, Submission) else piece
            for piece in group
        ]
    return list(group), [Ignored(piece.student, piece.file, piece.reason) for piece in others]


def _with_note(piece, note: str):
    return replace(piece, notes=(*piece.notes, note))


def _noted(piece, ignored: Sequence[Ignored]):
    for other in sorted(ignored, key=lambda other: other.file)[:MOST_NOTES]:
        piece = _with_note(piece, f"left out {other.file!r}: {other.why}")
    return _with_note(piece, f"left out {len(ignored) - MOST_NOTES} more files") if len(ignored) > MOST_NOTES else piece


# -- names ----------------------------------------------------------------------------------------------


def natural(text: str) -> tuple:
    """A key that sorts numbers in names as numbers."""
    parts = re.split(r"([0-9]+)", text)
    return tuple((int(part[:18]), part) if number % 2 else (-1, part) for number, part in enumerate(parts))


def last(file: str) -> tuple:
    """A key by which the one that counts comes last: by name without its ending, so that lab-1 follows lab."""
    return natural(file.removesuffix(archives.NOTEBOOK)), file


def student_of(parts: Sequence[str], lab: str) -> str:
    """The student's name from where a file lies: the parts of its path in the folder."""
    parts = list(parts)
    if len(parts) > 1 and parts[0] == NBGRADER_FOLDER:
        parts = parts[1:]
    name = parts[0]
    if len(parts) == 1:
        ending = archives.suffix(name) or PurePosixPath(name).suffix
        name = name[: len(name) - len(ending)] or name
    on_platform = PLATFORM.match(name)
    if on_platform:
        name = on_platform["student"]
    elif len(parts) == 1:
        name = re.sub(rf"[-_. ]+{re.escape(lab)}(?:[-_. ]*\(?\d+\)?)?$", "", name) or name
    return unicodedata.normalize("NFC", name)  # macOS writes é as two characters, others as one


def printable(name: str) -> str:
    """A file's name as text that can be written: bytes that are no UTF-8 as \\x.."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


# -- files ----------------------------------------------------------------------------------------------


def _folder(folder: Path, lab: Lab) -> Iterator[Submission | Rejected | Ignored]:
    """Everything below `folder`, in the order of names."""
    for path, parts, why in _files(folder):
        student, file = student_of(parts, lab.name), "/".join(parts)
        name = parts[-1]
        if why:
            wanted = why != HIDDEN and (name.lower().endswith(archives.NOTEBOOK) or archives.is_archive(name))
            yield Rejected(student, file, path, why) if wanted else Ignored(student, file, why)
        elif archives.is_archive(name):
            yield from _students_archive(path, student, file, lab)
        elif not name.lower().endswith(archives.NOTEBOOK):
            yield Ignored(student, file, "not a notebook")
        else:
            try:
                with open_regular(path) as opened:
                    data = opened.read(MOST_BYTES + 1)
            except (Refused, OSError) as error:
                yield Rejected(student, file, path, _why(error))
            else:
                yield _submission(student, file, path, data, lab)


def _files(folder: Path) -> Iterator[tuple[Path, tuple[str, ...], str]]:
    """Every entry that is no folder: its path, the parts of its name, and why it may not be opened ("" where it may).

    Links are not followed, hidden files and folders of tools not entered.
    """
    waiting: list[tuple[Path, tuple[str, ...]]] = [(folder, ())]
    seen = 0
    while waiting:
        here, parts = waiting.pop()
        for entry in sorted(os.scandir(here), key=lambda entry: os.fsencode(entry.name)):
            seen += 1
            if seen > MOST_FILES:
                raise Refused(f"{folder} holds more than {MOST_FILES:,} files: give the folder of submissions only")
            inner = (*parts, printable(entry.name))
            path = Path(entry.path)
            if hidden(inner[-1]):
                yield path, inner, HIDDEN
            elif entry.is_symlink():
                yield path, inner, "it is a link, and links are not followed: hand in the file itself"
            elif entry.is_dir(follow_symlinks=False):
                if len(inner) < MOST_FOLDERS_DEEP:
                    waiting.append((path, inner))
                else:
                    yield path, inner, f"it lies more than {MOST_FOLDERS_DEEP} folders deep"
            elif not entry.is_file(follow_symlinks=False):
                yield path, inner, "it is no file but a device or a pipe: hand in the notebook itself"
            else:
                yield path, inner, ""


def hidden(name: str) -> bool:
    return name.startswith(".") or name in IGNORED_FOLDERS


def open_regular(path: Path) -> io.BufferedReader:
    """`path` opened to be read, if it is still a regular file and no link; raises Refused or OSError."""
    # Without O_NONBLOCK opening a pipe that was put there in the meantime would wait for ever.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused("it is no file but a device or a pipe: hand in the notebook itself")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _why(error: Exception) -> str:
    if isinstance(error, Refused):
        return str(error)
    return f"the file can not be read ({getattr(error, 'strerror', None) or type(error).__name__}): hand it in again"


# -- archives -------------------------------------------------------------------------------------------


def _students_archive(path: Path, student: str, file: str, lab: Lab) -> Iterator[Submission | Rejected | Ignored]:
    """The notebooks in the archive of one student; the archive itself, where there are none."""
    pieces = []
    try:
        with open_regular(path) as opened:
            for member in archives.members(file, opened, os.fstat(opened.fileno()).st_size):
                pieces.append(_member(member, student, file, path, lab))
    except (Refused, OSError) as error:
        yield Rejected(student, file, path, _why(error))
        return
    if not any(isinstance(piece, Submission | Rejected) for piece in pieces):
        yield Rejected(student, file, path, "the archive holds no notebook: hand in the .ipynb file")
    yield from pieces


def _class_archive(path: Path, lab: Lab) -> Iterator[Submission | Rejected | Ignored]:
    """The notebooks in one archive of a whole class; raises Refused where it can not be read."""
    with path.open("rb") as opened:
        for member in archives.members(path.name, opened, path.stat().st_size, archives.OF_A_CLASS):
            parts = tuple(printable(part) for part in member.path.parts)
            yield _member(member, student_of(parts, lab.name), "", path, lab)


def _member(member: archives.Member, student: str, archive: str, path: Path, lab: Lab):
    parts = tuple(printable(part) for part in member.path.parts)
    file = "/".join([archive, *parts] if archive else parts)
    if any(map(hidden, parts)):
        return Ignored(student, file, HIDDEN)
    if archives.is_archive(parts[-1]):
        return Rejected(student, file, path, "an archive in an archive is not opened: hand in the .ipynb file itself")
    if member.data is None:
        return Ignored(student, file, "not a notebook")
    return _submission(student, file, path, member.data, lab)


# -- notebooks ------------------------------------------------------------------------------------------


def _submission(student: str, file: str, path: Path, data: bytes, lab: Lab) -> Submission | Rejected:
    try:
        cells = read_cells(data)
    except Refused as refused:
        return Rejected(student, file, path, str(refused))
    ids = {cell.grade_id for cell in cells if cell.grade_id}
    if not ids & set(lab.ids):
        return Rejected(student, file, path, _not_this_lab(ids, lab), other_lab=True)
    return Submission(student, file, path, cells, hashlib.sha256(data).hexdigest())


def _not_this_lab(ids: set[str], lab: Lab) -> str:
    if not ids:
        return (
            f"none of its cells is marked as one of {lab.name}: another program dropped the marks, or it is another "
            "notebook; copy your answers into a fresh copy of the lab and hand that in"
        )
    example = min(ids)
    return f"it is not {lab.name}: its cells have names such as {ascii(example)[:60]}; hand in this lab's notebook"

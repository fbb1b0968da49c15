"""A folder or archive of what students handed in → submissions and rejections, each with the student's name.

Nothing is executed and no file is believed: links, devices and whatever is no notebook of this lab are left out, and
each time it is said why. Who handed something in is read from where it lies:

    alice.ipynb                                              a file for each student
    alice/anything.ipynb, alice.zip                          a folder or an archive for each student
    submitted/alice/lab05_reduction/lab05_reduction.ipynb    as nbgrader keeps them
    aliceliddell_12345_67890_lab05_reduction-1.ipynb         as learning platforms name them: the part before the number

One folder that holds all others, as archives have it, is nobody's.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from helpers.grading import archives
from helpers.grading.names import CLASS_FOLDERS, PLATFORM, last, natural, printable, student_of, telling
from helpers.grading.source import Lab
from helpers.grading.untrusted import MOST_BYTES, HandedIn, Refused, read_cells

MOST_FILES = 200_000
MOST_FILES_OF_ONE = 5_000
"""Of one student, whose files beyond these are not looked at, so that nobody's class is too large because of one."""
MOST_FOLDERS_DEEP = 12
IGNORED_FOLDERS = ("__MACOSX", ".ipynb_checkpoints", "__pycache__")
MOST_NOTES = 20
NO_NOTEBOOK = "no notebook was handed in: its name ends in .ipynb"
HIDDEN, EMPTY = "hidden, or a tool's own", "an empty folder"
NO_NOTE = ("/timestamp.txt",)  # nbgrader puts it beside every notebook


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
    """Something handed in that is no submission to this lab, and the reason in words for the student.

    `aside`: it seems to be no try at this lab, and is only a note if the student handed in one that can be read.
    """

    student: str
    file: str
    path: Path = field(compare=False)
    reason: str
    notes: tuple[str, ...] = ()
    aside: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class Ignored:
    """A file that was not looked into, and why."""

    student: str
    file: str
    why: str


Piece = Submission | Rejected | Ignored


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
    """What students handed in, and what was left out; `folder` may also be one archive of a class, or one notebook.

    Raises FileNotFoundError where there is neither, and Refused for an archive of a class that is not to be opened.
    """
    folder = Path(folder)
    if not folder.exists():
        raise FileNotFoundError(f"There is no folder or archive of submissions at {folder}.")
    pieces = list(_one_file(folder, lab) if folder.is_file() else _folder(folder, lab))
    pieces = _without_a_wrapper(pieces, lab)
    by_student: defaultdict[str, list[Piece]] = defaultdict(list)
    for piece in _told_apart(_numbered(pieces)):
        by_student[piece.student].append(piece)
    pieces = [piece for group in by_student.values() for piece in _one_student(group)]
    pieces.sort(key=lambda piece: (natural(piece.student), natural(piece.file)))
    ignored = tuple(piece for piece in pieces if isinstance(piece, Ignored))
    return Intake(tuple(piece for piece in pieces if not isinstance(piece, Ignored)), ignored)


def _one_student(group: Sequence[Piece]) -> list[Piece]:
    """All that one student handed in, with notes on each notebook, and one of several that counts."""
    readable = sorted((piece for piece in group if isinstance(piece, Submission)), key=lambda piece: last(piece.file))
    chosen = readable[-1] if readable else None
    if readable:
        group = [_left_out(piece) if isinstance(piece, Rejected) and piece.aside else piece for piece in group]
    ignored = sorted((piece for piece in group if isinstance(piece, Ignored)), key=lambda piece: natural(piece.file))
    notebooks = [piece for piece in group if not isinstance(piece, Ignored)] or _nothing(ignored)
    notes = [f"left out {piece.file!r}: {piece.why}" for piece in ignored if not piece.file.endswith(NO_NOTE)]
    if len(notes) > MOST_NOTES:
        notes = [*notes[:MOST_NOTES], f"left out {len(notes) - MOST_NOTES} more files"]
    if len(notebooks) > 1:
        counts = f"{chosen.file!r}, the last by name, counts" if chosen else "none can be read"
        notes = [f"handed in {len(notebooks)} times: {counts}", *notes]
    told = [
        replace(piece, notes=tuple(notes), counts=piece is chosen)
        if isinstance(piece, Submission)
        else replace(piece, notes=tuple(notes))
        for piece in notebooks
    ]
    return told + ignored


def _left_out(piece: Rejected) -> Ignored:
    return Ignored(piece.student, piece.file, piece.reason)


def _nothing(ignored: Sequence[Ignored]) -> list[Rejected]:
    """The rejection of a student who handed in files, and no notebook among them."""
    for piece in ignored:
        first, alone = telling(piece.file.split("/"))
        if not hidden(first) and (not alone or PLATFORM.match(first)):
            return [Rejected(piece.student, piece.file, Path(piece.file), NO_NOTEBOOK)]
    return []


def scattered(found: Sequence[Submission | Rejected]) -> Iterator[tuple[str, list[str]]]:
    """Students with several notebooks of the lab, each in a folder of its own: it may be a group, a course, a year."""
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for piece in found:
        parts = piece.file.split("/")
        below = parts[parts.index(piece.student) + 1 : -1] if piece.student in parts else []
        if isinstance(piece, Submission) and below:
            folders[piece.student].append(below[0])
    for student, names in folders.items():
        if len(set(names)) == len(names) > 1:
            yield student, names


def _numbered(pieces: Sequence[Piece]) -> list[Piece]:
    """The same, but a file of a name that was there before with a number: results are kept by student and file.

    An archive to which a file was added a second time has both, and unpacking it leaves the last.
    """
    met: Counter[str] = Counter()
    numbered = []
    for piece in pieces:
        met[piece.file] += 1
        numbered.append(replace(piece, file=f"{piece.file} ({met[piece.file]})") if met[piece.file] > 1 else piece)
    return numbered


def _without_a_wrapper(pieces: Sequence[Piece], lab: Lab) -> list[Piece]:
    """The same, but where a single folder holds the folders or files of a class, whose each is from below it.

    A class of one has notebooks beside one another, or below one folder: two folders with notebooks are two students.
    """
    paths = [PurePosixPath(piece.file) for piece in pieces]
    seen = [path for path in paths if not any(map(hidden, path.parts))]
    tops = {path.parts[0] for path in seen}
    top = next(iter(tops), "")
    if len(tops) != 1 or top in CLASS_FOLDERS or PLATFORM.match(top) or any(len(path.parts) < 2 for path in seen):
        return list(pieces)
    tries = [path for path, piece in zip(paths, pieces, strict=True) if not isinstance(piece, Ignored)]
    below = {path.parts[1] for path in tries if len(path.parts) > 2 or PLATFORM.match(path.parts[1])}
    if len(below) < 2:
        return list(pieces)
    return [
        replace(piece, student=student_of(path.parts[1:], lab.name)) if len(path.parts) > 1 else piece
        for path, piece in zip(paths, pieces, strict=True)
    ]


def _on_platform(piece: Piece) -> re.Match | None:
    """The part of a path by which a platform tells whose it is, below a folder around the class or not."""
    for found in filter(None, map(PLATFORM.match, piece.file.split("/"))):
        if unicodedata.normalize("NFC", found["student"]) == piece.student:
            return found
    return None


def _told_apart(pieces: Sequence[Piece]) -> list[Piece]:
    """The same, but students of one name, to whom a platform gave different numbers, with their numbers."""
    numbers: defaultdict[str, set[str]] = defaultdict(set)
    found = {piece.file: known["number"] for piece in pieces if (known := _on_platform(piece))}
    for piece in pieces:
        if piece.file in found:
            numbers[piece.student].add(found[piece.file])
    return [
        replace(piece, student=f"{piece.student}_{found[piece.file]}")
        if piece.file in found and len(numbers[piece.student]) > 1
        else piece
        for piece in pieces
    ]


# -- files ----------------------------------------------------------------------------------------------


def _folder(folder: Path, lab: Lab) -> Iterator[Piece]:
    """Everything below `folder`, in the order of names."""
    for path, parts, why in _files(folder):
        student, file = student_of(parts, lab.name), "/".join(parts)
        name = parts[-1]
        if why:
            wanted = name.lower().endswith(archives.NOTEBOOK) or archives.ending(name)
            no_one = why in (HIDDEN, EMPTY)
            yield Ignored(student, file, why) if no_one else Rejected(student, file, path, why, aside=not wanted)
        elif archives.ending(name):
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
    seen, of = 0, Counter[str]()
    while waiting:
        here, parts = waiting.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            yield here, parts or (".",), f"the folder can't be read ({error.strerror})"
            continue
        if not entries and parts:
            yield here, (*parts, ""), EMPTY
        for entry in entries:
            inner = (*parts, printable(entry.name))
            path = Path(entry.path)
            owner, _ = telling(inner)
            of[owner] += 1
            if of[owner] > MOST_FILES_OF_ONE:
                if of[owner] == MOST_FILES_OF_ONE + 1:
                    yield (
                        path,
                        inner,
                        f"it and what follows it are more than {MOST_FILES_OF_ONE:,} files of one student",
                    )
                continue
            seen += 1
            if seen > MOST_FILES:
                raise Refused(f"{folder} holds more than {MOST_FILES:,} files: give the folder of submissions only")
            if hidden(inner[-1]):
                yield path, inner, HIDDEN
            elif entry.is_symlink():
                yield path, inner, "it is a link, and links are not followed: hand in the file itself"
            elif entry.is_dir(follow_symlinks=False):
                if len(inner) < MOST_FOLDERS_DEEP:
                    waiting.append((path, inner))
                else:
                    yield path, inner, f"it is more than {MOST_FOLDERS_DEEP} folders deep"
            elif not entry.is_file(follow_symlinks=False):
                yield path, inner, "it is a device or a pipe, not a file: hand in the notebook itself"
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
            raise Refused("it is a device or a pipe, not a file: hand in the notebook itself")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _why(error: Exception) -> str:
    if isinstance(error, Refused):
        return str(error)
    return f"the file can't be read ({getattr(error, 'strerror', None) or type(error).__name__}): hand it in again"


# -- archives -------------------------------------------------------------------------------------------


def _students_archive(path: Path, student: str, file: str, lab: Lab) -> Iterator[Piece]:
    """The notebooks in the archive of one student; the archive itself, where there are none."""
    pieces: list[Piece] = []
    try:
        with open_regular(path) as opened:
            for member in archives.members(file, opened, os.fstat(opened.fileno()).st_size):
                pieces.append(_member(member, student, file, path, lab))
    except (Refused, OSError) as error:
        yield Rejected(student, file, path, _why(error))
        return
    if not any(isinstance(piece, Submission | Rejected) for piece in pieces):
        yield Rejected(student, file, path, "the archive has no notebook in it: hand in the .ipynb file")
    yield from pieces


def _one_file(path: Path, lab: Lab) -> Iterator[Piece]:
    """One notebook, or the archive of a class; raises Refused where it is neither."""
    if not path.name.lower().endswith(archives.NOTEBOOK):
        if not archives.is_zip(path.name):
            raise Refused(f"{path} is neither a notebook (.ipynb) nor a .zip archive: give a folder")
        yield from _class_archive(path, lab)
        return
    name = printable(path.name)
    with open_regular(path) as opened:
        yield _submission(student_of([name], lab.name), name, path, opened.read(MOST_BYTES + 1), lab)


def _class_archive(path: Path, lab: Lab) -> Iterator[Piece]:
    """The notebooks in one archive of a whole class; raises Refused where it can not be read."""
    own = path.name.removesuffix(archives.ending(path.name))
    with path.open("rb") as opened:
        for member in archives.members(path.name, opened, path.stat().st_size, archives.OF_A_CLASS):
            parts = member.path.parts
            if len(parts) > 1 and parts[0] == own:  # a folder packed with all that is in it
                member = replace(member, path=PurePosixPath(*parts[1:]))
            names = [printable(part) for part in member.path.parts]
            yield _member(member, student_of(names, lab.name), "", path, lab)


def _member(member: archives.Member, student: str, archive: str, path: Path, lab: Lab) -> Piece:
    parts = tuple(printable(part) for part in member.path.parts)
    file = "/".join([archive, *parts] if archive else parts)
    if any(map(hidden, parts)):
        return Ignored(student, file, HIDDEN)
    if archives.ending(parts[-1]):
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
    if not ids & set(lab.ids) and (ids or not _known_to_jupyter(cells, lab)):
        return Rejected(student, file, path, _not_this_lab(ids, lab), aside=True)
    return Submission(student, file, path, cells, hashlib.sha256(data).hexdigest())


def _known_to_jupyter(cells: Sequence[HandedIn], lab: Lab) -> bool:
    """Whether all cells for answers are there by Jupyter's ids, although a program dropped nbgrader's."""
    return {cell.id for cell in lab.solutions} <= {cell.id for cell in cells} - {""}


def _not_this_lab(ids: set[str], lab: Lab) -> str:
    if not ids:
        return (
            f"none of its cells is marked as one of {lab.name}: another program dropped the marks, or it is another "
            "notebook; copy your answers into a fresh copy of the lab and hand that in"
        )
    example = min(ids)
    return f"it is not {lab.name}: its cells have names such as {ascii(example)[:60]}; hand in this lab's notebook"

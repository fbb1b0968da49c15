"""File names for students: safe on every system, one a submission, and the same ones each time."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from helpers.grading.report.words import one_line

LONGEST = 100
"""Bytes of a name in UTF-8; a file system takes 255, suffix included."""
_ALLOWED = " .,-_+=@()"
"""Besides letters and digits: no sign that a file system, a shell or a link takes for something else."""
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)


def safe(name: str) -> str:
    """`name` without what a file name must not have; it may be another name's too."""
    text = unicodedata.normalize("NFC", one_line(name))
    text = "".join(sign if sign in _ALLOWED or unicodedata.category(sign)[0] in "LMN" else "\0" for sign in text)
    text = re.sub("\0+", "_", text)
    text = re.sub(r"^[.\-]", "_", text)
    if _DEVICES.match(text):
        text = "_" + text
    text = text.encode()[:LONGEST].decode(errors="ignore").rstrip(" .")
    return text or "_"


def stems(submissions: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A file name, without its suffix, for each (student, file).

    A name that had to be changed, and each of several that a system could take for one another, ends in a hash of
    student and file, so that it does not depend on who else is in the class.
    """
    keys = sorted(set(submissions))
    plain = {key: safe(key[0]) for key in keys}
    digits = 8
    while True:
        taken = Counter(folded(stem) for stem in plain.values())
        found = {
            key: stem if stem == key[0] and taken[folded(stem)] == 1 else f"{stem}-{_hash(key)[:digits]}"
            for key, stem in plain.items()
        }
        if len({folded(stem) for stem in found.values()}) == len(keys):
            return found
        digits += 8


def folded(stem: str) -> str:
    """What two names have in common that a file system may take for one."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", stem).casefold())


def _hash(key: tuple[str, str]) -> str:
    return hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()

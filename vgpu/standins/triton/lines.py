"""Triton's PTX with the user's lines.

Code of Triton's own library (such as `tl.sum`) is inlined, and its `.loc` names only the library's line. The caller's
line is in the comment after it: `// standard.py:293:36 @[ kernel.py:76:34 ]`. Newer releases say it in the `.loc`
itself. Theirs also count the lines of inline assembly as if the user's file went on with it: these `.loc` are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

_LOC = re.compile(r"^(\s*\.loc\s+)(\d+) \d+ \d+(\s*// \S+ @\[ .*)$", re.MULTILINE)
_FIRST = re.compile(r"^\s*\.loc\s+(\d+) ", re.MULTILINE)  # of the kernel's `def`
_FILE = re.compile(r'^\s*\.file\s+(\d+) "([^"]*)"', re.MULTILINE)

_ASSEMBLY = re.compile(r"^\s*// begin inline asm$.*?^\s*// end inline asm$", re.MULTILINE | re.DOTALL)
_ANY = re.compile(r"^\s*\.loc\s.*\n", re.MULTILINE)


def user_lines(ptx: str, filename: str) -> str:
    """The PTX with every inlined position outside of the kernel's file replaced by the innermost one within it.

    `filename` is where the kernel stands now. Triton keeps PTX by what the source says, so the PTX of a notebook's
    kernel may name the file that the same cell was in an earlier session.
    """
    ptx = _ASSEMBLY.sub(lambda assembly: _ANY.sub("", assembly[0]), ptx)
    first = _FIRST.search(ptx)
    files = dict(_FILE.findall(ptx))
    if first is None or first[1] not in files:
        return ptx
    own, then = first[1], files[first[1]]
    caller = re.compile(rf"@\[ {re.escape(Path(then).name)}:(\d+):(\d+)")

    def amended(match: re.Match) -> str:
        found = caller.search(match[3])
        if match[2] == own or found is None:
            return match[0]
        return f"{match[1]}{own} {found[1]} {found[2]}{match[3]}"

    return _LOC.sub(amended, ptx).replace(f'.file\t{own} "{then}"', f'.file\t{own} "{filename}"')

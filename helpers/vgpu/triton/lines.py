"""Triton's PTX with the learner's lines.

Code of Triton's own library (`tl.sum` and the like) is inlined, and its `.loc` names the library's line only. Where it
was called from stands in the comment behind: `// standard.py:293:36 @[ kernel.py:76:34 ]`.
"""

from __future__ import annotations

import re
from pathlib import Path

_LOC = re.compile(r"^(\s*\.loc\s+)(\d+) \d+ \d+(\s*// \S+ @\[ .*)$", re.MULTILINE)
_FILE = re.compile(r'^\s*\.file\s+(\d+) "([^"]*)"', re.MULTILINE)


def learners_lines(ptx: str, filename: str) -> str:
    """The PTX with every inlined position outside of `filename` replaced by the innermost one within it."""
    own = next((index for index, path in _FILE.findall(ptx) if path == filename), None)
    if own is None:
        return ptx
    caller = re.compile(rf"@\[ {re.escape(Path(filename).name)}:(\d+):(\d+)")

    def amended(match: re.Match) -> str:
        found = caller.search(match[3])
        if match[2] == own or found is None:
            return match[0]
        return f"{match[1]}{own} {found[1]} {found[2]}{match[3]}"

    return _LOC.sub(amended, ptx)

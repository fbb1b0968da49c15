"""C++ read as text, as far as it takes to tell functions, types and variables apart: no preprocessing, no types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_OPAQUE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'"""
    r"""|^[ \t]*\#(?:[^\n\\]|\\.)*""",
    re.DOTALL | re.MULTILINE,
)
_OPEN, _CLOSE = "([{", ")]}"
_NOT_FUNCTIONS = {
    "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__", "__attribute__", "__align__", "alignas",
    "decltype", "noexcept", "__declspec",
}  # fmt: skip
_GLOBAL = re.compile(r"(?:(?:inline\s+)?namespace\b[\s\w:]*|extern\s*\"\s*\")\s*$")
_ARGUMENTS = r"(?:<[^;{}()]*>\s*)?"  # of a template that is specialised
_TYPE = re.compile(r"\b(?:struct|class|union|enum)\b")


def masked(source: str) -> str:
    """The source with comments, the insides of literals and directives as blanks, each character in its place."""

    def blank(match: re.Match[str]) -> str:
        text = match[0]
        quote = text[0] if text[0] in "\"'" else ""
        inside = text[1:-1] if quote else text
        return quote + re.sub(r"[^\n]", " ", inside) + quote

    # A quote between digits separates them: 1'000.
    return _OPAQUE.sub(blank, re.sub(r"(?<=\d)'(?=\d)", " ", source))


def closing(text: str, at: int) -> int:
    """Where the bracket at `at` is closed; ValueError where it isn't."""
    depth = 0
    for place in range(at, len(text)):
        if text[place] in _OPEN:
            depth += 1
        elif text[place] in _CLOSE:
            depth -= 1
            if depth == 0:
                return place
    raise ValueError(f"the {text[at]} in line {text.count(chr(10), 0, at) + 1} isn't closed")


_OPENED = {">": "<", "]": "[", ")": "("}


def opening(text: str, at: int) -> int:
    """Where the bracket opens that is closed at `at`, which may be an angle; ValueError where it doesn't."""
    depth, pair = 0, _OPENED[text[at]]
    for place in range(at, -1, -1):
        depth += {text[at]: 1, pair: -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise ValueError(f"the {text[at]} in line {text.count(chr(10), 0, at) + 1} isn't opened")


@dataclass(frozen=True)
class Item:
    """A declaration or definition at namespace scope: [start, end) of the source.

    `kind`: "function", "type", or "other". `head`: the text up to the body, masked. `body`: where the braces of a
    function's body are, None for what has none.
    """

    kind: str
    start: int
    end: int
    head: str
    body: tuple[int, int] | None = None

    @property
    def words(self) -> set[str]:
        """The words before the body."""
        return set(re.findall(r"\w+", self.head))

    def parameters(self) -> tuple[int, int]:
        """Where the list of a function's parameters opens and closes, in the source."""
        found = _parameter_list(self.head)
        assert found is not None, "it is a function"
        return self.start + found[0], self.start + found[1]

    @property
    def name(self) -> str:
        """A function's name."""
        found = _parameter_list(self.head)
        match = re.search(rf"([\w:~]+)\s*{_ARGUMENTS}$", self.head[: found[0]]) if found else None
        return match[1] if match else ""


def _parameter_list(head: str) -> tuple[int, int] | None:
    """The first list in parentheses that follows a name, isn't an attribute's, and isn't between angles."""
    at = angles = 0
    while at < len(head):
        if head[at] == "<":
            angles += 1
        elif head[at] == ">":
            angles = max(0, angles - 1)
        elif head[at] == "(":
            end = closing(head, at)
            if not angles:  # a class's body may have many lists and, after a comparison, an angle that nothing closes
                before = re.search(rf"(operator\s*\S+|\w+)\s*{_ARGUMENTS}$", head[:at])
                if before and before[1] not in _NOT_FUNCTIONS:
                    return at, end
            at = end
        at += 1
    return None


def items(source: str) -> Iterator[Item]:
    """What a source declares and defines at namespace scope, in order. Namespaces are looked into."""
    text = masked(source)
    at = start = 0
    while at < len(text):
        char = text[at]
        if char in "([":
            at = closing(text, at)
        elif char == ";":
            yield from _item(text, start, at + 1, None)
            start = at + 1
        elif char == "}":  # of a namespace
            start = at + 1
        elif char == "{":
            head = text[start:at]
            if _GLOBAL.search(head):
                start = at + 1
            else:
                end = closing(text, at)
                is_function = _is_function(head)
                if is_function:
                    yield from _item(text, start, end + 1, (at, end))
                    start = end + 1
                at = end  # else its end is a semicolon
        at += 1


def _is_function(head: str) -> bool:
    flat = without_brackets(head)
    return _parameter_list(head) is not None and "=" not in re.sub(r"operator\s*\S+|==", "", flat)


def _item(text: str, start: int, end: int, body: tuple[int, int] | None) -> Iterator[Item]:
    lead = len(text[start:end]) - len(text[start:end].lstrip())
    start += lead
    if not text[start:end].strip(" \n\t;"):
        return
    head = text[start : body[0] if body else end]
    flat = without_brackets(head)
    if body is None and re.match(r"(?:template\b.*)?(?:typedef|using)\b", flat):
        kind = "type"
    elif body is not None or (_parameter_list(head) is not None and "=" not in flat and not _TYPE.search(flat)):
        kind = "function"
    elif _TYPE.search(flat) and "=" not in flat:
        kind = "type"
    else:
        kind = "other"
    yield Item(kind, start, end, head, body)


def without_brackets(head: str) -> str:
    """A head without what stands in brackets of any kind, angles of templates included."""
    kept, at = [], 0
    while at < len(head):
        if head[at] in _OPEN:
            try:
                at = closing(head, at)
            except ValueError:
                break
        elif head[at] == "<":
            depth, end = 0, at
            while end < len(head):
                depth += {"<": 1, ">": -1}.get(head[end], 0)
                if depth == 0:
                    break
                end += 1
            at = end
        else:
            kept.append(head[at])
        at += 1
    return "".join(kept)


def pieces(text: str, separator: str = ",") -> list[str]:
    """A list split at its commas, not at those in brackets or between angles."""
    found = (text[start:end].strip() for start, end in spans(text, separator))
    return [piece for piece in found if piece]


def spans(text: str, separator: str = ",") -> Iterator[tuple[int, int]]:
    """Where the pieces of a list begin and end, empty ones too."""
    depth, start = 0, 0
    for at, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
        elif char == separator and depth == 0:
            yield start, at
            start = at + 1
    yield start, len(text)


def blanked(source: str, start: int, end: int) -> str:
    """A part of the source as blanks, with its lines."""
    return re.sub(r"[^\n]", " ", source[start:end])


def edited(source: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The source with parts replaced: (start, end, what stands there instead). Lines stay where they are."""
    parts, at = [], 0
    for start, end, new in sorted(edits):
        lines = source.count("\n", start, end) - new.count("\n")
        parts += [source[at:start], new, "\n" * lines]
        at = end
    return "".join([*parts, source[at:]])

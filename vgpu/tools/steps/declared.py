"""What a kernel's source declares: parameters, arrays and variables, each with the lines that name it.

Read from the text, for kernels in Python and in CUDA C. `spaces` finds out in which memory they reside.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel

KINDS = ("parameter", "texture", "shared array", "constant array", "array", "variable")
"""What a name is in the source; "array" is a local array of each thread."""

_PYTHON_ARRAYS = {"shared": "shared array", "const": "constant array", "local": "array"}
_SKIPPED = {"return", "else", "goto", "case", "default", "delete", "typedef", "using", "break", "continue", "do"}
_QUALIFIERS = (
    r"(?:(?:extern|static|const|constexpr|volatile|register|unsigned|signed|long|short|struct|__shared__|__device__|"
    r"__constant__|__align__\(\d+\)|alignas\(\d+\))\s+)*"
)
_DECLARATION = re.compile(
    rf"^(?P<qualifiers>{_QUALIFIERS})(?P<type>[A-Za-z_][\w:]*(?:<[^=;]*>)?)(?P<gap>\s*[*&][*&\s]*|\s+)"
    r"(?P<rest>(?:__restrict__\s+)?[A-Za-z_]\w*\s*(?:$|[\[=,({]).*)$",
    re.DOTALL,
)


@dataclass(frozen=True)
class Declared:
    """A name that the source declares: one of `KINDS`, and the source lines on which it appears."""

    name: str
    kind: str
    lines: tuple[int, ...]


@dataclass(frozen=True)
class KernelSource:
    """A kernel's lines, number and text in order, and the names they declare (constants from outside included)."""

    lines: tuple[tuple[int, str], ...]
    declared: tuple[Declared, ...]


def read(kernel: Kernel) -> KernelSource:
    """The source of one kernel, as the engine loaded it (its `language`, `source` and `first_line`)."""
    return (_python if kernel.language == "numba" else _cuda)(kernel)


# -- Python ---------------------------------------------------------------------------------------------


def _python(kernel: Kernel) -> KernelSource:
    text = textwrap.dedent("\n".join(kernel.source))
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    # The text may begin with a device function that the kernel calls.
    function = next((each for each in functions if each.name == kernel.name), functions[0])
    kinds = {argument.arg: "parameter" for argument in function.args.args}
    named: dict[str, set[int]] = {}
    shift = kernel.first_line - 1
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            named.setdefault(node.arg, set()).add(node.lineno + shift)
        if isinstance(node, ast.Name):
            named.setdefault(node.id, set()).add(node.lineno + shift)
            if isinstance(node.ctx, ast.Store):
                kinds.setdefault(node.id, "variable")
        if isinstance(node, ast.Assign):
            kinds |= dict(_python_arrays(node))
    lines = text.splitlines()[function.lineno - 1 : function.end_lineno]
    numbered = tuple((function.lineno + shift + at, line) for at, line in enumerate(lines))
    return KernelSource(
        numbered, tuple(Declared(name, kind, tuple(sorted(named[name]))) for name, kind in kinds.items())
    )


def _python_arrays(node: ast.Assign) -> Iterator[tuple[str, str]]:
    """The arrays that an assignment makes: `a = cuda.shared.array(…)`, or several by tuples."""
    for target in node.targets:
        pairs: list[tuple[ast.expr, ast.expr]] = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        for name, value in pairs:
            found = re.match(r"(?:\w+\.)*(shared|local|const)\.array", ast.unparse(value))
            if found and isinstance(name, ast.Name):
                yield name.id, _PYTHON_ARRAYS[found[1]]


# -- CUDA C ---------------------------------------------------------------------------------------------


def _blanked(match: re.Match[str]) -> str:
    """The line ends of a comment or literal, so that lines keep their numbers."""
    return "\n" * match[0].count("\n") or " "


def _cuda(kernel: Kernel) -> KernelSource:
    text = "\n".join(kernel.source)
    plain = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', _blanked, text, flags=re.DOTALL)
    start, brace, end = _extent(plain, kernel.name.split("<")[0])
    first, last = plain.count("\n", 0, start), plain.count("\n", 0, end)
    shift = kernel.first_line
    numbered = tuple((at + shift, text.split("\n")[at]) for at in range(first, last + 1))
    own = {at + shift: line for at, line in enumerate(plain.split("\n")) if first <= at <= last}
    kinds: dict[str, str] = {}
    for name, is_texture in _parameters(plain[start:brace]):
        kinds[name] = "texture" if is_texture else "parameter"
    for name in re.findall(r"\b__constant__\b[^;={]*?(\w+)\s*(?:\[[^;={]*)?(?=[;={])", plain[:start]):
        if re.search(rf"\b{name}\b", plain[brace:end]):
            kinds.setdefault(name, "constant array")
    kinds |= {name: kind for name, kind in _declarations(plain[brace + 1 : end]) if name not in kinds}
    found = tuple(
        Declared(name, kind, tuple(at for at, line in own.items() if re.search(rf"\b{name}\b", line)))
        for name, kind in kinds.items()
    )
    return KernelSource(numbered, found)


def _extent(plain: str, name: str) -> tuple[int, int, int]:
    """Where a kernel's declaration begins, its body opens, and its body ends."""
    found = re.search(rf"\b{re.escape(name)}\s*\([^{{;]*\{{", plain)
    if not found:
        return 0, 0, len(plain)
    brace, depth = found.end() - 1, 0
    for at in range(brace, len(plain)):
        depth += (plain[at] == "{") - (plain[at] == "}")
        if depth == 0:
            return found.start(), brace, at
    return found.start(), brace, len(plain)


def _parts(text: str) -> list[str]:
    """The text split at the commas outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _parameters(head: str) -> Iterator[tuple[str, bool]]:
    """The names in a parameter list, and whether each is a texture or surface."""
    inside = head[head.find("(") + 1 : head.rfind(")")]
    for part in _parts(inside):
        names = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]", "", part))
        if names:
            yield names[-1], bool(re.search(r"cuda(?:Texture|Surface)Object_t", part))


def _declarations(body: str) -> Iterator[tuple[str, str]]:
    """Names declared in a body, with their kinds; of a name declared twice the first declaration counts."""
    seen = set()
    for statement in re.split(r"[;{}]", re.sub(r"\bfor\s*\(", ";", body)):
        words = statement.strip()
        found = _DECLARATION.match(words)
        if not found or re.split(r"\W", words, maxsplit=1)[0] in _SKIPPED:
            continue
        for part in _parts(found["gap"] + found["rest"]):
            name = re.match(r"[\s*&]*(?:__restrict__\s+)?([A-Za-z_]\w*)\s*(\[)?", part)
            if name and name[1] not in seen:
                seen.add(name[1])
                shared = "__shared__" in found["qualifiers"]
                yield name[1], "shared array" if shared else "array" if name[2] else "variable"

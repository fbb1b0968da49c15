"""Only what is called: the runtime's text taken apart into functions, each a module for kernels that want it.

Machine code for the whole runtime takes longer than for most kernels, and few of its functions are wanted by any one
of them. A function that is always inlined becomes a part of every module that calls it.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NAME = re.compile(r"@([\w.]+)\(")
_NAMED = re.compile(r"@([\w.]+)")
_HEAD = re.compile(r"^(?:define|declare) (?:internal )?(\S.*?) @(wb_\w+)\(([^()]*)\)", re.MULTILINE)


class Functions:
    """The functions of a text of LLVM IR by name, and what each of them calls."""

    def __init__(self, text: str):
        self.texts: dict[str, str] = {}
        self.inlined: set[str] = set()
        self.heads: dict[str, str] = {}
        self.calls: dict[str, list[str]] = {}
        for piece in re.split(r"^(?=define )", text, flags=re.MULTILINE):
            body, brace, rest = piece.partition("\n}\n") if piece.startswith("define ") else ("", "", piece)
            if body:
                self._add(body + brace)
            if rest.strip():
                raise ValueError(f"the runtime has lines outside functions: {rest.strip()}")

    def _add(self, text: str) -> None:
        head, _, body = text.partition("\n")
        name = _name(head)
        if name in self.texts:
            raise ValueError(f"the runtime has two functions {name}")
        if head.split("{")[0].rstrip().endswith("alwaysinline"):
            self.inlined.add(name)
        else:  # other modules may call it
            text = text.replace("define internal ", "define ", 1)
        self.texts[name], self.calls[name] = text, sorted(set(_NAMED.findall(body)))
        self.heads[name] = head.replace("define internal ", "define ").replace("define ", "declare ").rstrip(" {")

    def module(self, name: str) -> str:
        """A module of one function and of those that are inlined into it; empty for a name that is none of these."""
        if name not in self.texts:
            return ""
        waiting, here, named = [name], set(), set()
        while waiting:
            function = waiting.pop()
            here.add(function)
            named.update(self.calls[function])
            waiting += [n for n in self.calls[function] if n in self.inlined and n not in here]
        outside = [self.heads[n] for n in sorted(named & self.texts.keys() - here)]
        return "\n".join([*outside, *(text for name, text in self.texts.items() if name in here)])


def _name(head: str) -> str:
    """The name of a function, from the line that defines it."""
    found = _NAME.search(head)
    if found is None:
        raise ValueError(f"no name in {head!r}")
    return found[1]


def called(text: str) -> set[str]:
    """The names of the functions that a text of LLVM IR calls, or hands to others to call."""
    lines = (line for line in text.splitlines() if not line.startswith(("declare", "define")))
    return {name for line in lines for name in _NAMED.findall(line)}


def defined(text: str) -> set[str]:
    """The names of the functions that a text of LLVM IR defines."""
    return {_name(line) for line in text.splitlines() if line.startswith("define ")}


def signatures(text: str) -> dict[str, str]:
    """Result and parameters of each function of the runtime that a text declares or defines, as LLVM writes types."""
    return {
        name: re.sub(r"%[\w.]+|\bnoalias\b|\s", "", f"{result}({given})") for result, name, given in _HEAD.findall(text)
    }


@lru_cache(maxsize=2)
def functions(vectors: str) -> Functions:
    """The runtime for a CPU with these vector instructions, as `runtime.source` names them."""
    from vgpu import runtime

    return Functions(runtime.source(vectors))

"""Name scopes of a PTX function: registers, variables and labels in nested braces."""

from __future__ import annotations

from vgpu.ptx import PTXSyntaxError, Variable
from vgpu.ptx.tokens import Tokens

MOST_REGISTERS = 1 << 18  # of a function: far beyond what compilers declare
DEEPEST = 64  # braces within braces, likewise


class Scope:
    """Names in nested braces: an inner declaration hides an outer one, so it gets a distinct suffix."""

    def __init__(self) -> None:
        self.registers: dict[str, str] = {}
        self.variables: dict[str, Variable] = {}
        self.stack: list[dict[str, str]] = [{}]
        self.numbers = [0]  # of the scopes that are open
        self.count = 0
        self.declared: set[str] = set()
        self.targets: dict[str, tuple] = {}  # the lists of labels that branches choose from, by their names

    def open(self, tokens: Tokens) -> None:
        if len(self.stack) > DEEPEST:
            raise tokens.error(f"braces stand more than {DEEPEST} deep in one another")
        self.stack.append({})
        self.count += 1
        self.numbers.append(self.count)

    def close(self) -> None:
        self.stack.pop()
        self.numbers.pop()

    def declare_labels(self, tokens: Tokens) -> None:
        """Declare the labels of the scope that begins here, with distinct names, before they are used."""
        following, at, depth = tokens.tokens, tokens.at, 0
        while at + 1 < len(following):
            kind, lexeme, _ = following[at]
            depth += (lexeme == "{") - (lexeme == "}")
            if depth < 0:
                return
            if depth == 0 and kind == "name" and following[at + 1][1] == ":":
                self.stack[-1][lexeme] = f"{lexeme}.{self.numbers[-1]}"
            at += 1

    def reserve(self, count: int, tokens: Tokens) -> None:
        """Raise if a function with `count` more registers has too many."""
        if not 0 <= count <= MOST_REGISTERS - len(self.registers):
            raise tokens.error(f"a function with {count + len(self.registers)} registers is no kernel")

    def _unique(self, name: str, tokens: Tokens) -> str:
        unique = name if len(self.stack) == 1 else f"{name}.{self.numbers[-1]}"
        if unique in self.declared:
            raise tokens.error(f"{name} is declared twice in one scope")
        self.declared.add(unique)
        self.stack[-1][name] = unique
        return unique

    def declare(self, name: str, kind: str, tokens: Tokens) -> None:
        self.registers[self._unique(name, tokens)] = kind

    def declare_variable(self, variable: Variable, tokens: Tokens) -> None:
        unique = self._unique(variable.name, tokens)
        self.variables[unique] = Variable(
            unique,
            variable.space,
            variable.align,
            variable.nbytes,
            variable.init,
            variable.relocations,
            False,
        )

    def lookup(self, name: str) -> str | None:
        for names in reversed(self.stack):
            if name in names:
                return names[name]
        return None

    def is_register(self, name: str) -> bool:
        found = self.lookup(name)
        return found is not None and found in self.registers

    def register(self, name: str) -> str:
        found = self.lookup(name)
        if found is None or found not in self.registers:
            raise PTXSyntaxError(f"{name!r} is used as a register but declared nowhere")
        return found

    def symbol(self, name: str) -> str:
        return self.lookup(name) or name

    label = symbol

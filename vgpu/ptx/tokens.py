"""The tokens of a PTX text, and reading them one by one."""

from __future__ import annotations

import re
import struct

from vgpu.ptx import Imm, PTXSyntaxError

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<number>0[fF][0-9a-fA-F]{8}\b | 0[dD][0-9a-fA-F]{16}\b | 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U?
          | \d+\.\d+(?:[eE][+-]?\d+)? | \d+U?)
      | (?P<dot>\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)
      | (?P<name>[%$_A-Za-z][\w$]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<mark>[{}()\[\],;:|+\-!@<>=])""",
    re.VERBOSE | re.DOTALL | re.ASCII,  # letters of other alphabets stand in strings and comments only
)


def _tokenise(text: str) -> list[tuple[str, str, int]]:
    tokens, position, line = [], 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise PTXSyntaxError(f"line {line} of the PTX: unexpected character {text[position]!r}")
        kind, lexeme = match.lastgroup or "", match.group()
        if kind != "skip":
            tokens.append((kind, lexeme, line))
        line += lexeme.count("\n")
        position = match.end()
    tokens.append(("end", "", line))
    return tokens


class Tokens:
    """The tokens of a text; `at` is the index of the next one."""

    def __init__(self, text: str):
        self.tokens = _tokenise(text)
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        index = self.at + ahead
        return self.tokens[index][1] if index < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.at][0]

    def last_kind(self) -> str:
        """The kind of the last token returned by `next`."""
        return self.tokens[self.at - 1][0]

    def line(self) -> int:
        """The line of that token."""
        return self.tokens[self.at - 1][2]

    def next(self) -> str:
        kind, lexeme, line = self.tokens[self.at]
        if kind == "end":
            raise PTXSyntaxError(f"line {line} of the PTX: unexpected end")
        self.at += 1
        return lexeme

    def accept(self, lexeme: str) -> bool:
        if self.peek() == lexeme and self.kind() != "end":
            self.at += 1
            return True
        return False

    def expect(self, lexeme: str) -> None:
        if not self.accept(lexeme):
            raise self.error(f"expected {lexeme!r}, found {self.peek()!r}")

    def error(self, message: str) -> PTXSyntaxError:
        return PTXSyntaxError(f"line {self.tokens[self.at][2]} of the PTX: {message}")

    def integer(self) -> int:
        sign = -1 if self.accept("-") else 1
        value = self.number(self.next())
        return sign * value.value

    def number(self, lexeme: str) -> Imm:
        head = lexeme[:2].lower()
        try:
            if head == "0f":
                return Imm(int(lexeme[2:], 16), "f32")
            if head == "0d":
                return Imm(int(lexeme[2:], 16), "f64")
            if "." in lexeme:
                return Imm(struct.unpack("<Q", struct.pack("<d", float(lexeme)))[0], "f64")
            lexeme = lexeme.rstrip("U")
            octal = len(lexeme) > 1 and lexeme[0] == "0" and lexeme.isdigit()
            return Imm(int(lexeme, 8 if octal else 0))
        except ValueError:
            raise self.error(f"{lexeme!r} is no number") from None

    def skip_to(self, lexeme: str) -> None:
        while not self.accept(lexeme):
            self.next()

    def skip_between(self, opening: str, closing: str) -> None:
        """Skip everything between an opening token and its closing one, nested pairs included."""
        self.expect(opening)
        depth = 1
        while depth:
            word = self.next()
            depth += (word == opening) - (word == closing)

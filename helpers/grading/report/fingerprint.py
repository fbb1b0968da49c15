"""A hash of solution cells that is the same for answers that differ in names, comments and white space only."""

from __future__ import annotations

import builtins
import hashlib
import io
import keyword
import re
import tokenize
from collections.abc import Collection, Iterator, Sequence

_KEPT = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins)}
_C_KEPT = frozenset(
    re.findall(
        r"\S+",
        """
        alignas asm auto bool break case char class const constexpr continue default define delete do double else enum
        extern float for goto half if include inline int long max min namespace new nullptr operator pragma private
        public register restrict return short signed sizeof static struct switch template this true false typedef
        typename union unroll unsigned using virtual void volatile while NULL size_t dim3 warpSize
        int2 int3 int4 uint2 uint3 uint4 float2 float3 float4 double2
        int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
        threadIdx blockIdx blockDim gridDim atomicAdd atomicCAS atomicExch atomicMax atomicMin
        """,
    )
)
_C_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|(?P<text>\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"
    r"|(?P<sign>->|::|\S)",
    re.DOTALL,
)
_PYTHON_TOKEN = re.compile(
    r"#[^\n]*"
    r"|(?P<text>[rbufRBUF]{0,2}(?:'''.*?(?:'''|\Z)|\"\"\".*?(?:\"\"\"|\Z)"
    r"|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?))"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<number>\.?\d(?:[eE][+-]|[\w.])*)"
    r"|(?P<sign>\S)",
    re.DOTALL,
)
_QUOTES = re.compile(r"[rbufRBUF]{0,2}('''|\"\"\"|'|\")")
IN, OUT = "\v>", "\v<"
"""Stand for an indent and a dedent, however deep."""
_SKIPPED = (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER, tokenize.ENCODING)


def fingerprint(sources: Sequence[str]) -> str:
    """32 hexadecimal digits for the cells of one submission, in order; "" where they hold no code.

    Python is read by `tokenize`, and by plain patterns where that gives up; strings that hold CUDA C are read as C. A
    name counts by where it first occurs in its cell, so renaming one everywhere changes nothing; built-in names,
    attributes and what CUDA names stay what they are. Docstrings do not count.
    """
    words: list[str] = []
    for source in sources:
        words += [*_python(source.replace("\r\n", "\n").replace("\0", " "), {}), "\f"]
    if all(word in ("\f", "\n", "pass") for word in words):
        return ""
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _python(source: str, names: dict[str, str]) -> list[str]:
    try:
        tokens = list(_tokens(source))
    except (tokenize.TokenError, SyntaxError, ValueError):  # a syntax error, or a broken character
        tokens = [(found.lastgroup, found.group()) for found in _PYTHON_TOKEN.finditer(source) if found.lastgroup]
    words: list[str] = []
    for index, (kind, text) in enumerate(tokens):
        before = tokens[index - 1][1] if index else "\n"
        after = tokens[index + 1][1] if index + 1 < len(tokens) else "\n"
        if kind == "text":
            if before in ("\n", IN, OUT) and after in ("\n", OUT):
                continue  # a docstring
            words.append(_string(text, names))
        elif kind == "name":
            words.append(text if before == "." else _renamed(text, _KEPT, names))
        elif not (text == "\n" and (not words or words[-1] in ("\n", IN, OUT))):
            words.append(text)
    return words


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in _SKIPPED or (token.type == tokenize.ERRORTOKEN and not token.string.strip()):
            continue
        if token.type == tokenize.NAME:
            yield "name", token.string
        elif token.type == tokenize.STRING or tokenize.tok_name[token.type].startswith("FSTRING"):
            yield "text", token.string
        else:
            other = {tokenize.INDENT: IN, tokenize.DEDENT: OUT, tokenize.NEWLINE: "\n"}.get(token.type, token.string)
            yield "sign", other


def _string(text: str, names: dict[str, str]) -> str:
    """A string: as C where it looks like it, by its place where it names something known, else its words."""
    quotes = _QUOTES.match(text)
    inner = text[quotes.end() :].removesuffix(quotes.group(1)) if quotes else text
    if "__global__" in inner or "__device__" in inner or ("{" in inner and ";" in inner):
        return "C " + " ".join(_c(inner, names))
    return names.get(inner) or "'" + " ".join(inner.split())


def _c(source: str, names: dict[str, str]) -> Iterator[str]:
    before = ""
    for found in _C_TOKEN.finditer(source):
        kind, text = found.lastgroup, found.group()
        if not kind:
            continue  # a comment
        member = before in (".", "->")
        yield _renamed(text, _C_KEPT, names) if kind == "name" and not member and not text.startswith("__") else text
        before = text


def _renamed(name: str, kept: Collection[str], names: dict[str, str]) -> str:
    return name if name in kept else names.setdefault(name, f"n{len(names)}")

"""The parameter list of a kernel from its source: C types and names, for messages and checks.

PTX only has the size of each parameter. Where the source isn't clear, there is no list: nothing is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

# C's scalar types, with the words of each sorted: "unsigned long long" and "long unsigned long" are one type.
_SCALARS = {
    "float": np.float32,
    "double": np.float64,
    "bool": np.bool,
    "char": np.int8,
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "unsigned short": np.uint16,
    "int": np.int32,
    "unsigned": np.uint32,
    "unsigned int": np.uint32,
    "long long": np.int64,
    "long long int": np.int64,
    "unsigned long long": np.uint64,
    "unsigned long long int": np.uint64,
    "size_t": np.uint64,
    "ptrdiff_t": np.int64,
    "int8_t": np.int8,
    "uint8_t": np.uint8,
    "int16_t": np.int16,
    "uint16_t": np.uint16,
    "int32_t": np.int32,
    "uint32_t": np.uint32,
    "int64_t": np.int64,
    "uint64_t": np.uint64,
    "half": np.float16,
    "__half": np.float16,
}
_BY_WORDS = {tuple(sorted(name.split())): np.dtype(dtype) for name, dtype in _SCALARS.items()}
# Vector types are read from arrays of their element: float4* from float32.
_VECTOR = re.compile(r"^(char|uchar|short|ushort|int|uint|longlong|ulonglong|float|double)[1-4]$")
_ELEMENT = {"uchar": "uint8_t", "ushort": "uint16_t", "uint": "uint32_t", "longlong": "int64_t"}
_ELEMENT |= {"ulonglong": "uint64_t", "half2": "half", "__half2": "half"}
_NOISE = re.compile(r"\b(const|volatile|struct|__restrict__|__restrict|restrict|__grid_constant__)\b")


@dataclass(frozen=True)
class CParameter:
    """One parameter: `type` as C writes it without const and the like, `name`, and whether it is a pointer.

    `dtype` is NumPy's type for it (for a pointer, of what it points to), or None when that is not known.
    """

    type: str
    name: str
    pointer: bool
    dtype: np.dtype | None
    vector: bool = False

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


def parameters(source: str, name: str) -> tuple[CParameter, ...] | None:
    """The parameters of kernel `name` ("scale", "scale<float>") in CUDA C; None when they are not clear."""
    source = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
    source = re.sub(r"__launch_bounds__\s*\([^)]*\)", " ", source)
    base = re.escape(name.split("<")[0].split("::")[-1].strip())
    heads = list(re.finditer(rf"__global__[^;{{}}()]*\b{base}\s*\(", source))
    if len({_inside(source, head.end()) for head in heads}) != 1:
        return None
    inside = _inside(source, heads[0].end())
    if inside is None or not inside.strip() or inside.strip() == "void":
        return None if inside is None else ()
    parts = _split(inside)
    found = tuple(each for part in parts if (each := _parameter(part)) is not None)
    return found if len(found) == len(parts) else None


def _inside(source: str, start: int) -> str | None:
    depth = 1
    for position in range(start, len(source)):
        depth += {"(": 1, ")": -1}.get(source[position], 0)
        if depth == 0:
            return source[start:position]
    return None


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for letter in text:
        depth += {"<": 1, "(": 1, "[": 1, ">": -1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _parameter(text: str) -> CParameter | None:
    text = " ".join(_NOISE.sub(" ", text).split("=")[0].split())
    found = re.match(r"^(.*?[\s*&])(\w+)\s*((?:\[[^\]]*\])*)$", text)
    if not found:
        return None
    kind, name, brackets = found.groups()
    stars = kind.count("*") + brackets.count("[")
    plain = " ".join(kind.replace("*", " ").split())
    if "&" in kind or not plain:
        return None
    dtype, vector = (None, False) if stars > 1 else _dtype(plain)
    return CParameter(plain + "*" * stars, name, stars > 0, dtype, vector)


def _dtype(plain: str) -> tuple[np.dtype | None, bool]:
    if plain in ("half2", "__half2"):
        return np.dtype(np.float16), True
    found = _VECTOR.match(plain)
    if found:
        element = found[1]
        return _BY_WORDS.get((_ELEMENT.get(element, element),)), True
    return _BY_WORDS.get(tuple(sorted(plain.split()))), False

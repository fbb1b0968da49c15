"""From registers to the user's names: which variable a value belongs to, where that is certain.

PTX has no names, and compilers move, merge and drop statements. So a value is called `i` only if it equals the line's
expression: on a line `i = expression`, the expression is computed from known values (special registers, arguments,
names found before, elements of arrays), and the value must be the same in every lane.
"""

from __future__ import annotations

import ast
import ctypes
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from vgpu.storage.memory import ArrayInfo

LANES = 32
_VECTORS = {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}
_TRITON = {"ctaid": "tl.program_id", "nctaid": "tl.num_programs"}

_C_TYPES = (
    r"(?:(?:const|unsigned|signed|int|long|short|char|float|double|bool|size_t|auto|u?int\d+_t|__half|half)\b\s*)"
)
_C_ASSIGNMENT = re.compile(rf"^(?:{_C_TYPES}+[*&\s]*)?(\w+)\s*(\+|-|\*|/|%|&|\||\^|<<|>>)?=(?!=)\s*([^;]+);\s*$")
_C_CAST = re.compile(rf"\(\s*{_C_TYPES}+\)")
_C_SUFFIX = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?)[uUlLfF]*(?![\w.])")
# Everything that changes a variable: where its new value isn't an assignment's, the name is unknown afterwards.
_CHANGED = re.compile(r"\b(\w+)\s*(?:(?:[-+*/%&|^]|<<|>>|//)?=(?!=)|\+\+|--)|(?:\+\+|--)(\w+)|\bfor\s+(\w+)\s+in\b")
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.FloorDiv: operator.floordiv, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip


class UnknownValue(Exception):
    """The expression needs something that is not known."""


@dataclass(frozen=True)
class Assignment:
    """`name = expression` on one line, the expression as a Python syntax tree."""

    name: str
    expression: ast.expr


def special_name(register: str, language: str) -> str | None:
    """The user's name of a special register: `%tid.x` is `threadIdx.x` or `cuda.threadIdx.x`; None for others."""
    name, _, axis = register.lstrip("%").partition(".")
    if language == "triton":
        return f"{_TRITON[name]}({'xyz'.index(axis)})" if name in _TRITON else None
    prefix = "cuda." if language == "numba" else ""
    if name in _VECTORS:
        return f"{prefix}{_VECTORS[name]}.{axis}"
    return f"{prefix}laneid" if name == "laneid" and language == "numba" else None


def assignment(text: str, language: str) -> Assignment | None:
    """The assignment on a line that consists of a plain assignment to one name; else None."""
    if language == "cuda":
        found = _C_ASSIGNMENT.match(re.sub(r"//.*|/\*.*?\*/", "", text).strip())
        if not found:
            return None
        name, op, right = found[1], found[2], _C_SUFFIX.sub(r"\1", _C_CAST.sub("", found[3]))
        text = f"{name} = {name} {op} ({right})" if op else f"{name} = {right}"
    try:
        (statement,) = ast.parse(text.strip()).body
    except (SyntaxError, ValueError):
        return None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        read = ast.Name(statement.target.id, ast.Load())
        return Assignment(statement.target.id, ast.BinOp(read, statement.op, statement.value))
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return Assignment(statement.targets[0].id, statement.value)
    return None


def changed(text: str) -> set[str]:
    """The names that a line may give a new value."""
    return {name for match in _CHANGED.finditer(text) for name in match.groups() if name}


@dataclass
class KnownValues:
    """The known values of one warp's variables, lane by lane."""

    language: str
    arrays: tuple[ArrayInfo, ...]
    scalars: dict[str, int | float]
    specials: dict[str, np.ndarray]  # by PTX name, such as "%tid.x"
    known: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)  # name -> values, lanes

    def forget(self, names: set[str], mask: np.ndarray) -> None:
        """These names may have got other values in the lanes of `mask`."""
        for name in names & set(self.known):
            values, lanes = self.known[name]
            self.known[name] = values, lanes & ~mask

    def learn(self, name: str, values: np.ndarray, mask: np.ndarray) -> None:
        """A name got these values in the lanes of `mask`."""
        before, lanes = self.known.get(name, (values, np.zeros(LANES, bool)))
        if before.dtype != values.dtype and {before.dtype.kind, values.dtype.kind} <= {"i", "u"}:
            before = before.astype(values.dtype)
        if before.dtype != values.dtype:
            before, lanes = values, np.zeros(LANES, bool)
        self.known[name] = np.where(mask, values, before), lanes | mask

    def agrees(self, expression: ast.expr, values: np.ndarray, mask: np.ndarray) -> bool:
        """Whether an expression is known, and gives exactly these values in the lanes of `mask`."""
        try:
            with np.errstate(all="ignore"):
                wanted = np.broadcast_to(np.asarray(_Evaluation(self, mask).value(expression)), (LANES,))
        except (UnknownValue, TypeError, ValueError, OverflowError, ZeroDivisionError):
            return False
        is_float = wanted.dtype.kind == "f"
        if is_float != (values.dtype.kind == "f") or wanted.dtype.kind not in "iuf":
            return False
        with np.errstate(all="ignore"):
            return wanted[mask].astype(values.dtype).tobytes() == values[mask].tobytes()


@dataclass(frozen=True)
class _Evaluation:
    """Evaluates expressions over 32 lanes, of which those of `mask` count."""

    names: KnownValues
    mask: np.ndarray

    def value(self, node: ast.expr) -> Any:
        kind = type(node).__name__
        method = getattr(self, f"_{kind.lower()}", None)
        if method is None:
            raise UnknownValue(kind)
        return method(node)

    def _constant(self, node: ast.Constant) -> Any:
        if not isinstance(node.value, int | float):
            raise UnknownValue(node.value)
        if isinstance(node.value, float) and self.names.language == "cuda":
            return np.float32(node.value)
        return node.value

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.names.known:
            values, lanes = self.names.known[node.id]
            if (self.mask & ~lanes).any():
                raise UnknownValue(node.id)
            # Indices are 64 bits wide here, so that only sums that wrap in the kernel differ.
            return values.astype(np.int64) if values.dtype.kind in "iu" else values
        if node.id in self.names.scalars:
            return self.names.scalars[node.id]
        raise UnknownValue(node.id)

    def _attribute(self, node: ast.Attribute) -> Any:
        return self._special(ast.unparse(node))

    def _special(self, text: str) -> np.ndarray:
        for register, values in self.names.specials.items():
            if special_name(register, self.names.language) == text:
                return values.astype(np.int64)
        raise UnknownValue(text)

    def _call(self, node: ast.Call) -> Any:
        text = ast.unparse(node)
        if re.fullmatch(r"(?:numba\.)?cuda\.grid\(1\)", text):
            special = self.names.specials
            block, size, thread = (special[f"%{name}.x"].astype(np.int64) for name in ("ctaid", "ntid", "tid"))
            return block * size + thread
        cast = re.fullmatch(r"(?:np|numpy|numba)\.(float32|float64|int32|int64|uint32|uint64)", ast.unparse(node.func))
        if cast and len(node.args) == 1 and not node.keywords:
            return np.asarray(self.value(node.args[0])).astype(cast[1])
        if self.names.language == "triton":
            axis = re.fullmatch(r"(tl\.program_id|tl\.num_programs)\((?:axis=)?(\d)\)", text)
            return self._special(f"{axis[1]}({axis[2]})" if axis else text)
        raise UnknownValue(text)

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        if type(node.op) not in _OPERATORS:
            raise UnknownValue(type(node).__name__)
        return _OPERATORS[type(node.op)](self.value(node.operand))

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        if self.names.language == "cuda" and isinstance(node.op, ast.Div | ast.Mod):
            return _c_division(node.op, left, right)
        if isinstance(node.op, ast.Div):
            return np.true_divide(left, right)
        if isinstance(node.op, ast.Mod):
            return np.mod(left, right)
        if type(node.op) not in _OPERATORS:
            raise UnknownValue(type(node).__name__)
        return _OPERATORS[type(node.op)](left, right)

    def _subscript(self, node: ast.Subscript) -> np.ndarray:
        """An element of an array argument, as memory has it now."""
        array = next(
            (a for a in self.names.arrays if isinstance(node.value, ast.Name) and a.name == node.value.id), None
        )
        if array is None:
            raise UnknownValue("array")
        dtype = np.dtype(array.dtype)
        indices = [node.slice] if not isinstance(node.slice, ast.Tuple) else node.slice.elts
        steps = (dtype.itemsize,) if self.names.language == "cuda" else array.strides
        if len(indices) != len(steps):
            raise UnknownValue("indices")
        offset = sum(np.asarray(self.value(at), np.int64) * step for at, step in zip(indices, steps, strict=True))
        offset = np.broadcast_to(offset, (LANES,))
        if ((offset < 0) | (offset + dtype.itemsize > array.nbytes))[self.mask].any():
            raise UnknownValue("outside")
        found = np.zeros(LANES, dtype)
        for lane in np.flatnonzero(self.mask):
            found[lane] = np.frombuffer(ctypes.string_at(array.address + int(offset[lane]), dtype.itemsize), dtype)[0]
        return found.astype(np.int64) if dtype.kind in "iu" else found


def _c_division(op: ast.operator, left: Any, right: Any) -> np.ndarray:
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype.kind == "f" or right.dtype.kind == "f":
        return left / right if isinstance(op, ast.Div) else np.fmod(left, right)
    return np.trunc(left / right).astype(np.int64) if isinstance(op, ast.Div) else np.fmod(left, right)

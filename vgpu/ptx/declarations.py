"""Declarations of PTX: registers, parameters and variables with their initial bytes."""

from __future__ import annotations

import struct

from vgpu.ptx import TYPE_BYTES, Parameter, Variable
from vgpu.ptx.scope import Scope
from vgpu.ptx.tokens import Tokens

# Bytes of one variable of a space that there may be, far beyond what GPUs have; and bytes of an alignment.
MOST_BYTES = {"param": 1 << 15, "const": 1 << 20, "shared": 1 << 20, "local": 1 << 22, "global": 1 << 33}
MOST_ALIGNED = 1 << 16


def registers(tokens: Tokens, scope: Scope) -> None:
    """The declared registers after `.reg`: names, or `%r<9>` for %r0 to %r8."""
    kind = tokens.next()[1:]
    if kind in ("v2", "v4"):
        raise tokens.error("vector registers (.reg .v2) are not supported")
    if kind not in TYPE_BYTES:
        raise tokens.error(f"registers have no type .{kind}")
    while True:
        name = tokens.next()
        if tokens.accept("<"):
            count = tokens.integer()
            scope.reserve(count, tokens)
            for index in range(count):
                scope.declare(f"{name}{index}", kind, tokens)
            tokens.expect(">")
        else:
            scope.reserve(1, tokens)
            scope.declare(name, kind, tokens)
        if not tokens.accept(","):
            break
    tokens.expect(";")


def parameters(tokens: Tokens) -> tuple[Parameter, ...]:
    """The parameters or results of a function in parentheses; none without a parenthesis."""
    if not tokens.accept("("):
        return ()
    found = []
    while not tokens.accept(")"):
        space = tokens.next()
        if space == ".reg":
            raise tokens.error("parameters in registers (.reg) are not supported; compilers pass .param")
        if space != ".param":
            raise tokens.error(f"expected .param, found {space!r}")
        align, kind = None, None
        while tokens.kind() == "dot":
            word = tokens.next()[1:]
            if word == "align":
                align = _alignment(tokens)
            elif word in TYPE_BYTES:
                kind = word
        name = tokens.next()
        nbytes = _size(tokens, "param", TYPE_BYTES[kind or "b64"])
        found.append(Parameter(name, kind or "b64", nbytes, align or TYPE_BYTES[kind or "b64"]))
        tokens.accept(",")
    return tuple(found)


def variables(tokens: Tokens, space: str, external: bool) -> list[Variable]:
    """One or more variables of a type, after the name of a state space."""
    align, kind, lanes = None, "b8", 1
    while tokens.kind() == "dot":
        word = tokens.next()[1:]
        if word == "align":
            align = _alignment(tokens)
        elif word in ("v2", "v4"):
            lanes = int(word[1])
        elif word in TYPE_BYTES:
            kind = word
        elif word == "attribute":
            tokens.skip_between("(", ")")
    size = TYPE_BYTES[kind] * lanes
    found = []
    while True:
        name, given = tokens.next(), _size(tokens, space, size)
        init, relocations, filled = None, (), 0
        if tokens.accept("="):
            init, relocations, filled = _initialiser(tokens, kind)
        nbytes = max(given, filled)
        if init is not None:
            init = init.ljust(nbytes, b"\0")
        found.append(Variable(name, space, align or size, nbytes, init, relocations, external))
        if not tokens.accept(","):
            break
    tokens.expect(";")
    return found


def _alignment(tokens: Tokens) -> int:
    align = tokens.integer()
    if not 0 < align <= MOST_ALIGNED or align & (align - 1):
        raise tokens.error(f"an alignment is a power of two up to {MOST_ALIGNED}, not {align}")
    return align


def _size(tokens: Tokens, space: str, nbytes: int) -> int:
    """Total bytes of an array `[2][3]`; one element without brackets, 0 (unknown) for `[]`."""
    while tokens.accept("["):
        count = 0 if tokens.peek() == "]" else tokens.integer()
        nbytes *= count
        if not 0 <= nbytes <= MOST_BYTES.get(space, 0) or count < 0:
            raise tokens.error(f"no variable of .{space} memory has {count} elements here")
        tokens.expect("]")
    return nbytes


def _initialiser(tokens: Tokens, kind: str) -> tuple[bytes, tuple, int]:
    """The bytes after `=`, the relocations in them, and the number of bytes."""
    size, data, relocations, depth = TYPE_BYTES[kind], bytearray(), [], 0
    while True:
        word = tokens.next()
        if word == "{":
            depth += 1
        elif word == "}":
            depth -= 1
        elif word == ",":
            continue
        elif tokens.last_kind() == "name":
            symbol, offset = word, 0
            if word in ("generic", "mask"):
                tokens.expect("(")
                symbol = tokens.next()
                tokens.expect(")")
            if tokens.accept("+"):
                offset = tokens.integer()
            if size != 8:
                raise tokens.error(f"the address of {symbol} takes 8 bytes, and an element here has {size}")
            relocations.append((len(data), symbol, offset))
            data += bytes(size)
        else:
            sign = -1 if word == "-" else 1
            value = tokens.number(tokens.next() if word == "-" else word)
            bits = sign * value.value
            if value.kind == "f64" and kind == "f32":
                bits = struct.unpack("<I", struct.pack("<f", struct.unpack("<d", struct.pack("<Q", bits))[0]))[0]
            data += (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        if depth == 0:
            return bytes(data), tuple(relocations), len(data)

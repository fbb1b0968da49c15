"""Operands of instructions: registers, immediates, addresses, vectors, pairs, and those of `call`."""

from __future__ import annotations

from typing import Any

from vgpu.ptx import SPECIAL_VECTORS, SPECIALS, Call, Imm, Mem, Not, Pair, Reg, Special, Sym, Vec
from vgpu.ptx.scope import Scope
from vgpu.ptx.tokens import Tokens


def operands(tokens: Tokens, scope: Scope) -> tuple:
    """All operands up to the semicolon."""
    found = []
    if tokens.peek() != ";":
        found.append(_operand(tokens, scope))
        while tokens.accept(","):
            found.append(_operand(tokens, scope))
    return tuple(found)


def call(tokens: Tokens, scope: Scope) -> Call:
    """The operands of `call`: `(returned), function, (arguments), prototype`; only the function is required."""

    def names() -> tuple[str, ...]:
        tokens.expect("(")
        found = []
        while not tokens.accept(")"):
            found.append(scope.symbol(tokens.next()))
            tokens.accept(",")
        return tuple(found)

    returns = names() if tokens.peek() == "(" else ()
    if returns:
        tokens.expect(",")
    word = tokens.next()
    target = Reg(scope.register(word)) if scope.is_register(word) else Sym(word)
    arguments: tuple[str, ...] = ()
    prototype: str | None = None
    if tokens.accept(","):
        arguments = names() if tokens.peek() == "(" else ()
        if tokens.accept(","):
            prototype = tokens.next()
    return Call(returns, target, arguments, prototype)


def _operand(tokens: Tokens, scope: Scope) -> Any:
    word = tokens.next()
    kind = tokens.last_kind()
    if word == "[":
        return _memory(tokens, scope)
    if word == "{":
        items = [_element(tokens, scope)]
        while tokens.accept(","):
            items.append(_element(tokens, scope))
        tokens.expect("}")
        if not tokens.accept("|"):
            return Vec(tuple(items))
        return Pair(Vec(tuple(items)), Reg(scope.register(tokens.next())))  # `tex` that says whether data was there
    if word == "!":
        return Not(Reg(scope.register(tokens.next())))
    if word == "-":
        value = tokens.number(tokens.next())
        if value.kind != "int":
            return Imm(value.value ^ (1 << (31 if value.kind == "f32" else 63)), value.kind)
        return Imm(-value.value)
    if kind == "number":
        return tokens.number(word)
    if kind != "name":
        raise tokens.error(f"{word!r} is no operand")
    if word == "_":
        first = None
    elif word in SPECIALS:
        return Special(word + (tokens.next() if word in SPECIAL_VECTORS else ""))
    elif scope.is_register(word):
        first = Reg(scope.register(word))
    else:
        offset = 0
        if tokens.peek() in ("+", "-"):
            offset = tokens.integer() if tokens.peek() == "-" else (tokens.next(), tokens.integer())[1]
        return Sym(scope.symbol(word), offset)
    if tokens.accept("|"):
        other = tokens.next()
        return Pair(first, None if other == "_" else Reg(scope.register(other)))
    return first


def _element(tokens: Tokens, scope: Scope) -> Any:
    if tokens.peek() in ("{", "[", "!"):
        raise tokens.error(f"{tokens.peek()!r} begins no element of a vector")
    return _operand(tokens, scope)


def _memory(tokens: Tokens, scope: Scope) -> Mem:
    word = tokens.next()
    base: Reg | Sym | Imm
    if tokens.last_kind() == "number":
        base = tokens.number(word)
    elif scope.is_register(word):
        base = Reg(scope.register(word))
    else:
        base = Sym(scope.symbol(word))
    offset = 0
    coordinates: tuple[Any, ...] | None = None
    if tokens.accept("+") or tokens.peek() == "-":
        offset = tokens.integer()
    if tokens.accept(","):
        found = _operand(tokens, scope)
        coordinates = found.items if isinstance(found, Vec) else (found,)
    tokens.expect("]")
    return Mem(base, offset, coordinates)

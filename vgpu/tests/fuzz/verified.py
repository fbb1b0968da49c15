"""Whatever the verifier accepts has the shape that a table of its own says, and can be lowered or is refused in words.

One statement of a parsed program is changed, parsed where it stood and verified: some ten thousand a second.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

from vgpu import ptx
from vgpu.lower import lower
from vgpu.ptx.parser import Parser
from vgpu.ptx.tokens import Tokens
from vgpu.ptx.verify import verify
from vgpu.storage import layout
from vgpu.tests.fuzz import children, shapes, twist
from vgpu.tests.fuzz.cases import outcome
from vgpu.tests.fuzz.pieces import PIECES, program

STEP = 1000  # statements between two words of a child
GOOD = ("accepted", "lowered", "refused")
LOWERED = 200  # one in so many accepted statements is lowered, its kernel around it


@dataclass(frozen=True)
class _Place:
    """A statement of a program: its text, where it stands, and the names that are known there."""

    text: str
    module: ptx.Module
    function: str
    index: int
    scope: object
    labels: tuple[ptx.Label, ...]
    addresses: dict[str, int]


class _Noting(Parser):
    """A parser that keeps the names known at each instruction."""

    def function(self, entry):
        self.noted = []
        found = super().function(entry)
        self.all = {**getattr(self, "all", {}), found.name: self.noted}
        return found

    def instruction(self, word, scope, location):
        known = copy.copy(scope)
        known.stack = [dict(names) for names in scope.stack]
        first = self.tokens.at - 1
        found = super().instruction(word, scope, location)
        words = self.tokens.tokens[first : self.tokens.at]
        self.noted.append((found, known, words[0][2]))
        return found


@cache
def places() -> tuple[_Place, ...]:
    """Every statement of every piece."""
    found, keep = [], []
    for name in PIECES:
        text = program([name]).replace("NASTY_FIELD", "104").replace("NASTY", "1")
        parser, lines = _Noting(text), text.split("\n")
        module = parser.module()
        loaded = layout.load_variables(module)
        keep.append(loaded)
        for function in module.functions.values() if name == "calls" else [module.functions["k"]]:
            labels = tuple(s for s in function.body or () if isinstance(s, ptx.Label))
            for instruction, scope, line in parser.all[function.name]:
                index = next(i for i, s in enumerate(function.body) if s is instruction)
                found.append(_Place(lines[line - 1], module, function.name, index, scope, labels, loaded.addresses))
    return tuple(found)


@cache
def _donors() -> tuple[str, ...]:
    return tuple(place.text for place in places())


@cache
def _by_text() -> dict[str, _Place]:
    return {place.text: place for place in places()[::-1]}


def accepted(old: str, new: str) -> bool:
    """Whether the verifier takes `new` where the statement `old` stood ("": anywhere in the kernel)."""
    place = _by_text().get(old) or _by_text()["mov.u32 %r9, bar;"]
    if not new or not (new[0].isalpha() or new[0] == "@"):
        return True  # a declaration, for which the parser will say
    try:
        _verified(place, new)
    except ptx.PTXSyntaxError:
        return False
    return True


def _verified(place: _Place, text: str) -> ptx.Instruction:
    parser = Parser.__new__(Parser)
    parser.tokens = Tokens(text)
    instruction = parser.instruction(parser.tokens.next(), place.scope, None)
    verify(place.module, replace(place.module.functions[place.function], body=(*place.labels, instruction)))
    return instruction


def case(seed: int) -> dict:
    """One changed statement: refused, or accepted and of the right shape, or lowered, too.

    What the verifier has no row for is refused by name when it is lowered, so what looks wrong is lowered always.
    """
    chance = random.Random(seed)
    place = chance.choice(places())
    text = twist.statement(chance, place.text, _donors()) if chance.random() < 0.85 else twist.insert(chance)
    function = place.module.functions[place.function]

    def run():
        instruction = _verified(place, text)
        wrong = shapes.wrong(instruction, function.registers)
        if not wrong and seed % LOWERED:
            return {"outcome": "accepted", "detail": ""}
        body = list(function.body)
        body[place.index] = instruction
        functions = {**place.module.functions, place.function: replace(function, body=tuple(body))}
        module = replace(place.module, functions=functions)
        lower(module, functions["k"], place.addresses, "kernel", seed % 3 == 0, "", seed % 5 == 0, seed % 7 == 0)
        return {"outcome": "misshapen", "detail": wrong} if wrong else {"outcome": "lowered", "detail": ""}

    found = outcome(run)
    return (
        found
        if found["outcome"] in ("accepted", "lowered", "refused")
        else {**found, "detail": f"{text} {found['detail']}"}
    )


def _block(seed: int) -> list[dict]:
    """The cases of `STEP` seeds: each bad one, and how many there were of the others."""
    tally, bad = Counter(), []
    for number in range(seed, seed + STEP):
        found = case(number)
        if found["outcome"] in GOOD:
            tally[found["outcome"]] += 1
        else:
            bad.append({"seed": number, **found})
    return [*bad, *({"outcome": name, "detail": "", "times": times} for name, times in tally.items())]


def batch(first: int, count: int, patience: float) -> tuple[list[dict], int]:
    """`children.batch` of changed statements, `count` rounded up to whole thousands."""
    places()
    return children.batch(first, -(-count // STEP) * STEP, patience, _block, STEP)

"""Chains of sums, differences and products that hand a carry on, against Python's integers of any length.

One flag serves them all: what carried out of an adder. A difference is a + ~b + 1 there, so that `sub.cc` sets the flag
where nothing was borrowed (ptxas makes IADD3.X of ~b and one predicate of it, and folds constants so).
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from vgpu.launch import launch
from vgpu.tests.conftest import Engine, Launchable, prepare_c

LANES = 64
WIDTHS = {32: [f"%r{i}" for i in range(6)], 64: [f"%d{i}" for i in range(4)]}
REGISTERS = [(name, bits) for bits, bank in WIDTHS.items() for name in bank]
OPS = [f"{name}{cc}" for name in ("add", "addc", "sub", "subc", "mad.lo", "mad.hi", "madc.lo", "madc.hi")
       for cc in (".cc", "") if cc or "c" in name.split(".")[0]]  # fmt: skip
GUARDS = ("", "", "@%even ", "@!%even ", "@%few ", "@%all ")


class Program:
    """A random program and what each thread makes of it: a statement is a line of PTX and a step of the model."""

    def __init__(self, seed: int):
        self.random, self.lines, self.labels = random.Random(seed), [], 0
        self.inputs = [
            [
                self.random.choice((0, 1, 2**bits - 1, 2 ** (bits - 1), self.random.getrandbits(bits)))
                for _ in range(LANES)
            ]
            for _, bits in REGISTERS
        ]
        self.threads = [
            {"cc": 0, "%even": t % 2 == 0, "%few": t % 32 in (3, 9, 31), "%all": True}
            | {name: column[t] for (name, _), column in zip(REGISTERS, self.inputs, strict=True)}
            for t in range(LANES)
        ]
        # The flag is defined from here on.
        self.emit("add.cc", 32, "", range(LANES))
        for _ in range(40):
            self.statement(range(LANES), 0)

    def takes(self, guard: str, threads) -> list[int]:
        name = guard.strip("@! ")
        return [t for t in threads if not name or self.threads[t][name] != ("!" in guard)]

    def statement(self, threads, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.15 and depth < 2:
            guard = self.random.choice(("@%even ", "@!%few ", "@%all "))
            self.labels += 1
            label = f"$past{self.labels}"
            self.lines.append(f"{guard}bra {label};")
            rest = sorted(set(threads) - set(self.takes(guard, threads)))
            for _ in range(self.random.randrange(1, 5)):
                self.statement(rest, depth + 1)
            self.lines.append(f"{label}:")
        elif kind < 0.25:  # what leaves the flag alone
            bits = self.random.choice((32, 64))
            name, other = self.random.choice(WIDTHS[bits]), self.random.choice(WIDTHS[bits])
            self.lines.append(f"sub.s{bits} {name}, {other}, {name};")
            for t in threads:
                self.threads[t][name] = (self.threads[t][other] - self.threads[t][name]) % 2**bits
        else:
            self.emit(self.random.choice(OPS), self.random.choice((32, 64)), self.random.choice(GUARDS), threads)

    def emit(self, op: str, bits: int, guard: str, threads) -> None:
        kind, bank = self.random.choice("us"), WIDTHS[bits]
        target = self.random.choice(bank)
        given = [self.random.choice((*bank, 0, 7)) for _ in range(3 if op[0] == "m" else 2)]
        self.lines.append(f"{guard}{op}.{kind}{bits} {target}, {', '.join(map(str, given))};")
        for t in self.takes(guard, threads):
            thread = self.threads[t]
            a, b, *c = (thread.get(x, x) for x in given)
            first, *words = op.split(".")
            carry = thread["cc"] if first[-1] == "c" else int(first == "sub")
            if first.startswith("mad"):
                sign = lambda x: x - 2**bits if kind == "s" and x >> (bits - 1) else x
                product = sign(a) * sign(b)
                a, b = (product >> bits if words[0] == "hi" else product) % 2**bits, c[0]
            elif first.startswith("sub"):
                b = 2**bits - 1 - b
            total = a + b + carry
            thread[target] = total % 2**bits
            if words[-1:] == ["cc"]:
                thread["cc"] = total >> bits

    def text(self) -> str:
        def move(kind: str, name: str, bits: int, i: int) -> str:
            place = f"[%{kind}+{8 * LANES * i}]"
            return f"{kind}.global.b{bits} " + (f"{name}, {place};" if kind == "ld" else f"{place}, {name};")

        return "\n".join([
            ".version 8.0", ".target sm_80", ".address_size 64",
            ".visible .entry k(.param .u64 in, .param .u64 out)", "{",
            *[f".reg .b{bits} {', '.join(bank)};" for bits, bank in WIDTHS.items()],
            ".reg .b32 %me, %low;", ".reg .b64 %ld, %st, %mine;", ".reg .pred %even, %few, %all;",
            "mov.u32 %me, %tid.x;", "mul.wide.u32 %mine, %me, 8;", "ld.param.u64 %ld, [in];",
            "ld.param.u64 %st, [out];", "add.s64 %ld, %ld, %mine;", "add.s64 %st, %st, %mine;",
            "and.b32 %low, %me, 1;", "setp.eq.u32 %even, %low, 0;", "setp.lt.u32 %all, %me, 64;",
            "and.b32 %low, %me, 31;", "setp.eq.u32 %few, %low, 3;",
            "setp.eq.or.u32 %few, %low, 9, %few;", "setp.eq.or.u32 %few, %low, 31, %few;",
            *[move("ld", name, bits, i) for i, (name, bits) in enumerate(REGISTERS)],
            *self.lines,
            *[move("st", name, bits, i) for i, (name, bits) in enumerate(REGISTERS)],
            "addc.u32 %low, 0, 0;", f"st.global.u32 [%st+{8 * LANES * len(REGISTERS)}], %low;", "ret;", "}",
        ])  # fmt: skip


def check(engine: Engine, seed: int) -> None:
    program = Program(seed)
    text = program.text()
    (kernel,) = launch.load(text, language="cuda", filename="k.ptx", source=text).values()
    given, out = np.array(program.inputs, np.uint64), np.zeros((len(REGISTERS) + 1, LANES), np.uint64)
    Launchable(engine.name, lambda arguments: prepare_c(kernel, arguments))(1, LANES, given, out)
    expected = [[thread[name] for thread in program.threads] for name in [*[n for n, _ in REGISTERS], "cc"]]
    assert out.tolist() == expected, text


@pytest.mark.parametrize("seed", range(8))
def test_chains_of_every_kind_in_any_order(engine, seed):
    check(engine, seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(100, 200))
def test_chains_of_every_kind_in_any_order_at_length(engine, seed):
    check(engine, seed)

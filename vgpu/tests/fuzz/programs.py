"""Random PTX programs out of the rows of the instruction table: no two engines should disagree about one.

A program has three banks of registers of 16, 32 and 64 bits that hold anything, and predicates. A float result that
is a NaN is made the one NaN, since its other bits are nobody's business. Branches part the lanes, loops are bounded,
and each thread stores where no other does; what threads share is reached by integer atomics or by shuffles.
"""

from __future__ import annotations

import random
from functools import cache

from vgpu import isa
from vgpu.tests import test_isa

BANKS = {16: [f"%h{i}" for i in range(6)], 32: [f"%r{i}" for i in range(10)], 64: [f"%d{i}" for i in range(8)]}
PREDICATES = [f"%p{i}" for i in range(6)]
THREADS, BLOCKS, SLOTS = 64, 2, 64
COMMUTING = ("add.u32", "xor.b32", "or.b32", "and.b32", "max.s32", "min.u32")  # each has a word of its own
NANS = {"f16": "0x7FFF", "bf16": "0x7FFF", "f32": "0x7FFFFFFF", "f64": "0x7FFFFFFFFFFFFFFF"}
SKIP = {"testp"}  # its f64 form has no partner in the banks that compilers would write


@cache
def table() -> tuple:
    """Every exact spelling of a row with vectors as its operands, as (text, outputs, inputs, op)."""
    found = []
    for op in isa.TABLE:
        if not op.exact or op.opcode in SKIP:
            continue
        for case in test_isa.cases_of(op):
            if set(case.given) <= {"v"}:
                found.append(case)
    return tuple(found)


def bits_of(kind: str) -> int:
    if kind in isa.PACKED:
        return 2 * isa.TYPES[isa.PACKED[kind]].bits
    if kind in ("shift", "bit"):
        return 32
    return max(isa.TYPES[kind].bits, 16)


class Writer:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.labels = 0
        self.slot = 0
        # A few rows a program, so that each is met in many neighbourhoods over the seeds.
        self.cases = self.random.sample(table(), 25)

    def pick(self, things):
        return self.random.choice(things)

    def add(self, *lines: str) -> None:
        self.lines += lines

    def operand(self, kind: str) -> str:
        if kind == "pred":
            return self.pick(PREDICATES)
        if self.random.random() < 0.15:
            text = test_isa.immediate(kind, self.random.randrange(5))
            if text is not None:
                return text
        return self.pick(BANKS[bits_of(kind)])

    def arithmetic(self, guard: str = "") -> None:
        case = self.pick(self.cases)
        text, _, lookup = case.text.partition("#")
        inputs = [self.operand(kind) for kind in case.inputs]
        if "c" in case.op.inputs:
            self.add(f"add.cc.u32 %scratch, {inputs.pop()}, 0xFFFFFFFF;")
        kinds = [kind for kind, o in zip(case.outputs, case.op.outputs, strict=False) if o != "c"]
        targets: list[str] = []
        for kind in kinds:
            bank = PREDICATES if kind == "pred" else BANKS[bits_of(kind)]
            targets.append(self.pick([name for name in bank if name not in targets]))
        self.add(f"{guard}{text} {', '.join(['|'.join(targets), *inputs, *([lookup] if lookup else [])])};")
        for kind, target in zip(kinds, targets, strict=True):
            self.plain_nan(kind, target)

    def plain_nan(self, kind: str, target: str) -> None:
        if kind in isa.PACKED:
            half = isa.PACKED[kind]
            if half not in NANS:
                return
            bits = isa.TYPES[half].bits
            parts = [f"%low{bits}", f"%high{bits}"]
            self.add(f"mov.b{2 * bits} {{{', '.join(parts)}}}, {target};")
            for part in parts:
                self.add(f"setp.nan.{half} %isnan, {part}, {part};", f"@%isnan mov.b{bits} {part}, {NANS[half]};")
            self.add(f"mov.b{2 * bits} {target}, {{{', '.join(parts)}}};")
        elif kind in NANS:
            bits = isa.TYPES[kind].bits
            self.add(f"setp.nan.{kind} %isnan, {target}, {target};", f"@%isnan mov.b{bits} {target}, {NANS[kind]};")

    def condition(self) -> str:
        """Set a predicate anew: from data, the lane, or the same for all lanes of the warp."""
        p = self.pick(PREDICATES)
        kind = self.random.random()
        if kind < 0.4:
            self.add(f"and.b32 %scratch, {self.pick(BANKS[32])}, {self.pick(('1', '3', '64'))};")
        elif kind < 0.7:
            self.add(f"and.b32 %scratch, %lane, {self.pick(('1', '5', '16'))};")
        else:
            self.add(f"and.b32 %scratch, {self.pick(('%block', '%warp', '%n'))}, 1;")
        self.add(f"setp.{self.pick(('eq', 'ne'))}.u32 {p}, %scratch, 0;")
        return p

    def store(self) -> None:
        bits = self.pick((16, 32, 64))
        self.add(f"st.global.b{bits} [%own+{8 * (self.slot % SLOTS)}], {self.pick(BANKS[bits])};")
        self.slot += 1

    def memory(self, depth: int) -> None:
        kind = self.random.random()
        r, d = self.pick(BANKS[32]), self.pick(BANKS[64])
        if kind < 0.3:
            self.add(f"and.b32 %scratch, {self.pick(BANKS[32])}, 63;", "mul.wide.u32 %address, %scratch, 8;",
                     "add.s64 %address, %address, %in;")  # fmt: skip
            self.add(
                self.pick(
                    (
                        f"ld.global.b32 {r}, [%address];", f"ld.global.b64 {d}, [%address];",
                        f"ld.global.s8 {r}, [%address+3];", f"ld.global.u16 {r}, [%address+2];",
                        f"ld.global.v2.b32 {{{r}, %scratch}}, [%address];",
                        f"ld.global.s16 {d}, [%address+6];",
                    )
                )
            )  # fmt: skip
        elif kind < 0.5:
            self.add(f"and.b32 %scratch, {self.pick(BANKS[32])}, 3;", "shl.b32 %scratch, %scratch, 3;",
                     "mov.u64 %address, frame;", "cvt.u64.u32 %wide, %scratch;", "add.s64 %address, %address, %wide;",
                     self.pick((f"st.local.b64 [%address], {d};", f"ld.local.b64 {d}, [%address];",
                                f"st.local.b32 [%address+4], {r};", f"ld.local.u8 {r}, [%address+5];")))  # fmt: skip
        elif kind < 0.7:
            self.add(self.pick((f"st.shared.b64 [%mine], {d};", f"ld.shared.b64 {d}, [%mine];",
                                f"st.shared.b16 [%mine+2], {self.pick(BANKS[16])};",
                                f"ld.shared.s16 {r}, [%mine+6];")))  # fmt: skip
        elif kind < 0.85:
            at = self.random.randrange(8)
            number, operation = self.pick(list(enumerate(COMMUTING)))
            self.add(f"red.global.{operation} [%sums+{64 * at + 4 * number}], {r};")
        elif depth == 0:
            other = self.pick(BANKS[32])
            mode = self.pick(("idx", "up", "down", "bfly"))
            clamp = "0" if mode == "up" else "31"
            self.add(
                f"shfl.sync.{mode}.b32 {r}|{self.pick(PREDICATES)}, {other}, {self.pick((1, 5, 30))}, {clamp}, -1;"
            )
        else:
            self.store()

    def block(self, depth: int, in_loop: str | None) -> None:
        for _ in range(self.random.randint(2, 5)):
            self.statement(depth, in_loop)

    def label(self) -> str:
        self.labels += 1
        return f"$L{self.labels}"

    def statement(self, depth: int, in_loop: str | None) -> None:
        roll = self.random.random()
        if depth >= 4 or roll < 0.5:
            guard = f"@{self.pick(('', '!'))}{self.condition()} " if self.random.random() < 0.2 else ""
            self.arithmetic(guard)
        elif roll < 0.7:
            self.memory(depth)
        elif roll < 0.74 and in_loop:
            self.add(f"@{self.condition()} bra {in_loop};")
        elif roll < 0.76 and depth:
            p = self.condition()
            self.add(f"and.pred {p}, {p}, {self.pick(PREDICATES)};", f"@{p} bra $leave;")
        elif roll < 0.88:
            over, end = self.label(), self.label()
            self.add(f"@{self.condition()} bra {over};")
            self.block(depth + 1, in_loop)
            if self.random.random() < 0.5:
                self.add(f"bra {end};", f"{over}:")
                self.block(depth + 1, in_loop)
                self.add(f"{end}:")
            else:
                self.add(f"{over}:")
        else:
            top, end = self.label(), self.label()
            count = f"%count{depth}"
            self.add(f"and.b32 {count}, {self.pick((*BANKS[32], '%lane', '%n'))}, {self.pick((1, 3))};", f"{top}:")
            self.block(depth + 1, end)
            self.add(
                f"sub.u32 {count}, {count}, 1;", f"setp.ge.s32 %more, {count}, 0;", f"@%more bra {top};", f"{end}:"
            )


def source(seed: int) -> str:
    """A kernel `k(in, out, n)`: 64 input words of 8 bytes, 64 output slots of 8 bytes a thread and 512 shared bytes."""
    writer = Writer(seed)
    for part in range(4):
        if part:
            writer.add("bar.sync 0;")
        for _ in range(6):
            # What leaves early must not be waited for by a later shuffle: only the last part has such exits.
            writer.statement(0, None)
        if part < 3:
            writer.lines = [
                line.replace("$leave", "$part") if line.endswith("$leave;") else line for line in writer.lines
            ]
            writer.lines = [line.replace("$part;", f"$part{part};") for line in writer.lines]
            writer.add(f"$part{part}:")
    for bits, bank in BANKS.items():
        for register in bank:
            writer.add(f"st.global.b{bits} [%own+{8 * (writer.slot % SLOTS)}], {register};")
            writer.slot += 1
    loads = [f"ld.global.b{bits} {r}, [%first+{8 * i}];" for bits, bank in BANKS.items() for i, r in enumerate(bank)]
    return "\n".join([
        ".version 8.7", ".target sm_100a", ".address_size 64",
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 count)", "{",
        *[f".reg .b{bits} {', '.join(bank)};" for bits, bank in BANKS.items()],
        f".reg .pred {', '.join(PREDICATES)}, %isnan, %more;",
        ".reg .b16 %low16, %high16;", ".reg .b32 %low32, %high32;",
        ".reg .b32 %scratch, %lane, %warp, %block, %n, %thread, %mine, %count0, %count1, %count2, %count3, %count4;",
        ".reg .b64 %in, %out, %own, %address, %wide, %first, %sums;",
        ".shared .align 8 .b8 tile[512];", ".local .align 8 .b8 frame[32];",
        "ld.param.u64 %in, [in];", "ld.param.u64 %out, [out];", "ld.param.u32 %n, [count];",
        "mov.u32 %thread, %tid.x;", "mov.u32 %lane, %laneid;", "shr.u32 %warp, %thread, 5;",
        "mov.u32 %block, %ctaid.x;",
        f"mad.lo.u32 %scratch, %block, {THREADS}, %thread;", f"mul.wide.u32 %own, %scratch, {8 * SLOTS};",
        "add.s64 %own, %own, %out;", "add.s64 %own, %own, 512;", "mov.u64 %sums, %out;",
        "mov.u32 %mine, tile;", "shl.b32 %scratch, %thread, 3;", "add.u32 %mine, %mine, %scratch;",
        "mov.u64 %address, frame;", "st.local.b64 [%address], 0;", "st.local.b64 [%address+8], 0;",
        "st.local.b64 [%address+16], 0;", "st.local.b64 [%address+24], 0;", "st.shared.b64 [%mine], 0;",
        "and.b32 %scratch, %thread, 31;", "mul.wide.u32 %first, %scratch, 8;", "add.s64 %first, %first, %in;",
        *loads, *[f"setp.eq.u32 {p}, %lane, {3 * i};" for i, p in enumerate(PREDICATES)],
        *writer.lines, "$leave:", "ret;", "}",
    ])  # fmt: skip

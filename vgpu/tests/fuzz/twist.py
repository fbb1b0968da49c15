"""Changes to PTX after which most of it is still accepted: other operands, vectors, widths, numbers, places.

A program is a list of lines, one statement each. Whatever is changed stays inside the grammar, and registers are
replaced by others that are declared, so that the parser seldom objects; what the verifier then accepts has to be safe.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from vgpu.tests.fuzz import compiled
from vgpu.tests.fuzz.pieces import ENTRY, PIECES, program

NUMBERS = (0, 1, -1, 2, 3, 4, 7, 8, 16, 31, 32, 63, 64, 100, 127, 128, 255, 256, 1000, 1020, 1024, 2040, 2048, 4092,
           4096, 65536, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 1, 1 << 32, (1 << 40) + 16, (1 << 47) - 8,
           (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 4, (1 << 64) - 16, (1 << 64) - 128, -4, -16, -128, -256,
           -2048, -4096, -(1 << 31), -(1 << 63))  # fmt: skip
TYPES = ("b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b128",
         "f16x2", "bf16x2", "pred")  # fmt: skip
TRIES = 6  # changes of one statement until one is accepted
SPACES = ("global", "shared", "local", "const", "param", "shared::cta", "shared::cluster", "param::entry")
GEOMETRIES = ("1d", "2d", "3d", "a1d", "a2d")
VECTORS = ("v2", "v4", "v8")
SYMBOLS = ("tile", "bar", "depot", "words", "fixed", "format", "dynamic", "table", "p0", "p5", "a0", "a1", "r0", "x",
           "y", "back", "frame", "twice", "deep")  # fmt: skip
FIELDS = (0, 8, 12, 16, 24, 32, 36, 52, 56, 60, 68, 92, 96, 100, 108, 112, 116)  # of a tensor map
_REGISTER = re.compile(r"%[phrdq]\d+")
_NUMBER = re.compile(r"(?<![\w%.$])-?(?:0[xfd][0-9a-fA-F]+|\d+)\b")
_INSTRUCTION = re.compile(r"(@!?%p\d+ )?([a-z][\w]*)((?:\.[\w:]+)*)( .*)?;$")
# Statements that make an address of something else, or overwrite what others rely on.
INSERTS = (
    "mov.u64 A, N;", "add.s64 A, A, N;", "sub.s64 A, A, D;", "shl.b64 A, D, 4;", "mov.u64 A, SYMBOL;", "mov.u32 S, N;",
    "add.s32 S, S, N;", "mov.u32 S, SYMBOL;", "cvta.shared.u64 A, D;", "cvta.local.u64 A, D;", "cvta.param.u64 A, D;",
    "cvta.to.shared.u64 A, A;", "mad.wide.s32 A, R, N, A;", "selp.b64 A, A, D, %p1;", "st.global.b32 [A+N], R;",
    "st.shared.b64 [%r9], D;", "st.shared.b32 [%r9+4], R;", "st.shared.b64 [S+N], D;", "st.b64 [A], D;",
    "st.global.b64 [%d6+FIELD], D;", "st.global.b32 [%d6+FIELD], R;", "ld.global.b64 A, [%d6+24];", "mov.u64 %d7, N;",
    "mov.u64 %d8, D;", "mov.u64 %d7, %d8;", "add.s64 %d7, %d7, SMALL;", "add.s64 %d8, %d8, SMALL;",
    "ld.b64 D, [A+N];", "ld.v4.b32 {R, R, R, R}, [A+N];", "xor.b64 A, A, D;",
    "cp.async.ca.shared.global [S], [A], 16;", "cp.async.ca.shared.global [S+N], [A+N], 4, R;",
    "cp.async.cg.shared.global [S], [A], 16, N;", "bar.sync 0;", "mul.lo.u64 A, A, D;", "ld.param.b64 D, [p5+FIELD];",
    "@%p1 exit;", "shfl.sync.idx.b32 R, R, R, 31, -1;", "cvt.u64.u32 A, S;", "cvt.s64.s32 A, R;", "neg.s64 A, A;",
    "cp.async.wait_all;", "cp.async.bulk.wait_group 0;", "red.shared.add.u64 [%r9], D;", "atom.exch.b64 D, [A], D;",
    "st.global.b64 [%d6+FIELD], %d13;", "mov.u64 %d6, p5;", "cvta.param.u64 %d6, %d6;", "add.s64 %d6, %d6, 64;",
)  # fmt: skip


def number(chance: random.Random) -> str:
    value = chance.choice(NUMBERS) + (chance.choice((0, 0, 0, -1, 1, 4, -8)) if chance.random() < 0.3 else 0)
    return str(value)


def register(chance: random.Random, letter: str) -> str:
    most = {"p": 8, "h": 8, "r": 32, "d": 32, "q": 4}[letter]
    low = {"r": 1, "d": 1}.get(letter, 0)
    # The first registers hold what programs begin with.
    return f"%{letter}{chance.randrange(low, min(most, 20) if chance.random() < 0.8 else most)}"


def split(operands: str) -> list[str]:
    """The operands of an instruction, each with its brackets."""
    found, depth, last = [], 0, 0
    for at, letter in enumerate(operands):
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and depth == 0:
            found.append(operands[last:at].strip())
            last = at + 1
    return [*found, operands[last:].strip()] if operands.strip() else []


def _operands(chance: random.Random, given: list[str]) -> list[str]:
    given = list(given)
    change = chance.randrange(8)
    if not given or change == 0:
        given.insert(chance.randrange(len(given) + 1), operand(chance))
    elif change == 1:
        del given[chance.randrange(len(given))]
    elif change == 2:
        given.insert(chance.randrange(len(given) + 1), chance.choice(given))
    elif change == 3:
        a, b = chance.randrange(len(given)), chance.randrange(len(given))
        given[a], given[b] = given[b], given[a]
    elif change == 4:
        given[chance.randrange(len(given))] = operand(chance)
    else:  # inside the braces of a vector, or braces where none were
        braced = [i for i, text in enumerate(given) if "{" in text]
        at = chance.choice(braced or range(len(given)))
        inner = re.search(r"\{(.*)\}", given[at])
        items = split(inner[1]) if inner else [given[at]]
        if chance.random() < 0.4 and len(items) > 1:
            del items[chance.randrange(len(items))]
        else:
            items += [chance.choice((*items, register(chance, "r"), "_", number(chance)))] * chance.choice((1, 1, 2, 4))
        made = "{" + ", ".join(items) + "}"
        given[at] = given[at].replace(inner[0], made) if inner else made
    return given


def operand(chance: random.Random) -> str:
    """Any operand at all."""
    return chance.choice((
        register(chance, chance.choice("prrdd")), number(chance), f"[{register(chance, chance.choice('rd'))}]",
        f"[{register(chance, 'd')}+{number(chance)}]", f"[{chance.choice(SYMBOLS)}]", chance.choice(SYMBOLS), "_",
        f"{{{register(chance, 'r')}, {register(chance, 'r')}}}", f"!{register(chance, 'p')}", "%laneid", "%clock64",
        f"{register(chance, 'r')}|{register(chance, 'p')}", f"[{chance.choice(SYMBOLS)}+{number(chance)}]", "%tid.y",
        f"{chance.choice(SYMBOLS)}+{number(chance)}", f"[{number(chance)}]",
        f"[{register(chance, 'd')}, {{{register(chance, 'r')}, {register(chance, 'r')}}}]",
    ))  # fmt: skip


def _modifiers(chance: random.Random, words: list[str], donor: Sequence[str]) -> list[str]:
    words = list(words)
    change = chance.randrange(7)
    typed = [i for i, word in enumerate(words) if word in TYPES]
    vectors = [i for i, word in enumerate(words) if word in VECTORS]
    spaces = [i for i, word in enumerate(words) if word in SPACES]
    if change <= 1 and typed:
        words[chance.choice(typed)] = chance.choice(TYPES)
    elif change == 2:
        if vectors and chance.random() < 0.7:
            at = chance.choice(vectors)
            words[at : at + 1] = chance.choice(((), *((v,) for v in VECTORS)))
        else:
            words.insert(chance.randrange(len(words) + 1), chance.choice(VECTORS))
    elif change == 6 and (shaped := [i for i, word in enumerate(words) if word in GEOMETRIES]):
        words[chance.choice(shaped)] = chance.choice(GEOMETRIES)
    elif change == 3 and spaces:
        words[chance.choice(spaces)] = chance.choice(SPACES)
        words = [w for w in words if w] if chance.random() < 0.8 else words[1:]
    elif change == 4 and words:
        del words[chance.randrange(len(words))]
    elif change == 5 and donor:
        words.insert(chance.randrange(len(words) + 1), chance.choice(donor))
    elif words and donor:
        words[chance.randrange(len(words))] = chance.choice(donor)
    return words


def statement(chance: random.Random, line: str, donors: Sequence[str]) -> str:
    """One instruction, changed once or twice."""
    found = _INSTRUCTION.fullmatch(line.strip())
    if found is None:
        return declaration(chance, line)
    guard, opcode, words, rest = found[1] or "", found[2], found[3].split(".")[1:], (found[4] or "").strip()
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        change = chance.random()
        if change < 0.25:
            rest = ", ".join(_operands(chance, split(rest)))
        elif change < 0.45:
            donor = _INSTRUCTION.fullmatch(chance.choice(donors).strip())
            words = _modifiers(chance, words, donor[3].split(".")[1:] if donor else ())
        elif change < 0.65:
            rest = _one(chance, _REGISTER, rest, lambda old: register(chance, old[1] if chance.random() < 0.9 else "r"))
        elif change < 0.8:
            rest = _one(chance, _NUMBER, rest, lambda _: number(chance))
        elif change < 0.9:
            rest = _offset(chance, rest)
        elif change < 0.95:
            guard = chance.choice(("", f"@{register(chance, 'p')} ", f"@!{register(chance, 'p')} "))
        else:
            rest = _one(chance, re.compile(r"\b[a-z]\w*\b"), rest, lambda _: chance.choice(SYMBOLS))
    return f"{guard}{'.'.join((opcode, *words))}{' ' + rest if rest else ''};"


def _one(chance: random.Random, pattern: re.Pattern, text: str, made) -> str:
    """One of the matches replaced."""
    matches = list(pattern.finditer(text))
    if not matches:
        return text
    at = chance.choice(matches)
    return text[: at.start()] + made(at[0]) + text[at.end() :]


def _offset(chance: random.Random, text: str) -> str:
    """Another offset, or one where none was."""
    value = int(number(chance))
    made = f"+{value}" if value >= 0 else str(value)
    if chance.random() < 0.5 and re.search(r"[+-]\d+\]", text):
        return re.sub(r"[+-]\d+\]", f"{made}]", text, count=1)
    return text.replace("]", f"{made}]", 1) if "+" not in text else text


def declaration(chance: random.Random, line: str) -> str:
    """A declaration with another size, type or alignment."""
    change = chance.random()
    if change < 0.6 and "[" in line:
        sizes = ("0", "1", "3", "4", "8", "15", "16", "20", "24", "64", "100", "2048", "5000")
        return re.sub(r"\[\d+\]", lambda _: f"[{chance.choice(sizes)}]", line, count=1)
    if change < 0.8:
        return _one(chance, re.compile(r"(?<=\.)[bus](?:8|16|32|64)\b"), line, lambda _: chance.choice(TYPES[:-1]))
    return re.sub(r"\.align \d+", lambda _: f".align {chance.choice((1, 2, 4, 8, 16, 64, 128))}", line)


def insert(chance: random.Random) -> str:
    """A statement of `INSERTS` with its places filled in."""
    text = chance.choice(INSERTS)
    text = text.replace("FIELD", str(chance.choice(FIELDS))).replace("SYMBOL", chance.choice(SYMBOLS))
    text = text.replace("SMALL", str(chance.choice((-1, 1, 2, 3, 4, 5, 6, 7, 8))))
    address = chance.choice(("%d1", "%d2", "%d4", "%d4", "%d5", "%d5", "%d6", register(chance, "d")))
    text = re.sub(r"\bA\b", address, text)
    text = re.sub(r"\bS\b", lambda _: chance.choice(("%r8", "%r9", register(chance, "r"))), text)
    text = re.sub(r"\bD\b", lambda _: register(chance, "d"), text)
    text = re.sub(r"\bR\b", lambda _: register(chance, "r"), text)
    return re.sub(r"\bN\b", lambda _: number(chance), text).replace("+-", "-")


def base(chance: random.Random) -> tuple[list[str], bool]:
    """The lines of a program that nobody has changed, but for numbers that it leaves open; whether it is of pieces."""
    if chance.random() < 0.12:
        return chance.choice(compiled.programs()).split("\n"), False
    names = chance.sample(list(PIECES), chance.choice((1, 1, 1, 2, 2, 3)))
    text = program(names).replace("NASTY_FIELD", str(chance.choice(FIELDS)))
    return re.sub("NASTY", lambda _: number(chance), text).split("\n"), True


def twisted(seed: int, accepted: Callable[[str, str], bool] = lambda old, new: True) -> str:
    """A program of a few pieces with one to six changes; `accepted(old, new)` may turn down a changed statement."""
    chance = random.Random(seed)

    def changed(line: str, make: Callable[[], str]) -> str:
        tries = (make() for _ in range(TRIES))
        return next((new for new in tries if accepted(line, new)), line)

    lines, of_pieces = base(chance)
    accepted = accepted if of_pieces else lambda old, new: True  # whose names `accepted` does not know
    start = next(i for i, line in enumerate(lines) if ".entry k(" in line) + 1
    first = start + (ENTRY.count("\n") - 1 if of_pieces else 0)
    donors = [line for line in lines[start:] if _INSTRUCTION.fullmatch(line.strip())]
    for _ in range(chance.choice((1, 1, 2, 3, 4, 6))):
        # Calls' functions stand before the kernel; most changes are for what it does itself.
        low = start if chance.random() < 0.9 else 3
        low = first if low == start and chance.random() < 0.85 else low
        at = chance.randrange(low, len(lines) - 2)
        change = chance.random()
        if change < 0.55:
            lines[at] = changed(lines[at], lambda at=at: statement(chance, lines[at], donors))
        elif change < 0.85:
            lines.insert(at, changed("", lambda: insert(chance)))
        elif change < 0.9:
            donor = chance.choice(donors)
            lines.insert(at, changed(donor, lambda donor=donor: statement(chance, donor, donors)))
        elif change < 0.95 and _INSTRUCTION.fullmatch(lines[at].strip()):
            del lines[at]
        else:
            other = chance.randrange(low, len(lines) - 2)
            if all(_INSTRUCTION.fullmatch(lines[i].strip()) for i in (at, other)):
                lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines)

"""A call in front of each instruction of LLVM IR that touches memory: the IR is read as text, line by line.

Accesses are of two sorts. Those whose address was computed, as any address that a kernel gives, are *data*: they may
only land in memory that kernels may know. Those by a pointer that the engine laid ready in its context, its state or
its stack are its own *books*, and may touch the worker's areas, too. An instruction that is not known to touch memory
or not is an error, not a silence.
"""

from __future__ import annotations

import re

from vgpu.base.context import CONTEXT, TENSOR_TYPES

SITES: list[tuple[str, str, str]] = []  # function, sort and line of IR of each access that is looked up, by its number
_CONTEXT_BYTES = 8 * len(CONTEXT)
_FIRST = 1 << 16  # bytes of a warp's state before any hidden stack, which is longer than this
# Functions that compute addresses of the engine's own books: kernels, which move data by calls of the runtime alone and
# find barriers by their numbers; the sanitizer's shadows, maps of touched memory, the tables of the heap, stacks, and
# what blocks of a cluster have in their places.
BOOKS = re.compile(
    r"kernel_[0-9a-f]{64}|touch$|mark_run$|heap_lanes$|word_|unordered_|wb_s_|wb_permute$|wb_cluster_|all_arrived$|"
    r"complete_bulk_for$"
)
TABLES = {("reduction_of", "%table"): 8 * len(TENSOR_TYPES)}  # parameters: a caller's own table, and its bytes
_WIDTHS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64}
_DEFINITION = re.compile(r"\s+(%[\w.$-]+) = (.*)")
_WORDS = re.compile(
    r"(?:(?:align|dereferenceable\w*|captures|range|noundef|nonnull|noalias|writeonly|readonly|nocapture|immarg)"
    r"(?:\([^)]*\)| \d+)? )+"
)
# Intrinsics that touch no memory: those not listed here and not handled below are refused.
_PURE = re.compile(
    r"llvm\.(?:u|s)(?:min|max)|llvm\.(?:ct|bitreverse|bswap|fsh|abs|fabs|sqrt|fma|floor|ceil|rint|roundeven|round|trunc|"
    r"minnum|maxnum|minimum|maximum|copysign|vector|fptosi|fptoui|arithmetic|is\.fpclass|x86|canonicalize|fmuladd|ldexp|"
    r"assume|lifetime|experimental|convert|sin|cos|exp2|log2|pow|nearbyint|readcyclecounter|expect|bitcast|"
    r"[us](?:add|sub|mul)|umul|smul|frexp|aarch64|ucmp|scmp|prefetch|is\.constant|stepvector|masked\.(?:udiv|sdiv)|debugtrap|trap)"
)


def size_of(kind: str) -> int:
    """Bytes that a value of an LLVM type takes in memory."""
    return -(-_bits(kind) // 8)


def _bits(kind: str) -> int:
    if kind in _WIDTHS:
        return _WIDTHS[kind]
    if re.fullmatch(r"i\d+", kind):
        return int(kind[1:])
    if found := re.fullmatch(r"<(\d+) x (.*)>", kind):
        return int(found[1]) * _bits(found[2])
    if found := re.fullmatch(r"\[(\d+) x (.*)\]", kind):
        return int(found[1]) * 8 * size_of(found[2])
    raise NotImplementedError(f"the size of the LLVM type {kind}")


def _piece(text: str) -> tuple[str, str]:
    """The first type or operand of a text, brackets and all, and what follows it."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "<[({") - (letter in ">])}")
        if depth == 0 and letter in " ," and not (letter == " " and text[at + 1 : at + 2] == "("):
            return text[:at], text[at:].lstrip(" ,")
    return text, ""


def _operand(text: str) -> str:
    """The operand that a text begins with: a name, a number, or a constant expression in parentheses."""
    if text[0] in "%@":
        return re.match(r"[%@][\w.$-]+", text)[0]
    word = re.match(r"[\w ]*\(|[\w-]+", text)[0]
    if not word.endswith("("):
        return word
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and depth == 0:
            return text[: at + 1]
    raise NotImplementedError(f"the operand at {text[:80]}")


def _arguments(text: str) -> list[tuple[str, str]]:
    """(type, operand) of each argument of a call whose parenthesis the text begins behind."""
    found = []
    while text and text[0] != ")":
        kind, text = _piece(text)
        text = _WORDS.sub("", text, count=1) if _WORDS.match(text) else text
        depth, at = 0, 0
        while at < len(text) and not (depth == 0 and text[at] in ",)"):
            depth += (text[at] in "<[({") - (text[at] in ">])}")
            at += 1
        found.append((kind, text[:at].strip()))
        text = text[at:].lstrip(", ") if at < len(text) and text[at] == "," else ")"
    return found


class _Function:
    """One function's text: where its pointers come from."""

    def __init__(self, head: str, lines: list[str], extents: dict[str, int]):
        self.name = re.search(r"@([\w.$-]+)\(", head)[1]
        self.definitions = {m[1]: m[2] for m in map(_DEFINITION.match, lines) if m}
        self.parameters = set(re.findall(r"%[\w.$-]+(?=[,)])", head))
        self.extents = extents
        self.reach = 0  # bytes of %state that are touched at constant places: looked up once

    def root(self, operand: str, seen: frozenset = frozenset()) -> tuple[str, str | None, int | None]:
        """(sort, what the pointer is counted from, its constant distance from there if known)."""
        if operand in seen:
            return "loop", None, None
        seen = seen | {operand}
        if operand[0] == "@":
            return "extent", operand, 0
        text = self.definitions.get(operand, operand)
        if text is operand and operand[0] == "%":
            return "extent" if (self.name, operand) in TABLES else "parameter", operand, 0
        if text.startswith("alloca"):
            return "extent", operand, 0
        if "getelementptr" in text.split("(")[0].split(",")[0]:
            inside = text.partition("(")[2][:-1] if text is operand else text.partition("getelementptr ")[2]
            inside = re.sub(r"^(?:inbounds|nuw|nusw) (?:(?:nuw|nusw) )*", "", inside)
            kind, rest = _piece(inside)
            base = _operand(rest.removeprefix("ptr "))
            sort, root, distance = self.root(base, seen)
            indices = re.findall(r", i\d+ ([^,!]+)", rest)
            constant = len(indices) == 1 and re.fullmatch(r"-?\d+", indices[0].strip())
            known = distance is not None and constant
            return sort, root, distance + int(indices[0]) * size_of(kind) if known else None
        if text.startswith(("phi ptr", "select i1", "select ")):
            choices = re.findall(r"\[ ([^,]+),", text) if text.startswith("phi") else re.findall(r"ptr ([^,]+)", text)
            roots = [r for r in (self.root(choice.strip(), seen) for choice in choices) if r[0] != "loop"]
            same = {(sort, root) for sort, root, _ in roots}
            return (*roots[0][:2], None) if len(same) == 1 else ("parameter", None, None)
        if "inttoptr" in text:
            return "number", text, None
        return "loaded", None, None

    def is_book(self, text: str) -> bool:
        """Whether the number that a pointer is made of was laid ready in the context."""
        number = re.search(r"i64 (%[\w.$-]+)", text)
        if number is None:
            return False
        made = self.definitions.get(number[1], "")
        if added := re.match(r"add (?:nuw |nsw )*i64 (%[\w.$-]+), (\d+)$", made):
            made = self.definitions.get(added[1], "")
        if not made.startswith("load i64, ptr "):
            return False
        return self.root(_operand(made[14:]))[1] in ("%ctx", "%record", "%launch")


def instrument(text: str) -> str:
    """The text of a module with a check before each access."""
    extents = {}
    for line in re.findall(r"^(@[\w.$-]+) = .*?(?:constant|global) (.*)", text, re.MULTILINE):
        extents[line[0]] = size_of(_piece(line[1])[0])
    made, body, head, used = [], [], None, False
    for line in text.splitlines():
        if line.startswith("define "):
            head, body = line, []
        elif line == "}" and head is not None:
            function = _Function(head, body, extents)
            lines = [line for each in body for line in (*_checks(function, each), each)]
            if function.reach:
                at = next(i for i, each in enumerate(lines) if each.startswith("  ") and " = alloca " not in each)
                tag = _tag(function, f"up to byte {function.reach} of %state", "book", write=True)
                lines.insert(at, f"  call void @wbx_check(ptr %state, i64 {function.reach}, i64 {tag})")
            used |= len(lines) > len(body)
            made += [head, *lines]
            made.append(line)
            head = None
        elif head is not None:
            body.append(line)
        else:
            made.append(line)
    declared = [
        "declare void @wbx_check(ptr, i64, i64)",
        "declare void @wbx_within(ptr, i64, ptr, i64, i64)",
        *(f"declare void @wbx_lanes_{n}(<{n} x ptr>, <{n} x i1>, i64, i64)" for n in (2, 4, 8, 16, 32, 64)),
    ]
    return "\n".join([*made, *declared]) if used else text


def _checks(function: _Function, line: str) -> list[str]:
    statement = line.strip()
    statement = statement.partition(" = ")[2] if statement[:1] == "%" else statement
    statement = re.sub(r"^(?:tail |musttail |notail )", "", statement)
    word = statement.split(" ", 1)[0]
    if word == "load":
        rest = re.sub(r"^load (?:atomic )?(?:volatile )?", "", statement)
        kind, rest = _piece(rest)
        return _one(function, line, _operand(rest.removeprefix("ptr ")), str(size_of(kind)), write=False)
    if word == "store":
        rest = re.sub(r"^store (?:atomic )?(?:volatile )?", "", statement)
        kind, _ = _piece(rest)
        place = _operand(rest.rpartition(", ptr ")[2])
        return _one(function, line, place, str(size_of(kind)), write=True)
    if word in ("atomicrmw", "cmpxchg"):
        place = _operand(statement.partition(" ptr ")[2])
        kind = _piece(statement.partition(f" ptr {place}, ")[2])[0]
        return _one(function, line, place, str(size_of(kind)), write=True)
    if word == "call" and (called := re.search(r"@(llvm\.[\w.]+)\(", statement)):
        return _intrinsic(function, line, called[1], _arguments(statement[called.end() :]))
    if word in ("invoke", "va_arg", "callbr"):
        raise NotImplementedError(line)
    return []


def _intrinsic(function: _Function, line: str, name: str, arguments: list[tuple[str, str]]) -> list[str]:
    if name.startswith(("llvm.memcpy", "llvm.memmove")):
        size = arguments[2][1]
        return [*_one(function, line, arguments[1][1], size, False), *_one(function, line, arguments[0][1], size, True)]
    if name.startswith("llvm.memset"):
        return _one(function, line, arguments[0][1], arguments[2][1], True)
    if name.startswith(("llvm.masked.load", "llvm.masked.store")):  # neighbours of which a mask leaves some out
        write = "store" in name
        kind = arguments[0][0] if write else re.search(r"call (<\d+ x \w+>) ", line)[1]
        count, element = re.fullmatch(r"<(\d+) x (.*)>", kind).groups()
        mask = next(a for a in arguments if a[0].endswith(" x i1>"))
        tag = _tag(function, line, "data", write)
        lanes = ", ".join(f"i64 {lane}" for lane in range(int(count)))
        given = f"<{count} x ptr> %wbx{tag}, {' '.join(mask)}, i64 {size_of(element)}, i64 {tag}"
        return [
            f"  %wbx{tag} = getelementptr {element}, ptr {arguments[write][1]}, <{count} x i64> <{lanes}>",
            f"  call void @wbx_lanes_{count}({given})",
        ]
    if name.startswith(("llvm.masked.gather", "llvm.masked.scatter")):
        write = "scatter" in name
        at = next(i for i, (kind, _) in enumerate(arguments) if kind.endswith(" x ptr>"))
        mask = next(a for a in arguments[at:] if a[0].endswith(" x i1>"))
        moved = arguments[0][0] if write else arguments[-1][0]
        n = int(re.match(r"<(\d+) x", arguments[at][0])[1])
        size = size_of(re.fullmatch(r"<\d+ x (.*)>", moved)[1])
        pointers = arguments[at]
        tag = _tag(function, line, "data", write)
        return [f"  call void @wbx_lanes_{n}({' '.join(pointers)}, {' '.join(mask)}, i64 {size}, i64 {tag})"]
    if _PURE.match(name):
        return []
    raise NotImplementedError(f"whether {name} touches memory: {line}")


def _one(function: _Function, line: str, place: str, size: str, write: bool) -> list[str]:
    sort, root, distance = function.root(place)
    if sort == "extent":
        if root[0] == "@":
            extent = function.extents[root]
        elif root in function.parameters:
            extent = TABLES[function.name, root]
        else:
            kind, rest = _piece(function.definitions[root].removeprefix("alloca "))
            count = re.match(r"i\d+ (\d+)", rest)
            extent = size_of(kind) * (int(count[1]) if count else 1)
        tag = _tag(function, line, "book", write)
        if distance is not None and size.isdigit() and 0 <= distance <= extent - int(size):
            return []
        return [f"  call void @wbx_within(ptr {place}, i64 {size}, ptr {root}, i64 {extent}, i64 {tag})"]
    if root == "%ctx" and distance is not None and 0 <= distance <= _CONTEXT_BYTES - int(size):
        return []
    if root == "%state" and distance is not None and 0 <= distance < _FIRST:
        function.reach = max(function.reach, distance + int(size))
        return []
    whose = "data" if sort == "number" and not function.is_book(root) else "book"
    return [f"  call void @wbx_check(ptr {place}, i64 {size}, i64 {_tag(function, line, whose, write)})"]


def _tag(function: _Function, line: str, whose: str, write: bool) -> int:
    whose = "book" if BOOKS.match(function.name) else whose
    SITES.append((function.name, whose, line.strip()[:160]))
    return (len(SITES) - 1) << 2 | (2 if whose == "data" else 0) | write

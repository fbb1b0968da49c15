"""PTX text to frozen dataclasses: `parse(text) -> Module`.

The grammar is the one of NVIDIA's "PTX ISA" manual, as far as NVRTC and numba-cuda write it. Nothing is
interpreted here: opcodes, modifiers and types stay strings, and what they mean stands in `isa.py`. Source
positions (`.loc`) are kept on every instruction and resolved to the learner's own file.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field


class PTXSyntaxError(ValueError):
    """The text is no PTX that this parser knows; the message names the line of the PTX."""


# ---------------------------------------------------------------- operands


@dataclass(frozen=True, slots=True)
class Reg:
    """A register, by its name within the function (scoped names are made unique)."""

    name: str


@dataclass(frozen=True, slots=True)
class Imm:
    """An immediate: an integer, or the bit pattern of a float (`kind` "f32" or "f64")."""

    value: int
    kind: str = "int"


@dataclass(frozen=True, slots=True)
class Sym:
    """The address of a variable or function, plus a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Special:
    """A special register such as `%tid.x`."""

    name: str


@dataclass(frozen=True, slots=True)
class Mem:
    """`[base + offset]`; `coordinates` is set for textures: `[texture, {x, y}]`."""

    base: Reg | Sym | Imm
    offset: int = 0
    coordinates: tuple | None = None


@dataclass(frozen=True, slots=True)
class Vec:
    """`{a, b, c, d}`; an element of None is the sink `_`."""

    items: tuple


@dataclass(frozen=True, slots=True)
class Pair:
    """`a|p`: two destinations."""

    first: Reg | None
    second: Reg | None


@dataclass(frozen=True, slots=True)
class Not:
    """`!p`, a negated predicate operand."""

    reg: Reg


@dataclass(frozen=True, slots=True)
class Call:
    """The operands of `call`: return parameters, target and argument parameters, all by name."""

    returns: tuple[str, ...]
    target: Sym | Reg
    arguments: tuple[str, ...]
    prototype: str | None = None


Operand = Reg | Imm | Sym | Special | Mem | Vec | Pair | Not | Call | None


# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Location:
    """Where an instruction comes from: file index, line and column (line 0: made by the compiler)."""

    file: int
    line: int
    column: int = 0
    inlined_at: Location | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: `@guard opcode.modifiers operands;`."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple
    guard: Reg | Not | None
    location: Location | None
    text: int = 0  # line of the PTX text

    def __str__(self) -> str:
        return ".".join((self.opcode, *self.modifiers))


@dataclass(frozen=True, slots=True)
class Label:
    name: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: state space, alignment and size in bytes, and initial bytes if it has any.

    `relocations` are (byte offset, symbol) pairs of pointers to be filled in when the module is loaded.
    """

    name: str
    space: str
    align: int
    nbytes: int
    init: bytes | None = None
    relocations: tuple[tuple[int, str], ...] = ()
    external: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str
    nbytes: int
    align: int


@dataclass(frozen=True)
class Function:
    """A kernel (`entry`) or a device function; `body` is None for a declaration."""

    name: str
    entry: bool
    parameters: tuple[Parameter, ...]
    returns: tuple[Parameter, ...]
    registers: dict[str, str] = field(repr=False)
    variables: dict[str, Variable] = field(repr=False)
    body: tuple[Instruction | Label, ...] | None = field(repr=False)
    directives: dict[str, tuple[int, ...]] = field(repr=False, default_factory=dict)


@dataclass(frozen=True)
class Module:
    """A PTX file: functions and module-level variables by name, files by index."""

    functions: dict[str, Function]
    variables: dict[str, Variable]
    files: dict[int, str]
    target: str

    @property
    def kernels(self) -> dict[str, Function]:
        return {name: f for name, f in self.functions.items() if f.entry and f.body is not None}


SPACES = {"reg", "shared", "local", "const", "global", "param"}
TYPE_BYTES = {
    "pred": 1, "b8": 1, "u8": 1, "s8": 1, "e4m3": 1, "e5m2": 1,
    "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "e4m3x2": 2, "e5m2x2": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8, "f32x2": 8, "b128": 16,
    "texref": 8, "samplerref": 8, "surfref": 8,
}  # fmt: skip

SPECIAL_VECTORS = {"%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"}
SPECIALS = SPECIAL_VECTORS | {
    "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%clock", "%clock64", "%clock_hi",
    "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%lanemask_eq", "%lanemask_le", "%lanemask_lt",
    "%lanemask_ge", "%lanemask_gt", "%dynamic_smem_size", "%total_smem_size", "%cluster_ctarank",
    "%cluster_nctarank", "%is_explicit_cluster", "%current_graph_exec", "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end", "%reserved_smem_offset_cap", "WARP_SZ",
}  # fmt: skip

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<number>0[fF][0-9a-fA-F]{8}\b | 0[dD][0-9a-fA-F]{16}\b | 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U?
          | \d+\.\d+(?:[eE][+-]?\d+)? | \d+U?)
      | (?P<dot>\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)
      | (?P<name>[%$_A-Za-z][\w$]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<mark>[{}()\[\],;:|+\-!@<>=])""",
    re.VERBOSE | re.DOTALL,
)


def _tokenise(text: str) -> list[tuple[str, str, int]]:
    tokens, position, line = [], 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise PTXSyntaxError(f"line {line} of the PTX: unexpected character {text[position]!r}")
        kind, lexeme = match.lastgroup, match.group()
        if kind != "skip":
            tokens.append((kind, lexeme, line))
        line += lexeme.count("\n")
        position = match.end()
    tokens.append(("end", "", line))
    return tokens


def parse(text: str) -> Module:
    """Read a PTX module.

    Errors: `PTXSyntaxError`, naming the line of the PTX. Source: "PTX ISA", chapters on syntax and directives.
    """
    return _Parser(text.partition("\0")[0]).module()


class _Parser:
    def __init__(self, text: str):
        self.tokens = _tokenise(text)
        self.at = 0
        self.files: dict[int, str] = {}

    # -- token helpers

    def peek(self, ahead: int = 0) -> str:
        index = self.at + ahead
        return self.tokens[index][1] if index < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.at][0]

    def next(self) -> str:
        kind, lexeme, line = self.tokens[self.at]
        if kind == "end":
            raise PTXSyntaxError(f"line {line} of the PTX: unexpected end")
        self.at += 1
        return lexeme

    def accept(self, lexeme: str) -> bool:
        if self.peek() == lexeme and self.kind() != "end":
            self.at += 1
            return True
        return False

    def expect(self, lexeme: str) -> None:
        if not self.accept(lexeme):
            raise self.error(f"expected {lexeme!r}, found {self.peek()!r}")

    def error(self, message: str) -> PTXSyntaxError:
        return PTXSyntaxError(f"line {self.tokens[self.at][2]} of the PTX: {message}")

    def integer(self) -> int:
        sign = -1 if self.accept("-") else 1
        value = self.number(self.next())
        return sign * value.value

    def number(self, lexeme: str) -> Imm:
        head = lexeme[:2].lower()
        try:
            if head == "0f":
                return Imm(int(lexeme[2:], 16), "f32")
            if head == "0d":
                return Imm(int(lexeme[2:], 16), "f64")
            if "." in lexeme:
                return Imm(struct.unpack("<Q", struct.pack("<d", float(lexeme)))[0], "f64")
            lexeme = lexeme.rstrip("U")
            octal = len(lexeme) > 1 and lexeme[0] == "0" and lexeme.isdigit()
            return Imm(int(lexeme, 8 if octal else 0))
        except ValueError:
            raise self.error(f"{lexeme!r} is no number") from None

    # -- module level

    def module(self) -> Module:
        functions: dict[str, Function] = {}
        variables: dict[str, Variable] = {}
        target = ""
        while self.kind() != "end":
            word = self.next()
            if word == ".version":
                self.next()
            elif word == ".target":
                target = self.next()
                while self.accept(","):
                    self.next()
            elif word == ".address_size":
                if self.integer() != 64:
                    raise self.error("only 64-bit addresses are known")
            elif word == ".file":
                self.file()
            elif word == ".section":
                self.section()
            elif word in (".extern", ".visible", ".weak", ".common"):
                external = word == ".extern"
                self.definition(self.next(), external, functions, variables)
            elif word in (".alias", ".pragma"):
                while not self.accept(";"):
                    self.next()
            elif word != ";":
                self.definition(word, False, functions, variables)
        return Module(functions, variables, self.files, target)

    def definition(self, word, external, functions, variables) -> None:
        if word in (".entry", ".func"):
            function = self.function(word == ".entry")
            # A declaration may come before or after its definition: keep the definition.
            if function.body is not None or function.name not in functions:
                functions[function.name] = function
        elif word[1:] in SPACES:
            for variable in self.variable(word[1:], external):
                variables[variable.name] = variable
        elif word.startswith("."):
            self.definition(self.next(), external, functions, variables)  # .noreturn and the like
        else:
            raise self.error(f"unexpected {word!r} at module level")

    def file(self) -> None:
        index = self.integer()
        self.files[index] = self.next()[1:-1]
        while self.accept(","):
            self.next()

    def section(self) -> None:
        self.next()
        self.expect("{")
        depth = 1
        while depth:
            word = self.next()
            depth += (word == "{") - (word == "}")

    # -- functions

    def function(self, entry: bool) -> Function:
        returns: tuple[Parameter, ...] = ()
        while self.kind() == "dot":  # .noreturn, .attribute(...)
            self.next()
        if self.peek() == "(":
            returns = self.parameters()
        name = self.next()
        parameters = self.parameters() if self.peek() == "(" else ()
        directives: dict[str, tuple[int, ...]] = {}
        while self.kind() == "dot":
            key, values = self.next()[1:], []
            while self.kind() in ("number",) or self.peek() == ",":
                if not self.accept(","):
                    values.append(self.integer())
            if self.kind() == "string":
                self.next()
            directives[key] = tuple(values)
        if self.accept(";"):
            return Function(name, entry, parameters, returns, {}, {}, None, directives)
        scope = _Scope()
        for parameter in (*returns, *parameters):
            if parameter.type == "reg":
                raise self.error("register parameters are not supported; they need the ABI of sm_20 or later")
        self.expect("{")
        body = self.body(scope)
        return Function(name, entry, parameters, returns, scope.registers, scope.variables, tuple(body), directives)

    def parameters(self) -> tuple[Parameter, ...]:
        self.expect("(")
        found = []
        while not self.accept(")"):
            space = self.next()
            if space not in (".param", ".reg"):
                raise self.error(f"expected .param, found {space!r}")
            align, kind = None, None
            while self.kind() == "dot":
                word = self.next()[1:]
                if word == "align":
                    align = self.integer()
                elif word in TYPE_BYTES:
                    kind = word
            name = self.next()
            count = 1
            while self.accept("["):
                count = 0 if self.peek() == "]" else count * self.integer()
                self.expect("]")
            nbytes = TYPE_BYTES[kind or "b64"] * count
            found.append(Parameter(name, kind or "b64", nbytes, align or TYPE_BYTES[kind or "b64"]))
            self.accept(",")
        return tuple(found)

    def body(self, scope: _Scope) -> list:
        """Statements up to the closing brace; nested braces open a scope of names."""
        statements: list = []
        location: Location | None = None
        seen: dict[tuple[int, int, int], Location] = {}
        depth = 0
        while True:
            word = self.next()
            if word == "}":
                if depth == 0:
                    return statements
                depth -= 1
                scope.close()
            elif word == "{":
                depth += 1
                scope.open()
                scope.foresee(self.tokens, self.at)
            elif word == ";":
                continue
            elif word == ".loc":
                location = self.location(seen)
            elif word == ".reg":
                self.registers(scope)
            elif word[0] == "." and word[1:] in SPACES:
                for variable in self.variable(word[1:], False):
                    scope.declare_variable(variable)
            elif word == ".pragma" or word == ".branchtargets" or word == ".calltargets" or word == ".callprototype":
                while not self.accept(";"):
                    self.next()
            elif word == ".file":
                self.file()
            elif self.peek() == ":" and word[0] not in ".@":
                self.next()
                statements.append(Label(scope.label(word)))
            else:
                statements.append(self.instruction(word, scope, location))

    def location(self, seen) -> Location:
        file, line, column = self.integer(), self.integer(), self.integer()
        inlined = None
        while self.peek() == "," and self.peek(1) in ("function_name", "inlined_at"):
            self.next()
            if self.next() == "function_name":
                self.next()
                if self.accept("+"):
                    self.next()
            else:
                key = (self.integer(), self.integer(), self.integer())
                inlined = seen.get(key) or Location(*key)
        found = Location(file, line, column, inlined)
        seen[(file, line, column)] = found
        return found

    def registers(self, scope: _Scope) -> None:
        kind = self.next()[1:]
        while kind in ("v2", "v4"):
            raise self.error("vector registers (.reg .v2) are not supported")
        while True:
            name = self.next()
            if self.accept("<"):
                for index in range(self.integer()):
                    scope.declare(f"{name}{index}", kind)
                self.expect(">")
            else:
                scope.declare(name, kind)
            if not self.accept(","):
                break
        self.expect(";")

    def variable(self, space: str, external: bool) -> list[Variable]:
        align, kind, lanes = None, "b8", 1
        while self.kind() == "dot":
            word = self.next()[1:]
            if word == "align":
                align = self.integer()
            elif word in ("v2", "v4"):
                lanes = int(word[1])
            elif word in TYPE_BYTES:
                kind = word
            elif word == "attribute":
                self.skip_parentheses()
        size = TYPE_BYTES[kind] * lanes
        found = []
        while True:
            name, count = self.next(), 1
            while self.accept("["):
                count = 0 if self.peek() == "]" else count * self.integer()
                self.expect("]")
            init, relocations, filled = None, (), 0
            if self.accept("="):
                init, relocations, filled = self.initialiser(kind)
            nbytes = max(size * count, filled)
            if init is not None:
                init = init.ljust(nbytes, b"\0")
            found.append(Variable(name, space, align or size, nbytes, init, relocations, external))
            if not self.accept(","):
                break
        self.expect(";")
        return found

    def skip_parentheses(self) -> None:
        self.expect("(")
        depth = 1
        while depth:
            word = self.next()
            depth += (word == "(") - (word == ")")

    def initialiser(self, kind: str) -> tuple[bytes, tuple, int]:
        size, data, relocations, depth = TYPE_BYTES[kind], bytearray(), [], 0
        while True:
            word = self.next()
            if word == "{":
                depth += 1
            elif word == "}":
                depth -= 1
            elif word == ",":
                continue
            elif self.tokens[self.at - 1][0] == "name":
                symbol, offset = word, 0
                if word in ("generic", "mask"):
                    self.expect("(")
                    symbol = self.next()
                    self.expect(")")
                if self.accept("+"):
                    offset = self.integer()
                relocations.append((len(data), symbol, offset))
                data += bytes(size)
            else:
                sign = -1 if word == "-" else 1
                value = self.number(self.next() if word == "-" else word)
                bits = sign * value.value
                if value.kind == "f64" and kind == "f32":
                    bits = struct.unpack("<I", struct.pack("<f", struct.unpack("<d", struct.pack("<Q", bits))[0]))[0]
                data += (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
            if depth == 0:
                return bytes(data), tuple(relocations), len(data)

    # -- instructions

    def instruction(self, word: str, scope: _Scope, location) -> Instruction:
        line = self.tokens[self.at - 1][2]
        guard = None
        if word == "@":
            negated = self.accept("!")
            reg = Reg(scope.register(self.next()))
            guard = Not(reg) if negated else reg
            word = self.next()
        if not word[0].isalpha():
            raise self.error(f"{word!r} begins no instruction")
        modifiers = []
        while self.kind() == "dot":
            modifiers.append(self.next()[1:])
        if word == "call":
            operands: tuple = (self.call(scope),)
        else:
            operands = self.operands(scope)
        self.expect(";")
        return Instruction(word, tuple(modifiers), operands, guard, location, line)

    def operands(self, scope: _Scope) -> tuple:
        found = []
        if self.peek() != ";":
            found.append(self.operand(scope))
            while self.accept(","):
                found.append(self.operand(scope))
        return tuple(found)

    def operand(self, scope: _Scope):
        word = self.next()
        kind = self.tokens[self.at - 1][0]
        if word == "[":
            return self.memory(scope)
        if word == "{":
            items = [self.operand(scope)]
            while self.accept(","):
                items.append(self.operand(scope))
            self.expect("}")
            return Vec(tuple(items))
        if word == "!":
            return Not(Reg(scope.register(self.next())))
        if word == "-":
            value = self.number(self.next())
            if value.kind != "int":
                return Imm(value.value ^ (1 << (31 if value.kind == "f32" else 63)), value.kind)
            return Imm(-value.value)
        if kind == "number":
            return self.number(word)
        if kind != "name":
            raise self.error(f"{word!r} is no operand")
        if word == "_":
            first = None
        elif word in SPECIALS:
            return Special(word + (self.next() if word in SPECIAL_VECTORS else ""))
        elif scope.is_register(word):
            first = Reg(scope.register(word))
        else:
            offset = 0
            if self.peek() in ("+", "-"):
                offset = self.integer() if self.peek() == "-" else (self.next(), self.integer())[1]
            return Sym(scope.symbol(word), offset)
        if self.accept("|"):
            other = self.next()
            return Pair(first, None if other == "_" else Reg(scope.register(other)))
        return first

    def memory(self, scope: _Scope) -> Mem:
        word = self.next()
        if self.tokens[self.at - 1][0] == "number":
            base = self.number(word)
        elif scope.is_register(word):
            base = Reg(scope.register(word))
        else:
            base = Sym(scope.symbol(word))
        offset, coordinates = 0, None
        if self.accept("+") or self.peek() == "-":
            offset = self.integer()
        if self.accept(","):
            found = self.operand(scope)
            coordinates = found.items if isinstance(found, Vec) else (found,)
        self.expect("]")
        return Mem(base, offset, coordinates)

    def call(self, scope: _Scope) -> Call:
        def names() -> tuple[str, ...]:
            self.expect("(")
            found = []
            while not self.accept(")"):
                found.append(scope.symbol(self.next()))
                self.accept(",")
            return tuple(found)

        returns = names() if self.peek() == "(" else ()
        if returns:
            self.expect(",")
        word = self.next()
        target = Reg(scope.register(word)) if scope.is_register(word) else Sym(word)
        arguments, prototype = (), None
        if self.accept(","):
            arguments = names() if self.peek() == "(" else ()
            if self.accept(","):
                prototype = self.next()
        return Call(returns, target, arguments, prototype)


class _Scope:
    """Names in nested braces: an inner declaration hides an outer one, so it gets a suffix of its own."""

    def __init__(self):
        self.registers: dict[str, str] = {}
        self.variables: dict[str, Variable] = {}
        self.stack: list[dict[str, str]] = [{}]
        self.count = 0

    def open(self) -> None:
        self.stack.append({})
        self.count += 1

    def close(self) -> None:
        self.stack.pop()

    def foresee(self, tokens, at: int) -> None:
        """Give the labels of the scope that begins at token `at` names of their own, before they are used."""
        depth = 0
        while at + 1 < len(tokens):
            kind, lexeme, _ = tokens[at]
            depth += (lexeme == "{") - (lexeme == "}")
            if depth < 0:
                return
            if depth == 0 and kind == "name" and tokens[at + 1][1] == ":":
                self.stack[-1][lexeme] = f"{lexeme}.{self.count}"
            at += 1

    def _unique(self, name: str) -> str:
        unique = name if len(self.stack) == 1 else f"{name}.{self.count}"
        self.stack[-1][name] = unique
        return unique

    def declare(self, name: str, kind: str) -> None:
        self.registers[self._unique(name)] = kind

    def declare_variable(self, variable: Variable) -> None:
        unique = self._unique(variable.name)
        self.variables[unique] = Variable(
            unique, variable.space, variable.align, variable.nbytes, variable.init, variable.relocations, False
        )

    def lookup(self, name: str) -> str | None:
        for names in reversed(self.stack):
            if name in names:
                return names[name]
        return None

    def is_register(self, name: str) -> bool:
        found = self.lookup(name)
        return found is not None and found in self.registers

    def register(self, name: str) -> str:
        found = self.lookup(name)
        if found is None or found not in self.registers:
            raise PTXSyntaxError(f"{name!r} is used as a register but declared nowhere")
        return found

    def symbol(self, name: str) -> str:
        return self.lookup(name) or name

    label = symbol

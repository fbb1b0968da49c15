"""PTX text to the dataclasses of `ptx.py`, by recursive descent over tokens.

The grammar is the one of NVIDIA's "PTX ISA" manual, as far as NVRTC and numba-cuda write it.
"""

from __future__ import annotations

import re
import struct

from helpers.vgpu.ptx import (
    SPACES,
    SPECIAL_VECTORS,
    SPECIALS,
    TYPE_BYTES,
    Call,
    Function,
    Imm,
    Instruction,
    Label,
    Location,
    Mem,
    Module,
    Not,
    Pair,
    Parameter,
    PTXSyntaxError,
    Reg,
    Special,
    Sym,
    Variable,
    Vec,
)
from helpers.vgpu.ptx.scope import Scope

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


MOST_REGISTERS = 1 << 18  # far beyond what compilers declare


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


class Parser:
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
        scope = Scope()
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

    def body(self, scope: Scope) -> list:
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
                if self.peek() not in (".callprototype", ".calltargets"):
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

    def registers(self, scope: Scope) -> None:
        kind = self.next()[1:]
        while kind in ("v2", "v4"):
            raise self.error("vector registers (.reg .v2) are not supported")
        if kind not in TYPE_BYTES:
            raise self.error(f"registers have no type .{kind}")
        while True:
            name = self.next()
            if self.accept("<"):
                count = self.integer()
                if not 0 <= count <= MOST_REGISTERS:
                    raise self.error(f"a function with {count} registers is no kernel")
                for index in range(count):
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

    def instruction(self, word: str, scope: Scope, location) -> Instruction:
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
        if word in ("ld", "st"):  # `ld.b32 {%r1}, [%rd1]`: a vector of one element is the element
            operands = tuple(o.items[0] if isinstance(o, Vec) and len(o.items) == 1 else o for o in operands)
            modifiers = [m for m in modifiers if m != "v1"]
        self.expect(";")
        return Instruction(word, tuple(modifiers), operands, guard, location, line)

    def operands(self, scope: Scope) -> tuple:
        found = []
        if self.peek() != ";":
            found.append(self.operand(scope))
            while self.accept(","):
                found.append(self.operand(scope))
        return tuple(found)

    def operand(self, scope: Scope):
        word = self.next()
        kind = self.tokens[self.at - 1][0]
        if word == "[":
            return self.memory(scope)
        if word == "{":
            items = [self.operand(scope)]
            while self.accept(","):
                items.append(self.operand(scope))
            self.expect("}")
            if not self.accept("|"):
                return Vec(tuple(items))
            return Pair(Vec(tuple(items)), Reg(scope.register(self.next())))  # `tex` that says whether data was there
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

    def memory(self, scope: Scope) -> Mem:
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

    def call(self, scope: Scope) -> Call:
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

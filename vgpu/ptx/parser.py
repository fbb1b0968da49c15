"""A recursive-descent parser from PTX tokens to the dataclasses of this package: modules, functions, statements.

The grammar is that of NVIDIA's "PTX ISA" manual, as far as NVRTC and numba-cuda write it.
"""

from __future__ import annotations

from vgpu.ptx import SPACES, Function, Instruction, Label, Location, Module, Not, Reg, Sym, Variable, Vec
from vgpu.ptx import declarations as declare
from vgpu.ptx import operands as read
from vgpu.ptx.scope import Scope
from vgpu.ptx.tokens import Tokens


class Parser:
    """One text: the tokens that are left, and the definitions so far."""

    def __init__(self, text: str):
        self.tokens = Tokens(text)
        self.files: dict[int, str] = {}
        self.functions: dict[str, Function] = {}
        self.variables: dict[str, Variable] = {}

    def module(self) -> Module:
        target = ""
        while self.tokens.kind() != "end":
            word = self.tokens.next()
            if word == ".version":
                self.tokens.next()
            elif word == ".target":
                target = self.tokens.next()
                while self.tokens.accept(","):
                    self.tokens.next()
            elif word == ".address_size":
                if self.tokens.integer() != 64:
                    raise self.tokens.error("only 64-bit addresses are known")
            elif word == ".file":
                self.file()
            elif word == ".section":
                self.tokens.next()
                self.tokens.skip_between("{", "}")
            elif word in (".extern", ".visible", ".weak", ".common"):
                self.definition(self.tokens.next(), external=word == ".extern")
            elif word in (".alias", ".pragma"):
                self.tokens.skip_to(";")
            elif word != ";":
                self.definition(word, external=False)
        return Module(self.functions, self.variables, self.files, target)

    def definition(self, word: str, external: bool) -> None:
        if word in (".entry", ".func"):
            function = self.function(word == ".entry")
            # A declaration may come before or after its definition: keep the definition.
            if function.body is not None or function.name not in self.functions:
                self.functions[function.name] = function
        elif word[1:] in SPACES:
            for variable in declare.variables(self.tokens, word[1:], external):
                self.variables[variable.name] = variable
        elif word.startswith("."):
            self.definition(self.tokens.next(), external)  # .noreturn and the like
        else:
            raise self.tokens.error(f"unexpected {word!r} at module level")

    def file(self) -> None:
        index = self.tokens.integer()
        self.files[index] = self.tokens.next()[1:-1]
        while self.tokens.accept(","):
            self.tokens.next()

    def function(self, entry: bool) -> Function:
        while self.tokens.kind() == "dot":  # .noreturn, .attribute(...)
            self.tokens.next()
        returns = declare.parameters(self.tokens)
        name = self.tokens.next()
        parameters = declare.parameters(self.tokens)
        directives: dict[str, tuple[int, ...]] = {}
        while self.tokens.kind() == "dot":
            key, values = self.tokens.next()[1:], []
            while self.tokens.kind() == "number" or self.tokens.peek() == ",":
                if not self.tokens.accept(","):
                    values.append(self.tokens.integer())
            if self.tokens.kind() == "string":
                self.tokens.next()
            directives[key] = tuple(values)
        if self.tokens.accept(";"):
            return Function(name, entry, parameters, returns, {}, {}, None, directives)
        scope = Scope()
        self.tokens.expect("{")
        body = self.body(scope)
        return Function(name, entry, parameters, returns, scope.registers, scope.variables, tuple(body), directives)

    def body(self, scope: Scope) -> list:
        """Statements up to the closing brace; nested braces open a scope of names."""
        statements: list = []
        location: Location | None = None
        seen: dict[tuple[int, int, int], Location] = {}
        depth = 0
        while True:
            word = self.tokens.next()
            if word == "}":
                if depth == 0:
                    return statements
                depth -= 1
                scope.close()
            elif word == "{":
                depth += 1
                scope.open(self.tokens)
                scope.declare_labels(self.tokens)
            elif word == ";":
                continue
            elif word == ".loc":
                location = self.location(seen)
            elif word == ".reg":
                declare.registers(self.tokens, scope)
            elif word[0] == "." and word[1:] in SPACES:
                for variable in declare.variables(self.tokens, word[1:], False):
                    scope.declare_variable(variable, self.tokens)
            elif word in (".pragma", ".calltargets", ".callprototype"):
                self.tokens.skip_to(";")
            elif word == ".file":
                self.file()
            elif self.tokens.peek() == ":" and word[0] not in ".@":
                self.tokens.next()
                if self.tokens.accept(".branchtargets"):
                    scope.targets[scope.label(word)] = read.operands(self.tokens, scope)
                elif self.tokens.peek() not in (".callprototype", ".calltargets"):
                    statements.append(Label(scope.label(word)))
            else:
                statements.append(self.instruction(word, scope, location))

    def location(self, seen: dict[tuple[int, int, int], Location]) -> Location:
        file, line, column = self.tokens.integer(), self.tokens.integer(), self.tokens.integer()
        inlined = None
        while self.tokens.peek() == "," and self.tokens.peek(1) in ("function_name", "inlined_at"):
            self.tokens.next()
            if self.tokens.next() == "function_name":
                self.tokens.next()
                if self.tokens.accept("+"):
                    self.tokens.next()
            else:
                key = (self.tokens.integer(), self.tokens.integer(), self.tokens.integer())
                inlined = seen.get(key) or Location(*key)
        found = Location(file, line, column, inlined)
        seen[(file, line, column)] = found
        return found

    def instruction(self, word: str, scope: Scope, location: Location | None) -> Instruction:
        line = self.tokens.line()
        guard = None
        if word == "@":
            negated = self.tokens.accept("!")
            reg = Reg(scope.register(self.tokens.next()))
            guard = Not(reg) if negated else reg
            word = self.tokens.next()
        if not word[0].isalpha():
            raise self.tokens.error(f"{word!r} begins no instruction")
        modifiers = []
        while self.tokens.kind() == "dot":
            modifiers.append(self.tokens.next()[1:])
        operands = (read.call(self.tokens, scope),) if word == "call" else read.operands(self.tokens, scope)
        if word in ("ld", "st"):  # `ld.b32 {%r1}, [%rd1]`: a vector of one element is the element
            operands = tuple(o.items[0] if isinstance(o, Vec) and len(o.items) == 1 else o for o in operands)
            modifiers = [m for m in modifiers if m != "v1"]
        if word == "brx":  # the labels themselves in place of the name of their list
            operands = tuple(Vec(scope.targets.get(o.name, ())) if isinstance(o, Sym) else o for o in operands)
        self.tokens.expect(";")
        return Instruction(word, tuple(modifiers), operands, guard, location, line)

"""PTX as frozen dataclasses, and `parse(text) -> Module`.

Nothing is interpreted here: opcodes, modifiers and types stay strings, and their meaning is in `isa`.
Source positions (`.loc`) are kept on every instruction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from vgpu.base.errors import CompileError


class PTXSyntaxError(CompileError, ValueError):
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

    first: Any  # a Reg, a Vec of them, or None: the sink `_`
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


Operand = Reg | Imm | Sym | Special | Mem | Vec | Pair | Not | Call

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

    `relocations` are (byte offset, symbol, addend) of pointers to be filled in when the module is loaded.
    """

    name: str
    space: str
    align: int
    nbytes: int
    init: bytes | None = None
    relocations: tuple[tuple[int, str, int], ...] = ()
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

SPECIAL_VECTORS = {
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
}
SPECIALS = SPECIAL_VECTORS | {
    "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%clock", "%clock64", "%clock_hi",
    "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%lanemask_eq", "%lanemask_le", "%lanemask_lt",
    "%lanemask_ge", "%lanemask_gt", "%dynamic_smem_size", "%total_smem_size", "%cluster_ctarank",
    "%cluster_nctarank", "%is_explicit_cluster", "%current_graph_exec", "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end", "%reserved_smem_offset_cap", "WARP_SZ",
    *(f"%envreg{number}" for number in range(32)),
}  # fmt: skip


# Where groups of several warps meet and exchange values: shared memory that the system keeps for itself in a block.
# PTX knows it by a number that stands where the address of a variable could stand, and so it is one here, as large as
# cooperative_groups/details/memory.h takes it to be at least. It comes first, and is zero when a block begins.
RESERVED = Variable("%reserved_smem_offset_1", "shared", 16, 288)


def parse(text: str) -> Module:
    """Read a PTX module.

    Errors: `PTXSyntaxError`, naming the line of the PTX. Source: "PTX ISA", chapters on syntax and directives.
    """
    from vgpu.ptx.parser import Parser  # the parser builds on the classes above

    try:
        module = Parser(text.partition("\0")[0]).module()
    except RecursionError:
        raise PTXSyntaxError("the PTX nests deeper than any that a compiler writes") from None
    return replace(module, variables={RESERVED.name: RESERVED, **module.variables}) if RESERVED.name in text else module

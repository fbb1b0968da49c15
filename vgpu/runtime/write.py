"""Functions of the runtime, which know the context of a launch and the slots of a site."""

from __future__ import annotations

from vgpu.base.context import ERROR_CODE, SITE_SLOT, SLOT
from vgpu.ir import Builder, Value


class Routine(Builder):
    """One function of the runtime: `Routine("wb_f", "ptr ctx, i64 n", "i64")`, its statements, then `str()` of it."""

    def __init__(self, name: str, parameters: str, result: str = "void", words: str = "noinline"):
        super().__init__()
        pairs = [p.strip().rsplit(" ", 1) for p in parameters.split(",")]
        listed = ", ".join(f"{kind} %{word}" for kind, word in pairs)  # a kind may have words after it: ptr noalias
        linkage = "" if name.startswith("wb_") else "internal "
        self.head = f"define {linkage}{result} @{name}({listed}) {words} {{"
        self.function, self.result = name, result
        self.parameters = {word: self.named(kind.removesuffix(" noalias"), word) for kind, word in pairs}

    def __getitem__(self, name: str) -> Value:
        return self.parameters[name]

    def __str__(self) -> str:
        if not self.ended:
            self.line("ret void" if self.result == "void" else "unreachable")
        return f"\n{self.head}\nfirst.block:\n{self.body()}\n}}\n"

    def slot(self, name: str, kind: str = "i64") -> Value:
        """A slot of the context."""
        return self.load(self.at(self["ctx"], 8 * SLOT[name]), kind, 8)

    def set_slot(self, name: str, value: Value | int) -> None:
        value = value if isinstance(value, Value) else self.i64(value)
        self.store(self.at(self["ctx"], 8 * SLOT[name]), value, 8)

    def add_slot(self, name: str, amount: Value | int) -> Value:
        """Add to a slot of the context: the sum."""
        return self.add_to(self.at(self["ctx"], 8 * SLOT[name]), amount)

    def site(self, name: str) -> Value:
        """The place of a slot of the site."""
        return self.at(self["site"], 8 * SITE_SLOT[name])

    def known(self, name: str) -> Value:
        """A slot of the site."""
        return self.load(self.site(name), "i64", 8)

    def set_site(self, **values: Value | int) -> None:
        """Set slots of the site."""
        for name, value in values.items():
            self.store(self.site(name), value if isinstance(value, Value) else self.number("i64", value), 8)

    def bump(self, name: str, amount: Value | int) -> None:
        """Add to a counter of the site; requests to global memory are counted for the warp whose turn it is, too."""
        self.add_to(self.site(name), amount)
        if name == "requests":
            self.add_slot("slice_requests", amount)

    def fail(self, code: str, site: Value, lanes: Value, addresses: Value) -> None:
        """Report an error of some lanes at their addresses."""
        self.call("void", "fail", self["ctx"], self.number("i64", ERROR_CODE[code]), site, lanes, addresses)

    def pass_on(self, function: str) -> None:
        """Another function of the same parameters and result does the rest."""
        given = ", ".join(map(str, self.parameters.values()))
        if self.result == "void":
            self.line(f"tail call void @{function}({given})")
            self.give()
        else:
            self.give(self.value(self.result, f"tail call {self.result} @{function}({given})"))

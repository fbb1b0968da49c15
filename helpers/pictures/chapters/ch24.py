"""Pictures of chapter 24: which registered part of an operator each kind of call runs."""

from __future__ import annotations

from helpers.pictures.figures import PALETTE, Drawing
from helpers.pictures.plots.templates import from_template

LAYERS = (
    ("schema", "names, types, what is mutated"),
    ("dispatcher", "chooses by the tensors' keys"),
    ("autograd", "register_autograd"),
    ("fake", "register_fake"),
    ("kernel", "the function for CUDA or the CPU"),
)
CALLS = (
    (("y = op(x)", "training, eager"), ("checked", "Autograd key", "saves tensors", "", "launches"), "blue"),
    (("torch.compile", "once, while it traces"), ("checked", "Autograd key", "traced", "shapes only", ""), "orange"),
    (("the compiled code", "every call"), ("", "backend key", "", "", "launches"), "green"),
)  # fmt: skip


def operator_calls() -> Drawing:
    """Which parts of an operator run when it's called, when the compiler traces it, and in the compiled code."""
    finding = (
        "A call in training passes through schema, dispatcher and autograd to the kernel. The compiler runs the fake "
        "function in the kernel's place, and compiled code goes straight to the kernel."
    )
    calls = [(call, steps, PALETTE[colour]) for call, steps, colour in CALLS]
    last = [max(row for row, step in enumerate(steps) if step) for _, steps, _ in CALLS]
    return from_template("operator_calls", finding, layers=LAYERS, calls=calls, last=last)

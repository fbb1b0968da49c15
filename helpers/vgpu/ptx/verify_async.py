"""Whether asynchronous copies and mbarrier instructions have the operands that their forms need."""

from __future__ import annotations

from helpers.vgpu.ptx import Imm, Instruction, Mem, Not, Reg, Special, Sym

_SCALAR = (Reg, Imm, Special, Sym)
_PLACE = (Reg, type(None))
_STATE = (_PLACE, (Mem,))
# The first operation of `mbarrier`, or a word of `cp.async` -> the operands that must be there, in order.
_BARRIER = {
    "init": ((Mem,), _SCALAR), "inval": ((Mem,),), "arrive": _STATE, "arrive_drop": _STATE,
    "expect_tx": ((Mem,), _SCALAR), "complete_tx": ((Mem,), _SCALAR), "test_wait": ((Reg,), (Mem,), _SCALAR),
    "try_wait": ((Reg,), (Mem,), _SCALAR), "pending_count": ((Reg,), _SCALAR),
}  # fmt: skip
_COPY = {
    "commit_group": (), "wait_group": ((Imm,),), "wait_all": (), "mbarrier": ((Mem,),), "prefetch": ((Mem,),),
}  # fmt: skip


def wrong_async(instruction: Instruction) -> str | None:
    """What is wrong with the operands of `cp` or `mbarrier`, in words; None if nothing is."""
    words, operands = instruction.modifiers, instruction.operands
    if instruction.opcode == "mbarrier":
        if not words or words[0] not in _BARRIER:
            return "is no operation on an mbarrier that PTX has"
        shape = _BARRIER[words[0]]
        needs_count = words[0].startswith("arrive") and {"expect_tx", "noComplete"} & set(words)
        shape = (*shape, _SCALAR) if needs_count else shape
    else:
        word = next((w for w in words if w in _COPY), None)
        shape = _COPY[word] if word else _shape_of_copy(instruction)
    if len(operands) < len(shape):
        return f"has {len(operands)} operands, and needs {len(shape)}"
    for place, (operand, classes) in enumerate(zip(operands, shape, strict=False), 1):
        if not isinstance(operand, classes):
            return f"cannot have its operand {place} like this"
    if instruction.opcode == "cp" and not shape and operands:
        return "takes no operands"
    return None


def _shape_of_copy(instruction: Instruction) -> tuple:
    words = instruction.modifiers
    spaces = [word.split("::")[0] for word in words]
    if "bulk" not in words:
        more = ((Reg, Imm, Not),) * (("L2::cache_hint" in words) + (len(instruction.operands) > 3))
        return ((Mem,), (Mem,), (Imm,), *more[: max(0, len(instruction.operands) - 3)])
    loads = "shared" in spaces and ("global" not in spaces or spaces.index("shared") < spaces.index("global"))
    size = () if "tensor" in words else (_SCALAR,)
    return ((Mem,), (Mem,), *size, *(((Mem,),) if loads else ()))

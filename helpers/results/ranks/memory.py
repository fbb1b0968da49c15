"""What a rank keeps of parameters, gradients and Adam's two moments, when some of it is sharded."""

from __future__ import annotations

STAGES = {
    0: "nothing is sharded (DDP)",
    1: "Adam's states are sharded (ZeRO 1)",
    2: "and gradients (ZeRO 2)",
    3: "and parameters (ZeRO 3, FSDP)",
}
MIXED = {"parameters": 2, "gradients": 2, "Adam": 12}
"""Bytes a parameter in mixed precision: FP16 and FP16; for Adam an FP32 copy and two moments. Rajbhandari and others,
ZeRO, 2020, section 3.1 (https://arxiv.org/abs/1910.02054)."""
SINGLE = {"parameters": 4, "gradients": 4, "Adam": 8}
"""Bytes a parameter in single precision: the parameter itself is Adam's copy."""
_SHARDED_FROM = {"Adam": 1, "gradients": 2, "parameters": 3}


def bytes_per_rank(parameters: float, ranks: int, stage: int, *, mixed: bool = True) -> dict[str, float]:
    """Bytes that one of `ranks` keeps of each kind, at a stage of `STAGES`; activations are not among them."""
    if stage not in STAGES:
        raise ValueError(f"stage is one of {', '.join(map(str, STAGES))}, not {stage!r}")
    each = MIXED if mixed else SINGLE
    return {kind: parameters * size / (ranks if stage >= _SHARDED_FROM[kind] else 1) for kind, size in each.items()}

"""Lab 09, the matmul ladder: tiles, patches of registers, half of a square, tensor cores, and a ring of tiles."""

ORDER = ("weight_grad", "patch", "causal", "tensor", "ring")

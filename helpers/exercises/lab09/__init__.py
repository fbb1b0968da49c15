"""Lab 09, the matmul ladder: tiles, patches of registers, half of a square, and tensor cores."""

ORDER = ("weight_grad", "patch", "causal", "tensor")

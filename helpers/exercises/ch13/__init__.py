"""Chapter 13, the matmul ladder and the libraries: reuse, register blocks, wide loads, tensor cores, layouts."""

ORDER = (
    "sectors", "reuse", "strip", "wide", "widest", "step", "tensor", "serpentine", "composed", "starts", "tiles",
    "turned", "holder",
)  # fmt: skip

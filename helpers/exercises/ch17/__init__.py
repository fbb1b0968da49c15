"""Chapter 17, FlashAttention: bytes, softmax in one pass, parts joined, tiles, windows, gradients, fragments, masks."""

ORDER = (
    "score_bytes",
    "one_pass",
    "join",
    "causal_tiles",
    "window",
    "score_gradient",
    "fragment",
    "decode",
    "cache_mask",
)

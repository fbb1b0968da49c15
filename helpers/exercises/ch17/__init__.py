"""Chapter 17, FlashAttention: bytes of scores, softmax in one pass, parts joined, tiles, windows, gradients, masks."""

ORDER = ("score_bytes", "one_pass", "join", "causal_tiles", "window", "score_gradient", "decode", "cache_mask")

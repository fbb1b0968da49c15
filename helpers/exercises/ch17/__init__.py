"""Chapter 17, FlashAttention: bytes of scores, softmax in one pass, parts joined, causal tiles, gradients, decoding."""

ORDER = ("score_bytes", "one_pass", "join", "causal_tiles", "score_gradient", "decode")

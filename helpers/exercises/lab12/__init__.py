"""Lab 12, FlashAttention forward: a decoding step, tiles for queries, a window, grouped heads, a paged cache."""

ORDER = ("step", "tiles", "window", "grouped", "decode")

"""Lab 12, FlashAttention forward: a decoding step, tiles for a block of queries, a sliding window, grouped heads."""

ORDER = ("step", "tiles", "window", "grouped")

"""Chapter 02, threads, warps, blocks and grids: how many blocks, two directions, and fewer threads than elements."""

ORDER = ("blocks", "bias", "stride")

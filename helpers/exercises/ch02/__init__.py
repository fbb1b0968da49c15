"""Chapter 02, threads, warps, blocks and grids: places, guards, two directions, any order, any size, idle lanes."""

ORDER = ("place", "blocks", "bias", "schedule", "stride", "idle")

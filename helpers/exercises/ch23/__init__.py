"""Chapter 23, the clinic: waits, the next mend, bytes of a step, a fused kernel, tiles of tensor cores, a log."""

ORDER = ("waits", "next_mend", "copied", "fused", "tiles", "take_back")

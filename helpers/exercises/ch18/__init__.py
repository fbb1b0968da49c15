"""Chapter 18, memory in training: bytes of a state, blocks of an allocator, leaks, checkpoints, the largest batch."""

ORDER = ("state", "place", "diagnose", "grown", "segments", "trials")

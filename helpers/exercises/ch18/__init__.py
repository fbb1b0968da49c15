"""Chapter 18, memory in training: what each byte is for, an allocator, leaks, checkpoints, the largest batch."""

ORDER = ("state", "place", "diagnose", "grown", "segments", "chunks", "trials")

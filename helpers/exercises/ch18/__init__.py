"""Chapter 18, memory in training: what each byte is for, an allocator, leaks, checkpoints, logits, batches."""

ORDER = ("state", "place", "diagnose", "grown", "segments", "in_place", "trials")

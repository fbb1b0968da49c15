"""Lab 16, several GPUs: half a ring, the whole ring, buckets of gradients, and data-parallel training."""

ORDER = ("scatter", "ring", "buckets", "train")

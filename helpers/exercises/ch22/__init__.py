"""Chapter 22, several GPUs: what is sent, what is split, and in which order stages work."""

ORDER = ("chunk", "ring_bytes", "average", "shard", "split_mlp", "one_by_one")

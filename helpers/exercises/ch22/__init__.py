"""Chapter 22, several GPUs: what is sent, what is split, in which order stages work, who waits, how it scales."""

ORDER = ("chunk", "ring_bytes", "average", "shard", "split_mlp", "one_by_one", "waiting", "efficiency")

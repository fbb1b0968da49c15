"""Chapter 22, several GPUs: what is sent, what is split, who waits when, how it scales, and how training goes on."""

ORDER = (
    "chunk",
    "ring_bytes",
    "average",
    "pack",
    "split_mlp",
    "one_by_one",
    "waiting",
    "efficiency",
    "stages_per_rank",
    "merge",
    "reads",
)

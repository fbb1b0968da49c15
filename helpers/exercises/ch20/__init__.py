"""Chapter 20, recurrent networks: cells, their gradients, and sequences of unequal length."""

ORDER = (
    "parameters", "rnn_cell", "rnn_backward", "batch", "clip", "bias", "hold", "draw", "scaled", "scan_round",
)  # fmt: skip

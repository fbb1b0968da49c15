"""Chapter 20, recurrent networks: cells and their gradients, text, translation and series."""

ORDER = (
    "parameters", "gru_cell", "rnn_cell", "rnn_backward", "batch", "clip", "bias", "hold", "interpolate", "draw",
    "attend", "scaled", "scan_round",
)  # fmt: skip

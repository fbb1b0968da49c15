"""Lab 08, overlap it: pinned buffers, events, a state that is carried on, and a graph for each batch."""

ORDER = ("stage", "branches", "carry", "epoch")

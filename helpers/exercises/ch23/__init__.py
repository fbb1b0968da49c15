"""Chapter 23, the clinic: decisions, loaders, gaps, graphs; then waits, fixes, bytes, a fused kernel, tiles, a log."""

ORDER = ("decide", "bound", "gap", "graphs", "waits", "next_mend", "copied", "fused", "tiles", "take_back")

"""Chapter 23, the clinic: decisions, loaders, gaps, graphs; then waits, fixes, bytes, a fused kernel, tiles, a log."""

ORDER = ("decide", "bound", "gap", "graphs", "tiles", "waits", "next_fix", "copied", "fused", "take_back")

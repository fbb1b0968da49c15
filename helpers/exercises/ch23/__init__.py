"""Chapter 23, the clinic: waits in a recording, bytes of a step, the next mend, a fused kernel, a log with a fault."""

ORDER = ("waits", "copied", "fused", "next_mend", "take_back")

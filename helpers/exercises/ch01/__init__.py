"""Chapter 01, CPU and GPU: a loop made a kernel, chains and lanes, fewer copies, fewer waits, Amdahl, idle lanes."""

ORDER = ("standardise", "clocks", "keep", "losses", "speedup", "words")

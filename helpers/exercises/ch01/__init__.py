"""Chapter 01, CPU and GPU: a loop made a kernel, chains and lanes, where a GPU begins to pay, queues, and Amdahl."""

ORDER = ("standardise", "clocks", "border", "step", "speedup", "lanes")

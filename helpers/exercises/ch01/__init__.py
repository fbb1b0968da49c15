"""Chapter 01, CPU and GPU: what Amdahl's law leaves, where a GPU begins to pay, and a loop made a kernel."""

ORDER = ("speedup", "border", "standardise")

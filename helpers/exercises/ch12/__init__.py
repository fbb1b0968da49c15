"""Chapter 12, profiling: what a kernel attains, what ails it, and a kernel with two ailments to mend."""

ORDER = ("bandwidth", "bottleneck", "settle")

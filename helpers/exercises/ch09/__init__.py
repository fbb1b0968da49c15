"""Chapter 09, occupancy: blocks counted by hand, few registers, a block for several GPUs, loads together, a profile."""

ORDER = ("resident", "spread", "block", "early", "profiled")

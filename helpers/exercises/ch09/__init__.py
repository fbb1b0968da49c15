"""Chapter 09, occupancy: blocks by hand, few registers, a block for several GPUs, bytes in flight, a profile."""

ORDER = ("resident", "spread", "block", "flight", "early", "profiled")

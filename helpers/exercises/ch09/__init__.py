"""Chapter 09, occupancy: blocks by hand, few registers, one block size, four chains, loads in flight, a profile."""

ORDER = ("resident", "spread", "block", "squares", "early", "profiled")

"""Chapter 09, occupancy: a block size for several GPUs, fewer registers without a spill, loads that go together."""

ORDER = ("block", "spread", "early")

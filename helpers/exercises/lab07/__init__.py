"""Lab 07, occupancy: how far a kernel may grow, what to launch, few registers, and many loads within few registers."""

ORDER = ("room", "launch", "top", "flight")

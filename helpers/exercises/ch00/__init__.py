"""The start notebook: kernels in two languages, one that moves less than PyTorch, two clocks, and a typical time."""

ORDER = ("relu", "leaky", "residual", "clocks", "typical")

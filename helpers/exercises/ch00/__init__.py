"""The start notebook: kernels in two languages, one that moves less than PyTorch, what two clocks read, a typical time."""

ORDER = ("relu", "leaky", "residual", "clocks", "typical")

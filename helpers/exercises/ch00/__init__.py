"""The start notebook: a kernel in each language, one that moves less than PyTorch, what two clocks read, a typical time."""

ORDER = ("relu", "leaky", "residual", "clocks", "typical")

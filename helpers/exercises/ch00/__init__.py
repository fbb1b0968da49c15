"""The start notebook: a first kernel in each language, what two clocks read, and the typical of several times."""

ORDER = ("relu", "leaky", "clocks", "typical")

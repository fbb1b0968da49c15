"""The start notebook: a first kernel of one's own in each language, and the typical of several times."""

ORDER = ("relu", "leaky", "typical")

"""Chapter 08, divergence: the same result, from fewer instructions and with no lane idle."""

ORDER = ("sides", "rows", "table")

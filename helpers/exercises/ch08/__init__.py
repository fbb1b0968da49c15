"""Chapter 08, divergence: the same result, from fewer instructions and with no lane idle."""

ORDER = ("slots", "sides", "rows", "table", "places", "bias")

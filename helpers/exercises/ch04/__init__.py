"""Chapter 04, coalescing: the same result, from fewer sectors."""

ORDER = ("count", "halve", "grey", "float4", "scale")

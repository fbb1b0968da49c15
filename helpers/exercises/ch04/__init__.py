"""Chapter 04, coalescing: the same result, from fewer sectors."""

ORDER = ("halve", "grey", "float4", "scale")

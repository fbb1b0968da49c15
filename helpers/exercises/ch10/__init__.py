"""Chapter 10, the roofline: count an intensity, raise one, and choose a tile that reaches the ridge."""

ORDER = ("intensity", "fuse", "tile")

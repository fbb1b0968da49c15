"""Chapter 10, the roofline: an intensity from shapes, a bound from a time, a tile, a fusion, and a batch."""

ORDER = ("intensity", "state", "tile", "fuse", "batch")

"""Chapter 10, the roofline: an intensity from shapes, a gain and a bound by roofs, a tile, a fusion, and a batch."""

ORDER = ("intensity", "faster", "state", "lowest", "tile", "fuse", "batch")

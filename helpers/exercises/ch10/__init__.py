"""Chapter 10, the roofline: an intensity from shapes, a gain and a state by roofs, a tile, and kernels that reuse."""

ORDER = ("intensity", "faster", "state", "coefficients", "tile", "fuse", "four_rows")

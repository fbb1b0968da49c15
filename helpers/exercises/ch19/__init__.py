"""Chapter 19, convolutional networks: sizes and fields, pooling, two cheap convolutions, a gradient gathered."""

ORDER = ("pool", "pointwise", "depthwise", "slope", "field")

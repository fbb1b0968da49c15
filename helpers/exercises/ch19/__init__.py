"""Chapter 19, convolutional networks: sizes and fields, pooling, two cheap convolutions, gradients, FLOP per byte."""

ORDER = ("pool", "pointwise", "depthwise", "gather", "bias", "numeric", "field", "vanish", "fold", "intensity")

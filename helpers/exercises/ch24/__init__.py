"""Chapter 24, from a kernel to an operator: layouts, the gradient of a weight, fakes, and a test of an operator."""

ORDER = ("plan", "weight_gradient", "fake", "accepts")

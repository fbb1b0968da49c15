"""Lab 13, convolution: forward, both gradients, the autograd function that ties them, and a network trained with it."""

ORDER = ("forward", "by_images", "by_weights", "function", "lenet")

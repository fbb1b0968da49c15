"""Lab 13, convolution: forward, both gradients, the autograd function of the three, and a LeNet trained with it."""

ORDER = ("forward", "grad_images", "grad_weights", "function", "lenet")

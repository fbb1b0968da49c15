"""Lab 14, the LSTM cell: a step in one launch, its gradients with the bias's, the product in it, and a whole layer."""

ORDER = ("cell", "backward", "step", "layer")

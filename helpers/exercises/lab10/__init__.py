"""Lab 10, fuse it: softmax and layer norm in one launch each, forward and backward; residual and RMS norm of slices."""

ORDER = ("softmax", "softmax_backward", "layer_norm", "layer_norm_backward", "add_norm")

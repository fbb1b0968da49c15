"""Chapter 15, mixed precision: codes of floats, a softmax that holds, tiles, scales, blocks and pruned weights."""

ORDER = ("encode", "softmax", "padded", "scale", "blocks", "two_of_four")

"""Chapter 15, mixed precision: codes of floats, a softmax that holds, tiles, scales, blocks and a pruned row."""

ORDER = ("encode", "softmax", "padded", "scale", "blocks", "pack")

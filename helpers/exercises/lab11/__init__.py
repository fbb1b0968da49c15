"""Lab 11, mixed precision: statistics of halves, codes of eight and four bits, and the rule of a loss scale."""

ORDER = ("stats", "quantise", "nvfp4", "linear", "unscale", "rule")

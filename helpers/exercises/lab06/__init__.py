"""Lab 06, divergence: arithmetic for a branch, roles for whole warps, rare work collected, and loops of one length."""

ORDER = ("bucketize", "roles", "refine", "repeat")

"""Lab 05, reductions and scans: sums that fit any launch, any associative operator, and places without atomics."""

ORDER = ("total", "logsumexp", "fill", "compact")

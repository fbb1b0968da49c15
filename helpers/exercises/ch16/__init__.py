"""Chapter 16, asynchronous copies and clusters: waits and groups, bytes announced, parities, proxies, counters."""

ORDER = ("difference", "pending", "row_sums", "announced", "linear_int8", "parities", "token_counts")

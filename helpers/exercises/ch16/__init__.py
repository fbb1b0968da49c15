"""Chapter 16, asynchronous copies: the missing wait, which groups may stay, two buffers, bytes announced, parities."""

ORDER = ("difference", "pending", "row_sums", "announced", "parities")

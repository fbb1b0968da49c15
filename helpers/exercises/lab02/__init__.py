"""Lab 02, coalescing: records into planes, heads before tokens, rows with a pitch, and rows of a table."""

ORDER = ("planes", "heads", "shrink", "embed")

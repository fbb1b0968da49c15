"""Lab 04, histograms and races: find what nothing orders, mend it with as little as it takes, count in private."""

ORDER = ("lower", "shares", "count_bytes", "mode")

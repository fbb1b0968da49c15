"""Chapter 07, reductions and scans: few barriers, few atomics, and every size right."""

ORDER = ("row_max", "dot", "exclusive")

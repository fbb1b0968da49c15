"""Chapter 07, reductions and scans: few barriers, few atomics, and every size right."""

ORDER = ("cost", "first_max", "dot", "row_max", "depth", "exclusive")

"""Chapter 03, the memory hierarchy: times and reads reckoned, a table in shared memory, values kept in registers."""

ORDER = ("seconds", "reads", "table", "bytes", "ranks", "relax")

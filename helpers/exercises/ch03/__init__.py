"""Chapter 03, the memory hierarchy: an array into registers, a table into shared memory, bytes on and off the chip."""

ORDER = ("ranks", "table", "bytes")

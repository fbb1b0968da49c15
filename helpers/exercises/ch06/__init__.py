"""Chapter 06, synchronisation: right for every schedule, which is what the sanitizer asks, and cheap besides."""

ORDER = ("replay", "smooth", "needed", "passes", "histogram", "argmax")

"""Whole programs on the virtual GPU, unchanged: run, profiled, sanitized and traced, in a shell and in pytest."""

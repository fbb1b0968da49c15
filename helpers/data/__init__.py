"""Data to train on: made by a rule and a seed, read from the course itself, or from a learner's own files."""

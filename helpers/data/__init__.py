"""Data that a rule and a seed make: as much as anybody wants, and none of it stored anywhere."""

"""Fuzzing of the virtual GPU: random PTX programs on both engines, damaged and random text, in processes that may die.

`python -m vgpu.tests.fuzz --minutes 10` runs all kinds and prints a tally; `--seed` repeats one case. The kinds
`contained` and `verified` change programs (`pieces`, `compiled`) so that most are still accepted (`twist`): of the
first every access is looked up (`instrument`, `checker`, `extents`), the others are held against a second table
(`shapes`).
"""

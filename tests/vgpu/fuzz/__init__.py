"""Fuzzing of the virtual GPU: random PTX programs on both engines, damaged and random text, in processes that may die.

`python -m tests.vgpu.fuzz --minutes 10` runs all kinds and prints a tally; `--seed` repeats one case.
"""

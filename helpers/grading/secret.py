"""The seed of a run, from which hidden inputs are drawn: kept in the results folder, and told to no student."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from helpers.checking.evidence import inputs_of
from helpers.checking.exercise import exercise

NAME = "seed"
BITS = 63


def seed_of(folder: Path, wanted: int | None = None) -> int:
    """The seed of the results in `folder`: `wanted`, or the one that is kept there, or one drawn now; it is kept.

    Raises ValueError where the file that keeps it holds something else.
    """
    path = Path(folder) / NAME
    if wanted is None and path.exists():
        try:
            return int(path.read_text(encoding="ascii"))
        except ValueError:
            raise ValueError(f"{path} holds no seed. Delete it, and all are graded anew with a seed drawn.") from None
    seed = secrets.randbits(BITS) if wanted is None else wanted
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(f"{seed}\n")
    return seed


def hidden_inputs(keys: Iterable[str], seed: int) -> dict[str, dict]:
    """What answers to the exercises `keys` are tried on for marks: public cases and those that `seed` draws."""
    return {key: inputs_of(exercise(key).for_marks(seed)) for key in keys}

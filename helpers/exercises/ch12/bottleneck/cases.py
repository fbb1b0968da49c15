from __future__ import annotations

from helpers.checking.exercise import Case
from helpers.exercises.ch12.ward import ward


def cases() -> list[Case]:
    return list(ward())

from __future__ import annotations

from helpers.checking.exercise import Case

REQUESTS = {
    "a word of its own for each lane": list(range(32)),
    "one word for all": [7] * 32,
    "two words in turn": [lane % 2 for lane in range(32)],
    "29 lanes at one word": [7] * 29 + [1, 2, 3],
    "a row of four copies, 65 apart": [lane % 4 * 65 + 7 for lane in range(32)],
    "a row of four copies, 64 apart": [lane % 4 * 64 + 7 for lane in range(32)],
    "two words of one bank": [5 + 32 * (lane % 2) for lane in range(32)],
    "half of them in one bank": [32 * lane for lane in range(16)] + list(range(1, 17)),
    "only 6 lanes": [3, 3, 4, 36, 5, 3],
    "one lane": [99],
}


def _case(name: str) -> Case:
    words = REQUESTS[name]
    most = max(sum(word % 32 == bank for word in words) for bank in range(32))
    return Case(name, (list(words),), expected=most)


def cases() -> list[Case]:
    return [_case(name) for name in REQUESTS]

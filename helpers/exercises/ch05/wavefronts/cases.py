from __future__ import annotations

from helpers.checking.exercise import Case

REQUESTS = {
    "stride 1": list(range(32)),
    "stride 2": [2 * lane for lane in range(32)],
    "stride 3": [3 * lane for lane in range(32)],
    "stride 32": [32 * lane for lane in range(32)],
    "one word for all": [7] * 32,
    "one bank, two words": [5 + 32 * (lane % 2) for lane in range(32)],
    "backwards": [31 - lane for lane in range(32)],
    "a row of 33": [33 * lane for lane in range(32)],
    "four words twice": [64 * (lane % 4) + lane // 16 for lane in range(32)],
    "only 8 lanes": [16 * lane for lane in range(8)],
    "one lane": [99],
}


def _case(name: str) -> Case:
    words = REQUESTS[name]
    most = max(len({word for word in words if word % 32 == bank}) for bank in range(32))
    return Case(name, (list(words),), expected=most)


def cases() -> list[Case]:
    return [_case(name) for name in REQUESTS]

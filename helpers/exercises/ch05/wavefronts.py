"""Wavefronts of a request on shared memory, from the words that its lanes want."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

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


EXERCISE = Exercise(
    key="ch05.wavefronts",
    title="wavefronts of a request, from its words",
    language="python",
    name="wavefronts",
    cases=lambda: [_case(name) for name in REQUESTS],
    hints=(
        "In which bank does word w lie?",
        "Sort the words by their banks, and keep each word once: a bank gives one word to all lanes that want it.",
        "A set for each of the 32 banks: banks[word % 32].add(word). The largest set says how many wavefronts.",
    ),
    solution="""
def wavefronts(words):
    banks = [set() for _ in range(32)]
    for word in words:
        banks[word % 32].add(word)
    return max(len(bank) for bank in banks)
""",
    why="All banks work at the same time, so the busiest of them decides. A bank gives out one word in a wavefront, "
    "and gives it to every lane that wants it, so only different words of one bank queue.",
    stretch="lanes that want 16 bytes each: 512 bytes are four wavefronts at least. Which eight lanes go together?",
    equivalent=((("range(32)]", "range(33)]"), "a 33rd bank stays empty"),),
    mistakes=(
        Mistake(
            "the same word twice is a conflict",
            "Lanes that want the same word get it together. Count the different words of a bank.",
            ((("set()", "[]"), (".add(", ".append(")),),
        ),
        Mistake(
            "all words added up",
            "The 32 banks work at the same time. The busiest one decides, not their sum.",
            (("max(len(bank) for bank in banks)", "sum(len(bank) for bank in banks)"), "    return len(set(words))"),
        ),
        Mistake(
            "banks are counted",
            "How many banks are in use says nothing about how long the queue at one of them is.",
            ("    return len({word % 32 for word in words})", "    return 32 // len({word % 32 for word in words})"),
        ),
        Mistake(
            "conflicts in place of wavefronts",
            "The first wavefront counts as well: a request without any conflict takes one.",
            (("return max(len(bank) for bank in banks)", "return max(len(bank) for bank in banks) - 1"),),
        ),
        Mistake(
            "another number of banks",
            "Shared memory has 32 banks of 4 bytes: word w lies in bank w % 32.",
            (("word % 32", "word % 16"), ("word % 32", "word // 4 % 32"), ("word % 32", "word % 8")),
        ),
        Mistake(
            "a bank is a run of words",
            "Neighbouring words lie in neighbouring banks, and after 32 words it begins again with bank 0.",
            (("word % 32", "word // 32 % 32"),),
        ),
        Mistake(
            "only one word of each bank is kept",
            "Keep all the different words that are wanted from a bank.",
            (("banks[word % 32].add(word)", "banks[word % 32] = {word}"), "    return 1"),
        ),
    ),
)  # fmt: skip

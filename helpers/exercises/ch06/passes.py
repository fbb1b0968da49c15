"""Passes of an atomic through shared memory, from the words that its lanes update."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

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


EXERCISE = Exercise(
    key="ch06.passes",
    title="passes of an atomic, from its words",
    language="python",
    name="passes",
    cases=lambda: [_case(name) for name in REQUESTS],
    hints=(
        "The given function counts the wavefronts of a load. For which lanes is an atomic different?",
        "A load hands one word to all lanes that want it. Two updates of one word have to follow one another.",
        "A list for each bank in place of a set keeps every lane: banks[word % 32].append(word).",
    ),
    solution="""
def passes(words):
    banks = [[] for _ in range(32)]
    for word in words:
        banks[word % 32].append(word)
    return max(len(bank) for bank in banks)
""",
    why="A bank does one thing in a pass. For a load that may serve many lanes, since all of them get the same word. "
    "An update changes the word, so the next lane has to come after it, at the same word as well as at another "
    "one of the bank.",
    stretch="copies of the bins 64 words apart lie in the same banks. Which distance of four copies serves all bins?",
    equivalent=((("range(32)]", "range(33)]"), "a 33rd bank stays empty"),),
    mistakes=(
        Mistake(
            "counted as for a load",
            "A load gives one word to all lanes that want it. Lanes that update one word follow one another, so each "
            "of them counts.",
            ((("[[]", "[set()"), (".append(", ".add(")),),
        ),
        Mistake(
            "words are counted, and not banks",
            "Two different words of one bank queue as well: the bank does one of them in a pass.",
            (("    return max(words.count(word) for word in words)"),),
        ),
        Mistake(
            "all lanes queue",
            "The 32 banks work at the same time. Only lanes of one bank wait for one another.",
            ("    return len(words)", ("max(len(bank) for bank in banks)", "sum(len(bank) for bank in banks)")),
        ),
        Mistake(
            "different words are counted",
            "How many different words there are says nothing about how long the queue at one of them is.",
            ("    return len(set(words))",),
        ),
        Mistake(
            "conflicts in place of passes",
            "The first pass counts as well: a request without any queue takes one.",
            (("for bank in banks)", "for bank in banks) - 1"),),
        ),
        Mistake(
            "another number of banks",
            "Shared memory has 32 banks of 4 bytes: word w lies in bank w % 32.",
            (("word % 32", "word % 16"), ("word % 32", "word % 8")),
        ),
        Mistake(
            "banks are counted",
            "The longest queue decides, not how many queues there are.",
            ("    return len({word % 32 for word in words})",),
        ),
    ),
)  # fmt: skip

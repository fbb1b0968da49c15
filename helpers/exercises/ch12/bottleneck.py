"""The bottleneck of a kernel, from its profile: four ailments, and none."""

from __future__ import annotations

from helpers.checking.exercise import Exercise, Mistake
from helpers.exercises.ch12.ward import ward

WAVES, LANES, SECTORS = 'p["waves"] < 0.5', 'p["lanes_per_instruction"] < 24', 'p["load_efficiency"] < 75'
CONFLICTS = 'p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]'


def _unasked(question: str, word: str) -> tuple[str, str]:
    return f'    if {question}:\n        return "{word}"\n', ""


EXERCISE = Exercise(
    key="ch12.bottleneck",
    title="name the bottleneck from a profile",
    language="python",
    name="bottleneck",
    cases=lambda: list(ward()),
    hints=(
        'Four questions, four numbers. Print p.metrics() for one, or p["waves"].',
        "Waves below a half; active lanes far below 32; load_efficiency far below 100; conflicts among wavefronts.",
        'if p["waves"] < 0.5: return "launch too small"; then p["lanes_per_instruction"], p["load_efficiency"], '
        'and p["shared_load_conflicts"] against p["shared_load_wavefronts"].',
    ),
    solution="""
def bottleneck(p):
    if p["waves"] < 0.5:
        return "launch too small"
    if p["lanes_per_instruction"] < 24:
        return "divergence"
    if p["load_efficiency"] < 75:
        return "uncoalesced access"
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]:
        return "bank conflicts"
    return "none"
""",
    why="Each number is a ratio with a known best: so much of what was moved, lanes of 32, wavefronts beyond the "
    "least. A bare count, such as sectors a request or divergent branches, says nothing without what the work "
    "needs.",
    stretch="a kernel may have two of them. What does helpers.results.diagnose do to name the one that matters?",
    equivalent=(
        *((old, f"nobody has just this {what}") for old, what in (
            (("waves\"] < ", "waves\"] <= "), "part of a wave"), (("< 24", "<= 24"), "number of lanes"),
            (("< 24", "< 25"), "number of lanes"), (("< 24", "< 23"), "number of lanes"),
            (("< 75", "<= 75"), "efficiency"), (("< 75", "< 76"), "efficiency"), (("< 75", "< 74"), "efficiency"),
        )),
    ),
    mistakes=(
        Mistake(
            "small letters",
            'The words are asked for as they stand in the table: in small letters, such as "divergence".',
            (
                (("launch too", "Launch too"), ("divergence", "Divergence"), ("uncoal", "Uncoal"), ("bank", "Bank"),
                 ("none", "None")),
                (("launch too", "Launch too"), ("divergence", "Divergence"), ("uncoal", "Uncoal"), ("bank", "Bank")),
            ),
        ),
        Mistake(
            "none is a word",
            'Where nothing ails a kernel, the word "none" is asked for; a function without return gives None.',
            (('    return "none"\n', ""),),
        ),
        Mistake(
            "one ailment",
            "One word is asked for: that of the first ailment that is there.",
            (
                f"""    r = []
    if {WAVES}: r.append("launch too small")
    if {LANES}: r.append("divergence")
    if {SECTORS}: r.append("uncoalesced access")
    if {CONFLICTS}: r.append("bank conflicts")
    return r or "none"
""",
            ),
        ),
        Mistake(
            "the wrong way round",
            "The good ones are told that they are uncoalesced, and the bad one is not: an efficiency of 100 % is "
            "the best there is.",
            (('load_efficiency"] <', 'load_efficiency"] >'),),
        ),
        Mistake(
            "half a wave is no small launch",
            "512 blocks give each of 108 SMs several. They do not fill all SMs to the brim, and need not: too "
            "small is a launch that leaves SMs without work, well below half a wave.",
            (("< 0.5", "< 1"), (("< 0.5", "< 1"), (CONFLICTS, 'p["shared_load_conflicts"] > 0'))),
        ),
        Mistake(
            "wide loads are not strided ones",
            "32 doubles are 256 bytes: 8 sectors a request, all of them wanted. Ask for the part that is used.",
            ((SECTORS, 'p["sectors_per_load_request"] > 5'),),
        ),
        Mistake(
            "one question for four ailments",
            "There are four ailments, and each has a number of its own that shows it; sectors a request show none for "
            "sure, since wide loads want many. Ask four questions, one after the other.",
            ('    return "none" if p["sectors_per_load_request"] <= 4 else "uncoalesced access"',),
        ),
        Mistake(
            "wide wavefronts are not conflicts",
            "32 times 16 bytes take four wavefronts at best. The counter of conflicts has those beyond the least.",
            ((CONFLICTS, 'p["wavefronts_per_shared_load"] > 1'),),
        ),
        Mistake(
            "a branch that diverges once",
            "One warp in thousands has idle lanes at the end. Ask for the lanes that are active on average.",
            ((LANES, 'p["divergent_branches"] > 0'), (LANES, 'p["lanes_per_instruction"] < 32')),
        ),
        Mistake(
            "one word for all",
            "Whatever the profile, the answer is the same: four questions, four numbers of it.",
            ('    return "none"', '    return "divergence"', '    return "uncoalesced access"'),
        ),
        Mistake(
            "many warps are not many blocks",
            "Its warps are full and its sectors used, but one block lives on one SM. Compare blocks with SMs.",
            ((WAVES, 'p["occupancy"] < 50'), _unasked(WAVES, "launch too small")),
        ),
        Mistake(
            "strided access goes unseen",
            'Neighbouring lanes are 32 bytes apart there. p["load_efficiency"] says which part of the bytes is '
            "used, in per cent from 0 to 100.",
            (("< 75", "< 0.75"),),
        ),
        Mistake(
            "divergence goes unseen",
            'Most lanes wait there while eight work. p["lanes_per_instruction"] is at best 32.',
            (_unasked(LANES, "divergence"),),
        ),
        Mistake(
            "bank conflicts go unseen",
            'Lanes are 16 words apart there: two banks for all of them. p["shared_load_conflicts"] are the '
            'wavefronts beyond the least, among p["shared_load_wavefronts"].',
            (_unasked(CONFLICTS, "bank conflicts"),),
        ),
    ),
)  # fmt: skip

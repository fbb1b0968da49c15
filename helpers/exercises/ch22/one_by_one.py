"""The order of one stage in a 1F1B pipeline."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural
from helpers.results.ranks.pipeline import one_by_one_order

ROWS = ((0, 1, 1), (0, 2, 3), (1, 2, 3), (0, 4, 4), (1, 4, 6), (2, 4, 6), (3, 4, 6), (0, 4, 2))  # stage, stages, parts
AHEAD = "min(stages - 1 - stage, micro_batches)"


def _case(stage: int, stages: int, micro_batches: int) -> Case:
    words = [f"{kind[0].upper()}{part}" for kind, part in one_by_one_order(stage, stages, micro_batches)]
    name = f"stage {stage} of {stages}, {plural(micro_batches, 'micro-batch').replace('batchs', 'batches')}"
    return Case(name, (stage, stages, micro_batches), expected=words)


EXERCISE = Exercise(
    key="ch22.one_by_one",
    title="the order of a stage in 1F1B",
    language="python",
    name="order",
    cases=lambda: [_case(*row) for row in ROWS],
    hints=(
        "The last stage can send a micro-batch back as soon as it has its forward pass: F0 B0 F1 B1 … How many forward "
        "passes must the stage before it have ahead?",
        "A stage with k stages below it needs k forward passes before the first gradient can come back to it.",
        f"ahead = {AHEAD}; then for each micro-batch: F(ahead + part), where there is such a one, and B(part).",
    ),
    solution=f"""
def order(stage, stages, micro_batches):
    ahead = {AHEAD}
    work = [f"F{{part}}" for part in range(ahead)]
    for part in range(micro_batches):
        if ahead + part < micro_batches:
            work.append(f"F{{ahead + part}}")
        work.append(f"B{{part}}")
    return work
""",
    why="After a stage's first forward passes it alternates, so it never keeps the activations of more than "
    "stages - stage micro-batches, however many there are. GPipe keeps all of them. The bubble is the same: 1F1B saves "
    "memory, not time. But with the memory that is saved there is room for more micro-batches, which makes the bubble "
    "smaller.",
    stretch="how many micro-batches does each of 4 stages keep at most, with 16 of them?",
    mistakes=(
        Mistake(
            "one forward pass ahead too many",
            "The last stage has nothing ahead: it goes F0 B0. A stage has as many ahead as there are stages below it.",
            ((AHEAD, "min(stages - stage, micro_batches)"),),
        ),
        Mistake(
            "all stages have as many ahead",
            "The nearer to the end, the sooner a gradient comes back: stages - 1 - stage.",
            ((AHEAD, "min(stages - 1, micro_batches)"), (AHEAD, "0")),
        ),
        Mistake(
            "counted from the wrong end",
            "The first stage waits longest for its first gradient, so it has most forward passes ahead, not fewest.",
            ((AHEAD, "min(stage, micro_batches)"),),
        ),
        Mistake(
            "GPipe's order",
            "That is GPipe: all forward passes first. 1F1B goes back as soon as it can, so that activations are freed.",
            ((AHEAD, "micro_batches"),
             '    work = [f"F{part}" for part in range(micro_batches)]\n'
             '    return work + [f"B{part}" for part in reversed(range(micro_batches))]'),
        ),
        Mistake(
            "more micro-batches than there are",
            "At the end no forward pass is left: only backward passes remain.",
            (("        if ahead + part < micro_batches:\n            work", "        if True:\n            work"),
             ((AHEAD, "stages - 1 - stage"),)),
        ),
        Mistake(
            "the last gradients are forgotten",
            "Each micro-batch goes forward once and back once: as many B as F.",
            (("for part in range(micro_batches):", "for part in range(micro_batches - ahead):"),),
        ),
        Mistake(
            "backward comes first",
            "After the passes ahead a stage does one forward, then one backward: the gradient it waits for needs "
            "the time.",
            ("""    ahead = min(stages - 1 - stage, micro_batches)
    work = [f"F{part}" for part in range(ahead)]
    for part in range(micro_batches):
        work.append(f"B{part}")
        if ahead + part < micro_batches:
            work.append(f"F{ahead + part}")
    return work""",),
        ),
    ),
)  # fmt: skip

"""Weak and strong efficiency of data-parallel training whose gradients go round a ring."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

# seconds of computing on one rank, bytes, ranks, latency, bytes a second
GIVEN = (
    (0.25, 10**8, 1, 1e-5, 10**9),
    (0.25, 10**8, 2, 1e-5, 10**9),
    (1.0, 4 * 10**8, 4, 0.0, 10**9),
    (0.5, 8 * 10**6, 64, 1e-3, 10**10),
    (0.23, 102_400_000, 256, 6e-6, 6.25 * 10**9),
)
RING = "2 * (ranks - 1) * (latency + nbytes / ranks / bandwidth)"
RETURN = "return computing / (computing + ring)"


def _case(seconds: float, nbytes: float, ranks: int, latency: float, bandwidth: float, strong: bool) -> Case:
    ring = 2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * nbytes / bandwidth
    computing = seconds / ranks if strong else seconds
    name = f"{'strong' if strong else 'weak'}, ranks: {ranks}, {seconds:g} s, {nbytes / 1e6:g} MB, "
    name += f"{1e6 * latency:g} µs, {bandwidth / 1e9:g} GB/s"
    return Case(name, (seconds, nbytes, ranks, latency, bandwidth, strong), expected=computing / (computing + ring))


EXERCISE = Exercise(
    key="ch22.efficiency",
    title="weak and strong scaling over a ring",
    language="python",
    name="efficiency",
    cases=lambda: [_case(*row, strong) for row in GIVEN for strong in (False, True)],
    hints=(
        "Write down two times for a step on n ranks: what it computes, and what the all-reduce takes. Which of the two "
        "differs between weak and strong scaling?",
        "The ring sends 2 (n - 1) messages of nbytes / ranks one after another, and each takes latency + bytes / "
        "bandwidth. In strong scaling a rank computes for seconds / ranks.",
        "Efficiency is computing / (computing + ring): computing is seconds in weak scaling, and seconds / ranks in "
        "strong scaling.",
    ),
    solution=f"""
def efficiency(seconds, nbytes, ranks, latency, bandwidth, strong):
    ring = {RING}
    computing = seconds
    if strong:
        computing = seconds / ranks
    {RETURN}
""",
    why="The gradients have the same size however many samples a rank has, so the all-reduce takes as long in both "
    "kinds of scaling. Only the computing beside it shrinks in strong scaling. Strong efficiency is (T / n) / (T / n + "
    "ring), which is the same as T / (n · (T / n + ring)): the time of one rank over n times that of n ranks.",
    stretch="for which number of ranks does strong scaling give the shortest step, rather than the best efficiency?",
    mistakes=(
        Mistake(
            "half of the ring",
            "An all-reduce is a reduce-scatter and an all-gather: n - 1 messages each.",
            ((RING, RING.replace("2 * ", "")),),
        ),
        Mistake(
            "each message has all bytes",
            "The tensor is cut into as many chunks as there are ranks: a message has nbytes / ranks.",
            (("nbytes / ranks / bandwidth", "nbytes / bandwidth"),),
        ),
        Mistake(
            "nothing is cut, and nothing is shared",
            "Two things are missing. How many bytes does one message of the ring have? And what becomes shorter in "
            "strong scaling, where all ranks share one batch?",
            ((("nbytes / ranks / bandwidth", "nbytes / bandwidth"), ("computing = seconds / ranks", "pass")),),
        ),
        Mistake(
            "one latency",
            "Each of the 2 (n - 1) messages has a latency of its own, one after another.",
            ((RING, "latency + 2 * (ranks - 1) * nbytes / ranks / bandwidth"),
             (RING, "2 * latency + 2 * (ranks - 1) * nbytes / ranks / bandwidth")),
        ),
        Mistake(
            "one message too many",
            "A chunk visits n - 1 other ranks in each half. With one rank nothing is sent.",
            (("(ranks - 1)", "ranks"),),
        ),
        Mistake(
            "strong scaling comes out like weak",
            "In strong scaling a rank has 1 / n of the samples, so it computes for seconds / ranks. It still has a "
            "gradient for each parameter, so the all-reduce takes as long as before.",
            (("computing = seconds / ranks", "computing = seconds"),
             ("computing = seconds / ranks", "computing = seconds / ranks\n        ring = ring / ranks")),
        ),
        Mistake(
            "how many times as fast",
            "An efficiency is the speed of each rank as a share of one rank alone, and at most 1. You have the "
            "speed-up, which is n times as much.",
            ((RETURN, "return ranks * computing / (computing + ring)"),),
        ),
        Mistake(
            "the share of the all-reduce",
            "That is what is lost. Efficiency is the share of the computing.",
            ((RETURN, "return ring / (computing + ring)"),),
        ),
        Mistake(
            "weak and strong are exchanged",
            "In weak scaling each rank keeps its batch, so it computes for `seconds`. In strong scaling all share one.",
            (("if strong", "if not strong"),),
        ),
        Mistake(
            "the ring over the computing",
            "A step lasts as long as computing and all-reduce together: divide by their sum.",
            ((RETURN, "return 1 - ring / computing"),),
        ),
    ),
)  # fmt: skip

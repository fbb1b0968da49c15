"""Which moment of a training to keep: the first whose score cannot be told from the best."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake


def _moments(*rows: tuple[int, float, float, float]) -> list[dict[str, float]]:
    """Of (step, loss of D, loss of G, score) a moment each."""
    return [dict(zip(("step", "D", "G", "score"), row, strict=True)) for row in rows]


RISING = _moments((50, 0.5, 2.5, 1.5), (100, 1.0, 1.25, 4.0), (150, 1.25, 0.75, 5.75), (200, 1.0, 1.0, 6.75))
# name, the moments, how far apart two scores of the same generator may lie
RUNS = (
    ("a single moment", _moments((25, 1.375, 0.75, 2.0)), 0.25),
    ("the last is the best by far", RISING, 0.25),
    ("the second best comes near enough", [*RISING, *_moments((250, 1.125, 1.0, 6.875))], 0.25),
    ("exactly as far off as noise is", [*RISING, *_moments((250, 1.125, 1.0, 7.0))], 0.25),
    ("no noise at all", [*RISING, *_moments((250, 0.75, 1.5, 6.875))], 0.0),
    ("worse from the middle on", [*RISING, *_moments((250, 1.375, 0.6875, 2.5), (300, 1.375, 0.6875, 1.0))], 0.5),
    ("losses at the optimum, and a score near 1", [*_moments((10, 1.375, 0.6875, 1.25)), *RISING], 0.5),
    ("a dip between two good moments", _moments((9, 1.0, 1.0, 6.0), (18, 1.0, 1.0, 4.0), (27, 1.0, 1.0, 6.25)), 0.5),
    ("all within the noise", _moments((70, 1.25, 1.0, 5.0), (140, 1.0, 1.25, 5.5), (210, 1.125, 0.75, 5.25)), 0.5),
)


def _keep(moments: list[dict[str, float]], noise: float) -> int:
    best = max(moment["score"] for moment in moments)
    return next(moment["step"] for moment in moments if moment["score"] >= best - noise)


BEST = 'best = max(moment["score"] for moment in moments)'
FIRST = '    for moment in moments:\n        if moment["score"] >= best - noise:\n            return moment["step"]\n'


def _by(key: str) -> str:
    return f'    return min(moments, key=lambda moment: {key})["step"]\n'


EXERCISE = Exercise(
    key="ch21.keep",
    title="which moment of a training to keep",
    language="python",
    name="keep",
    cases=lambda: [Case(name, tuple(given), expected=_keep(*given)) for name, *given in RUNS],
    hints=(
        "Which of the four numbers of a moment says how good its images are?",
        "Two scores that lie no further apart than the noise cannot be told apart. Find the best score first, and then "
        "the first moment that comes near enough.",
        'best = max(moment["score"] for moment in moments); return the step of the first moment whose score is at '
        "least best - noise.",
    ),
    solution="""
def keep(moments, noise):
    best = max(moment["score"] for moment in moments)
    for moment in moments:
        if moment["score"] >= best - noise:
            return moment["step"]
""",
    why="A score is measured on some hundred samples, so the same generator would get a slightly different one from "
    "other samples. Of moments that cannot be told apart the first is as good a choice as any, and it took the "
    "fewest steps. The losses have no say, because they measure one network against the other.",
    stretch="measure the noise: score one generator ten times with other latents, and take the largest difference.",
    mistakes=(
        Mistake(
            "chosen by the losses",
            "A loss measures one network against the other. What the images are worth, only the score says.",
            ((FIRST, _by('moment["D"]')), (FIRST, _by('moment["G"]')), (FIRST, _by('abs(moment["D"] - 1.386)')),
             (FIRST, _by('abs(moment["D"] - 1.386) + abs(moment["G"] - 0.693)'))),
        ),
        Mistake(
            "the last moment",
            "A GAN may get worse again as it is trained. Look at the scores.",
            ((FIRST, '    return moments[-1]["step"]\n'),),
        ),
        Mistake(
            "the very best score",
            "A score that lies above another by less than the noise is no better. Take the first that comes near.",
            ((" - noise", ""), (FIRST, _by('-moment["score"]'))),
        ),
        Mistake(
            "the last of those that are good enough",
            "Of the moments that cannot be told apart the first one is asked for: it took the fewest steps.",
            (("for moment in moments:\n", "for moment in reversed(moments):\n"),),
        ),
        Mistake(
            "the score in place of the step",
            "The step is asked for: with it you find the moment again.",
            (('return moment["step"]', 'return moment["score"]'), ('return moment["step"]', "return best")),
        ),
        Mistake(
            "the worst moment",
            "The score is better where it is larger: 10 is the most, and 1 the least.",
            ((("max(", "min("), (">= best - noise", "<= best + noise")),),
        ),
        Mistake(
            "further off than the noise",
            "Near enough is at least best - noise: exactly as far off counts, and further off does not.",
            ((">= best - noise", "> best - noise"), (">= best - noise", ">= best - 2 * noise"),
             (">= best - noise", ">= best * (1 - noise)")),
        ),
    ),
)  # fmt: skip

from __future__ import annotations

from helpers.checking.exercise import Case


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


def _keep(moments: list[dict[str, float]], noise: float) -> float:
    best = max(moment["score"] for moment in moments)
    return next(moment["step"] for moment in moments if moment["score"] >= best - noise)


def cases() -> list[Case]:
    return [Case(name, (moments, noise), expected=_keep(moments, noise)) for name, moments, noise in RUNS]

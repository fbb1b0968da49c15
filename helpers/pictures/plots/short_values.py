"""Values of lanes in little room: four characters under a lane, seven in a cell of memory, or in full."""

from __future__ import annotations

from vgpu.tools.steps.recording import At


def tiny(value: object) -> str:
    """A value in at most four characters."""
    if isinstance(value, bool):
        return "T" if value else "F"
    if isinstance(value, At):
        return _narrow(f"+{value.offset}", value.offset)
    if isinstance(value, int):
        return _narrow(str(value), value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return f"{value:g}"
        for digits in (4, 3, 2, 1):
            text = f"{value:.{digits}g}"
            text = text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
            if len(text) <= 4 and "e" not in text:
                return text
        return _narrow(f"{value:.0f}" if abs(value) >= 1 else "~0", value)
    return str(value)[:4]


def _narrow(text: str, value: float) -> str:
    if len(text) <= 4:
        return text
    mantissa, _, exponent = f"{value:.0e}".partition("e")
    text = f"{mantissa}e{int(exponent)}"
    return text if len(text) <= 4 else f"{mantissa[:1]}e{int(exponent)}"[:4]


def short(value: object) -> str:
    """A value in at most seven characters."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return fitted(str(value), 7)
    texts = [str(value)] if isinstance(value, int) else [f"{value:.{digits}g}" for digits in (4, 3)]
    texts += [f"{value:.{digits}e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e") for digits in (2, 1, 0)]
    return next((text for text in texts if len(text) <= 7), fitted(texts[-1], 7))


def exact(value: object) -> str:
    """A value with all digits that a float has."""
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def same(one: object, other: object) -> bool:
    """Whether two values are equal; what is no number equals itself here."""
    return one == other or (one != one and other != other)


def fitted(text: str, most: int) -> str:
    """Text cut to so many characters, with an ellipsis where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"

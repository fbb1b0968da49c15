"""Colours that stand beside one another as categories can be told apart by colour-blind readers; a simulation says so.

The simulation: G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A Physiologically-based Model for Simulation of
Color Vision Deficiency", IEEE TVCG 15(6), 2009, whose matrices of severity 1 apply to linear RGB. The distance is the
Euclidean one in Oklab (B. Ottosson, 2020), of which CSS Color 4 takes 0.02 to be just noticeable; `LEAST` is three
times that. Where colours are nearer, a picture says the category in another way too.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib import colormaps

from helpers.pictures.chapters import ch22
from helpers.pictures.figures import CYCLE, DASHES, MARKERS, PALETTE
from helpers.pictures.plots import issue, precision, ranks, roofline, step_log

LEAST = 0.06
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
LMS = [
    [0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]  # fmt: skip
OKLAB = [
    [0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]  # fmt: skip


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def seen(rgb: np.ndarray, vision: str = "all cones") -> np.ndarray:
    """A colour of linear RGB in Oklab: lightness, green to red, blue to yellow."""
    return OKLAB @ np.cbrt(LMS @ np.clip(VISIONS[vision] @ rgb, 0, 1))


def distance(one: str, other: str) -> float:
    """The least over all kinds of vision."""
    return min(float(np.linalg.norm(seen(linear(one), each) - seen(linear(other), each))) for each in VISIONS)


def named(*names: str) -> list[tuple[str, str]]:
    return list(combinations((PALETTE[name] for name in names), 2))


SIDE_BY_SIDE = {
    "lines and bars": list(combinations(CYCLE, 2)),
    "resources of a step": named(*step_log._COLOURS.values()),
    "bounds of a roofline": named(*(colour for colour, _ in roofline.STATES.values())),
    "what becomes of numbers": named(*precision.FATES.values()),
    "memory of ranks": named(*(colour for colour, _ in ranks.KINDS.values())),
    "parts of a step on many ranks": named(*(colour for colour, _ in ch22.PARTS.values())),
    "lines of source, each beside the next": [(PALETTE[one], PALETTE[other]) for one, other in pairwise(issue._ORDER)],
}


@pytest.mark.parametrize("where", SIDE_BY_SIDE)
def test_colours_side_by_side_can_be_told_apart(where):
    near = {pair: round(apart, 3) for pair in SIDE_BY_SIDE[where] if (apart := distance(*pair)) < LEAST}
    assert not near


def test_the_simulation_sees_what_is_hard_to_tell_apart():
    """Pure red and a green of its lightness are one colour to some readers, and far apart to the others."""
    red, green = "#b00000", "#4f5f00"
    assert np.linalg.norm(seen(linear(red)) - seen(linear(green))) > 3 * LEAST > 3 * distance(red, green)


def test_each_series_has_a_dash_and_a_marker_beside_its_colour():
    assert len(set(MARKERS)) == len(set(map(str, DASHES))) == len(set(CYCLE))


@pytest.mark.parametrize("name", ["viridis", "Blues", "Greys", "gray"])
def test_a_sequence_of_colours_goes_one_way_in_lightness(name):
    """All maps of amounts that the pictures use."""
    shades = colormaps[name](np.linspace(0, 1, 32))[:, :3]
    codes = ["#" + "".join(f"{round(255 * part):02x}" for part in shade) for shade in shades]
    for vision in VISIONS:
        steps = np.diff([seen(linear(code), vision)[0] for code in codes])
        assert (steps > 0).all() or (steps < 0).all(), vision

"""The README's picture is what the project draws today."""

from __future__ import annotations

from helpers import first_light


def test_the_picture_is_up_to_date():
    assert first_light.PICTURE.read_text(encoding="utf-8") == first_light.picture(), (
        "the README's picture is stale: python -m helpers.first_light"
    )


def test_the_picture_states_what_the_warp_moved():
    drawn = first_light.picture()
    for stride, sectors in ((1, 4), (2, 8), (8, 32)):
        assert f"stride {stride}: {sectors} sectors for 1 load request" in drawn

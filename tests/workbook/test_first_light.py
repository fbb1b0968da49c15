"""The pictures of the READMEs are what the project draws today."""

from __future__ import annotations

import re

from helpers.workbook.authoring import first_light, how_it_works


def test_the_picture_is_up_to_date():
    assert first_light.PICTURE.read_text(encoding="utf-8") == first_light.picture(), (
        "the README's picture is stale: python -m helpers.workbook.authoring.first_light"
    )


def test_the_picture_states_what_the_warp_moved():
    drawn = first_light.picture()
    for stride, sectors in ((1, 4), (2, 8), (8, 32)):
        assert f"stride {stride}: {sectors} sectors for 1 load request" in drawn


def test_how_it_works_is_up_to_date():
    assert how_it_works.PICTURE.read_text(encoding="utf-8") == how_it_works.picture(), (
        "the picture is stale: python -m helpers.workbook.authoring.first_light"
    )


def test_how_it_works_has_divergent_lanes_and_no_text_on_text():
    drawn = how_it_works.picture()
    assert "Line 5 has 4 columns: 4 instructions. They have 68 cells: 68 / 4 = 17 active lanes" in drawn
    texts = re.findall(
        r'<text x="([\d.]+)" y="([\d.]+)" font-size="([\d.]+)"[^>]*text-anchor="(\w+)"[^>]*>([^<]*)<', drawn
    )
    assert len(texts) > 60
    boxes = []
    for x, y, size, anchor, text in ((float(x), float(y), float(s), a, t) for x, y, s, a, t in texts):
        wide = 0.6 * size * len(text.replace("&lt;", "<").replace("&quot;", '"'))
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        boxes.append((left, y - 0.8 * size, left + wide, y, text))
        assert left >= 0 and left + wide <= how_it_works.WIDTH, text
    for number, (left, top, right, bottom, text) in enumerate(boxes):
        for other in boxes[:number]:
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
            assert apart, (text, other[4])

"""One segment after each request: the picture of an allocator of a few lines."""

import pytest

from helpers.pictures.plots import segment_rows


def test_the_end_and_what_was_refused_are_told():
    blocks = [{"size": 512, "owner": None}, {"size": 1024, "owner": "b"}, {"size": 2048, "owner": None}]
    picture = segment_rows({"at first": [{"size": 3584, "owner": None}], "c": blocks}, refused={"c": 2560})
    assert picture.finding == (
        "In the end, after “c”, the segment holds b 1,024 and has 2,560 bytes free, of which the largest piece has "
        "2,048; “c” wanted 2,560 bytes in one piece and failed."
    )
    assert "2,560 wanted" in picture.svg and "b: 1,024" in picture.svg


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="one to 20 moments"):
        segment_rows({})
    with pytest.raises(ValueError, match="no bytes"):
        segment_rows({"at first": []})

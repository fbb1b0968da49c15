import numpy as np
import pytest

from helpers.data import glyphs


def test_the_same_arguments_give_the_same_images_and_another_seed_gives_others():
    pixels, labels = glyphs.images(50, 3)
    again, labels_again = glyphs.images(50, 3)
    assert pixels.shape == (50, 28, 28) and pixels.dtype == np.float32
    assert labels.dtype == np.int64 and set(labels) <= set(range(10))
    assert np.array_equal(pixels, again) and np.array_equal(labels, labels_again)
    assert not np.array_equal(pixels, glyphs.images(50, 4)[0])


def test_the_labels_can_be_chosen_and_say_what_is_drawn():
    pixels, labels = glyphs.images(2, 0, symbols="IO", labels=np.array([0, 1]), look=glyphs.PLAIN)
    assert labels.tolist() == [0, 1]
    middle = pixels[:, 12:16, 12:16].mean((1, 2))
    assert middle[0] > 0.3 and middle[1] < 0.05  # an I is drawn through the middle, an O around it


def test_an_upright_symbol_in_the_middle_is_as_tall_as_its_look_says():
    pixels, _ = glyphs.images(20, 0, symbols="H", look=glyphs.PLAIN)
    rows = np.any(pixels > 0.5, axis=2)
    assert set(rows.sum(1)) <= {18, 19, 20, 21}
    assert np.all(np.abs(rows.argmax(1) - rows[:, ::-1].argmax(1)) <= 1)


@pytest.mark.parametrize("edge", [14, 32])
def test_an_image_of_another_size_shows_the_same_at_another_scale(edge):
    pixels, _ = glyphs.images(5, 0, edge=edge, symbols="H", look=glyphs.PLAIN)
    assert pixels.shape == (5, edge, edge)
    assert np.allclose(np.any(pixels > 0.5, axis=2).sum(1) / edge, 19.5 / 28, atol=0.08)


def test_held_out_shapes_are_never_drawn_without_being_asked_for():
    known, held_out = (glyphs._shapes("7", "both", which).distances for which in (False, True))
    assert len(known) > 3 * len(held_out) > 0
    assert not any(np.array_equal(one, other) for one in known for other in held_out)


def test_each_disturbance_changes_the_image_and_negative_exchanges_dark_and_bright():
    plain, _ = glyphs.images(40, 0, look=glyphs.PLAIN)
    for change in ({"shift": 3.0}, {"rotation": 20.0}, {"shear": 0.3}, {"clutter": 1}, {"light": 0.3}, {"noise": 0.1}):
        assert np.abs(glyphs.images(40, 0, look=glyphs.PLAIN, **change)[0] - plain).max() > 0.2, change
    both, _ = glyphs.images(40, 0, look=glyphs.PLAIN, negative=True)
    dark = np.median(both, axis=(1, 2)) < 0.5
    assert 8 < dark.sum() < 32


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"source": "paint"}, "fonts, scans, both"),
        ({"source": "scans", "symbols": "AB"}, "digits only"),
        ({"symbols": "\U0001f600"}, "no symbol"),
        ({"labels": np.array([0, 10, 0])}, "0 to 9"),
        ({"labels": np.array([0, 1])}, "3 whole numbers"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        glyphs.images(3, 0, **arguments)


def test_no_image_is_an_empty_array():
    pixels, labels = glyphs.images(0, 0)
    assert pixels.shape == (0, 28, 28) and labels.shape == (0,)

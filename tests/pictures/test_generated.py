"""Pictures of what generators make: their sentences, for images and points worked out by hand."""

import numpy as np
import pytest

from helpers import plots
from helpers.pictures import figures

CORNERS = np.array([(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)])


def test_rows_of_images_say_how_much_their_images_differ():
    same, halves = np.ones((4, 3, 3)), np.stack([np.zeros((3, 3)), np.ones((3, 3))])[:, None]
    picture = plots.image_rows({"same": same, "halves": halves})
    assert picture.finding.endswith("— same: 4 images, 0.00; halves: 2 images, 0.50.")
    assert "<image" in figures.svg(picture.figure)


@pytest.mark.parametrize("shape", [(8, 8), (2, 3, 8, 8), (0, 8, 8)])
def test_what_is_no_batch_of_grey_images_is_refused(shape):
    with pytest.raises(ValueError, match="images are"):
        plots.image_rows({"given": np.zeros(shape)})


def test_a_mode_is_reached_by_a_share_of_the_points_that_are_near():
    points = np.vstack([np.repeat(CORNERS[:1], 99, axis=0), CORNERS[1:2] + 0.05])
    clouds = {"all but one": points, "none": np.zeros((5, 2)), "every": CORNERS}
    said = plots.point_clouds(clouds, CORNERS, reach=0.1).finding
    assert said == "Of 4 modes reached — all but one: 2; none: 0; every: 4 (1 % of the points within 0.1)."


def test_many_points_stay_within_the_largest_picture():
    cloud = np.random.default_rng(0).normal(size=(5000, 2))
    picture = plots.point_clouds({str(n): cloud for n in range(7)}, CORNERS, reach=0.1)
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_a_walk_says_its_largest_step():
    walk = np.stack([np.full((2, 2), value) for value in (0.0, 0.25, 1.0)])
    said = plots.walk_frame(walk, 1, verdict="a seven").finding
    assert said.startswith("The walk's step 1 of 2: a seven.")
    assert "changes by 0.75 at most" in said and "end to end by 1.00" in said


def test_a_moment_says_losses_and_score():
    said = plots.training_moment(
        np.zeros((4, 2, 2)), 0, [10, 20], {"D": [1.5, 1.0], "G": [0.5, 2.0]}, [2.0, 7.25]
    ).finding
    assert said == "Step 10: losses D 1.50, G 0.50; score 2.00, which ends at 7.25."


def test_the_legend_of_a_moment_stays_where_no_curve_is():
    curves = {"D": [0.2, 0.3, 0.9, 1.0], "G": [3.0, 2.0, 1.1, 1.0]}

    def place(at):
        figure = plots.training_moment(np.zeros((4, 2, 2)), at, [10, 20, 30, 40], curves, [1.0, 2.0, 3.0, 4.0]).figure
        figure.draw_without_rendering()
        where = figure.axes[1]
        return where.transAxes.inverted().transform(where.get_legend().get_window_extent()).round(2).tolist()

    ((left, low), (right, high)) = place(0)
    assert left > 0.4 and low > 0.5 and right <= 1 and high <= 1
    assert place(3) == place(0)

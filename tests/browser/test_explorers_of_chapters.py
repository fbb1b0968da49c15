"""Chapters as a learner meets them: every explorer moved by keyboard, nothing cut off on a small screen.

Chapters whose explorers want more than keys on sliders have a file of their own.
"""

from __future__ import annotations

import pytest

from tests.browser import axe
from tests.browser.explorers import NOTEBOOKS

pytestmark = pytest.mark.slow

RIGHT, LEFT, HOME = "ARROW_RIGHT", "ARROW_LEFT", "HOME"
# by chapter: slider, key, what the figure's label begins with before and after one press
MOVES = {
    "00": (("launches", RIGHT, "1 launch: a clock", "2 launches: a clock"),),
    "02": (
        ("columns (x)", RIGHT, "6 blocks of 64 threads (12 warps) over 11 × 20",
         "6 blocks of 64 threads (12 warps) over 11 × 21"),
    ),
    "03": (
        ("version", RIGHT, "`table` of in_global lives in global", "`table` of in_shared lives in global"),
        ("variable", HOME, "`table` of in_shared lives in global", "`codes` of in_shared lives in global"),
        ("GPU", RIGHT, "V100: of the memories on chip registers are", "A100: of the memories on chip L2 is"),
        ("cache, KiB", RIGHT, "A cache of 4 KiB (modelled): whole, 5 KiB: 0 of 640 sectors",
         "A cache of 8 KiB (modelled): whole, 5 KiB: 480 of 640 sectors"),
    ),
    "05": (
        ("stride", RIGHT, "stride 1: 1 wavefront", "stride 2: 2 wavefronts"),
        ("version", RIGHT, "plain: 32 wavefronts", "padded: 1 wavefront"),
        ("request", RIGHT, "padded: 1 wavefront for 1 shared load", "padded: 1 wavefront for 1 shared store"),
        ("tile", RIGHT, "tile 4: sectors bring 8,192 KiB", "tile 8: sectors bring 2,048 KiB"),
    ),
    "07": (
        ("threads", LEFT, "2 pairs, step 7 of 7: an atomic", "2 pairs, step 6 of 6: an atomic"),
        ("elements", RIGHT, "Hillis–Steele, step 4 of 4 adds 8 times", "Hillis–Steele, step 4 of 5 adds 24 times"),
    ),
    "09": (
        ("block size", RIGHT, "32 classes, 48 registers a thread (compiler): an SM of A100 holds 5 blocks of 256",
         "32 classes, 48 registers a thread (compiler): an SM of A100 holds 4 blocks of 320"),
        ("registers", RIGHT, "32 classes, 48 registers a thread (compiler)",
         "32 classes, 16 registers a thread (by hand)"),
        ("warps", RIGHT, "late: with 4 warps", "late: with 5 warps"),
        ("blocks", RIGHT, "541 blocks on A100", "542 blocks on A100"),
    ),
    "15": (
        ("power of two", RIGHT, "From 0 to 2 E4M3 has 65 values", "From 0 to 4 E4M3 has 73 values"),
        ("zoom", RIGHT, "From 0 to 4 E4M3 has 73 values", "From 1 to 3 E4M3 has 13 values"),
    ),
    "16": (
        ("stages", RIGHT, "2 stages: for 57% of the time", "3 stages: for 44% of the time"),
        ("compute", RIGHT, "3 stages: for 44% of the time", "3 stages: for 25% of the time"),
    ),
    "17": (
        ("step", RIGHT, "Step 10 of 16: queries 16 to 23, keys 8 to 15",
         "Step 11 of 16: queries 16 to 23, keys 16 to 23"),
        ("queries a tile", RIGHT, "Step 11 of 16: queries 16 to 23", "Step 8 of 8: queries 16 to 31"),
    ),
    "20": (
        ("steps", RIGHT, "Separate kernels: 104 launches", "Separate kernels: 208 launches"),
        ("rotation: radius", HOME, "The gradient's norm 79 steps back, as a share: rotation, radius 0.9",
         "The gradient's norm 79 steps back, as a share: rotation, radius 0.5"),
    ),
    "18": (
        ("batch", RIGHT, "batch 4, tokens 96, layers 4, steps 2: the peak of",
         "batch 8, tokens 96, layers 4, steps 2: the peak of"),
        ("capacity", RIGHT, "After step 2701 (2701 = 11 MiB)", "After step 4441 ("),
    ),
    "19": (("kernel", RIGHT, "3×3 padding 1 over 8 × 8 pixels", "4×4 padding 1 over 8 × 8 pixels"),),
    "19b": (
        ("image", RIGHT, "Layer 1 ReLU makes 6 maps of 28 × 28 of image 0",
         "Layer 1 ReLU makes 6 maps of 28 × 28 of image 1"),
        ("layers", RIGHT, "VGG, 5 layers: an output sees", "VGG, 6 layers: an output sees"),
        ("batch", RIGHT, "A100, FP32, batch 1:", "A100, FP32, batch 2:"),
    ),
    "13c": (
        ("index", RIGHT, "swizzled: 8 × 8 coordinates on places 0 to 63, each used once. Index 0",
         "swizzled: 8 × 8 coordinates on places 0 to 63, each used once. Index 1"),
    ),
    "14": (
        ("rows", RIGHT, "9 operations in 3 kernels move 117 MB", "9 operations in 3 kernels move 1.88 GB"),
    ),
    "21b": (
        ("step", RIGHT, "The walk's step 9 of 20: judged as ", "The walk's step 10 of 20: judged as "),
        ("moment", LEFT, "Step 2,800: losses D ", "Step 2,600: losses D "),
    ),
    "22": (
        ("step", RIGHT, "all-reduce, ring, after step 3 of 6", "all-reduce, ring, after step 4 of 6"),
        ("parameters", LEFT, "7 billion parameters on 8 ranks", "1.3 billion parameters on 8 ranks"),
        ("micro-batches", RIGHT, "GPipe, 4 stages, 4 micro-batches", "GPipe, 4 stages, 5 micro-batches"),
        ("overlap", RIGHT, "Modelled efficiency at 4,096 ranks: weak, ring 67%",
         "Modelled efficiency at 4,096 ranks: weak, ring 81%"),
    ),
}  # fmt: skip


SHARED = (__file__, "helpers/pictures/widgets/explorer.py", "helpers/pictures/widgets/controls.py")


def walk(number: str):
    """A chapter's walk, taken where the chapter or what all explorers share has changed, else now and then."""
    return pytest.param(number, marks=pytest.mark.rotating(*NOTEBOOKS.glob(f"{number}_*.ipynb"), *SHARED))


@pytest.mark.parametrize("number", [walk(number) for number in MOVES])
def test_the_arrow_keys_move_every_explorer(chapter, number):
    from selenium.webdriver.common.keys import Keys

    page = chapter(number)
    for name, key, before, after in MOVES[number]:
        page.slider(name)

        def shown(start: str) -> list[str]:
            return [picture for label, picture in page.figures() if label.startswith(start)]

        (old,) = page.wait(before, lambda start=before: shown(start))
        page.press(name, getattr(Keys, key))
        (new,) = page.wait(after, lambda start=after: shown(start))
        assert new != old and "<svg" in new, f"{name}: the label changed and its picture did not"
    page.wait_idle()
    page.screenshot(page.folder / "after.png")
    assert page.errors() == []
    assert page.cut() == []
    for theme in (False, True):
        page.dark(theme)
        assert axe.serious(page.browser, ".jp-OutputArea") == []

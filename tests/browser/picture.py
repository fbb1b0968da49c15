"""The README's picture of JupyterLab, of chapter 04: `python -m tests.browser.picture` takes it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image
from selenium.webdriver.common.keys import Keys

from tests.browser.explorers import NOTEBOOKS
from tests.browser.lab import Lab
from tests.browser.started import Browser, serving

PICTURE = NOTEBOOKS / "images" / "jupyterlab.png"
CHAPTER, STRIDE = "04_coalescing.ipynb", 3
SIZE = (1200, 800)
COLOURS = 96  # enough for text and diagrams, at a third of the bytes
PLACE = "document.querySelector('.widget-slider').closest('.jp-Cell').previousElementSibling"


def photograph(folder: Path) -> Image.Image:
    """The chapter as a learner sees it, its explorer moved."""
    for name in ("chromium", "jupyterlab"):
        (folder / name).mkdir()
    browser = Browser(folder / "chromium")
    with serving(folder / "jupyterlab") as server:
        page = Lab(NOTEBOOKS, folder, server, browser.as_new())
        try:
            page.resize(*SIZE)
            page.open(CHAPTER)
            page.run_all()
            page.press("stride", *[Keys.ARROW_RIGHT] * (STRIDE - 1))
            moved = f"{4 * STRIDE} sectors for 1 load request"
            page.wait("the picture to follow", lambda: any(moved in label for label, _ in page.figures()))
            page.wait_idle()
            page.script(f"{PLACE}.scrollIntoView({{block: 'start'}})")
            return Image.open(page.screenshot(folder / "page.png")).convert("RGB")
        finally:
            page.close()
            browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        picture = photograph(Path(folder))
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
    print(f"{PICTURE.name}: {picture.width} × {picture.height}, {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()

"""An image and its im2col matrix: which columns a tile takes, and which pixels they hold."""

from __future__ import annotations

from helpers.models.windows import Window
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.plots.convolution import checked_image, im2col_map
from helpers.pictures.widgets.controls import choice, slider
from helpers.pictures.widgets.explorer import Explorer

TILES = (1, 2, 4, 8, 16, 32)
MOST_KERNEL = 7


def im2col(image, *, kernel: int = 3, stride: int = 1, padding: int = 0, dilation: int = 1, tile: int = 8) -> Explorer:
    """Sliders for kernel, stride, padding, dilation and a tile of outputs, over an image and its im2col matrix.

    image: a square array, such as one of `load_digits().images`. The rest is what to begin with. ValueError for an
    image that is no square, and for a window that does not fit it.
    """
    size = len(checked_image(image))
    Window(kernel, stride, padding, dilation).outputs(size)

    def draw(kernel: int, stride: int, padding: int, dilation: int, tile: int, number: int) -> Picture:
        return im2col_map(image, Window(kernel, stride, padding, dilation), tile, number)

    controls = {
        "kernel": slider("kernel", kernel, 1, min(MOST_KERNEL, size)),
        "stride": slider("stride", stride, 1, 4),
        "padding": slider("padding", padding, 0, 3),
        "dilation": slider("dilation", dilation, 1, 3),
        "tile": choice("outputs a tile", tile, TILES),
        "number": slider("tile number", 0, 0, size * size - 1),
    }

    def fit() -> None:
        """As many tiles as the outputs fill, where the window fits at all."""
        now = {name: control.value for name, control in controls.items()}
        window = Window(now["kernel"], now["stride"], now["padding"], now["dilation"])
        if window.span <= size + 2 * window.padding:
            columns = window.outputs(size) ** 2
            controls["number"].max = (columns + now["tile"] - 1) // now["tile"] - 1

    return Explorer("im2col", draw, controls, fit=fit, height=card_height(caption_lines=3))

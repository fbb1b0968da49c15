"""The pictures of the READMEs, made as everything here is: by running kernels.

`python -m helpers.workbook.authoring.first_light` renews them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PICTURE = ROOT / "notebooks" / "images" / "first_light.svg"
STRIDES = (1, 2, 8)
COPY = """
extern "C" __global__ void copy(const float* source, float* target, int stride) {
    int i = threadIdx.x;
    target[i] = source[i * stride];
}
"""
_CARD = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
_TITLE = '<text x="12" y="{y}" font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="12" font-weight="bold">'


def picture() -> str:
    """SVG text: the sectors that one warp loads at three strides, traced on the virtual GPU, one below another."""
    import numpy as np

    from helpers.pictures import plots
    from helpers.pictures.figures import show
    from helpers.results.steps.trace import trace
    from helpers.vgpu.standins import cupy as cp

    copy = cp.RawKernel(COPY, "copy")
    source, target = cp.zeros(32 * max(STRIDES), "float32"), cp.zeros(32, "float32")
    parts, top, widest = [], 6, 0
    for number, stride in enumerate(STRIDES):
        load = trace(copy, 1, 32, (source, target, np.int32(stride))).accesses[0]
        drawn = plots.sector_map(load)
        svg = show(drawn).image
        box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
        width, height = float(box[1]), float(box[2])
        # Pictures on one page must not share ids: a clip path of one would cut the other.
        svg = re.sub(r'\b(id="|url\(#|href="#)', rf"\1p{number}-", svg[svg.index("<svg") :])
        svg = re.sub(r'width="[^"]*" height="[^"]*"|height="[^"]*" width="[^"]*"', "", svg, count=1)
        title = f"stride {stride}: {drawn.finding.rstrip('.')}"
        parts.append(_TITLE.format(y=top + 14) + title + "</text>")
        parts.append(svg.replace("<svg ", f'<svg x="0" y="{top + 24:g}" width="{width:g}" height="{height:g}" ', 1))
        top, widest = top + 24 + height + 12, max(widest, width)
    head = _CARD.format(width=f"{widest:g}", height=f"{top:g}")
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>", ""])


def main() -> int:
    from helpers.workbook.authoring import how_it_works

    for path, draw in ((PICTURE, picture), (how_it_works.PICTURE, how_it_works.picture)):
        path.parent.mkdir(exist_ok=True)
        path.write_text(draw(), encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

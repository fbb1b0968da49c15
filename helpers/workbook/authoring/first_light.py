"""The pictures of the READMEs, made as everything here is: by running kernels.

`python -m helpers.workbook.authoring.first_light` renews them.
"""

from __future__ import annotations

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


def picture() -> str:
    """SVG text: the sectors that one warp loads at three strides, traced on the virtual GPU, one below another."""
    import numpy as np

    from helpers.pictures import plots
    from helpers.pictures.figures import Shown, show
    from vgpu.standins import cupy as cp
    from vgpu.tools.steps.trace import trace

    copy = cp.RawKernel(COPY, "copy")
    source, target = cp.zeros(32 * max(STRIDES), "float32"), cp.zeros(32, "float32")
    loads = {
        f"stride {stride}": trace(copy, 1, 32, (source, target, np.int32(stride))).accesses[0] for stride in STRIDES
    }
    shown = show(plots.sector_panels(loads))
    assert isinstance(shown, Shown)
    svg = shown.image
    return svg[svg.index("<svg") :].replace(">", '><rect width="100%" height="100%" fill="white"/>', 1)


def main() -> int:
    from helpers.workbook.authoring import how_it_works

    for path, draw in ((PICTURE, picture), (how_it_works.PICTURE, how_it_works.picture)):
        path.parent.mkdir(exist_ok=True)
        path.write_text(draw(), encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

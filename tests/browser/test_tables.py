"""Tables of source lines on a page: as wide as the page at most, with nothing of the source cut."""

from __future__ import annotations

import pytest

from tests.workbook.made import code, text, written

pytestmark = pytest.mark.slow

LONG = "    values[threadIdx.x] = inside ? first[blockIdx.x * blockDim.x + threadIdx.x] * scale : 0.0f;  // a guard"
SOURCE = f'''
import numpy as np
from helpers import cp, profile, sanitize
long = cp.RawKernel(r"""
extern "C" __global__ void widest(const float* first, float* out, float* sum, float scale, int n) {{
    __shared__ float values[128];
    bool inside = blockIdx.x * blockDim.x + threadIdx.x < n;
{LONG}
    if (inside) out[blockIdx.x * blockDim.x + threadIdx.x] = sqrtf(values[threadIdx.x ^ 1]);
    atomicAdd(sum, values[0]);
}}
""", "widest")
first, out, total = cp.ones(512, dtype="float32"), cp.zeros(512, dtype="float32"), cp.zeros(1, dtype="float32")
arguments = (first, out, total, np.float32(2), np.int32(512))
display(profile(long, 4, 128, arguments))
sanitize(long, 4, 128, arguments)
'''
TABLES = """
return [...document.querySelectorAll('.jp-OutputArea-output table')].map(table => {
    const box = table.parentElement, output = table.closest('.jp-OutputArea-output');
    const lines = [...table.querySelectorAll('code')].filter(code => code.style.display === 'block');
    return {table: table.offsetWidth, box: box.clientWidth, within: box.scrollWidth, output: output.clientWidth,
            needs: output.scrollWidth, cut: lines.filter(line => line.scrollWidth > line.clientWidth).length,
            lines: lines.map(line => line.textContent)};
})
"""


def test_a_table_keeps_to_its_page_and_cuts_no_line(lab, tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    written(folder, text("# Wide"), code(SOURCE.strip()), name="wide.ipynb")
    page = lab(folder)
    page.resize(1280, 768)
    page.open("wide.ipynb")
    page.run_all()
    assert page.errors() == []
    for width, fits in ((1280, True), (560, False)):
        page.resize(width, 768)
        page.wait("the page's new width", lambda width=width: page.script("return window.innerWidth") == width)
        found = page.script(TABLES)
        assert len(found) == 2
        for each in found:
            assert LONG in each["lines"] or LONG.strip() in each["lines"]
            assert each["cut"] == 0
            assert each["needs"] == each["output"], "the whole output scrolls, with what stands above and below"
            assert each["table"] <= each["within"]
        assert fits == (found[0]["table"] <= found[0]["box"]), "on a very narrow page the table scrolls in its box"

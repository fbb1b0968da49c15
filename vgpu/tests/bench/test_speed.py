"""The benchmark's page, and the peaks that it compares kernels with."""

import json
import math

from vgpu.bench import page, pages, peaks
from vgpu.bench.kernels import WORKLOADS


def test_the_page_shows_the_figures_that_are_kept():
    report = json.loads(page.DATA.read_text(encoding="utf-8"))
    assert page.PAGE.read_text(encoding="utf-8") == page.markdown(report)
    assert [row["kernel"] for row in report["kernels"]] == list(WORKLOADS)


def test_what_pages_share(monkeypatch):
    monkeypatch.setattr(pages, "PACKAGES", ("numpy", "not-there"))
    monkeypatch.setenv("VGPU_CPU", "haswell")
    found = pages.made()
    assert list(found) == ["day", "processor", "cores", "Python", "numpy"] and found["processor"] == "haswell (chosen)"
    assert pages.made_with({"day": "today", "cores": "2"}) == "Made with: day today, cores 2."
    assert pages.table(["a", "b"], [["x|y", "1\n2"]]) == "| a | b |\n| --- | --- |\n| x\\|y | 1 2 |"
    assert pages.table(["a", "b"], [], numbers=True) == "| a | b |\n| --- | ---: |"


def test_peaks_count_what_runs():
    calls = []

    def one_second(call):
        calls.append(call())
        return 1.0

    assert peaks.bytes_per_second(1 << 20, one_second) == 1 << 20
    assert peaks.lane_operations_per_second(one_second) == peaks.WIDTH * peaks.CHAINS * peaks.TURNS
    assert math.isclose(calls[-1], peaks.CHAINS)  # each chain tends to x = x / 2 + 1 / 2, which is 1

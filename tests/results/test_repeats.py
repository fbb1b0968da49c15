import json

import nbformat
import numpy as np
import pytest

from helpers.results import repeats
from helpers.workbook import repeat

CELLS = [
    "from helpers import repeats\nimport numpy as np",
    "score = 10.0 + repeats.seed\nlong = repeats.choose(page=1, full=100)",
    'repeats.note("t", "net", score=score, parameters=1234, how="Adam")\nrepeats.note("t", "net", steps=long)',
    'repeats.note("t", "linear", score=np.float32(5))\nrepeats.keep("samples", np.full(3, repeats.seed + 7, np.uint8))',
]


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    path = tmp_path / "notebooks" / "77b_x.ipynb"
    path.parent.mkdir()
    nbformat.write(page, path)
    monkeypatch.setattr(repeats, "FOLDER", tmp_path / "kept")
    monkeypatch.setattr(repeats, "_noted", {})
    repeats._stored.cache_clear()
    yield path
    repeats._stored.cache_clear()


@pytest.mark.slow
def test_a_chapter_repeated_shows_median_and_spread(chapter):
    said = repeat.repeat(chapter, seeds=3, into=repeats.FOLDER)
    assert said.endswith("77b.json: 3 seeds")
    stored = json.loads((repeats.FOLDER / "77b.json").read_text(encoding="utf-8"))
    assert stored["command"] == "warpbook repeat 77b --seeds 3" and list(stored["seeds"]) == ["0", "1", "2"]
    table = repeats.table("77b", "t")
    assert table.rows["net"] == {
        "score": [10, 11, 12],
        "parameters": [1234] * 3,
        "how": ["Adam"] * 3,
        "steps": [100] * 3,
    }
    assert table.median("net", "score") == 11
    assert "11 (10–12)" in repr(table) and "1,234" in repr(table) and "warpbook repeat 77b" in repr(table)
    assert "this run" not in repr(table)
    repeats.note("t", "net", score=10.25)
    lines = repr(repeats.table("77b", "t")).splitlines()
    assert lines[0].endswith("score, this run") and lines[1].endswith("10.2")
    assert repeats.kept("77b", "samples").tolist() == [7, 7, 7]
    assert "<th scope" in table._repr_html_() and "(10–12)</span>" in table._repr_html_()


@pytest.mark.slow
def test_a_page_that_notes_nothing_is_refused_and_nothing_is_lost(chapter):
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), chapter)
    with pytest.raises(ValueError, match=r"no call of repeats\.note"):
        repeat.repeat(chapter, seeds=1, into=repeats.FOLDER)
    assert not repeats.FOLDER.exists()


def test_on_a_page_the_seed_is_0_and_the_short_training_is_chosen(chapter):
    assert repeats.seed == 0 and repeats.choose(page=1, full=100) == 1
    repeats.keep("samples", np.zeros(1))
    assert not repeats.FOLDER.exists()


def test_a_table_that_is_not_kept_is_refused_with_those_that_are(chapter):
    repeats.FOLDER.mkdir()
    stored = {"seeds": {"0": {"zoo": {"a": {"score": 1}}}}, "processor": "x", "torch": "2", "date": "today"}
    (repeats.FOLDER / "77b.json").write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(KeyError, match="zoo"):
        repeats.table("77b", "depth")
    assert repeats.table("77b", "zoo").rows == {"a": {"score": [1]}}
    assert repeats.table("77b", "zoo").about.startswith("one seed, measured on x")

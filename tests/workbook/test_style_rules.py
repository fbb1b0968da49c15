"""Each rule of notebook style, on a made-up chapter that breaks it and it alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_output

from helpers.workbook import style
from tests.workbook.made import code, notebook, text

NAMES = ("00_before.ipynb", "01_made.ipynb", "02_after.ipynb")
WAY = "[Contents](README.md) · previous: [one](00_before.ipynb) · next: [two](02_after.ipynb)"
WAY += " · [glossary](glossary.md)"
OPENING = (
    """# A chapter

**Goals**

- to see

**You need** chapter 00. **Takes** 25 minutes.

"""
    + WAY
)
CLOSING = f"## Exercises\n\none\n\n## Summary\n\ntwo\n\n## Links\n\n{WAY}"
GLOSSARY = """# Glossary

[Contents](README.md) [B](#b) [W](#w)

## b

### bank conflict

Text.

### branch

Text.

## w

### warp

*also: WRP, thirty-two*

Text.
"""
WORDS = "word " * 210
ASK = 'predict("How many?", [1, 2], key="a")'
DRAWN = new_output("execute_result", {"text/plain": "5"})
DIAGNOSED = new_output("execute_result", {"text/plain": "✗ a sum: not yet — no guard.\n  ✗ 1 element"})
LONG = "\n".join(["x = 1"] * 71)


def chapter() -> list:
    """A chapter that keeps every rule."""
    cells = [text(OPENING), code("import math")]
    cells += [
        text("## One\n\nWhat will it be?", "predict"),
        code("1 + 1", "run"),
        text("It is two.", "explain"),
    ]
    for number in range(8):
        cells += [text(f"## Part {number}"), code(f"x = {number}\nx + 1")]
    return [*cells, text(CLOSING)]


def page(cells, name="01_made.ipynb", folder=Path("nowhere"), change=lambda made: None) -> style.Page:
    made = notebook(*cells)
    change(made)
    return style.Page(name, made, folder, NAMES)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for name in ("README.md", *NAMES):
        (folder / name).touch()
    (folder / "glossary.md").write_text(GLOSSARY, encoding="utf-8")
    return folder


def test_a_chapter_that_keeps_every_rule(folder):
    assert style.examine(page(chapter(), folder=folder)) == []


def swap(number, *cells):
    """The good chapter with the cell of that number (from 1) replaced."""
    return lambda good: [*good[: number - 1], *cells, *good[number:]]


def add(*cells):
    return lambda good: [*good[:-1], *cells, good[-1]]


def revealed(
    source: str, *tags: str, html: str = "<details>The answer is 2.</details>", plain: str = "The answer is 2. So."
):
    """A cell that reveals an answer, with its tags and what it has stored."""
    return code(source, *tags, outputs=[new_output("display_data", {"text/html": html, "text/plain": plain})])


def drawn(good, count):
    """The good chapter with helpers in so many of its code cells, where the kernel was."""
    seen = [number for number, cell in enumerate(good) if cell.cell_type == "code"][-count:]
    cells = [
        code("show(plots.moves(x))\ny = profile(x)\nx + 1") if at in seen else cell for at, cell in enumerate(good)
    ]
    cells[1] = code("from helpers import cp, cuda, plots, profile, show")
    return cells


def test_half_of_the_code_cells_may_be_helpers(folder):
    assert style.examine(page(drawn(chapter(), 4), folder=folder)) == []


# rule, what is done to the good chapter, what the message must say
BROKEN = (
    ("length", lambda good: [*good[:7], good[-1]], "8 cells"),
    ("one title", swap(6, text("# Again")), "`## ` heading"),
    ("one title", swap(1, text(OPENING.replace("# A", "## A"))), "open with the title"),
    ("opening", swap(1, text(OPENING.replace("25 minutes", "an hour"))), "minutes"),
    ("opening", swap(1, text(OPENING.replace("Goals", "Aims"))), "goals"),
    ("opening", swap(1, text(OPENING.replace("You need", "After"))), "needs"),
    ("opening", swap(1, text(OPENING.replace("- to see", "- a\n- b\n- c\n- d\n- e"))), "5 goals"),
    ("closing", swap(22, text(CLOSING.replace("Summary", "End"))), "summary"),
    ("closing", swap(22, text(CLOSING.replace("Exercises", "Work"))), "exercises"),
    ("closing", swap(22, text(CLOSING.replace("Links", "More"))), "links"),
    ("imports first", swap(2, code("import math\nx = 1")), "imports only"),
    ("imports first", swap(2, code("%matplotlib inline")), "imports only"),
    ("short cells", swap(7, code(LONG)), "71 lines"),
    ("plain code", lambda good: drawn(good, 5), "4 of 9 code cells"),
    ("rhythm", add(code("1"), code("2"), code("3")), "4 code cells in a row"),
    ("prose in a row", swap(6, text(WORDS)), "words without code"),
    ("prose in a row", add(text("word " * 110), text("word " * 110)), "words without code"),
    ("predict, run, explain", swap(5, text("It is two.")), "`explain`"),
    (
        "predict, run, explain",
        swap(4, code("1 + 1"), text("?", "predict"), code("2", "run")),
        "before the next one",
    ),
    ("predict, run, explain", add(text("What next?", "predict")), "tagged `run`"),
    ("unspoiled", add(revealed('reveal("a", 2)'), text("## On")), "predictions.toml"),
    ("unspoiled", add(revealed('reveal("a", n, "Since it is so.")'), text("## On")), "predictions.toml"),
    ("unspoiled", add(revealed('reveal("a")', html="<b>2</b>"), text("## On")), "isn't folded"),
    ("unspoiled", add(revealed('reveal("a")'), text("So it is.")), "<summary>Discussion"),
    (
        "unspoiled",
        add(revealed('reveal("a")'), text("<details>So.</details>\n\nIt is 2.")),
        "the answer, '2', stands in",
    ),
    (
        "unspoiled",
        add(code(ASK, "predict"), text("It is 2."), revealed('reveal("a")', "run", "explain"), text("## On")),
        "the answer, '2', stands between",
    ),
    (
        "unspoiled",
        add(revealed('reveal("a")'), code("x", outputs=[DRAWN]), text("<details>So.</details>")),
        "comes before the discussion",
    ),
    (
        "unspoiled",
        add(
            revealed('reveal("a")', plain="The answer is 582. So."),
            text("<details>So.</details>"),
            code("warps", outputs=[new_output("stream", text="blocks of 33: 582 warps")]),
        ),
        "says '582': put a heading",
    ),
    ("skippable", add(text("### More (optional)"), code("y = 1"), text("## On"), code("y + 1")), "it needs 'y'"),
    ("undiagnosed", add(code("x = 3", "exercise", outputs=[DIAGNOSED])), "--store"),
    ("navigation", swap(1, text(OPENING.replace("00_before", "02_after"))), "previous: [before](00_before.ipynb)"),
    ("navigation", swap(22, text(CLOSING.replace("02_after", "00_before"))), "next: [after](02_after.ipynb)"),
    ("navigation", swap(22, text(CLOSING.replace("[one]", "[uno]"))), f"the same line as at the top: {WAY}"),
    ("glossary links", add(text("[x](glossary.md#wrap)")), "no 'wrap'; did you mean warp?"),
    ("terms linked", add(text("Two warps, a bank conflict, then two WRP.")), "warp (cell 22), bank conflict (cell 22)"),
    ("terms linked", add(text("A warp, then a [warp](glossary.md#warp).")), "first use"),
    ("live links", add(text("[gone](03_gone.ipynb#part)")), "there is no 03_gone.ipynb"),
    ("pictures named", add(text("![](00_before.ipynb)")), "states the finding"),
    ("pictures named", add(text("<img src='a.png'>")), "states the finding"),
    ("no shell", swap(4, code("!pip install numpy", "run")), "no shell"),
    ("finished", add(text("TODO: say why.")), "marked TODO"),
    ("no shell", swap(4, code("%pip install numpy", "run")), "no shell"),
)


@pytest.mark.parametrize(("rule", "change", "message"), BROKEN, ids=[f"{row[0]}: {row[2]}" for row in BROKEN])
def test_a_breach_is_found_and_nothing_else(rule, change, message, folder):
    problems = style.examine(page(change(chapter()), folder=folder))
    assert [problem.rule for problem in problems] == [rule], problems
    assert message in problems[0].message


def test_a_launch_between_backticks_is_no_link():
    assert style.links("`sign[4, 8](x, y)` and [`ncu`](a.md#b) and ![p](c.png)") == ["a.md", "c.png"]


def test_too_many_long_cells(folder):
    cells = [cell if cell.cell_type == "markdown" else code("x = 1\n" * 32, "run") for cell in chapter()]
    cells[1] = code("import math")
    messages = [problem.message for problem in style.examine(page(cells, folder=folder))]
    assert any("exceed 30 lines" in message for message in messages)


def unnamed_kernel(made):
    made.metadata["kernelspec"]["name"] = "venv-of-mine"


def old_format(made):
    made.nbformat_minor = 4


def same_id(made):
    made.cells[3]["id"] = made.cells[2]["id"]


def run_twice(made):
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.execution_count = 5


WHOLE = (
    ("kernel", unnamed_kernel, "venv-of-mine"),
    ("cell ids", old_format, "nbformat 4.5"),
    ("cell ids", same_id, "id of its own"),
    ("in order", run_twice, "warpbook notebooks --store"),
)


@pytest.mark.parametrize(("rule", "change", "message"), WHOLE, ids=[f"{row[0]}: {row[2]}" for row in WHOLE])
def test_a_breach_of_the_whole(rule, change, message, folder):
    problems = style.examine(page(chapter(), folder=folder, change=change))
    assert {problem.rule for problem in problems} == {rule}
    assert message in problems[0].message


def test_a_bad_file_name(folder):
    problems = list(style.file_name(page(chapter(), name="Chapter one.ipynb", folder=folder)))
    assert problems and "NN_short_title" in problems[0][1]


def test_a_glossary_that_keeps_the_rules_of_its_kind(folder):
    assert style.examine(style.open_page(folder / "glossary.md")) == []


def test_a_playground_asks_nothing_and_leads_back_to_the_contents(folder):
    cells = [text("# Your own kernel\n\n[Contents](README.md)"), code("import math"), text("## One"), code("math.pi")]
    assert style.examine(page(cells, "your_own_kernel.ipynb", folder)) == []
    cells[0] = text("# Your own kernel")
    problems = style.examine(page([*cells, text(WORDS)], "your_own_kernel.ipynb", folder))
    assert {problem.rule for problem in problems} == {"way back", "prose in a row"}


OF_A_GLOSSARY = (
    ("way back", ("README.md", "02_after.ipynb"), "[Contents](README.md)"),
    ("entries", ("### warp", "### Warp"), "write the heading 'Warp'"),
    ("entries", ("### warp", "### little's law"), "write the heading"),
    ("entries", ("### bank conflict", "### zebra"), "alphabetical"),
    ("entries", ("### branch", "### bank conflict"), "once"),
    ("entries", ("[B](#b)", ""), "every letter: b w"),
)


@pytest.mark.parametrize(("rule", "change", "message"), OF_A_GLOSSARY, ids=[f"{r[0]}: {r[2]}" for r in OF_A_GLOSSARY])
def test_a_breach_in_the_glossary(rule, change, message, folder):
    (folder / "glossary.md").write_text(GLOSSARY.replace(*change), encoding="utf-8")
    problems = style.examine(style.open_page(folder / "glossary.md"))
    assert rule in {problem.rule for problem in problems}
    assert any(message in problem.message for problem in problems)


def test_every_rule_is_tested():
    tested = {row[0] for row in BROKEN} | {row[0] for row in WHOLE} | {row[0] for row in OF_A_GLOSSARY} | {"file name"}
    assert tested == {rule.name for rule in style.RULES}


@pytest.mark.parametrize(
    ("markdown", "count"),
    [
        ("one two three", 3),
        ("it's a [link text](https://example.org/a/b)", 4),
        ("before\n\n```python\nnot counted here\n```\n\nafter", 2),
        ("| a | table |\n|---|---|\nthen words", 2),
        ("![alt text is not prose](a.svg)", 0),
        ("**bold** <br> end", 2),
    ],
)
def test_words(markdown, count):
    assert style.words(markdown) == count


def test_headings_in_code_are_none():
    assert style.headings("# Title\n\n```\n# a comment\n```\n", 1) == ["Title"]


def test_words_per_code_line():
    made = page([text("one two three four"), code("# why\nx = 1\n\ny = 2")])
    assert style.words_per_code_line(made) == 2


@pytest.mark.parametrize(
    ("cells", "needed"),
    [
        ([text("### A (optional)"), code("y = 1\ny"), text("#### B"), code("y"), text("### C"), code("x")], []),
        ([code("y = 0"), text("### A (optional)"), code("y = 1"), text("### C"), code("y")], []),
        ([text("## A (optional)"), code("def f(): 1"), text("### B"), code("f()"), text("## C"), code("f()")], ["f"]),
        ([text("## A (optional)"), code("import os"), text("## C"), code("def g(os): os"), code("os")], []),
        ([text("```\n## A (optional)\n```"), code("y = 1"), text("## C"), code("y")], []),
    ],
)
def test_what_needs_an_optional_section(cells, needed):
    from helpers.workbook import optional

    assert [name for _, name in optional.needed(cells)] == needed

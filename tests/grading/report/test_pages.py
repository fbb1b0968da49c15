"""Feedback and summary: what they say and keep to themselves, and that nothing a student wrote becomes markup."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import unquote

import pytest

from helpers.grading import report
from helpers.grading.report import tally
from helpers.grading.report.pages import STYLE
from helpers.grading.report.words import fenced, markdown, plain
from helpers.grading.results import GRADED, REJECTED, STUDENT_FAULT, UNGRADED, Mark
from tests.grading.report.made_class import (
    HOSTILE,
    LAB,
    PRINTS,
    RACE,
    RIGHT,
    SECRET_NOTE,
    SECRET_TROUBLE,
    made_class,
    marks,
    result,
)

VOID = {"meta", "rect", "path", "br", "img", "link", "input", "hr"}
ALLOWED = """
html head meta title style body main header footer section h1 h2 h3 p b a bdi strong code span div ul li table caption
thead tbody tr th td svg rect path text figure figcaption
"""
ATTRIBUTES = """
lang charset http-equiv content name class id href scope aria-label aria-hidden role viewbox preserveaspectratio width
height x y d text-anchor
"""


class Reader(HTMLParser):
    """A page as tags with attributes, and its text; complains of tags that are not closed in order."""

    def __init__(self, data: bytes):
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.style = ""
        self.feed(data.decode())
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names))
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def all(self, tag: str) -> list[dict]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def made():
    material, files = report.make(made_class(), LAB, fingerprints=PRINTS)
    return material, {name: data for some in files.values() for name, data in some.items()}


@pytest.fixture(scope="module")
def pages(made):
    return {name: Reader(data) for name, data in made[1].items() if name.endswith(".html")}


def feedback(*given: Mark, state: str = GRADED, **others) -> str:
    """The text of one student's page."""
    files = report.make([result("ada", state, given, **others)], LAB, ["feedback"])[1]["feedback"]
    return " ".join(Reader(files["feedback/ada.html"]).text.split())


# -- every page


def test_no_tag_or_attribute_comes_from_a_student(pages):
    assert len(pages) == 61
    for name, found in pages.items():
        assert {tag for tag, _ in found.tags} <= set(ALLOWED.split()), name
        assert {attribute for _, attributes in found.tags for attribute in attributes} <= set(ATTRIBUTES.split()), name
        for link in found.all("a"):
            assert re.fullmatch(r"#[\w-]+|feedback/[^:]+\.html", link["href"]), link


def test_no_control_or_override_is_left(made):
    for name, data in made[1].items():
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", data.decode()), name


def test_a_page_may_do_nothing_but_show_itself(pages):
    for found in pages.values():
        (policy,) = (meta["content"] for meta in found.all("meta") if "http-equiv" in meta)
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        digest = base64.b64encode(hashlib.sha256(found.style.encode()).digest()).decode()
        assert rules == {
            "default-src": "'none'",
            "style-src": f"'sha256-{digest}'",
            "base-uri": "'none'",
            "form-action": "'none'",
        }
        assert "url(" not in found.style and "@import" not in found.style


def test_pages_are_built_for_readers_of_all_kinds(pages):
    for found in pages.values():
        names = [tag for tag, _ in found.tags]
        assert found.all("html") == [{"lang": "en"}]
        assert names.count("h1") == names.count("title") == names.count("main") == 1
        levels = [int(tag[1]) for tag in names if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))
        assert all(cell.get("scope") in ("row", "col") for cell in found.all("th"))
        assert all(drawing["role"] == "img" and drawing["aria-label"] for drawing in found.all("svg"))
        ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
        assert len(ids) == len(set(ids))
        assert {link["href"][1:] for link in found.all("a") if link["href"][0] == "#"} <= set(ids)
        assert any(meta.get("name") == "viewport" for meta in found.all("meta"))
    assert "@media screen and (prefers-color-scheme: dark)" in STYLE and "@media print" in STYLE


def luminance(colour: str) -> float:
    """https://www.w3.org/TR/WCAG21/#dfn-relative-luminance"""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_it_is_on(scheme):
    light, dark = STYLE.split("@media screen and (prefers-color-scheme: dark)")
    colours = dict(re.findall(r"--(\w+): (#\w{6});", light if scheme == "light" else dark))
    assert len(colours) == 11
    for ground in ("paper", "card", "alarm", "track"):
        for ink in ("ink", "quiet", "good", "bad", "open", "blue"):
            if (ground, ink) in {("track", ink) for ink in ("quiet", "good", "bad", "open", "blue")}:
                continue  # only code stands on it, in ink
            bright, dark = sorted((luminance(colours[ground]), luminance(colours[ink])), reverse=True)
            assert (bright + 0.05) / (dark + 0.05) >= 4.5, (ground, ink)


# -- feedback


def test_feedback_has_points_verdicts_misconception_and_what_next():
    said = {0: "Two threads use one element.\nline 9: partial[t] += partial[t + step]"}
    text = feedback(*marks("wrong", "wrong", "right", "wrong", "missing", why=said, mistake={0: RACE}))
    assert "3 of 12.5 points" in text
    assert "✗ results: not yet · 0 of 4" in text.replace("✗results", "✗ results")
    assert f"What was seen: {RACE}" in text and "line 9: partial[t]" in text
    assert "right · 3 of 3" in text and "no answer · 0 of 2.5" in text
    for key in ("lab05.total", "lab05.rows", "lab05.scan"):
        assert f'check(your_answer, "{key}")' in text and f'check.hint("{key}", 1)' in text
    assert "The results are right, but the cost is over the limit." in text, (
        "of the exercise that missed its budget only"
    )
    assert "sandbox “bubblewrap”" in text and "nbval 0.11.0" in text


def test_a_compilers_caret_stands_where_it_points():
    why = 'Line 5: expected a ";"\n\n   5 | out[i] = x\n     |           ^'
    given = [result("ada", GRADED, marks("wrong", *RIGHT[1:], why={0: why}))]
    page = report.make(given, LAB)[1]["feedback"]["feedback/ada.html"].decode()
    assert '<div class="said code">Line 5' in page


def test_code_in_words_is_set_as_code_and_stays_harmless():
    why = "`warpbook check` says more. `<img src=x onerror=alert(1)>` and a lone ` stay text."
    given = [result("ada", GRADED, marks("wrong", *RIGHT[1:], why={0: why}))]
    page = report.make(given, LAB)[1]["feedback"]["feedback/ada.html"].decode()
    assert "<code>warpbook check</code> says more" in page and "a lone ` stay" in page
    assert "<img" not in page


def test_the_summary_names_an_exercise_once_above_its_parts():
    page = report.make(made_class(), LAB)[1]["summary"]["summary.html"].decode()
    section = page.partition("<h2>Exercises</h2>")[2].partition("</section>")[0]
    assert section.count("<h3>The total of an array</h3>") == 1 and section.count("The total of an array") == 1


def test_what_several_parts_share_is_said_once_and_hints_below_the_exercise():
    why = 'Let all threads load.\nStuck? check.hint("lab05.total", 1)'
    given = [result("ada", GRADED, marks("wrong", "wrong", *RIGHT[2:], why={0: why, 1: why}))]
    files = report.make(given, LAB)[1]["feedback"]
    for name in ("feedback/ada.html", "feedback/ada.md"):
        text = files[name].decode()
        assert text.count("Let all threads load.") == 1, name
        assert text.count("check.hint(") == 1, name


def test_all_right_has_nothing_to_try_but_a_stretch():
    text = feedback(*marks(*RIGHT))
    assert "Every part is right" in text and "check.hint" not in text and "To try next" not in text


def test_part_of_the_points_are_told():
    half = marks("wrong", *RIGHT[1:])
    text = feedback(Mark(**{**half[0].__dict__, "points": 1.5}), *half[1:])
    assert "10 of 12.5 points" in text and "not yet, in part right · 1.5 of 4" in text


def test_states_are_told_as_a_student_needs_them():
    stopped = feedback(*marks(*RIGHT[:4], "timeout"), state=STUDENT_FAULT, reason="cell lab05-scan took 20 s")
    assert "was stopped: cell lab05-scan took 20 s." in stopped and "10 of 12.5 points" in stopped
    rejected = feedback(state=REJECTED, reason="it is not JSON")
    assert "wasn't graded: it is not JSON." in rejected
    waiting = feedback(state=UNGRADED, reason=SECRET_TROUBLE)
    assert "isn't a zero" in waiting and "isn't your fault" in waiting
    assert "points" not in waiting and "secret" not in waiting
    unjudged = feedback(*marks("right", "unjudged", *RIGHT[2:], why={1: SECRET_TROUBLE}))
    assert "isn't a zero" in unjudged and "secret" not in unjudged and "12.5" not in unjudged


def test_students_do_not_see_what_is_for_the_instructor(made):
    for name, data in made[1].items():
        if name.startswith(("feedback/", "gradescope/")):
            assert SECRET_NOTE.encode() not in data and b"secret-path" not in data, name


def test_a_traceback_is_shown_without_colours_and_markup(made):
    found = Reader(made[1]["feedback/student02.html"])
    assert "ValueError: <script>alert('x')</script> ]]> &amp; " in found.text
    assert "\x1b" not in found.text and "[0;31m" not in found.text
    assert "next\nlast" in found.text


def test_endless_texts_are_cut():
    long = "x" * 10_000_000
    lines = "line\n" * 100_000
    assert len(plain(long)) < 7000 and "9,994,000 characters more" in plain(long)
    assert plain(lines).count("\n") == 79 and "lines more" in plain(lines)
    files = report.make([result(long, GRADED, marks("error", *RIGHT[1:], why={0: long}))], LAB)[1]
    assert all(len(data) < 60_000 for some in files.values() for name, data in some.items() if name != "files.json")


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mred\x1b[0m",
        "\x1b]8;;https://x.example\x07red\x1b]8;;\x07",
        "\x9b31mred",
        "\x1b[2J\x1b[Hred",
        "\x1bPsecret\x1b\\red",
        "red\x1b",
        "\x1b(Bred",
    ],
)
def test_terminal_sequences_leave_their_text(text):
    assert plain(text) == "red"


def test_lines_end_in_one_way():
    assert plain("a\r\nb\rc\u2028d\x0be\x85f") == "a\nb\nc\nd\ne\nf"


# -- Markdown


def test_markdown_lets_no_text_be_markup(made):
    for name, data in made[1].items():
        if not name.endswith(".md"):
            continue
        inside = ""
        for line in data.decode().splitlines():
            fence = re.match("`{3,}", line)
            if fence and not inside:
                inside = fence.group()
            elif inside and line == inside:
                inside = ""
            elif not inside:
                assert not re.search(r"(?<!\\)<(?!feedback/)", line), (name, line)
                assert not re.search(r"(?<!\\)\]\((?!<feedback/)", line), (name, line)
        assert not inside, name


def test_fences_are_longer_than_any_in_the_text():
    text = fenced("a\n````\n# b\n`````")
    assert text.startswith("``````text\n") and text.endswith("\n``````")


def test_signs_of_markdown_are_escaped():
    assert markdown("*a* _b_ [c](d) `e` <f> | #g") == r"\*a\* \_b\_ \[c\](d) \`e\` \<f\> \| \#g"
    assert [markdown(text) for text in ("- a", "+ a", "1. a", "12) a", "==")] == [
        "\\- a",
        "\\+ a",
        "1\\. a",
        "12\\) a",
        "\\==",
    ]
    assert markdown("words: plain, as they are; is that so?") == "words: plain, as they are; is that so?"
    assert "https\\://x" in markdown("https://x") and "www\\.x" in markdown("www.x") and "a\\@b" in markdown("a@b")
    lab = replace(LAB, title="*t*\n# <b>")
    summary = report.make([], lab, ["summary"])[1]["summary"]
    assert summary["summary.md"].decode().splitlines()[0] == r"# \*t\* \# \<b\>: The class"
    assert b"<title>*t* # &lt;b&gt;: The class</title>" in summary["summary.html"]


def test_feedback_says_the_same_in_both(made):
    material, files = made
    for entry in material.entries:
        text = Reader(files[f"feedback/{entry.stem}.html"]).text
        same = files[f"feedback/{entry.stem}.md"].decode()
        assert ("points" in text.split("Answers ran on inputs")[0]) == (
            "points" in same.split("Answers ran on inputs")[0]
        )
        assert text.count("check.hint") == same.count("check.hint")
        assert (RACE in text) == (RACE in same)


# -- the summary


def test_the_summary_begins_with_what_is_not_graded(pages):
    text = " ".join(pages["summary.html"].text.split())
    assert text.index("4 submissions not graded") < text.index("Submissions") < text.index("Points")
    assert "This isn't a zero" in text and "secret-path" in text


def test_a_class_without_trouble_has_no_alarm():
    files = report.make([result("ada", GRADED, marks(*RIGHT))], LAB)[1]["summary"]
    found = Reader(files["summary.html"])
    assert "not graded" not in found.text.replace("0not graded", "")
    assert not any("alarm" in attributes.get("class", "") for _, attributes in found.tags)


def test_the_summary_counts(pages):
    text = " ".join(pages["summary.html"].text.split())
    for words in (
        "60handed in",
        "4not graded",
        "46graded",
        "Half of 51 submissions that ran earned 6.5 or more of 12.5 points",
        "35 of 51",
        "16 not yet",
        "20 stopped with an error, 5 ended the kernel",
        "20 no answer, 16 not yet, 5 used too much memory",
        '2 of 3: The total of an array; A prefix sum <of & "a" block>3student03; student05; student08',
        "1 of 3: The greatest of each row4student03; student05; student08; student20",
        "all 31student10",
        '1 of 3: A prefix sum <of & "a" block>1student20',
        "Handed in unchanged: student11; student12",
        "It protects from: reading or changing other submissions",
        "It does not protect from: a flaw of the kernel",
        "nbval 0.11.0",
        SECRET_NOTE,
    ):
        assert words in text, words
    exercises = text.partition("Of the submissions that ran:")[2]
    titles = [exercises.index(LAB.title_of(key)) for key in LAB.exercises()]
    assert titles == sorted(titles), "the lab's order"


def test_parts_that_stopped_in_the_same_way_are_one_row():
    late = {0: "It had not ended.", 1: "It had not ended.", 4: "It had not ended."}
    given = [result("ada", STUDENT_FAULT, marks("timeout", "timeout", "right", "error", "timeout", why=late))]
    stops = tally.stops(report.make(given, LAB, ["summary"])[0])
    assert [part.cell for part, _, _ in stops] == [LAB.parts[0].cell, LAB.parts[3].cell, LAB.parts[4].cell]


def test_the_commonest_misconceptions_come_first():
    given = [
        result(f"s{n}", GRADED, marks("wrong", *RIGHT[1:], mistake={0: name}, why={0: f"words on {name}\nmore"}))
        for n, name in enumerate(["a race", "short", "a race", "tail", "a race", "tail", *"bcdefg"])
    ]
    given.append(result("another", GRADED, marks("wrong", *RIGHT[1:], mistake={0: "tail"}, why={0: "A rare word"})))
    given.append(result("right", GRADED, marks(*RIGHT, mistake={0: "tail"})))
    found = Reader(report.make(given, LAB)[1]["summary"]["summary.html"])
    text = " ".join(found.text.split())
    part = text[text.index("Misconceptions") : text.index("Students")]
    assert part.index("a race3words on a race") < part.index("tail3words on tail") < part.index("b1")
    assert "the 5 commonest of 9" in part and "more" not in part


def test_the_commonest_notes_come_first():
    notes = ["a rare note", "what many do", "what many do"]
    given = [result(f"s{n}", GRADED, marks(*RIGHT), notes=(note,)) for n, note in enumerate(notes)]
    text = Reader(report.make(given, LAB)[1]["summary"]["summary.html"]).text
    assert text.index("what many do") < text.index("a rare note")


@pytest.mark.parametrize("most", [0.3, 1, 5, 7.5, 10, 12, 13, 20, 24, 60, 99, 100, 1000])
def test_histograms_have_every_submission_in_one_bar(most):
    lab = replace(LAB, parts=(replace(LAB.parts[0], points=most),))
    shares = [0, 0.01, 0.1, 0.5, 0.5, 0.99, 1, 1]
    given = [
        result(f"s{n}", GRADED, (replace(marks(*RIGHT)[0], points=most * share, out_of=most, outcome="wrong"),))
        for n, share in enumerate(shares)
    ]
    bars = tally.histogram(report.make(given, lab, ["gradebook"])[0])
    assert sum(bar.count for bar in bars) == len(shares)
    assert 3 <= len(bars) <= tally.MOST_BARS
    assert bars[0].low == 0 and bars[-1] == tally.Bar(most, most, 2)
    assert all(before.high == pytest.approx(after.low) for before, after in pairwise(bars))


def test_links_of_the_summary_lead_to_feedback(pages, made):
    links = [link["href"] for link in pages["summary.html"].all("a")]
    assert len(links) == 60
    assert {unquote(link) for link in links} <= set(made[1])


def test_hostile_words_are_those_we_think():
    assert "<script>" in HOSTILE and "\x1b" in HOSTILE and "```" in HOSTILE

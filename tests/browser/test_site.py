"""The website as readers use it: without a kernel, on a wide screen and on a phone, in both themes."""

from __future__ import annotations

import functools
import http.server
import json
import re
import threading
from pathlib import Path

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from helpers import site, widgets
from helpers.site.build import build
from helpers.site.sources import explorer_cells
from helpers.site.states import write
from helpers.workbook import chapters
from helpers.workbook.spoilers import in_sight
from tests.browser import axe
from tests.browser.explorers import NOTEBOOKS

PHONE, DESK = (390, 844), (1366, 900)
CHAPTERS = sorted(path.stem for path in NOTEBOOKS.glob("[0-9]*.ipynb"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The whole site, with a few states of the explorer of chapter 04."""
    return build(tmp_path_factory.mktemp("site"), ["04"], most=12).parent


@pytest.fixture(scope="module")
def address(folder):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def opened(browser, address):
    """`opened(page, size, dark)` opens a page of the site."""

    def go(page: str, size: tuple[int, int] = DESK, dark: bool = False):
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get(address + page)
        return browser

    return go


def text_of(page, selector):
    return page.find_element(By.CSS_SELECTOR, selector).text


def eventually(page, ready):
    """What `ready` gives once it is true; an element may go between its being found and read, as views come and go."""
    return WebDriverWait(page, 30, ignored_exceptions=[StaleElementReferenceException]).until(ready)


def test_a_prediction_is_kept_and_its_answer_stays_folded(opened):
    page = opened("notebooks/04_coalescing.html")
    answer = page.find_element(By.CSS_SELECTOR, ".wb-answer")
    assert (
        answer.get_attribute("open") is None and "haven’t answered" in answer.find_element(By.TAG_NAME, "summary").text
    )
    first = page.find_element(By.CSS_SELECTOR, '.wb-predict input[value="8"]')
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", first)
    first.send_keys(Keys.SPACE)
    assert text_of(page, '.wb-predict [role="status"]').startswith("Kept: 8")
    page = opened("notebooks/04_coalescing.html")
    assert page.find_element(By.CSS_SELECTOR, '.wb-predict input[value="8"]').is_selected()
    answer = page.find_element(By.CSS_SELECTOR, ".wb-answer")
    assert answer.get_attribute("open") is None and answer.text.startswith("You said 8")
    page.execute_script("localStorage.clear()")


def test_an_explorer_moves_by_keys_without_a_kernel(opened):
    page = opened("notebooks/04_coalescing.html")
    explorer = page.find_element(By.CSS_SELECTOR, ".wb-explorer")
    page.execute_script("arguments[0].scrollIntoView()", explorer)
    stride = eventually(page, lambda _: explorer.find_elements(By.CSS_SELECTOR, 'input[type="range"]'))[0]
    caption = lambda: explorer.find_element(By.CSS_SELECTOR, "[role=img]").get_attribute("aria-label")
    for key, shown, said in (
        (None, "stride 1, offset 0: 4 sectors", "1"),
        (Keys.END, "stride 32, offset 0: 32 sectors", "32"),
        (Keys.HOME, "stride 1, offset 0: 4 sectors", "1"),
    ):
        if key:
            stride.send_keys(key)
        eventually(page, lambda _, shown=shown: caption().startswith(shown))
        assert stride.get_attribute("aria-valuetext") == said


def test_controls_offer_what_the_others_leave_them(opened, folder):
    write(widgets.collective(), folder / "_static/states/22_several_gpus/22")
    page = opened("notebooks/22_several_gpus.html")
    explorer = page.find_element(By.CSS_SELECTOR, '[data-states$="22_several_gpus/22"]')
    page.execute_script("arguments[0].scrollIntoView()", explorer)
    ranks, step = eventually(page, lambda _: explorer.find_elements(By.CSS_SELECTOR, 'input[type="range"]'))
    caption = lambda: explorer.find_element(By.TAG_NAME, "figcaption").text
    step.send_keys(Keys.END)
    eventually(page, lambda _: "after step 6 of 6" in caption())
    ranks.send_keys(Keys.END)
    eventually(page, lambda _: "after step 6 of 10" in caption())
    step.send_keys(Keys.END)
    eventually(page, lambda _: "after step 10 of 10" in caption())
    ranks.send_keys(Keys.HOME)
    eventually(page, lambda _: "after step 2 of 2" in caption())
    assert step.get_attribute("aria-valuetext") == "2"


def test_a_state_that_cannot_be_loaded_is_reported(opened, folder):
    opened("index.html").execute_cdp_cmd("Network.clearBrowserCache", {})
    (packed,) = folder.glob("_static/states/04_coalescing/*/0.json.gz")
    kept = packed.read_bytes()
    packed.unlink()
    try:
        page = opened("notebooks/04_coalescing.html")
        explorer = page.find_element(By.CSS_SELECTOR, ".wb-explorer")
        page.execute_script("arguments[0].scrollIntoView()", explorer)
        stride = eventually(page, lambda _: explorer.find_elements(By.CSS_SELECTOR, 'input[type="range"]'))[0]
        stride.send_keys(Keys.END)
        eventually(page, lambda _: "couldn't be loaded" in explorer.text)
    finally:
        packed.write_bytes(kept)
    stride.send_keys(Keys.HOME)
    eventually(page, lambda _: explorer.find_elements(By.CSS_SELECTOR, "[role=img]"))


PAGES = (
    "index", "notebooks/README", "notebooks/05_shared_memory", "notebooks/glossary", "notebooks/13_matmul_ladder",
    "notebooks/your_own_kernel", "vgpu/README", "labs/lab02_coalescing/lab02_coalescing",
)  # fmt: skip
AUDITED = ("index", "notebooks/README", "notebooks/04_coalescing", *PAGES[-3:])


@pytest.mark.parametrize("page", PAGES)
def test_a_phone_does_not_scroll_sideways(opened, page):
    shown = opened(f"{page}.html", PHONE)
    assert shown.execute_script("return document.documentElement.scrollWidth") <= PHONE[0]


@pytest.mark.rotating(__file__, *Path(site.__file__).parent.iterdir())
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("page", AUDITED)
def test_the_audit_finds_nothing_serious(opened, page, dark):
    shown = opened(f"{page}.html", dark=dark)
    shown.execute_script("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert axe.serious(shown) == []


def test_the_front_page_leads_to_reports_whose_parts_open(opened):
    page = opened("index.html")
    page.find_element(By.LINK_TEXT, "your own kernel").click()
    parts = eventually(page, lambda _: page.find_elements(By.CSS_SELECTOR, ".cell_output details > summary"))
    assert any(part.text.startswith("Sanitizer: race") for part in parts)
    roofline = next(part for part in parts if part.text.startswith("Roofline (modelled)"))
    picture = roofline.find_element(By.XPATH, "..//img")
    assert not picture.is_displayed()
    roofline.click()
    assert picture.is_displayed()


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_follow_the_theme(opened, dark):
    page = opened("notebooks/04_coalescing.html", dark=dark)
    assert page.execute_script("return document.documentElement.dataset.theme") == ("dark" if dark else "light")
    picture = page.find_element(By.CSS_SELECTOR, "figure[role=img]")
    assert picture.value_of_css_property("filter") == ("invert(0.9) hue-rotate(180deg)" if dark else "none")
    page = opened("notebooks/21b_images_from_a_gan.html", dark=dark)
    for part in ("figure.warpbook-images", "figure.warpbook-images img"):
        assert page.find_element(By.CSS_SELECTOR, part).value_of_css_property("filter") == "none"


def test_controls_are_readable_in_the_dark(opened):
    page = opened("notebooks/04_coalescing.html", dark=True)
    page.execute_script("arguments[0].scrollIntoView()", page.find_element(By.CSS_SELECTOR, ".wb-explorer"))
    (row, *_) = eventually(page, lambda _: page.find_elements(By.CSS_SELECTOR, ".wb-controls"))
    assert row.value_of_css_property("filter") == "none"


def test_keys_scroll_a_drawing_that_is_wider_than_the_page(opened):
    """It isn't made smaller than it can be read, and whoever has no mouse can reach what is out of sight."""
    page = opened("notebooks/03_memory_hierarchy.html", PHONE)
    plots = page.find_elements(By.CSS_SELECTOR, "figure[role=img] > img")
    assert min(plot.size["width"] for plot in plots if plot.is_displayed()) >= 480
    (drawing, *_) = page.find_elements(By.CSS_SELECTOR, 'figure[style*="860px"]')
    assert eventually(page, lambda _: drawing.get_attribute("tabindex")) == "0"
    drawing.send_keys(Keys.ARROW_RIGHT)
    eventually(page, lambda _: page.execute_script("return arguments[0].scrollLeft", drawing) > 0)


def test_the_search_finds_a_term_and_no_answer(opened):
    page = opened("search.html?q=coalescing")
    eventually(page, lambda _: page.find_elements(By.CSS_SELECTOR, "#search-results li a"))
    links = [each.get_attribute("href") for each in page.find_elements(By.CSS_SELECTOR, "#search-results li a")]
    assert any("04_coalescing" in link for link in links)


def test_a_term_of_the_glossary_says_what_it_is(folder):
    page = (folder / "notebooks/04_coalescing.html").read_text(encoding="utf-8")
    terms = re.findall(r'<a class="[^"]*wb-term[^"]*" href="glossary.html#[^"]+" title="([^"]+)"', page)
    assert len(terms) >= 10 and all(len(term) > 20 for term in terms)


@pytest.mark.parametrize("name", CHAPTERS)
def test_answers_are_folded_on_every_page(folder, name):
    """Each question of a chapter is a form, and each answer that the chapter stores lies in a fold."""
    chapter = chapters.read(NOTEBOOKS / f"{name}.ipynb")
    stored = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8").count("The answer is <b>")
    page = (folder / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    for key in chapter.predictions:
        assert page.count(f'<form class="wb-predict" data-key="{key}">') == 1
    assert page.count('<details class="wb-answer"') >= page.count("The answer is <b>") == stored > 0
    assert "The answer is <b>" not in in_sight(page)


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_explorer_has_its_place(folder, name):
    source = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    page = (folder / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    assert page.count('<div class="wb-explorer"') == len(explorer_cells(source))

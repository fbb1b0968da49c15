"""JupyterLab in a real browser: open a notebook, run it, use its controls, read what is shown.

One server and one browser serve every test of a process (`started.py` starts them): each walk has the notebooks, the
settings and the kernels to itself, and leaves none of them to the next.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests.browser.started import Server

START, RUN, STEP = 60, 300, 30  # seconds to wait for a server, a whole notebook, one change on the page


class Lab:
    """A folder of notebooks in JupyterLab, from when it is laid out until `close()`."""

    def __init__(self, notebooks: Path, folder: Path, server: Server, browser: Chrome):
        """Serve a copy of the folder `notebooks`; screenshots go to `folder`."""
        self.folder, self.server, self.browser = folder, server, browser
        server.as_new()
        self.served = server.root / notebooks.name
        shutil.copytree(notebooks, self.served, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))

    def close(self) -> None:
        """Leave the page, so that nothing asks for a kernel any more, and end the kernels."""
        try:
            self.browser.get("about:blank")
        finally:
            self.server.end_kernels()

    # -- doing ------------------------------------------------------------------------------------------

    def open(self, name: str) -> None:
        """Open one of the served notebooks and wait until its kernel is ready."""
        self.browser.get(self.server.address(f"doc/tree/{self.served.name}/{name}") + "&reset")
        self.wait("JupyterLab to start", lambda: self.script("return !!window.jupyterapp"))
        self.wait("the notebook and its kernel", lambda: self.kernel_status() == "idle", START)

    def run_all(self) -> None:
        """Run every cell, as the menu does, and wait until the kernel has nothing left to do."""
        self.script("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        self.wait("the first cell to start", lambda: self.prompts() and self.prompts()[0] != "[ ]:")
        self.wait_idle()

    def wait_idle(self, seconds: float = RUN) -> None:
        """Wait until the kernel is idle and no cell is waiting for it."""

        def done() -> bool:
            return self.kernel_status() == "idle" and "[*]:" not in self.prompts()

        self.wait("the kernel to become idle", done, seconds)

    def resize(self, width: int, height: int) -> None:
        """Give the page that many pixels."""
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def dark(self, on: bool = True) -> None:
        """Have the system prefer dark pages, or light ones again, which the room's theme follows."""
        wanted = {"features": [{"name": "prefers-color-scheme", "value": "dark" if on else "light"}]}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)
        light = "return document.body.dataset.jpThemeLight"
        self.wait("the system's theme", lambda: self.script(light) == ("false" if on else "true"))
        self.wait(
            "the theme's splash to go", lambda: not self.script("return document.querySelector('#jupyterlab-splash')")
        )

    def slider(self, description: str) -> WebElement:
        """The handle of the slider with that description, scrolled into sight."""
        path = f"//*[contains(@class, 'widget-slider')][.//label[normalize-space()='{description}']]//*[@role='slider']"
        handle = self.wait(f"a slider named {description!r}", lambda: self.shown(path), STEP)
        self.script("arguments[0].scrollIntoView({block: 'center'})", handle)
        return handle

    def press(self, description: str, *keys: str) -> None:
        """Press keys on the slider with that description, as someone without a mouse does."""
        self.script("arguments[0].focus()", self.slider(description))
        for key in keys:
            # Asked for anew each time: an explorer may draw its controls again.
            self.browser.switch_to.active_element.send_keys(key)

    def ask(self, code: str) -> str:
        """What the notebook's kernel prints when it runs this code, in no cell."""
        self.script(
            "window.printed = '', window.asked = true;"
            "const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;"
            "const future = kernel.requestExecute({code: arguments[0]});"
            "future.onIOPub = m => { window.printed += m.content.text || (m.content.traceback || []).join('\\n'); };"
            "future.done.then(() => { window.asked = false; })",
            code,
        )
        self.wait("the kernel's answer", lambda: not self.script("return window.asked"), RUN)
        return self.script("return window.printed").strip()

    # -- reading ----------------------------------------------------------------------------------------

    def script(self, source: str, *arguments):
        return self.browser.execute_script(source, *arguments)

    def shown(self, path: str) -> WebElement | None:
        return next((found for found in self.browser.find_elements(By.XPATH, path) if found.is_displayed()), None)

    def kernel_status(self) -> str:
        return self.script(
            "const panel = window.jupyterapp && window.jupyterapp.shell.currentWidget;"
            "const kernel = panel && panel.sessionContext && panel.sessionContext.session"
            " && panel.sessionContext.session.kernel;"
            "return kernel ? kernel.status : 'none'"
        )

    def prompts(self) -> list[str]:
        """The prompts of the code cells: `[3]:` ran third, `[*]:` waits, `[ ]:` has not run."""
        return self.script(
            "const prompts = document.querySelectorAll('.jp-CodeCell .jp-InputArea-prompt');"
            "return [...prompts].map(e => e.textContent)"
        )

    def output_html(self) -> str:
        """The HTML of everything that the cells show."""
        return self.script("return [...document.querySelectorAll('.jp-OutputArea')].map(e => e.innerHTML).join('\\n')")

    def figures(self) -> list[tuple[str, str]]:
        """Label and SVG text of every figure on the page, in order."""
        return [
            tuple(pair)
            for pair in self.script(
                "return [...document.querySelectorAll('.jp-OutputArea figure[role=img]')]"
                ".map(e => [e.getAttribute('aria-label'), e.innerHTML])"
            )
        ]

    def errors(self) -> list[str]:
        """What the page shows as an error: tracebacks, stderr, widgets that failed to draw."""
        return self.script(
            "return [...document.querySelectorAll("
            '\'.jp-OutputArea [data-mime-type="application/vnd.jupyter.error"],'
            '.jp-OutputArea [data-mime-type="application/vnd.jupyter.stderr"],'
            ".jupyter-widgets-error-widget, .jp-Dialog')].map(e => e.textContent.trim())"
        )

    def cut(self) -> list[str]:
        """What is cut off in explorers: views higher or wider than their place, and labels of controls."""
        return self.script(
            "const over = e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1;"
            "const views = [...document.querySelectorAll('.jp-OutputArea .warpbook-view')].filter(over)"
            ".map(e => e.className + ': ' + e.scrollWidth + 'x' + e.scrollHeight + ' in '"
            " + e.clientWidth + 'x' + e.clientHeight);"
            "const labelled = '.jp-OutputArea .widget-label, .jp-OutputArea .jupyter-button';"
            "const labels = [...document.querySelectorAll(labelled)]"
            ".filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent);"
            "return [...views, ...labels]"
        )

    def screenshot(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.browser.save_screenshot(str(path))
        return path

    def wait(self, what: str, ready: Callable[[], object], seconds: float = STEP):
        """What `ready` gives once it is true; an AssertionError with a screenshot when it never is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(StaleElementReferenceException):
                found = ready()
                if found:
                    return found
            time.sleep(0.1)
        picture = self.screenshot(self.folder / "gave-up.png")
        raise AssertionError(
            f"waited {seconds:g} s for {what}; the page then: {picture}; shown errors: {self.errors()}"
        )

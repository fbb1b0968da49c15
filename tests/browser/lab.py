"""JupyterLab in a real browser: start both, open a notebook, run it, use its controls, read what is shown.

The server runs on a copy of the notebooks with settings, workspaces and kernels' files of its own, so that
neither the project nor the person's own JupyterLab is touched.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from helpers.workbook.doctor import browser_paths

CHROMIUM = (
    "--headless=new",
    "--no-sandbox",  # Chromium refuses to run as root with it, and in a container there is only root
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,1400",
)
SETTINGS = (
    # Cells out of sight stay in the page, so that what the whole notebook shows can be read.
    ("notebook-extension/tracker", {"windowingMode": "none"}),
    # No question about news in a corner of the screenshots, and nothing asked of the network.
    ("apputils-extension/notification", {"fetchNews": "false", "checkForUpdates": False}),
)
START, RUN, STEP = 60, 120, 30  # seconds to wait for a server, a whole notebook, one change on the page


class Lab:
    """One JupyterLab and one browser that looks at it; `close()` ends both."""

    def __init__(self, notebooks: Path, folder: Path):
        """Serve a copy of the folder `notebooks`; everything that is written goes below `folder`."""
        self.folder = folder
        self.served = folder / "served" / notebooks.name
        shutil.copytree(notebooks, self.served, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        self.token = secrets.token_hex(16)
        self.port = free_port()
        with contextlib.ExitStack() as stack:
            self.server = stack.enter_context(serve(self.served.parent, folder, self.port, self.token))
            self.browser = stack.enter_context(chromium(folder / "browser"))
            self.stack = stack.pop_all()

    def close(self) -> None:
        self.stack.close()

    # -- doing ------------------------------------------------------------------------------------------

    def open(self, name: str) -> None:
        """Open one of the served notebooks and wait until its kernel is ready."""
        path = f"{self.served.name}/{name}"
        self.browser.get(f"http://127.0.0.1:{self.port}/lab/tree/{path}?token={self.token}&reset")
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
        """Choose JupyterLab's dark theme, or its light one again."""
        theme = "JupyterLab Dark" if on else "JupyterLab Light"
        self.script("window.jupyterapp.commands.execute('apputils:change-theme', {theme: arguments[0]})", theme)
        wanted = "false" if on else "true"
        self.wait(theme, lambda: self.script("return document.body.dataset.jpThemeLight") == wanted)
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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serve(root: Path, folder: Path, port: int, token: str) -> Iterator[subprocess.Popen]:
    """A JupyterLab server over `root`, its log in folder/server.log, ended on leaving."""
    for name, values in SETTINGS:
        path = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"),
        *(
            f"--LabApp.user_settings_dir={folder / 'settings'}",
            f"--LabApp.workspaces_dir={folder / 'workspaces'}",
        ),
    ]
    own = {
        name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    with (folder / "server.log").open("w", encoding="utf-8") as log:
        environment = {**os.environ, **own, "WARPBOOK_STATE": "off"}  # no answers of whoever runs the tests
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_for_server(server, f"http://127.0.0.1:{port}/api/status?token={token}", folder / "server.log")
            yield server
        finally:
            server.terminate()  # which also ends its kernels
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def wait_for_server(server: subprocess.Popen, address: str, log: Path) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.2)
    raise AssertionError("JupyterLab did not start:\n" + log.read_text(encoding="utf-8")[-3000:])


@contextlib.contextmanager
def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """A headless Chromium with a profile of its own."""
    binary, driver = browser_paths()
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*CHROMIUM, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    # With the driver's path given, selenium downloads none.
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    try:
        browser.set_page_load_timeout(START)
        # JupyterLab's current notebook is the one that has the focus, and a page without a window may have none.
        browser.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        yield browser
    finally:
        browser.quit()

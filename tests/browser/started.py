"""What all walks share: one JupyterLab server and one Chromium, each brought back to how it began before a test.

JupyterLab is furnished as `warpbook lab` does it for learners. The server has a folder, settings, workspaces and
kernels' files of its own, so that neither the project nor the person's own JupyterLab is touched.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from urllib3.exceptions import HTTPError

from helpers.workbook import room
from helpers.workbook.checks import browser_paths

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
)
DEAD = (WebDriverException, HTTPError)
"""What is raised where the browser has gone, or its driver."""
START = 240  # seconds that a server or a page may take; there is one of each for all
NEW = (
    ("Emulation.clearDeviceMetricsOverride", {}),
    ("Emulation.setEmulatedMedia", {"media": "", "features": []}),
    # JupyterLab's current notebook is the one that has the focus, and a page without a window may have none.
    ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
    ("Network.clearBrowserCookies", {}),
)
"""What makes a browser that was used one that was not, as Chromium's own protocol says it."""


class Browser:
    """A headless Chromium with a profile of its own; one that has died is started again, once."""

    MOST = 2

    def __init__(self, folder: Path):
        self.folder, self.started, self.driver = folder, 0, None

    def as_new(self) -> webdriver.Chrome:
        """The browser at an empty page, of its usual size, with nothing emulated and nothing in its log."""
        try:
            return self._cleared()
        except DEAD as reason:
            if self.started == self.MOST:
                raise AssertionError(f"Chromium died {self.MOST} times; lastly: {reason}") from reason
            self.close()
            self._start()
            return self._cleared()

    def _cleared(self) -> webdriver.Chrome:
        if self.driver is None:
            self._start()
        self.driver.get("about:blank")
        for command, arguments in NEW:
            self.driver.execute_cdp_cmd(command, arguments)
        self.driver.get_log("browser")  # which empties it
        return self.driver

    def _start(self) -> None:
        self.started += 1
        binary, driver = browser_paths()
        options = webdriver.ChromeOptions()
        options.binary_location = binary
        options.unhandled_prompt_behavior = "accept"  # a page may ask whether to leave what is not saved
        for flag in (*CHROMIUM, f"--user-data-dir={self.folder / str(self.started)}"):
            options.add_argument(flag)
        # With the driver's path given, selenium downloads none.
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
        self.driver.set_page_load_timeout(START)

    def close(self) -> None:
        if self.driver is not None:
            with contextlib.suppress(*DEAD):
                self.driver.quit()
            self.driver.service.stop()
        self.driver = None


class Server:
    """A JupyterLab server over the folder `root`, its log in folder/server.log."""

    def __init__(self, folder: Path, port: int, token: str):
        self.folder, self.port, self.token = folder, port, token
        self.root, self.settings, self.workspaces = folder / "served", folder / "settings", folder / "workspaces"

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}?token={self.token}"

    def as_new(self) -> None:
        """Nothing served, no workspace, and the settings that all tests want."""
        for path in (self.root, self.settings, self.workspaces):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
        for name, values in SETTINGS:
            path = self.settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values), encoding="utf-8")

    def asked(self, path: str, method: str = "GET") -> bytes:
        """The answer to a request; OSError where there is none, or it is a refusal."""
        request = urllib.request.Request(self.address(path), method=method)
        with urllib.request.urlopen(request, timeout=START) as answer:
            return answer.read()

    def end_kernels(self) -> None:
        """Kernels that nobody looks at any more would fill the memory."""
        for session in json.loads(self.asked("api/sessions")):
            self.asked(f"api/sessions/{session['id']}", "DELETE")
        assert json.loads(self.asked("api/kernels")) == []


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """A server that is ready to be asked, ended on leaving."""
    server = Server(folder, free_port(), secrets.token_hex(16))
    server.as_new()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={server.port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={server.token}", f"--ServerApp.root_dir={server.root}"),
        *(f"--LabApp.user_settings_dir={server.settings}", f"--LabApp.workspaces_dir={server.workspaces}"),
        f"--LabApp.extra_labextensions_path={room.EXTENSIONS}",
    ]
    own = {
        name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    with (folder / "server.log").open("w", encoding="utf-8") as log:
        environment = {**room.environment(), **own, "WARPBOOK_STATE": "off"}  # no answers of whoever runs the tests
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_for(server, process)
            yield server
        finally:
            process.terminate()  # which also ends its kernels
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(server: Server, process: subprocess.Popen) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            server.asked("api/status")
            return
        time.sleep(0.2)
    log = (server.folder / "server.log").read_text(encoding="utf-8")
    raise AssertionError("JupyterLab did not start:\n" + log[-3000:])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

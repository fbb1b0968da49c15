"""`torchrun` from a notebook: a script on several ranks, their words and reports, and nothing of it left behind."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helpers.results.ranks.records import FOLDER
from helpers.results.ranks.spans import RankSpan

ROOT = Path(__file__).resolve().parents[3]
MOST_RANKS = 16
START = "fork" if sys.platform == "linux" else "spawn"
"""How ranks are started: forked from a process that has imported PyTorch, or as interpreters of their own."""
LONGEST_START = 180.0
"""Seconds in which PyTorch has to be imported once."""
LONGEST_STOP = 20.0
NEW_STORE_EACH_TIME = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
"""With the default, ranks that are started again find the addresses of the ones before in torchrun's store, and fail to
connect (https://github.com/pytorch/pytorch/issues/167288)."""


class RanksFailed(RuntimeError):
    """A script ended otherwise than well on some rank: which, with the end of what it said."""


@dataclass(frozen=True)
class Ranks:
    """What the ranks of one run told: `run[2]["loss"]` is what rank 2 reported as `loss`.

    `reports`: a dictionary a rank. `spans`: what each was busy with, in seconds since the first of them began.
    """

    script: str
    command: str
    reports: tuple[dict, ...] = field(repr=False)
    spans: tuple[RankSpan, ...] = field(repr=False)

    def __getitem__(self, rank: int) -> dict:
        return self.reports[rank]

    def __len__(self) -> int:
        return len(self.reports)

    def every(self, name: str) -> list:
        """What the ranks reported as `name`, in their order. KeyError where one did not."""
        return [report[name] for report in self.reports]

    def __repr__(self) -> str:
        return f"{self.command}: {len(self)} ranks, ended well"


@dataclass
class _Warden:
    """The process that starts and ends the ranks, as the kernel sees it."""

    process: subprocess.Popen
    answers: queue.Queue
    owner: int = field(default_factory=os.getpid)

    @classmethod
    def new(cls) -> _Warden:
        """A warden in a session of its own, so that an interrupt of the kernel's group does not reach it."""
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(
            [sys.executable, "-m", "helpers.results.ranks.warden", START],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"},
        )  # fmt: skip
        answers: queue.Queue = queue.Queue()
        threading.Thread(target=_answers, args=(process.stdout, answers), daemon=True).start()
        warden = cls(process, answers)
        warden.hear(LONGEST_START)
        return warden

    def say(self, **order: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self, seconds: float) -> dict | None:
        """The next answer; None when there is none in time. RanksFailed when the warden is gone."""
        try:
            answer = self.answers.get(timeout=seconds)
        except queue.Empty:
            return None
        if answer is None:
            raise RanksFailed("the process that starts the ranks has ended: run the cell again")
        return answer

    def alive(self) -> bool:
        """Whether it serves this process; a fork of the kernel has to have its own."""
        return self.owner == os.getpid() and self.process.poll() is None

    def close(self) -> None:
        """End its input, at which it kills what it started, and itself."""
        if self.owner == os.getpid():
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait(LONGEST_STOP)


_warden: _Warden | None = None
_one_at_a_time = threading.Lock()


def _answers(lines: Iterable[bytes], answers: queue.Queue) -> None:
    for line in lines:
        answers.put(json.loads(line))
    answers.put(None)


def _serving() -> _Warden:
    global _warden
    if _warden is None or not _warden.alive():
        _warden = _Warden.new()
        atexit.register(_warden.close)
    return _warden


def torchrun(
    script: str | os.PathLike,
    *,
    ranks: int,
    arguments: Sequence[str] = (),
    restarts: int = 0,
    timeout: float = 120.0,
    environment: Mapping[str, str] | None = None,
) -> Ranks:
    """Run `torchrun --standalone --nproc-per-node=RANKS script ARGUMENTS`, and give back what the ranks reported.

    `restarts`: how often torchrun starts all ranks again after one of them has failed (its `--max-restarts`).
    What rank 0 prints is shown at once, what others print at the end. The ranks and torchrun itself are killed, and
    nothing of them is left, when the cell is interrupted, when `timeout` seconds have passed, when a rank fails, and
    when the kernel ends or is killed. Raises RanksFailed where they did not end well; FileNotFoundError and ValueError
    for a script or a number of ranks that cannot be.
    """
    script = Path(script).resolve()
    if not script.is_file():
        raise FileNotFoundError(f"there is no script {script}: run the cell that writes it first")
    if not 1 <= ranks <= MOST_RANKS:
        raise ValueError(f"ranks is a number of processes on this machine, from 1 to {MOST_RANKS}, not {ranks}")
    with _one_at_a_time, tempfile.TemporaryDirectory(prefix="ranks-") as folder:
        run = _Run(script, ranks, list(map(str, arguments)), Path(folder), timeout, restarts)
        status = run.until_it_ends(dict(environment or {}))
        if status != 0:
            raise RanksFailed(run.words(status))
        return run.told()


class _Run:
    """One torchrun: its files, its words so far, and its end."""

    def __init__(self, script: Path, ranks: int, arguments: list[str], folder: Path, timeout: float, restarts: int = 0):
        self.script, self.ranks, self.folder, self.timeout = script, ranks, folder, timeout
        self.restarts = restarts
        again = [f"--max-restarts={restarts}"] if restarts else []
        shown = ["torchrun", "--standalone", f"--nproc-per-node={ranks}", *again, script.name, *arguments]
        self.command = " ".join(shown)
        self.arguments = [
            "--standalone", "--local-addr=127.0.0.1", f"--nproc-per-node={ranks}", "--monitor-interval=0.05",
            "--redirects=3", f"--log-dir={folder / 'logs'}", *again, str(script), *arguments,
        ]  # fmt: skip
        self.printed: dict[Path, int] = {}  # characters of rank 0 that are shown, by attempt

    def until_it_ends(self, environment: dict[str, str]) -> int | None:
        """Run it; the exit status of torchrun, or None when it took too long."""
        warden = _serving()
        settings = {FOLDER: str(self.folder), "OMP_NUM_THREADS": "1", **_local_network()}
        environment = {**settings, **(NEW_STORE_EACH_TIME if self.restarts else {}), **environment}
        warden.say(
            arguments=self.arguments, folder=str(self.script.parent), log=str(self.folder / "log"),
            environment=environment,
        )  # fmt: skip
        end, answer = time.monotonic() + self.timeout, None
        try:
            while answer is None and time.monotonic() < end:
                answer = warden.hear(0.05)
                self._show_rank_0()
        finally:
            if answer is None and warden.alive():
                warden.say(stop=True)
                warden.hear(LONGEST_STOP)
        if answer is None:
            return None
        self._show_rank_0()
        for rank in range(1, self.ranks):
            for path in self._logs(rank, "stdout.log"):
                _show(rank, path.read_text(errors="replace"))
        return answer["status"]

    def _logs(self, rank: int, name: str) -> list[Path]:
        """These files of a rank, one an attempt: torchrun makes another attempt for each restart."""
        found = self.folder.glob(f"logs/*/attempt_*/{rank}/{name}")
        return sorted(found, key=lambda path: int(path.parts[-3].removeprefix("attempt_")))

    def _show_rank_0(self) -> None:
        for path in self._logs(0, "stdout.log"):
            text, shown = path.read_text(errors="replace"), self.printed.get(path, 0)
            whole = text.rfind("\n") + 1
            _show(0, text[shown:whole])
            self.printed[path] = max(shown, whole)

    def told(self) -> Ranks:
        """What the files of all ranks hold."""
        reports, spans = [], []
        for rank in range(self.ranks):
            path, report = self.folder / f"rank-{rank}.jsonl", dict[str, Any]()
            for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
                entry = json.loads(line)
                report |= entry.get("report", {})
                if "span" in entry:
                    spans.append(RankSpan(rank=rank, **entry["span"]))
            reports.append(report)
        start = min((each.start for each in spans), default=0.0)
        return Ranks(self.script.name, self.command, tuple(reports), tuple(each.earlier(start) for each in spans))

    def words(self, status: int | None) -> str:
        """What went wrong, for who wrote the script."""
        if status is None:
            where = "".join(f"\n{place}" for place in filter(None, map(self._where, range(self.ranks))))
            return (
                f"{self.command} had not ended after {self.timeout:g} s, so all ranks were killed. A rank that waits "
                "for a message that none sends waits for ever: look for a send, recv or collective that not all ranks "
                f"reach. timeout=… gives more time.{where}"
            )
        failed = sorted(filter(None, map(self._failure, range(self.ranks))))
        if not failed:
            return f"{self.command} ended with status {status}. {self._killed_by()}"
        _, first, told = failed[0]
        others = (
            "" if self.ranks == 1 else "; the other rank was ended" if self.ranks == 2 else "; the others were ended"
        )
        return f"{self.command}: rank {first} failed{others}.\n{told}"

    def _where(self, rank: int) -> str:
        """At which line of the script a rank stood when it was killed; "" where it left no word of that."""
        stood = re.compile(rf'^  File "{re.escape(str(self.script))}", line (\d+) in', re.MULTILINE)
        for path in self._logs(rank, "stderr.log"):
            if found := stood.search(path.read_text(errors="replace")):
                number = int(found[1])
                line = self.script.read_text(encoding="utf-8").splitlines()[number - 1].strip()
                return f"Rank {rank} stood at line {number}: {line}"
        return ""

    def _failure(self, rank: int) -> tuple[int, int, str] | None:
        """(when, rank, what) of a rank that raised: from what torchrun wrote down of it, else from its last words."""
        for path in reversed(self._logs(rank, "error.json")):
            with contextlib.suppress(ValueError):  # who was ended while it wrote has left half of a file
                message = json.loads(path.read_text())["message"]
                if isinstance(message, dict):
                    return path.stat().st_mtime_ns, rank, _last_error(message["extraInfo"]["py_callstack"], self.script)
        for path in reversed(self._logs(rank, "stderr.log")):
            if told := _last_error(path.read_text(errors="replace"), self.script):
                return path.stat().st_mtime_ns, rank, told
        return None

    def _killed_by(self) -> str:
        """What torchrun says of a rank that ended without a word, as one does that a signal has killed."""
        log = (self.folder / "log").read_text(errors="replace")
        found = re.findall(r"\brank +: (\d+).*?exitcode +: (-?\d+)", log, re.DOTALL)
        if found:
            rank, code = found[-1]
            return f"Rank {rank} ended with exit code {code}" + (", so a signal killed it." if int(code) < 0 else ".")
        return "\n".join(log.strip().splitlines()[-3:])


def _last_error(text: str, script: Path) -> str:
    """The end of the last traceback in `text`: the line of the script, and the error; "" where there is none."""
    lines = text.strip().splitlines()
    starts = [number for number, line in enumerate(lines) if line.lstrip().startswith("Traceback")]
    if not starts:
        return ""
    traceback = lines[starts[-1] :]
    own = [number for number, line in enumerate(traceback) if str(script.parent) in line]
    where = traceback[own[-1] : own[-1] + 2] if own else []
    return "\n".join([*(line.replace(f"{script.parent}{os.sep}", "").strip() for line in where), traceback[-1].strip()])


def _show(rank: int, text: str) -> None:
    for line in text.splitlines():
        print(f"rank {rank}: {line}", flush=True)


def _local_network() -> dict[str, str]:
    """Where gloo and NCCL meet when all ranks are on this machine: its loopback, which needs no name and no network."""
    name = {"linux": "lo", "darwin": "lo0"}.get(sys.platform)
    return {"GLOO_SOCKET_IFNAME": name, "NCCL_SOCKET_IFNAME": name} if name else {}

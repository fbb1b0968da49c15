"""A kernel in a sandbox, seen from outside: cells are executed, and their outputs come back as data."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from helpers.grading.sandbox.faults import InfrastructureFault
from helpers.grading.sandbox.live import Died, Live, death
from helpers.grading.sandbox.meter import Allowance, TooSlow
from helpers.grading.sandbox.wire import Ended, Late

GRACE_SECONDS = 2.0
READY = "ready"


@dataclass(frozen=True)
class Run:
    """What executing a cell gave.

    `outputs` in nbformat's form; `error` has ename, evalue and traceback, or is None; `outcome` is "ok", "error" (an
    exception was raised), "timeout", "crash", "memory" or "output" (too much of it): after the last four the kernel
    is dead. `says` tells such an outcome in a sentence. `seconds` are by the clock, `counted` those that count against
    a limit (see `meter`).
    """

    outputs: list[dict]
    error: dict | None
    outcome: str
    seconds: float = field(compare=False)
    says: str = ""
    counted: float = field(default=0.0, compare=False)


class SandboxedKernel:
    """A kernel; a context manager that leaves nothing of it. `alive`: whether it can still execute."""

    def __init__(self, live: Live):
        self._live, self.alive, self._cells = live, True, 0

    def wait_until_ready(self) -> None:
        """Wait for the kernel's first answer; raises InfrastructureFault, as no code of a student has run."""
        until = time.monotonic() + self._live.limits.start_seconds
        try:
            answered = listening = False
            while not (answered and listening):
                match self._live.receive(max(0.0, until - time.monotonic())):
                    case {"from": "shell", "of": "ready"}:
                        answered = True
                    case {"from": "iopub", "of": "ready", "content": {"execution_state": "idle"}}:
                        listening = True
                    case {"kernel": code}:
                        raise death(code)
                    case {"raised": says}:
                        raise Died("crash", says)
        except Died as died:
            self.close()
            raise InfrastructureFault(f"a kernel did not start: {died.says}") from None
        except Late:
            self.close()
            raise InfrastructureFault("a kernel did not start in time") from None
        except BaseException:
            self.close()
            raise

    def execute(self, code: str, timeout: float | None = None) -> Run:
        """Execute a cell within `timeout` seconds, as `meter` counts them.

        Raises InfrastructureFault when the sandbox failed or the machine is too busy, and RuntimeError when the kernel
        is dead.
        """
        if not self.alive:
            raise RuntimeError("this kernel is dead: open another, and execute again the cells that did not kill it")
        self._cells += 1
        number = f"cell-{self._cells}"
        timeout = self._live.limits.cell_seconds if timeout is None else timeout
        start, allowance = time.monotonic(), Allowance(timeout, [self._live.reading])
        cell = Cell(number)
        outcome, says = "", ""
        try:
            self._live.channel.received = 0
            self._order({"execute": code, "number": number})
            outcome = self._follow(cell, lambda: allowance.receive(self._live))
            if not outcome:
                outcome, says = "timeout", f"it had not ended after {timeout:g} seconds"
                self._order({"interrupt": True})
                until = time.monotonic() + GRACE_SECONDS
                self._follow(cell, lambda: self._live.receive(max(0.0, until - time.monotonic())))
        except Died as died:
            # Whatever comes after the time is out belongs to that.
            if not outcome:
                outcome, says = died.outcome, died.says
        except InfrastructureFault:
            self.close()
            raise
        if outcome == "timeout" and self._live.out_of_memory():
            # Some process of the job was ended for its memory, and another waited for it.
            outcome, says = "memory", self._live.memory_says
        if outcome != "timeout" and self.alive:
            with contextlib.suppress(TooSlow):
                allowance.left()
        seconds = time.monotonic() - start
        if outcome not in ("ok", "error"):
            self.close()
        return Run(cell.outputs, cell.error, outcome, seconds, says, allowance.used)

    def _order(self, order: dict) -> None:
        try:
            self._live.channel.send(order)
        except Ended:
            raise self._live.death(None) from None

    def _follow(self, cell: Cell, receive: Callable[[], dict]) -> str:
        """Read what a cell says until it is done: "ok" or "error", or "" when the time is out before."""
        limits = self._live.limits
        while not cell.done:
            try:
                message = receive()
            except Late:
                return ""
            if self._live.channel.received > limits.output:
                raise Died("output", f"more than {limits.output / (1 << 20):g} MiB were printed and shown")
            if "too_long" in message and not self._live.out_of_memory():
                raise Died("output", f"a single output had more than {limits.message / (1 << 20):g} MiB")
            if "kernel" in message:
                died = death(message["kernel"])
                if self._live.out_of_memory():
                    died = Died("memory", self._live.memory_says)
                raise died
            if "raised" in message:
                raise Died("crash", "the kernel's messages could not be read")
            cell.take(message)
            if cell.pieces > limits.outputs:
                raise Died("output", f"more than {limits.outputs:,} outputs were shown")
        return "error" if cell.error else "ok"

    def close(self) -> None:
        """End the kernel, and all that it has started."""
        self.alive = False
        self._live.close()

    def __enter__(self) -> SandboxedKernel:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Cell:
    """What a cell has shown so far, from messages that may hold anything: what is not of the right form is left out."""

    def __init__(self, number: str):
        self.number = number
        self.outputs: list[dict] = []
        self.error: dict | None = None
        self.pieces = 0
        self._idle = self._replied = False
        self._clear_next = False
        self._shown: dict[str, list[dict]] = {}

    @property
    def done(self) -> bool:
        return self._idle and self._replied

    def take(self, message: dict) -> None:
        """One message; those of other cells, as of a thread that an earlier one left running, say nothing here."""
        content = message.get("content")
        if message.get("of") != self.number or not isinstance(content, dict):
            return
        if message.get("from") == "shell":
            self._replied = True
            if content.get("status") == "error" and self.error is None:
                self.error = _error(content)
            return
        kind = message.get("kind")
        if kind == "status":
            self._idle = self._idle or content.get("execution_state") == "idle"
        elif kind == "clear_output":
            self._clear_next = bool(content.get("wait"))
            if not self._clear_next:
                self.outputs.clear()
        elif kind == "update_display_data":
            self._update(content)
        elif (output := _output(kind, content)) is not None:
            self._add(output, content)

    def _add(self, output: dict, content: dict) -> None:
        if self._clear_next:
            self.outputs.clear()
            self._clear_next = False
        kind = output["output_type"]
        if kind == "error":
            self.error = {name: output[name] for name in ("ename", "evalue", "traceback")}
        last = self.outputs[-1] if self.outputs else {}
        if kind == "stream" and last.get("output_type") == "stream" and last["name"] == output["name"]:
            last["text"] += output["text"]
            return
        self.pieces += 1
        self.outputs.append(output)
        if (name := _display_id(content)) is not None:
            self._shown.setdefault(name, []).append(output)

    def _update(self, content: dict) -> None:
        self.pieces += 1
        if (new := _output("display_data", content)) is None:
            return
        for output in self._shown.get(_display_id(content) or "", ()):
            output["data"], output["metadata"] = new["data"], new["metadata"]


def _display_id(content: dict) -> str | None:
    transient = content.get("transient")
    name = transient.get("display_id") if isinstance(transient, dict) else None
    return name if isinstance(name, str) else None


def _output(kind: object, content: dict) -> dict | None:
    """An output in nbformat's form, or None for what is none."""
    if kind == "stream":
        if content.get("name") in ("stdout", "stderr") and isinstance(content.get("text"), str):
            return {"output_type": "stream", "name": content["name"], "text": content["text"]}
    elif kind in ("display_data", "execute_result"):
        data, metadata = content.get("data"), content.get("metadata", {})
        if isinstance(data, dict) and isinstance(metadata, dict):
            output: dict[str, object] = {"output_type": kind, "data": data, "metadata": metadata}
            if kind == "execute_result":
                count = content.get("execution_count")
                output["execution_count"] = count if isinstance(count, int) else None
            return output
    elif kind == "error":
        return {"output_type": "error", **_error(content)}
    return None


def _error(content: dict) -> dict:
    lines = content.get("traceback")
    lines = lines if isinstance(lines, list) else []
    return {
        "ename": str(content.get("ename", "")),
        "evalue": str(content.get("evalue", "")),
        "traceback": [line for line in lines if isinstance(line, str)],
    }

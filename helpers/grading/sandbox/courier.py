"""The job `kernel`: an IPython kernel, and beside it a courier who speaks Jupyter's protocol with it.

The grader never speaks ZeroMQ with a student's process: a message there may have parts without end, which the library
gathers in the grader's memory. The courier gathers them in the job's, and hands on JSON of limited length, one object
at a time, as the grader reads it. The two speak over Unix sockets in the job's own folder, with a key that is made
here. Students' code can know the key, and become the courier altogether: what comes out of here is data, no verdict.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal

import zmq
from jupyter_client.session import Session

from helpers.grading.sandbox import processes, syscalls
from helpers.grading.sandbox.ipython import PORTS, serve
from helpers.grading.sandbox.view import SCRATCH
from helpers.grading.sandbox.wire import Channel, Ended

LAST_MOMENT = 1.0
READY_MILLISECONDS = 200
PASSED_ON = ("stream", "display_data", "execute_result", "update_display_data", "clear_output", "error", "status")


def run(settings: dict, channel: Channel) -> None:
    """Start a kernel, and carry messages to and fro until it or the grader has ended."""
    key = secrets.token_hex(16)
    folder = os.path.join(os.environ.get("TMPDIR") or SCRATCH, f"kernel-{secrets.token_hex(4)}")
    os.mkdir(folder, 0o700)
    # By its number: a socket's path may have 107 bytes, and that of a folder for temporary files may have more.
    place = f"/proc/self/fd/{os.open(folder, os.O_PATH | os.O_DIRECTORY)}/socket"
    child = os.fork()
    if child == 0:
        channel.close()
        serve(place, key)
        os._exit(0)
    # A process of the same user could else read this one's memory, and its socket.
    with contextlib.suppress(OSError):
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    Courier(channel, place, key, child, settings["limits"]["message"]).run()


class Courier:
    """Carries requests of the grader to a kernel, and its messages back."""

    def __init__(self, channel: Channel, place: str, key: str, child: int, longest: int):
        self.channel, self.child, self.longest = channel, child, longest
        self.session = Session(key=key.encode(), signature_scheme="hmac-sha256")
        context = zmq.Context()
        self.shell, self.iopub = context.socket(zmq.DEALER), context.socket(zmq.SUB)
        self.iopub.subscribe(b"")
        for socket, name in ((self.shell, "shell"), (self.iopub, "iopub")):
            # What is longer is not received at all: the library then drops the connection, which is seen here.
            socket.linger, socket.rcvhwm, socket.maxmsgsize = 0, 0, longest
            socket.reconnect_ivl = 5
            socket.connect(f"ipc://{place}-{PORTS[name]}")
        self.lost = self.iopub.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self.process = os.pidfd_open(child)
        self.heard = False

    def run(self) -> None:
        poller = zmq.Poller()
        for source in (self.shell, self.iopub, self.lost, self.channel.fileno(), self.process):
            poller.register(source, zmq.POLLIN)
        self.ask("kernel_info_request", {}, "ready")
        while True:
            ready = dict(poller.poll(None if self.heard else READY_MILLISECONDS))
            if not ready:
                # Again, as the first answers are said to nobody until the kernel knows that somebody listens.
                self.ask("kernel_info_request", {}, "ready")
            if self.process in ready:
                return self.end()
            if self.lost in ready:
                # A kernel that dies closes its sockets a moment before it is seen to have ended.
                if processes.wait(self.process, LAST_MOMENT):
                    return self.end()
                self.channel.send({"too_long": True})
                self.lost.recv_multipart()
            for socket in (self.iopub, self.shell):
                if socket in ready:
                    self.pass_on(socket)
            if self.channel.fileno() in ready:
                self.obey(self.channel.receive())

    def ask(self, kind: str, content: dict, number: str) -> None:
        message = self.session.msg(kind, content)
        message["header"]["msg_id"] = message["msg_id"] = number
        self.session.send(self.shell, message)

    def obey(self, order: dict) -> None:
        """One order of the grader."""
        if "execute" in order:
            content = dict(code=order["execute"], silent=False, store_history=True, user_expressions={})
            self.ask("execute_request", content | dict(allow_stdin=False, stop_on_error=False), order["number"])
        elif "interrupt" in order:
            os.kill(self.child, signal.SIGINT)

    def pass_on(self, socket: zmq.Socket) -> None:
        """All messages that wait in a socket; one that is not signed with the key is not one."""
        while True:
            try:
                frames: list[bytes] | list[zmq.Frame] = socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            if sum(map(len, frames)) > self.longest:
                self.channel.send({"too_long": True})
                continue
            try:
                _, frames = self.session.feed_identities(frames)
                message = self.session.deserialize(frames, content=True)
                kind, parent = message["header"]["msg_type"], message["parent_header"].get("msg_id")
            except Exception:
                continue
            if socket is self.shell or kind in PASSED_ON:
                self.heard = self.heard or socket is self.iopub
                origin = "shell" if socket is self.shell else "iopub"
                self.channel.send({"from": origin, "kind": kind, "of": parent, "content": message["content"]})

    def end(self) -> None:
        """Say how the kernel ended, after all that it had said before."""
        self.pass_on(self.iopub)
        _, status = os.waitpid(self.child, 0)
        with contextlib.suppress(Ended):
            self.channel.send({"kernel": os.waitstatus_to_exitcode(status)})

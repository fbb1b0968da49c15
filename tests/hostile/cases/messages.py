"""Jupyter's protocol: the kernel has the key of its session, so it can sign whatever it likes."""

from __future__ import annotations

from textwrap import dedent

from tests.hostile.case import Case
from tests.hostile.cases.displays import NOTHING
from tests.hostile.lab import TOTAL

SUMS, ROWS = ("lab05.total",), ("lab05.logsumexp",)

SENDING = """
import threading, time
kernel = get_ipython().kernel
def parent(number):
    date = "2026-11-21T00:00:00Z"
    about = {"msg_type": "execute_request", "username": "", "session": "", "date": date, "version": "5.3"}
    return {"msg_id": f"cell-{number}", **about}
def publish(kind, content, number):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=parent(number), ident=kind.encode())
def reply(number):
    ident = kernel._parent_ident["shell"] if isinstance(kernel._parent_ident, dict) else kernel._parent_ident
    content = {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
    kernel.session.send(kernel.shell_stream, "execute_reply", content, parent=parent(number), ident=ident)
"""
SHOWN = (
    """{"data": {"application/vnd.warpbook.probe+json": {"exercise": "lab05.total", "part": part, """
    """"evidence": {"language": "cuda", "right": True}}}, "metadata": {}}"""
)
PARTS = """("results", "bytes loaded per byte needed", "shared stores per warp", "global atomics per block")"""


def message(name: str, tries: str, code: str, **more) -> Case:
    more = {"loses": SUMS, "state": "", **more}
    return Case(name, tries, {TOTAL: f"{NOTHING}\n{SENDING}\n{dedent(code)}"}, **more)


CASES = (
    message(
        "message-idle",
        "says that its cell has ended while it runs on, for ever",
        """
            for n in range(1, 60):
                publish('status', {'execution_state': 'idle'}, n)
                reply(n)
            while True: time.sleep(0.1)
            """,
        stops=2,
        ruins=True,
    ),
    message(
        "message-replies",
        "answers for cells that are still to come",
        "for n in range(1, 60):\n    reply(n)\n    publish('status', {'execution_state': 'idle'}, n)",
    ),
    message(
        "message-results",
        "shows results for cells that are still to come",
        f"for n in range(1, 60):\n    for part in {PARTS}: publish('display_data', {SHOWN}, n)",
    ),
    message(
        "message-results-later",
        "shows results and ends cells from a thread, ahead of what the cells say",
        f"""
            def shout():
                while True:
                    for n in range(1, 60):
                        for part in {PARTS}: publish('display_data', {SHOWN}, n)
                        publish('status', {{'execution_state': 'idle'}}, n); reply(n)
                    time.sleep(0.05)
            threading.Thread(target=shout, daemon=True).start()
            """,
        ruins=True,
    ),
    message(
        "message-errors",
        "says that other cells have failed, in words of odd types",
        """
            deep = []
            for _ in range(900): deep = [deep]
            for n in range(1, 60):
                for content in (
                    {'ename': deep, 'evalue': {'x': deep}, 'traceback': 'x'},
                    {'ename': None, 'evalue': 7, 'traceback': [deep, 8]},
                ):
                    publish('error', content, n)
            """,
    ),
    message(
        "message-odd",
        "sends contents of odd types",
        """
            for n in range(1, 60):
                for kind in (
                    'stream', 'display_data', 'execute_result', 'update_display_data', 'clear_output', 'error',
                    'status', 'nonsense',
                ):
                    for content in (
                        {}, {'data': []}, {'data': {'x': None}, 'metadata': 3, 'transient': 7}, {'name': 1, 'text': 2},
                        {'wait': {}}, {'execution_state': []},
                        {'transient': {'display_id': {}}, 'data': {}, 'metadata': {}},
                    ):
                        publish(kind, content, n)
            """,
    ),
    message(
        "message-long-number",
        "sends numbers of five thousand digits",
        """
            import sys
            sys.set_int_max_str_digits(0)
            for n in range(1, 60): publish('display_data', {'data': {'x': 10**5000}, 'metadata': {}}, n)
            """,
    ),
    *(
        message(
            f"message-deep-{depth}",
            f"sends {depth} lists in one another, with half a character in the innermost",
            f"""
                raw = ('[' * {depth} + chr(34) + chr(92) + 'ud800' + chr(34) + ']' * {depth}).encode()
                import json
                pack = kernel.session.pack
                deep = b'{{"data": {{"x": ' + raw + b'}}, "metadata": {{}}}}'
                kernel.session.pack = lambda obj: deep if isinstance(obj, dict) and 'data' in obj else pack(obj)
                for n in range(1, 60): publish('display_data', {{'data': {{}}, 'metadata': {{}}}}, n)
                kernel.session.pack = pack
                """,
        )
        for depth in (90, 480, 950)
    ),
    message(
        "message-parts",
        "sends messages of a hundred thousand parts",
        "empty = {'data': {}, 'metadata': {}}\nparts = [b'x'] * 100_000\n"
        "kernel.session.send(kernel.iopub_socket, 'display_data', empty, parent=parent(3), buffers=parts)",
    ),
    message(
        "message-unsigned",
        "sends what is no message",
        "import os\nfor _ in range(1000): kernel.iopub_socket.send_multipart([os.urandom(64) for _ in range(7)])",
    ),
    message(
        "message-huge",
        "sends one message of 300 MB",
        "publish('display_data', {'data': {'x': 'x' * 300_000_000}, 'metadata': {}}, 3)",
    ),
    message(
        "message-sockets-closed",
        "closes the kernel's sockets",
        "kernel.shell_stream.close()\nkernel.iopub_socket.close()",
        stops=4,
        ruins=True,
    ),
    message(
        "message-context-ended",
        "ends ZeroMQ altogether",
        """
            import zmq
            threading.Thread(target=lambda: zmq.Context.instance().destroy(linger=0), daemon=True).start()
            time.sleep(1)
            """,
        stops=4,
        ruins=True,
    ),
    message(
        "message-sockets-gone",
        "deletes the sockets' files",
        "import shutil, glob\nfor path in glob.glob('/tmp/kernel-*'): shutil.rmtree(path)",
        loses=SUMS,
    ),
    message(
        "message-no-heartbeat",
        "kills all other threads' work by holding Python's lock",
        "import ctypes\nlibc = ctypes.PyDLL(None)\nlibc.sleep(1000)",
        stops=1,
    ),
    message(
        "message-all-files-closed", "closes every open file", "import os\nos.closerange(0, 4096)", ruins=True, stops=4
    ),
    message(
        "message-courier-killed",
        "kills the process that carries its messages",
        """
            import os, signal
            for pid in (os.getppid(), -1, 2, 3):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError as error:
                    print(error)
            """,
        loses=SUMS,
    ),
    message(
        "message-courier-stopped",
        "stops the process that carries its messages",
        "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(60)",
        loses=SUMS,
        stops=1,
    ),
    message(
        "message-wire",
        "writes to whatever socket it finds open",
        """
            import os, socket
            for name in os.listdir('/proc/self/fd'):
                try:
                    if 'socket' in os.readlink('/proc/self/fd/' + name): os.write(int(name), b'\\xff' * 4096)
                except OSError as error:
                    pass
            """,
        ruins=True,
        stops=4,
    ),
)

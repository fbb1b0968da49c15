"""Cells run in a sandboxed kernel: what comes back of honest ones, and of ones that go wrong."""

import pytest

from helpers.grading.sandbox import Limits, open_sandbox
from tests.grading.sandbox.asking import value

HONEST = """
import numpy as np
from helpers import cp, cuda

@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

x = cp.arange(100, dtype=cp.float32)
double[2, 64](x)
float(x.sum())
"""


def text(run):
    return "".join(output["text"] for output in run.outputs if output["output_type"] == "stream")


def test_outputs_come_in_the_form_of_notebooks(any_box):
    with any_box.kernel() as kernel:
        run = kernel.execute(
            "import sys\nfrom IPython.display import display, HTML\nprint('a'); print('b')\n"
            "print('c', file=sys.stderr)\ndisplay(HTML('<b>d</b>'))\n1 + 1",
            30,
        )
    assert (run.outcome, run.error, run.says) == ("ok", None, "")
    kinds = [output["output_type"] for output in run.outputs]
    assert sorted(kinds) == ["display_data", "execute_result", "stream", "stream"]
    assert {output["name"]: output["text"] for output in run.outputs if "name" in output} == {
        "stdout": "a\nb\n",
        "stderr": "c\n",
    }
    (shown,) = (output for output in run.outputs if output["output_type"] == "display_data")
    assert shown["data"]["text/html"] == "<b>d</b>"
    assert run.outputs[-1] == {
        "output_type": "execute_result",
        "data": {"text/plain": "2"},
        "metadata": {},
        "execution_count": 1,
    }


@pytest.mark.parametrize(
    "what", ["os.mkdir('a'); os.chdir('a'); os.rmdir('../a')", "shutil.rmtree(os.getcwd())"], ids=["own", "home"]
)
def test_a_cell_that_deletes_its_folder_costs_later_ones_nothing(any_box, what):
    with any_box.kernel() as kernel:
        before = value(kernel, "__import__('os').getcwd()")
        assert kernel.execute(f"import os, shutil\n{what}", 30).outcome == "ok"
        assert value(kernel, "os.getcwd()") == before
        run = kernel.execute(HONEST, 60)
    assert (run.outcome, run.error) == ("ok", None)


def test_state_stays_from_cell_to_cell_and_goes_with_the_kernel(any_box):
    with any_box.kernel() as kernel:
        kernel.execute("x = 3", 30)
        assert value(kernel, "x + 1") == 4
    with any_box.kernel() as kernel:
        assert kernel.execute("x", 30).error["ename"] == "NameError"


def test_kernels_run_on_the_virtual_gpu(any_box):
    with any_box.kernel() as kernel:
        run = kernel.execute(HONEST, 60)
        assert run.outcome == "ok", run
        assert run.outputs[-1]["data"]["text/plain"] == "9900.0"


def test_an_exception_is_an_error_and_the_kernel_goes_on(kernel):
    run = kernel.execute("1 / 0", 30)
    assert run.outcome == "error" and run.error["ename"] == "ZeroDivisionError"
    assert any("1 / 0" in line for line in run.error["traceback"])
    assert kernel.alive and value(kernel, "2 + 2") == 4


def test_updates_and_clears_of_outputs_are_followed(kernel):
    run = kernel.execute(
        "from IPython.display import display, update_display, clear_output\n"
        "display('old', display_id='a')\nupdate_display('new', display_id='a')",
        30,
    )
    assert [output["data"]["text/plain"] for output in run.outputs] == ["'new'"]
    run = kernel.execute("print('gone', flush=True)\nclear_output()\nprint('here')", 30)
    assert text(run) == "here\n"


def test_input_raises_at_once(kernel):
    assert kernel.execute("input('your name? ')", 30).error["ename"] == "StdinNotImplementedError"


def test_shell_commands_run(kernel):
    assert text(kernel.execute("%%bash\necho from bash", 30)) == "from bash\n"
    assert "from a program" in text(
        kernel.execute("import os; os.system('echo from a program')\nimport time; time.sleep(1)", 30)
    )
    assert "from a terminal" in text(kernel.execute("!echo from a terminal", 30))


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("import os; os._exit(0)", "crash"),
        ("import ctypes; ctypes.string_at(0)", "crash"),
        ("import os; os.abort()", "crash"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "crash"),
        ("import sys; sys.setrecursionlimit(10**9)\ndef f(): return f()\nf()", None),
        ("while True: pass", "timeout"),
        ("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", "timeout"),
        ("import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass", "timeout"),
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", "timeout"),
        ("import time; time.sleep(1000)", "timeout"),
        ("while True: print('x' * 1000)", "output"),
        ("print('x' * 50_000_000)", "output"),
        ("from IPython.display import display\ndisplay({'a': 'x' * 3_000_000})", "output"),
        ("from IPython.display import display\nfor _ in range(100_000): display(1)", "output"),
    ],
)
def test_what_kills_a_kernel_is_told_and_costs_no_other_anything(box, code, outcome):
    with box.kernel() as beside, box.kernel() as kernel:
        run = kernel.execute(code, 3)
        if outcome is not None:
            assert run.outcome == outcome, run.says
            assert run.says
        assert run.outcome != "ok" and (not kernel.alive or run.outcome == "error")
        assert value(beside, "6 * 7") == 42


def test_a_message_of_300_mb_is_refused(box):
    code = "from IPython.display import publish_display_data\npublish_display_data({'text/plain': 'x' * 300_000_000})"
    with open_sandbox(box.tier, limits=Limits(memory=4 << 30)) as roomy, roomy.kernel() as kernel:
        assert kernel.execute(code, 60).outcome == "output"


def test_what_was_shown_before_the_end_is_kept(box):
    with box.kernel() as kernel:
        run = kernel.execute("print('so far', flush=True)\nwhile True: pass", 2)
    assert run.outcome == "timeout" and "so far" in text(run)
    with box.kernel() as kernel:
        run = kernel.execute("import os, time\nprint('so far', flush=True)\ntime.sleep(0.5)\nos._exit(1)", 10)
    assert run.outcome == "crash" and "so far" in text(run)


def test_a_dead_kernel_says_what_to_do(box):
    with box.kernel() as kernel:
        kernel.execute("import os; os._exit(0)", 30)
        with pytest.raises(RuntimeError, match="open another"):
            kernel.execute("1", 30)


def test_late_prints_land_in_no_other_cell(any_box):
    with any_box.kernel() as kernel:
        kernel.execute(
            "import threading, time\ndef late():\n    time.sleep(0.5)\n    print('late')\n"
            "thread = threading.Thread(target=late); thread.start()",
            30,
        )
        run = kernel.execute("thread.join()\nprint('mine')", 30)
        assert text(run) == "mine\n"


def test_forged_messages_without_the_key_are_dropped(box):
    forge = """
import zmq
from jupyter_client.session import Session
kernel = get_ipython().kernel
forger = Session(key=b'another key')
message = forger.msg('stream', {'name': 'stdout', 'text': 'forged'}, parent=kernel.get_parent())
kernel.iopub_socket.send_multipart([b'stream', *forger.serialize(message)])
print('honest')
"""
    with box.kernel() as kernel:
        assert text(kernel.execute(forge, 30)) == "honest\n"


def test_forged_messages_with_the_key_are_only_data(box):
    forge = """
kernel = get_ipython().kernel
def send(kind, content):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent())
send('stream', {'name': 'stdout', 'text': 'lone half: \\ud800'})
send('stream', {'name': ['stdout'], 'text': 3})
send('stream', {'name': 'stdout'})
send('display_data', {'data': 'none', 'metadata': []})
send('error', {'ename': 7, 'traceback': {'a': 1}})
send('error', [])
send('execute_result', {'data': {}, 'metadata': {}, 'execution_count': 'x'})
nested = []
for _ in range(900): nested = [nested]
send('display_data', {'data': {'a': nested}, 'metadata': {}})
send('status', {'execution_state': 'idle'})
"""
    with box.kernel() as kernel:
        run = kernel.execute(forge, 30)
        assert run.outcome in ("ok", "error", "crash")
        for output in run.outputs:
            assert output["output_type"] in ("stream", "display_data", "execute_result", "error")
            repr(output).encode("utf-8")
        streams = [output["text"] for output in run.outputs if output["output_type"] == "stream"]
        assert all("\ud800" not in text for text in streams)


def test_four_kernels_at_once_are_all_honest(any_box):
    from concurrent.futures import ThreadPoolExecutor

    def life(number):
        with any_box.kernel() as kernel:
            runs = [kernel.execute(f"number = {number}", 120), kernel.execute(HONEST, 120)]
            return [run.outcome for run in runs], value(kernel, "number")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(life, range(4))) == [(["ok", "ok"], number) for number in range(4)]


def test_a_file_beside_the_notebook_takes_no_module_s_place(kernel):
    kernel.execute("open('secrets.py', 'w').write('')\nopen('colorsys.py', 'w').write('mine = 1')", 30)
    assert value(kernel, "hasattr(__import__('colorsys'), 'mine')") is False
    assert "/tmp/home" not in value(kernel, "__import__('sys').path")
    assert "" not in value(kernel, "__import__('sys').path")

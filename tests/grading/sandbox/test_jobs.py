"""Jobs with one answer, tiers, and what a machine without sandboxes is told."""

import socket
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path

import nbformat
import psutil
import pytest

from helpers.checking import evidence
from helpers.checking.exercise import exercise, exercises
from helpers.grading.judging import judged
from helpers.grading.sandbox import JobFault, SandboxUnavailable, cgroups, open_sandbox, tiers
from helpers.grading.sandbox.meter import Allowance
from helpers.grading.sandbox.wire import LENGTH, Channel, Ended, Late, Malformed, decode, encode
from tests.grading.sandbox.asking import value
from tests.grading.sandbox.conftest import MIB, SMALL, need, opened

ROOT = Path(__file__).resolve().parents[3]
probe = import_module("helpers.checking.probe")  # `helpers.checking.probe` is the function


@pytest.fixture(scope="module")
def judge():
    with opened("bubblewrap-forks", role="judge") as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def runner():
    with opened("bubblewrap-forks", role="runner") as sandbox:
        yield sandbox


# -- jobs -------------------------------------------------------------------------------------------------


def test_a_job_answers(any_box):
    request = {"text": "ä \u2028", "numbers": [1, 2.5, None, True], "deep": {"a": {}}}
    assert any_box.ask("echo", request, 60) == request
    large = {"text": "x" * 900_000}
    assert any_box.ask("echo", large, 60) == large


@pytest.mark.parametrize(
    ("request_", "outcome", "says"),
    [
        ({"way": "exit"}, "crash", "exit status 3"),
        ({"way": "abort"}, "crash", "aborted"),
        ({"way": "raise"}, "crash", "KeyError: 'nothing'"),
        ({"way": "too long"}, "crash", "1,048,576 bytes"),
        ({"way": "wait", "seconds": 100}, "timeout", "after 1 seconds"),
        ({"way": "hog"}, "memory", "512 MiB"),
    ],
    ids=lambda item: item.get("way", "") if isinstance(item, dict) else "",
)
def test_how_a_job_failed_is_told(judge, request_, outcome, says):
    timeout = 1 if outcome == "timeout" else 60
    with pytest.raises(JobFault, match=says) as caught:
        judge.ask("dry_run", request_, timeout)
    assert caught.value.outcome == outcome
    assert judge.ask("echo", {"still": "here"}, 60) == {"still": "here"}


def test_a_kernel_s_evidence_is_judged_where_no_student_s_code_ran(box, runner, judge):
    lab = ROOT / "labs" / "source" / "lab05_reduction_and_scan" / "lab05_reduction_and_scan.ipynb"
    cells = {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell for cell in nbformat.read(lab, 4).cells}
    nothing = (
        "total = cp.RawKernel('extern \"C\" __global__ void total(const float* x, float* out, int n) {}', 'total')"
    )
    inputs = evidence.inputs_of(exercise("lab05.total"))
    for code, right in ((cells["lab05-total"].source, True), (nothing, False)):
        with box.kernel() as kernel:
            kernel.execute("from helpers import cp, probe", 60)
            run = kernel.execute(f"{code}\nprobe(total, 'lab05.total', inputs={inputs!r})", 60)
        (shown,) = (output["data"] for output in run.outputs if probe.MIME in output.get("data", {}))
        request = {"exercise": "lab05.total", "seed": 7, "evidence": shown[probe.MIME]["evidence"]}
        assert judged(judge, runner, request, Allowance(120))["results"]["right"] is right


def test_a_student_s_kernel_has_no_exercises_of_labs(any_box, judge):
    table = "__import__('helpers.checking.exercise').checking.exercise.exercises()"
    look = f"[key for key in {table} if key.startswith('lab')]"
    assert any(key.startswith("lab") for key in exercises())
    with any_box.kernel() as kernel:
        assert value(kernel, look) == []
    with judge.kernel() as kernel:
        assert value(kernel, look)


def test_memory_is_limited_without_control_groups_too(judge, monkeypatch):
    monkeypatch.setattr(cgroups, "place", lambda: None)
    with pytest.raises(JobFault) as caught:
        judge.ask("dry_run", {"way": "hog"}, 60)
    assert caught.value.outcome == "memory"


def test_an_unknown_job_is_refused(judge):
    with pytest.raises(KeyError, match="there are kernel, runner, judge"):
        judge.ask("nothing", {}, 1)


# -- tiers ------------------------------------------------------------------------------------------------


def test_a_trusted_class_gets_limits_where_there_is_nothing_else(monkeypatch):
    need("limits")
    monkeypatch.setattr(tiers, "try_out", lambda row: "" if row.name == "limits" else "not here")
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        tiers.best()
    assert tiers.best(trusted=True).name == "limits"
    with pytest.raises(ValueError, match="trusted=True"):
        open_sandbox(tiers.tier("limits"))
    with open_sandbox(trusted=True, limits=SMALL) as box:
        assert box.tier.name == "limits" and box.forks
        with box.kernel() as kernel:
            assert value(kernel, "1 + 1") == 2
            pid = value(kernel, "__import__('os').getpid()")
            kernel.execute("import subprocess; p = subprocess.Popen(['sleep', '1000'], start_new_session=True)", 30)
            child = value(kernel, "p.pid")
            assert kernel.execute("while True: pass", 1).outcome == "timeout"
        for number in (pid, child):
            assert not psutil.pid_exists(number)
        with pytest.raises(JobFault):
            box.ask("dry_run", {"way": "abort"}, 60)


def test_other_systems_are_told_what_to_do():
    with pytest.raises(SandboxUnavailable, match="Grade on Linux"):
        tiers.require_linux("win32")


def test_the_client_can_be_imported_on_any_system():
    """What only Linux has is imported where it is used."""
    missing = ("resource", "fcntl", "pwd", "grp")
    code = f"import sys\nfor name in {missing!r}: sys.modules[name] = None\nimport helpers.grading.sandbox"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_tier_says_what_it_protects_from():
    assert [row.name for row in tiers.TIERS] == ["bubblewrap", "namespaces", "limits"]
    for row in tiers.TIERS:
        assert row.needs and row.protects and row.leaves
        assert row.trusted_only != row.isolates


# -- what the two sides speak -------------------------------------------------------------------------------


@pytest.fixture
def ends():
    near, far = socket.socketpair()
    with near, far:
        yield Channel(near, longest=MIB), far


def test_frames_arrive_whole_however_they_are_cut(ends):
    near, far = ends
    data = encode({"a": "ä"}) + encode({"b": [1]})
    threading.Thread(target=lambda: [far.sendall(data[i : i + 1]) for i in range(len(data))]).start()
    assert near.receive(10) == {"a": "ä"} and near.receive(10) == {"b": [1]}
    with pytest.raises(Late):
        near.receive(0.01)
    far.close()
    with pytest.raises(Ended):
        near.receive(10)


def test_a_long_frame_is_refused_before_it_is_read(ends):
    near, far = ends
    far.sendall(LENGTH.pack(300 * MIB) + b"{")
    with pytest.raises(Malformed, match="314,572,800 bytes") as caught:
        near.receive(10)
    assert caught.value.too_long


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"1", b"{", b'{"a": NaN}', b"\xff", b"[" * 200_000, b'{"a":' + b"9" * 5000 + b"}"]
)
def test_what_is_no_plain_object_is_malformed(body):
    with pytest.raises(Malformed):
        decode(body)


def test_texts_can_be_written_to_files():
    assert decode(b'{"\\ud800": ["\\udfff", "\\ud83d\\ude00"]}') == {"\ufffd": ["\ufffd", "\U0001f600"]}

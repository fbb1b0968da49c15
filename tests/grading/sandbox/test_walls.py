"""What students' code tries to do to its grader, to others and to the machine, each attempt made for real inside."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.grading.sandbox import InfrastructureFault, Limits, cgroups, open_sandbox, processes, tiers, users, view
from tests.grading.sandbox.asking import value
from tests.grading.sandbox.conftest import MIB, SMALL, need, opened

ROOT = Path(__file__).resolve().parents[3]


def raises(kernel, code: str, timeout: float = 30) -> str:
    """The name of the exception that code raises there; "" for none."""
    run = kernel.execute(code, timeout)
    assert run.outcome in ("ok", "error"), (run.outcome, run.says)
    return run.error["ename"] if run.error else ""


def inside(box) -> list[int]:
    """The processes of a sandbox, as the machine sees them: its first ones, without jobs when none is open."""
    return processes.descendants(box._server.process.pid) if box._server else []


def exists(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


def eventually(holds, seconds: float = 10) -> bool:
    until = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < until:
        time.sleep(0.02)
    return held


# -- files --------------------------------------------------------------------------------------------------


PRIVATE = (
    ROOT / "README.md",
    ROOT / "labs",
    ROOT / "tests",
    ROOT / ".git",
    ROOT / "helpers",
    "/etc/shadow",
    "/root/.ssh",
    "/var",
    "/sys",
    "/boot",
    "/proc/1/environ",
    "/proc/kcore",
    "/proc/sysrq-trigger",
    "/run",
    "/opt/warpbook/README.md",
)


def test_nothing_that_is_not_python_or_helpers_can_be_read(kernel):
    refused = ("FileNotFoundError", "PermissionError", "OSError", "NotADirectoryError")
    for path in PRIVATE:
        look = f"import os\nplace = {str(path)!r}\nos.listdir(place) if os.path.isdir(place) else open(place).read(1)"
        assert raises(kernel, look) in refused, path


def test_other_folders_are_empty_of_what_is_private(kernel):
    assert set(value(kernel, "__import__('os').listdir('/tmp/home')")) <= {".ipython", ".local"}  # IPython's, and new
    # Python itself may lie in /tmp, where a build machine works, or in a home: then the way to it is there too.
    for folder, needed, given in (("/tmp", {"home"}, {"home", "shm"}), ("/home", set(), set())):
        ways = {Path(place).parts[2] for place in (sys.prefix, sys.base_prefix) if place.startswith(f"{folder}/")}
        there = value(kernel, f"[path.name for path in __import__('pathlib').Path({folder!r}).glob('*')]")
        assert needed <= {name for name in there if not name.startswith("kernel-")} <= given | ways, folder
    assert value(kernel, "sorted(__import__('os').listdir('/opt/warpbook'))") == ["helpers", "vgpu"]
    assert value(kernel, "sorted(__import__('os').listdir('/etc'))") <= [
        "alternatives",
        "group",
        "ld.so.cache",
        "localtime",
        "passwd",
    ]


def test_nothing_outside_the_scratch_can_be_written(kernel):
    for path in (
        "/x",
        "/usr/x",
        "/etc/passwd",
        "/opt/warpbook/helpers/checking/check.py",
        "/opt/warpbook/x",
        "/dev/x",
        "/proc/x",
    ):
        assert raises(kernel, f"open({path!r}, 'w')") in ("OSError", "PermissionError", "FileNotFoundError"), path
    prefix = value(kernel, "__import__('sys').prefix")
    assert raises(kernel, f"open({prefix + '/x'!r}, 'w')") in ("OSError", "PermissionError")
    assert raises(kernel, "open('/proc/sys/kernel/core_pattern', 'w')") in ("OSError", "PermissionError")
    assert raises(kernel, "open('/tmp/mine', 'w').write('x'); open('/dev/shm/mine', 'w').write('x')") == ""


def test_the_environment_has_no_secret(monkeypatch):
    monkeypatch.setenv("GRADER_TOKEN", "hunter2")
    with opened("bubblewrap-fresh") as box, box.kernel() as kernel:
        seen = value(kernel, "dict(__import__('os').environ)")
        assert "hunter2" not in str(seen) and "GRADER_TOKEN" not in seen
        assert seen["HOME"] == "/tmp/home" and seen["OMP_NUM_THREADS"] == "1"
        assert "hunter2" not in value(kernel, "open('/proc/self/environ').read()")


def test_exercises_of_labs_are_shown_to_the_judge_only(tmp_path, monkeypatch):
    """With a lab that is made up, in a copy of the folder."""
    helpers = tmp_path / "project" / "helpers"
    (helpers / "exercises" / "__pycache__").mkdir(parents=True)
    (helpers / "exercises" / "lab99.py").write_text("EXERCISES = ('the answer',)")
    (helpers / "exercises" / ".lab99.py.swp").write_text("the answer")
    (helpers / "exercises" / "__pycache__" / "lab99.cpython-311.pyc").write_text("the answer")
    for book in ("lab98", "ch98"):  # books that are folders
        (helpers / "exercises" / book).mkdir()
        (helpers / "exercises" / book / "__init__.py").write_text("ORDER = ()")
    for entry in (ROOT / "helpers").iterdir():
        if entry.name not in ("exercises", "__pycache__"):
            (helpers / entry.name).symlink_to(entry)
    monkeypatch.setattr(view, "HELPERS", helpers)
    by_role = {role: {entry.place: entry for entry in view.view(role)} for role in view.ROLES}
    place = "/opt/warpbook/helpers/exercises"
    lab, kept, compiled = f"{place}/lab99.py", f"{place}/.lab99.py.swp", f"{place}/__pycache__"
    for role in ("student", "runner"):
        for path in (lab, kept):
            assert Path(by_role[role][path].source).name == "no_exercises.txt"
        assert by_role[role][compiled].kind == by_role[role][f"{place}/lab98"].kind == "hide"
        assert f"{place}/ch98" not in by_role[role]
    assert not by_role["judge"].keys() & {lab, compiled, f"{place}/lab98"}


@pytest.mark.parametrize("tier", ["bubblewrap", "namespaces"])
def test_a_project_inside_a_folder_of_the_system_is_hidden(tmp_path, monkeypatch, tier):
    """As in containers that keep projects below /usr/src, or with helpers installed among other packages."""
    need(tier)
    project = tmp_path / "usr" / "src" / "warpbook"
    environment = project / "deep" / ".venv"
    packages = environment / "lib" / "site-packages"
    for folder in (packages / "helpers", packages / "numpy", project / "helpers", project / "labs" / "source"):
        folder.mkdir(parents=True)
        (folder / "a_file").write_text("x")
    monkeypatch.setattr(view, "HELPERS", project / "helpers")
    monkeypatch.setattr(view, "SYSTEM", (*view.SYSTEM, str(tmp_path / "usr")))
    monkeypatch.setattr(view, "_python", lambda: [str(environment)])
    monkeypatch.setattr(view.site, "getsitepackages", lambda: [str(packages)])
    line = tiers.tier(tier).command(view.view("judge"), 1 << 20, False, ["/bin/ls", "-AR", str(tmp_path)])
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = {block.splitlines()[0].rstrip(":"): block.splitlines()[1:] for block in done.stdout.split("\n\n")}
    assert seen[str(project)] == ["deep"] and seen[str(packages)] == ["helpers", "numpy"]
    assert seen[str(packages / "numpy")] == ["a_file"] and seen[str(packages / "helpers")] == []


# -- the network, other processes, the kernel -----------------------------------------------------------------


def test_there_is_no_network(kernel):
    assert value(kernel, "__import__('socket').if_nameindex()") == [(1, "lo")]
    for place in (("127.0.0.1", 80), ("192.0.2.1", 80)):
        assert raises(kernel, f"import socket; socket.create_connection({place!r}, 2)") in (
            "OSError",
            "ConnectionRefusedError",
        )
    assert raises(kernel, "import socket; socket.getaddrinfo('example.org', 80)") == "gaierror"


def test_only_its_own_processes_are_seen_and_can_be_signalled(any_box):
    with any_box.kernel() as kernel, any_box.kernel() as other:
        seen = value(kernel, "[int(name) for name in __import__('os').listdir('/proc') if name.isdigit()]")
        assert len(seen) <= 5
        kernel.execute(
            "import os, signal\nfor pid in [*range(1, 300), os.getppid()]:\n    if pid != os.getpid():\n"
            "        for number in (signal.SIGSTOP, signal.SIGKILL):\n"
            "            try: os.kill(pid, number)\n            except OSError: pass",
            10,
        )
        assert value(other, "1 + 1") == 2
    with any_box.kernel() as kernel:
        assert kernel.execute("import os, signal; os.kill(-1, signal.SIGKILL)", 10).outcome in ("ok", "crash")
    with any_box.kernel() as kernel:
        assert value(kernel, "1 + 1") == 2


def test_it_is_nobody_with_no_capabilities(kernel):
    status = value(kernel, "open('/proc/self/status').read()")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(fields[name], 16) == 0, name
    assert fields["NoNewPrivs"] == "1" and fields["Uid"].split() == ["1000"] * 4


def test_ptrace_mounts_and_new_namespaces_are_refused(any_box):
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, CLONE_NEWNS, CLONE_NEWUSER = 16, 0x20000, 0x10000000
refused = {
    "ptrace": [libc.ptrace(PTRACE_ATTACH, pid, 0, 0) for pid in (1, os.getppid())],
    "mount": libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None),
    "unmount": libc.umount2(b"/tmp", 2),
    "namespace": libc.unshare(CLONE_NEWNS),
    "chroot": libc.chroot(b"/tmp"),
    "hostname": libc.sethostname(b"x", 1),
}
"""
    with any_box.kernel() as kernel:
        kernel.execute(code, 30)
        assert value(kernel, "refused") == {
            "ptrace": [-1, -1],
            "mount": -1,
            "unmount": -1,
            "namespace": -1,
            "chroot": -1,
            "hostname": -1,
        }
        # Where one more user namespace can be had, it is worth nothing outside of it.
        kernel.execute(
            "import os\nif os.fork() == 0:\n    libc.unshare(CLONE_NEWUSER | CLONE_NEWNS)\n    os._exit(0)", 30
        )
        assert value(kernel, "open('/etc/passwd').read().count('learner')") == 2
        assert raises(kernel, "open('/proc/1/mem', 'rb').read(1)") in ("PermissionError", "OSError")
        assert raises(kernel, "open(f'/proc/{os.getppid()}/mem', 'rb')") in ("PermissionError", "OSError")
        assert raises(kernel, "os.readlink(f'/proc/{os.getppid()}/fd/0')") in ("PermissionError", "OSError")


def test_keys_and_what_few_programs_need_are_refused(any_box):
    """Keys belong to a user, and all jobs are one user outside: one job could see another's."""
    numbers = {"x86_64": (248, 249, 250, 298, 321, 323, 425), "aarch64": (217, 218, 219, 241, 280, 282, 425)}
    of_this_machine = numbers[os.uname().machine]
    code = f"""
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
def asked(number):
    ctypes.set_errno(0)
    return libc.syscall(number, b"user", b"left-behind", b"x", 1, -4), ctypes.get_errno()
refused = [asked(number) for number in {of_this_machine}]
by_other_numbers = asked(0x40000000 + 39) if os.uname().machine == "x86_64" else (-1, 1)
child = "import ctypes; print(ctypes.CDLL(None).syscall({of_this_machine[0]}, b'user', b'left-behind', b'x', 1, -4))"
of_child = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout
"""
    with any_box.kernel() as kernel:
        assert not raises(kernel, code)
        assert value(kernel, "refused") == [(-1, 1)] * 7
        assert value(kernel, "by_other_numbers") == (-1, 1)
        assert value(kernel, "of_child") == "-1\n"
        assert "left-behind" not in value(kernel, "open('/proc/keys').read()")


# -- using things up ------------------------------------------------------------------------------------------

BOMBS = {
    "processes": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "threads": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(100,)).start()",
    "one block": "import numpy as np\nx = np.ones(3 << 30, dtype=np.uint8)",
    "many blocks": "held = []\nwhile True: held.append(bytearray(100_000))",
    "many objects": "held = []\nwhile True: held.append(str(len(held)) * 9)",
    "children": "import os\nfor _ in range(8):\n    if os.fork() == 0:\n        held = []\n"
    "        while True: held.append(bytearray(1_000_000))\nwhile True: pass",
    "shared memory": "import mmap\nheld = mmap.mmap(-1, 3 << 30)\nfor i in range(0, 3 << 30, 4096): held[i] = 1",
}
FULL = {
    "a file": "with open('/tmp/big', 'wb') as file:\n    while True: file.write(bytes(1 << 20))",
    "files": "for i in range(10**9):\n    with open(f'/tmp/{i}', 'wb') as file: file.write(bytes(1 << 20))",
    "empty files": "for i in range(10**9): open(f'/tmp/{i}', 'w').close()",
    "/dev/shm": "for i in range(10**9):\n    with open(f'/dev/shm/{i}', 'wb') as file: file.write(bytes(1 << 20))",
    "descriptors": "held = []\nwhile True: held.append(open('/dev/null'))",
    "folders": "import os\nwhile True:\n    os.mkdir('d'); os.chdir('d')",
}


MEMORY = ("many blocks", "many objects", "shared memory", "children")
WITH, WITHOUT = "with control groups", "without"


@pytest.mark.parametrize(
    ("bomb", "groups"),
    [*((bomb, groups) for bomb in BOMBS for groups in (WITH, WITHOUT)), *((bomb, WITH) for bomb in FULL)],
)
def test_bombs_hurt_nobody_else(box, bomb, groups, monkeypatch):
    if groups == WITHOUT:
        monkeypatch.setattr(cgroups, "place", lambda: None)
    elif cgroups.place() is None and bomb in BOMBS:
        pytest.skip("this user may make no control groups")
    with box.kernel() as beside, box.kernel() as kernel:
        run = kernel.execute((BOMBS | FULL)[bomb], 20 if bomb in MEMORY[:3] else 4)
        assert run.outcome in ("error", "crash", "memory", "timeout"), run.outcome
        if run.outcome == "error":
            assert run.error["ename"] in ("MemoryError", "_ArrayMemoryError", "OSError", "RuntimeError"), run.error
        if bomb in MEMORY:
            memory = ("memory", "error") if bomb != "shared memory" else ("memory",)
            assert run.outcome in memory, (run.outcome, run.says)
        assert value(beside, "6 * 7") == 42
        assert (
            beside.execute(
                "import os; open('/tmp/still', 'wb').write(bytes(1 << 20)); os.waitpid(os.fork() or os._exit(0), 0)", 30
            ).outcome
            == "ok"
        )


@pytest.mark.parametrize("groups", [WITH, WITHOUT])
def test_memory_is_limited_however_jobs_are_started(any_box, groups, monkeypatch):
    if groups == WITHOUT:
        monkeypatch.setattr(cgroups, "place", lambda: None)
    with any_box.kernel() as kernel:
        assert kernel.execute(BOMBS["shared memory"], 60).outcome == "memory"


def test_processes_are_counted_for_each_job(box, monkeypatch):
    """The limit of processes is of one user; honest kernels must not share it."""
    monkeypatch.setattr(cgroups, "place", lambda: None)
    hold = "import threading, time\nfor _ in range(40): threading.Thread(target=time.sleep, args=(5,)).start()"
    with box.kernel() as first, box.kernel() as second, box.kernel() as third:
        for kernel in (first, second, third):
            assert kernel.execute(hold, 30).outcome == "ok"


def test_every_job_has_a_share_of_the_cpu_of_its_own(box):
    """Linux shares the CPU out by groups, and else by processes and sessions, of which a job may start many."""
    place = cgroups.place()
    if place is None or "cpu" not in dict(place.parents):
        pytest.skip("this user may make no control groups of CPU")
    groups = set()
    for _ in range(2):
        with box.kernel() as kernel:
            pid = processes.pid_of(kernel._live.handle)
            lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
            named = [line for line in lines if "warpbook-" in line]
            groups |= {line for line in named if place.version == 2 or "cpu" in line.split(":")[1].split(",")}
    assert len(groups) == 2


# -- leaving something behind ---------------------------------------------------------------------------------

DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    if os.fork() == 0:
        open('/tmp/daemon', 'w').write('here')
        time.sleep(1000)
    os._exit(0)
while not os.path.exists('/tmp/daemon'): time.sleep(0.01)
"""


def test_nothing_of_a_job_is_left(box):
    with box.kernel() as kernel:
        value(kernel, "1")
        before = len(inside(box))
        assert kernel.execute(DAEMON, 30).outcome == "ok"
        kernel.execute("import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0abstract')\ns.listen()", 30)
        assert len(inside(box)) > before
        group = kernel._live.group
        folders = list(group.folders.values()) if group else []
    # The job's first process, the courier and the kernel; the first has ended, and is buried in a moment.
    assert eventually(lambda: len(inside(box)) == before - 3)
    assert not any(folder.exists() for folder in folders)
    with box.kernel() as kernel:
        assert value(kernel, "__import__('os').path.exists('/tmp/daemon')") is False
        assert (
            raises(kernel, "import socket; socket.socket(socket.AF_UNIX).connect('\\0abstract')")
            == "ConnectionRefusedError"
        )
        assert value(kernel, "__import__('os').listdir('/dev/shm')") == []
        assert value(kernel, "__import__('os').listdir('/dev/pts')") == ["ptmx"]


def test_two_jobs_do_not_see_one_another(any_box):
    with any_box.kernel() as one, any_box.kernel() as two:
        one.execute(
            "import multiprocessing.shared_memory as m\n"
            "for folder in ('/tmp', '/dev/shm'): open(f'{folder}/mine', 'w').write('x')",
            30,
        )
        one.execute("block = m.SharedMemory('block', create=True, size=10)", 30)
        assert (
            value(two, "__import__('os').path.exists('/tmp/mine') or __import__('os').path.exists('/dev/shm/mine')")
            is False
        )
        assert raises(two, "import multiprocessing.shared_memory as m; m.SharedMemory('block')") == "FileNotFoundError"
        sockets = [
            value(kernel, "[n for n in __import__('os').listdir('/tmp') if n.startswith('kernel-')]")
            for kernel in (one, two)
        ]
        assert len(sockets[0]) == len(sockets[1]) == 1 and sockets[0] != sockets[1]


def test_a_closed_sandbox_leaves_no_process():
    for way in ("bubblewrap-forks", "bubblewrap-fresh", "namespaces-forks"):
        box = opened(way)
        kernel = box.kernel()
        assert kernel.execute(DAEMON, 30).outcome == "ok"
        first = processes.pid_of(kernel._live.handle)
        pids = [first, *processes.descendants(first)]
        assert len(pids) >= 4
        box.close()
        assert eventually(lambda pids=pids: not any(map(exists, pids)))


# -- faults of the sandbox itself -------------------------------------------------------------------------------


def test_a_killed_server_is_nobody_s_fault_and_is_replaced():
    with opened("bubblewrap-forks") as box:
        with box.kernel() as kernel:
            first, *_ = processes.descendants(box._server.process.pid)
            os.kill(first, 9)
            with pytest.raises(InfrastructureFault):
                kernel.execute("import time; time.sleep(5)", 10)
        with box.kernel() as kernel:
            assert value(kernel, "1 + 1") == 2


def test_a_server_that_cannot_start_is_an_infrastructure_fault():
    row = tiers.Tier("broken", "", "", "", command=lambda *arguments: ["/bin/false"])
    with pytest.raises(InfrastructureFault, match="broken"):
        open_sandbox(row)


def test_the_grader_s_death_ends_everything(tmp_path):
    for way in ("bubblewrap-forks", "bubblewrap-fresh", "namespaces-forks"):
        code = (
            "import os, sys\nfrom tests.grading.sandbox.conftest import opened\n"
            "from helpers.grading.sandbox import processes\n"
            f"box = opened({way!r}); kernel = box.kernel()\n"
            "first = processes.pid_of(kernel._live.handle)\n"
            "print(*[first, *processes.descendants(first)], flush=True)\n"
            "kernel.execute('import time; time.sleep(100)', 100)"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        grader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
        pids = list(map(int, grader.stdout.readline().split()))
        assert len(pids) >= 3
        grader.kill()
        grader.wait()
        grader.stdout.close()
        assert eventually(lambda pids=pids: not any(map(exists, pids))), way


def test_seconds_of_cpu_are_limited(box):
    with opened("bubblewrap-fresh", limits=replace(SMALL, cpu_seconds=3)) as short, short.kernel() as kernel:
        run = kernel.execute("while True: pass", 60)
        assert run.outcome == "timeout" and "CPU" in run.says


def test_root_of_a_namespace_that_knows_nobody_else_is_an_ordinary_user():
    assert users.root(0, "0 0 4294967295") and users.root(0, "0 1000 1\n1 100000 65536")
    assert users.stuck_as_root(0, "0 0 1") and not users.stuck_as_root(0, "0 1000 1")
    assert not users.root(0, "0 1000 1") and not users.root(1000, "0 0 4294967295")


def test_a_sandbox_is_of_one_process(box):
    child = os.fork()
    if child == 0:
        try:
            box.kernel()
        except RuntimeError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_limits_are_positive():
    with pytest.raises(ValueError, match="memory"):
        Limits(memory=0)
    assert SMALL.memory == 512 * MIB

"""Sockets where TMPDIR is longer than the path of a socket may be."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from helpers.grading import grade, pools
from tests.grading import small_lab

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="graded on Linux only")
WITH_A_POOL = """
import os
from multiprocessing import util
from helpers.grading import pools

if __name__ == "__main__":
    with pools.processes(1) as pool:
        assert pool.submit(int, "3").result(60) == 3
    folder = util.get_temp_dir()
    print(folder, oct(os.stat(folder).st_mode & 0o777))
"""
WITH_A_KERNEL = """
from helpers.grading.sandbox import open_sandbox, tiers

with open_sandbox(tiers.tier("limits"), fork_server=False, trusted=True) as sandbox, sandbox.kernel() as kernel:
    print(kernel.execute("import os; os.environ['TMPDIR']", timeout=60).outputs[0]["data"]["text/plain"])
"""


@pytest.fixture
def long(tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    return folder


def call(code: str, folder) -> str:
    # As a file: the workers of a pool look for the program that started them.
    program = folder.parent / "program.py"
    program.write_text(code)
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(small_lab.ROOT)}
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_workers_start_and_their_sockets_are_this_users_alone(long):
    folder, mode = call(WITH_A_POOL, long).split()
    assert folder.startswith(pools.SHORT_FOLDERS) and not folder.startswith(str(long))
    assert mode == oct(stat.S_IRWXU)
    assert not os.path.exists(folder)  # it went with the program


@pytest.mark.slow
def test_a_kernel_starts_in_a_sandbox_whose_files_lie_there(long):
    assert str(long) in call(WITH_A_KERNEL, long)
    assert not list(long.iterdir())


def test_where_no_folder_is_short_enough_the_grader_says_what_to_do(long, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(long))
    monkeypatch.setattr(pools, "SHORT_FOLDERS", ("/no/such/folder",))
    with pytest.raises(grade.NotGradable, match="TMPDIR=/short") as raised:
        grade._pool(small_lab.lab(), grade.Options())
    assert str(long) in str(raised.value)

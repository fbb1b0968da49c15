"""What students' code leaves behind is compiled code for nobody: not for runner and judge, nor for other students."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

from helpers.grading.sandbox import server
from tests.grading.sandbox.asking import value
from vgpu.base import on_disk

FOLDER = "__import__('vgpu.base.on_disk').base.on_disk.folder()"
SOURCE = 'extern "C" __global__ void k(int* x) { *x = 41; }'
LAUNCH = f"""
from helpers import cp
x = cp.zeros(1, dtype=cp.int32)
cp.RawKernel('''{SOURCE}''', "k")((1,), (1,), (x,))
print(int(x[0]))
"""


def test_no_kernel_of_a_student_keeps_anything_for_the_next(any_box):
    with any_box.kernel() as first:
        assert value(first, f"str({FOLDER})") == "None"
        first.execute("import os; os.environ['VGPU_CACHE'] = '/tmp/kept'", 60)
        first.execute(LAUNCH, 60)
        assert value(first, "len(os.listdir('/tmp/kept')) > 0")
    with any_box.kernel() as second:
        assert value(second, f"(str({FOLDER}), __import__('os').path.exists('/tmp/kept'))") == ("None", False)


def test_what_lies_in_a_cache_does_not_reach_jobs(tmp_path, root):
    """Entries are planted that would be believed: so they are where a cache is used, and not in a job's environment."""
    given = server.environment(str(tmp_path / "home"), str(tmp_path))
    (tmp_path / "home").mkdir()
    reading = {name: text for name, text in given.items() if name != "VGPU_CACHE"}

    def launched(environment) -> int:
        program, found = [sys.executable, "-c", LAUNCH], {"PYTHONPATH": str(root)}
        return int(subprocess.run(program, env=environment | found, stdout=subprocess.PIPE, check=True).stdout)

    assert launched(given) == 41
    assert not [path for path in tmp_path.rglob("*-*") if on_disk._NAME.match(path.name)]
    assert launched(reading) == 41
    (entry,) = tmp_path.rglob("nvrtc-*")
    ptx, log, lowered = json.loads(entry.read_bytes()[on_disk.CHECKSUM_BYTES :])
    data = json.dumps([ptx.replace("41", "42"), log, lowered]).encode()
    entry.write_bytes(hashlib.sha256(entry.name.encode() + data).digest() + data)
    assert (launched(reading), launched(given)) == (42, 41)

"""What compilers made is found again by other processes, and never when it should not be."""

from __future__ import annotations

import errno
import importlib.metadata
import json
import os
import subprocess
import sys

import pytest

from vgpu.base import on_disk
from vgpu.compile import cuda_c, headers

# --- entries ------------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of entries of the test's own."""
    on_disk._engine()  # which is remembered in the usual place
    folder = tmp_path / "kept"
    monkeypatch.setenv("VGPU_CACHE", str(folder))
    monkeypatch.setattr(on_disk, "_written", None)
    return folder


def made(*inputs, kind="thing", packages=("numpy",), data=b"made") -> bool:
    """Whether a thing had to be made; what is given must be right either way."""
    calls = []
    assert on_disk.kept(kind, packages, inputs, lambda: calls.append(None) or data) == data
    return bool(calls)


def test_a_thing_is_made_once(place):
    assert made("x", 1)
    assert not made("x", 1)
    assert on_disk.size() == (1, on_disk.CHECKSUM_BYTES + len(b"made"))
    assert [path.name.split("-")[0] for path in place.iterdir()] == ["thing"]


@pytest.mark.parametrize(
    "other",
    [
        lambda patch: made("y", 1),
        lambda patch: made("x", 1, None),
        lambda patch: made("x", 1, kind="other"),
        lambda patch: made("x", 1, packages=()),
        lambda patch: patch.setattr(on_disk, "_version", lambda name: "another") or made("x", 1),
        lambda patch: patch.setattr(on_disk, "_engine", lambda: "another") or made("x", 1),
    ],
    ids=["input", "inputs", "kind", "packages", "version", "engine"],
)
def test_another_thing_is_another_entry(place, monkeypatch, other):
    assert made("x", 1)
    assert other(monkeypatch)
    assert on_disk.size()[0] == 2


def test_the_engine_is_known_by_its_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(on_disk, "__file__", str(tmp_path / "base" / "on_disk.py"))
    hashes = set()
    for name, text in (("a.py", "1"), ("a.py", "2"), ("deep/b.py", "1"), ("deep/b.py", "1")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        hashes.add(on_disk._engine.__wrapped__())
    assert len(hashes) == 3


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path, data: path.write_bytes(data[:-1] + b"!"),
        lambda path, data: path.write_bytes(b"!" + data[1:]),
        lambda path, data: path.write_bytes(data[:-1]),
        lambda path, data: path.write_bytes(data[:10]),
        lambda path, data: path.write_bytes(b""),
        lambda path, data: (path.unlink(), path.mkdir()),
    ],
    ids=["byte", "checksum", "shorter", "short", "empty", "folder"],
)
def test_an_entry_that_was_spoilt_is_made_anew(place, spoil):
    made("x")
    (path,) = place.iterdir()
    spoil(path, path.read_bytes())
    assert made("x")
    assert made("x") == path.is_dir()  # a folder stays where it is, and costs no more than the entry


def test_an_entry_in_the_place_of_another_is_none(place):
    made("x")
    (first,) = place.iterdir()
    made("y", data=b"other")
    (second,) = set(place.iterdir()) - {first}
    second.replace(first)
    assert made("x")


def test_what_raises_is_not_kept(place):
    with pytest.raises(ZeroDivisionError):
        on_disk.kept("thing", (), ("x",), lambda: 1 // 0)
    assert made("x", packages=())


def test_a_package_of_no_known_version_keeps_nothing(place):
    assert made("x", packages=("no-such-package",)) and made("x", packages=("no-such-package",))
    assert on_disk.size() == (0, 0)


# --- all of them --------------------------------------------------------------------------------------------


def test_all_together_stay_below_the_bound_and_what_is_used_stays(place, monkeypatch):
    monkeypatch.setattr(on_disk, "MOST_BYTES", 10_000)
    (place.parent / "kept").mkdir(mode=0o700)
    (place / "notes.txt").write_text("mine")
    os.utime(place / "notes.txt", (1, 1))
    for number in range(40):
        assert made(number, data=bytes(1000))
        for age, path in enumerate(sorted(place.glob("thing-*"), key=lambda path: path.stat().st_mtime_ns)):
            os.utime(path, (1000 + age, 1000 + age))  # finer than the clock of a file system
        assert on_disk.size()[1] <= 10_000
        assert made(0, data=bytes(1000)) is False
    assert 5 <= on_disk.size()[0] <= 9
    assert (place / "notes.txt").read_text() == "mine"


def test_emptied_are_entries_and_what_a_process_left_half_written(place):
    made("x")
    (path,) = place.iterdir()
    path.with_name(path.name + ".abc").write_bytes(b"half")
    (place / "notes.txt").write_text("mine")
    assert on_disk.empty() == 2
    assert [path.name for path in place.iterdir()] == ["notes.txt"]
    assert made("x")


def test_off_keeps_nothing(place, monkeypatch):
    monkeypatch.setenv("VGPU_CACHE", "off")
    assert made("x") and made("x")
    assert (on_disk.folder(), on_disk.size(), on_disk.empty(), place.exists()) == (None, (0, 0), 0, False)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no modes here")
def test_a_folder_that_others_can_only_read_is_used(place):
    place.mkdir()
    place.chmod(0o755)
    assert on_disk.folder() == place
    assert made("x") and len(list(place.iterdir())) == 1


def test_a_folder_that_others_may_write_to_or_own_is_refused(place, monkeypatch):
    place.mkdir()
    place.chmod(0o770)
    with pytest.raises(on_disk.Refused, match="chmod go-w"):
        on_disk.folder()
    assert made("x") and made("x") and not list(place.iterdir())
    place.chmod(0o700)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(on_disk.Refused, match="another user"):
        on_disk.folder()


def asked(*files, key="x") -> bool:
    """Whether something that depends on these files had to be made."""
    calls = []
    given = on_disk.remembered("thing", [key], lambda: calls.append(None) or (b"made\n", map(str, files)))
    assert given == b"made\n"
    return bool(calls)


def test_what_depends_on_files_is_remembered_until_one_changes(place, tmp_path, monkeypatch):
    monkeypatch.setattr(on_disk, "SETTLED", -(10**9))  # nothing in a test is two seconds old
    one, two, folder = tmp_path / "one", tmp_path / "two", tmp_path / "folder"
    one.write_text("1")
    two.write_text("2")
    folder.mkdir()
    for path in (one, two, folder):
        os.utime(path, (1, 1))  # else a change in the same tick of the clock might not show
    files = one, two, folder, tmp_path / "absent"
    assert asked(*files) and not asked(*files) and asked(*files, key="y")
    for change in (
        lambda: one.write_text("33"),
        lambda: os.utime(two, (5, 5)),
        lambda: two.unlink(),
        lambda: (folder / "new").write_text(""),
        lambda: files[3].write_text(""),
        lambda: (two.write_text("222"), two.replace(one)),
    ):
        change()
        assert asked(*files) and not asked(*files)
    for entry in place.iterdir():
        entry.write_bytes(entry.read_bytes()[:-1])
    assert asked(*files) and not asked(*files)


def test_what_changed_a_moment_ago_is_not_remembered(place, tmp_path, monkeypatch):
    """A clock of seconds may not show the next change."""
    one = tmp_path / "one"
    one.write_text("1")
    assert asked(one) and asked(one)
    monkeypatch.setattr(on_disk, "SETTLED", -(10**9))
    assert asked(one) and not asked(one)


def test_versions_are_those_that_importlib_knows():
    for package in ("numpy", "llvmlite", "numba-cuda", "nvidia-cuda-nvrtc", "pytest"):
        assert on_disk._version(package) == importlib.metadata.version(package)


def test_no_folder_and_a_full_disk_stop_nobody(place, monkeypatch):
    place.parent.joinpath("file").write_text("")
    monkeypatch.setenv("VGPU_CACHE", str(place.parent / "file" / "below"))
    assert made("x") and made("x")
    monkeypatch.setenv("VGPU_CACHE", str(place))

    def full(*names):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "replace", full)
    assert made("x") and made("x")
    assert list(place.iterdir()) == []


# --- what a source includes ---------------------------------------------------------------------------------


def test_headers_are_found_wherever_they_might_be(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "one.h": '#include "two.h"\n#include <three.h>',
        "two.h": "// #include <cuda_fp16.h>",
        "more/three.h": '#  include "four.h"',
        "more/four.h": "",
        "more/two.h": "",
        "five.h": "",
        "theirs/six.h": '#include "five.h"',
        "seven.h": "",
    }.items():
        tmp_path.joinpath(name).parent.mkdir(exist_ok=True)
        tmp_path.joinpath(name).write_text(text)

    def found(source, *options):
        return [os.path.relpath(path) for path, _ in headers.own(source, options, ["theirs"])]

    assert found('#include "one.h"', "-Itheirs") == ["one.h", "two.h"]
    everything = ["more/four.h", "more/three.h", "more/two.h", "one.h", "two.h"]
    for options in (["-Imore"], ["-I", "more"], ["--include-path=more"]):
        assert found('#include "one.h"', *options) == everything
    assert found('#include "six.h"', "-I", "theirs") == []
    assert found("#if __has_include(<seven.h>)", "--pre-include=five.h") == ["five.h", "seven.h"]
    with pytest.raises(headers.UnknownHeaders, match="by a macro"):
        found("#define NAME <one.h>\n#include NAME")
    assert found("#ifdef __has_include\n#if defined(__has_include) && __has_include(<seven.h>)") == ["seven.h"]
    assert found("// don't #include what you don't use") == []
    assert [path for path, _ in headers.own('#include "four.h"', (), (), "more/kernel.cu")] == [
        str(tmp_path / "more/four.h")
    ]
    for text, options in (
        ('#include "eight.h"', ()),
        ("int t = __TIME__[0];", ()),
        ("int t = T;", ("-DT=__DATE__[0]",)),
    ):
        (tmp_path / "eight.h").write_text("const char* made = __DATE__;")
        with pytest.raises(headers.UnknownHeaders, match="date or time"):
            found(text, *options)


def test_a_header_that_changes_is_compiled_again(place, tmp_path, monkeypatch):
    calls = []
    compiler = cuda_c._nvrtc
    monkeypatch.setattr(cuda_c, "_nvrtc", lambda *given: calls.append(None) or compiler(*given))
    header = tmp_path / "size.h"
    source = '#include "size.h"\nextern "C" __global__ void k(int* x) { *x = SIZE; }'
    for size, options, compiled in (("41", (), 1), ("41", (), 1), ("42", (), 2), ("41", (), 2), ("41", ("-DN",), 3)):
        header.write_text(f"#define SIZE {size}")
        text = cuda_c._compile.__wrapped__(source, "compute_80", (f"-I{tmp_path}", *options), "kernel.cu", ())
        assert f", {size};" in text.ptx
        assert len(calls) == compiled


def test_headers_are_looked_up_again_when_something_changed(place, tmp_path, monkeypatch):
    """One that comes earlier on the path, one that appears, one that goes, and a folder that takes another's name."""
    monkeypatch.setattr(on_disk, "SETTLED", -(10**9))
    first, second = tmp_path / "first", tmp_path / "second"
    (second / "deep").mkdir(parents=True)
    first.mkdir()
    (second / "size.h").write_text('#include "deep/more.h"')
    for path in (first, second, second / "deep"):
        os.utime(path, (1, 1))  # else a change in the same tick of the clock might not show
    looked, everything = [], headers._Search.all
    monkeypatch.setattr(headers._Search, "all", lambda *given: looked.append(None) or everything(*given))

    def found(source='#include "size.h"'):
        looked.clear()
        paths = headers.own(source, (f"-I{first}", f"-I{second}"), ())
        return [os.path.relpath(path, tmp_path) for path, _ in paths], bool(looked)

    assert found() == (["second/size.h"], True) and found() == (["second/size.h"], False)
    (second / "deep" / "more.h").write_text("")
    assert found() == (["second/deep/more.h", "second/size.h"], True)
    (first / "deep").mkdir()
    (first / "deep" / "more.h").write_text("")
    three = ["first/deep/more.h", "second/deep/more.h", "second/size.h"]
    assert found() == (three, True) and found() == (three, False)
    assert found('#include "size.h"\n') == (three, True)
    second.rename(tmp_path / "third")
    assert found() == ([], False)
    (tmp_path / "third").rename(second)
    assert found()[0] == three


# --- processes ----------------------------------------------------------------------------------------------

COUNTED = """
import json, sys
import llvmlite.binding
from vgpu import cp
from vgpu import lower, ptx, runtime
from vgpu.compile import cuda_c

calls = {"NVRTC": 0, "LLVM": 0, "parser": 0, "lowering": 0, "runtime": 0}

def counted(owner, name, what):
    function = getattr(owner, name)
    def count(*given):
        calls[what] += 1
        return function(*given)
    setattr(owner, name, count)

counted(cuda_c, "_nvrtc", "NVRTC")
counted(llvmlite.binding.TargetMachine, "emit_object", "LLVM")
counted(ptx, "parse", "parser")
counted(lower.Lowering, "run", "lowering")
counted(runtime, "source", "runtime")
kernel = cp.RawKernel('''__constant__ float twice = 2;
extern "C" __global__ void k(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = twice * __shfl_xor_sync(-1, x[i], 1);
    if (i == 3) printf("%f\\\\n", x[i]);
}''', "k")
x = cp.arange(64, dtype=cp.float32)
kernel((1,), (64,), (x, 64))
print(json.dumps([x.get().tolist() == [2.0 * (i ^ 1) for i in range(64)], kernel.num_regs, calls,
                  [name for name in sys.modules if name == "cuda.bindings.nvrtc"]]))
"""


def started(**environment) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", COUNTED], stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )


def outcome(process: subprocess.Popen) -> tuple[dict[str, int], list[str]]:
    """How often each compiler was called in the process, and which were imported."""
    printed, last = process.communicate(timeout=300)[0].splitlines()
    right, registers, calls, imported = json.loads(last)
    assert process.returncode == 0 and printed == "4.000000" and right and registers > 0
    return calls, imported


NOTHING = dict.fromkeys(("NVRTC", "LLVM", "parser", "lowering", "runtime"), 0)


def test_another_process_calls_no_compiler(place):
    """Neither after two that began at the same time."""
    for process in [started(), started()]:
        calls, _ = outcome(process)
        assert calls["NVRTC"] <= 2
    assert outcome(started()) == (NOTHING, [])
    calls, imported = outcome(started(VGPU_CPU="generic"))
    assert calls["LLVM"] > 0 and imported == []
    assert {**calls, "LLVM": 0} == {**NOTHING, "lowering": 1, "runtime": 1}
    for path in place.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    calls, _ = outcome(started())
    assert calls["NVRTC"] == 2 and calls["LLVM"] > 0

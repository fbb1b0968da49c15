"""Who may import whom in the engine: arrows run one way, and optional packages are imported when they are used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import vgpu
from vgpu.tests.arrows import Package, imports, strongly_connected

FOLDER = Path(vgpu.__file__).parent
ENGINE = Package(
    "vgpu",
    FOLDER,
    (
        "base",
        "hardware",
        "ir",
        "isa",
        "ptx",
        "storage",
        "compile",
        "runtime",
        "lower",
        "faults",
        "reference",
        "launch",
        "operations",
        "standins",
        "tools",
        "programs",
        "bench",
        "__main__",
    ),
    beside=("tests", "build", "setup"),
)
# Circles within a folder, each with the reason why it may stay.
CIRCLES = {
    "ir": "a value writes its instructions with its builder, which makes values",
    "lower": "an instruction's handler is handed the lowering that calls it",
    "ptx": "the parser fills the dataclasses of its package, whose `parse` calls it",
    "launch": "a path is read by the counters that carry it",
    "operations": "a captured operation goes to a graph, and a graph is made of operations",
    "reference": "a barrier counts copies, and copies arrive at barriers",
    "tools": "a profile compares itself with others, and a comparison is of profiles",
    "tools.sanitize": "a monitor belongs to a launch, which it watches",
    "standins.cupy": "an array's operators make arrays",
    "standins.numba": "a kernel rebinds functions that may be kernels; arrays make arrays",
    "standins.triton": "a kernel asks the driver that launches it",
}
OPTIONAL = {
    "numba": ("compile/numba_adapter.py", "bench/"),
    "cupy": ("standins/twins.py",),
    "torch": ("standins/torch_cuda.py", "standins/triton/driver.py"),
    "triton": ("standins/triton/",),
    "cutlass": ("standins/cute/",),
    "matplotlib": (),
    "IPython": (),
    "helpers": (),
}
"""What the engine may be installed without -> the files that import it when they are used."""
HEAVY = ("numpy", "numba", "cupy", "torch", "triton", "cutlass", "llvmlite", "cuda", "IPython")


def test_arrows_run_one_way():
    assert ENGINE.climbing() == []


def test_every_folder_says_in_a_line_what_it_is_for():
    assert ENGINE.unexplained() == []


def test_circles_stay_within_a_folder_and_have_a_reason():
    found = ENGINE.circles()
    assert sorted(found) == sorted(CIRCLES), found


@pytest.mark.parametrize(("module", "files"), OPTIONAL.items(), ids=OPTIONAL)
def test_what_is_optional_is_imported_in_its_own_place(module, files):
    assert ENGINE.strays(module, files) == []


def test_one_place_turns_llvm_ir_into_machine_code():
    assert ENGINE.strays("llvmlite.binding", "runtime/jit.py") == []


def test_importing_it_stays_cheap(tmp_path):
    code = f"import sys, vgpu; print([name for name in {HEAVY!r} if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(FOLDER.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


# -- the walk itself ------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path):
    """A package of two rooms whose lower one imports the upper one."""
    for name, text in {
        "__init__.py": "",
        "low/__init__.py": '"""A line that says at length what this folder is for."""',
        "low/thing.py": "import a.b\nfrom c import d\ndef f():\n    from . import e\n    from ..high import g\n",
        "high/__init__.py": "from p.low import thing\nfrom a import b\n",
        "tests/test_it.py": "import p.high\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return Package("p", tmp_path, ("low", "high"), beside=("tests",))


def test_the_walk_sees_every_form_of_import(package):
    found = {(1, "a.b"), (2, "c"), (2, "c.d"), (4, "p.low"), (4, "p.low.e"), (5, "p.high"), (5, "p.high.g")}
    assert set(imports("p.low.thing", package.modules["p.low.thing"])) == found


def test_an_arrow_upward_is_found_and_so_is_a_stray(package):
    assert [line.split(",")[0] for line in package.climbing()] == [
        "p.low.thing:5 imports p.high",
        "p.low.thing:5 imports p.high.g",
    ]
    assert package.strays("a", "low/") == ["high/__init__.py:2", "high/__init__.py:2"]
    assert package.unexplained() == [str(package.folder), str(package.folder / "high")]


def test_circles_are_found(package):
    assert package.circles() == {"p": {"p.high", "p.low.thing"}}
    assert strongly_connected({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]

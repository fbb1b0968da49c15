"""Who may import whom in helpers/: arrows run one way, heavy packages wait until they are used."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HELPERS = ROOT / "helpers"
FILES = sorted(HELPERS.rglob("*.py"))

# From what is stood upon to what stands upon it: a module may import its own room and those before it, late or not.
ROOMS = (
    "hardware",
    "vgpu.base",
    "vgpu.isa",
    "vgpu.ptx",
    "vgpu.storage",
    "vgpu.compile",
    "vgpu.runtime",
    "vgpu.lower",
    "vgpu.faults",
    "vgpu.reference",
    "vgpu.launch",
    "vgpu.operations",
    "vgpu.standins",
    "data",
    "results",
    "pictures.figures",
    "pictures.contents",
    "pictures.plots",
    "pictures.chapters",
    "pictures.training",
    "pictures.widgets",
    "checking",
    "exercises",
    "grading",
    "workbook",
    "cli",
)
# Circles within a folder, by the modules that they go through, each with the reason why it may stay.
CIRCLES = {
    "vgpu.ptx": "the parser fills the dataclasses of its package, whose `parse` calls it",
    "vgpu.launch": "a path is read by the counters that carry it",
    "vgpu.operations": "a captured operation goes to a graph, and a graph is made of operations",
    "vgpu.reference": "a barrier counts copies, and copies arrive at barriers",
    "vgpu.runtime": "a shadow is made of the runtime's text and part of it",
    "results": "a profile compares itself with others, and a comparison is of profiles",
    "vgpu.standins.cupy": "an array's operators make arrays",
    "vgpu.standins.numba": "a kernel rebinds functions that may be kernels; arrays make arrays",
    "vgpu.standins.triton": "a kernel asks the driver that launches it",
    "workbook.authoring.validation": "the page tells of the report that prints it",
}
# What may only be imported in certain files, as (module, the files, why).
ONLY_IN = (
    ("llvmlite.binding", ("helpers/vgpu/runtime/jit.py",), "one place turns LLVM IR into machine code"),
    (
        "matplotlib",
        ("helpers/pictures/",),
        "results are numbers; drawing is another layer",
    ),
    (
        "ipywidgets",
        ("helpers/pictures/widgets/", "helpers/checking/predict.py", "helpers/workbook/doctor.py"),
        "only explorers have controls",
    ),
    ("anywidget", ("helpers/pictures/widgets/draggable.py",), "one view acts in the browser itself"),
)
HEAVY = (
    "numba",
    "cupy",
    "matplotlib",
    "torch",
    "triton",
    "ipywidgets",
    "anywidget",
    "llvmlite",
    "cuda",
    "IPython",
    "jupyterlab",
)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, wherever in it, with the line; `from a import b` gives a and a.b."""
    own = module_name(path).split(".")
    package = own if path.name == "__init__.py" else own[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *filter(None, [node.module])])
            yield node.lineno, source
            yield from ((node.lineno, f"{source}.{alias.name}") for alias in node.names)


def under(module: str, name: str) -> bool:
    return module == name or module.startswith(name + ".")


def height(module: str) -> int | None:
    """Where a module stands; None for what is no module of ours, or a package above several rooms."""
    return next((number for number, room in enumerate(ROOMS) if under(module, f"helpers.{room}")), None)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_arrows_run_one_way():
    wrong = []
    for path in FILES:
        name = module_name(path)
        if name in ("helpers", "helpers.vgpu", "helpers.pictures"):
            continue  # the front door names everything, the others import nothing
        own = height(name)
        assert own is not None, f"{relative(path)} stands in no room of the table"
        for line, imported in imports(path):
            above = height(imported)
            if above is not None and above > own:
                wrong.append(f"{relative(path)}:{line} imports {imported}, which stands above it: turn the arrow round")
    assert not wrong, "\n".join(wrong)


def test_every_folder_says_in_a_line_what_it_is_for():
    for folder in sorted({path.parent for path in FILES}):
        words = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        assert len(words.split("\n")[0]) > 30, f"{relative(folder)}/__init__.py"


def test_no_file_is_loose():
    assert sorted(path.name for path in HELPERS.glob("*.*")) == ["__init__.py", "cli.py"]


def test_circles_stay_within_a_folder_and_have_a_reason():
    modules = {module_name(path): path for path in FILES}
    arrows = {name: {m for m in needs(path, modules) if m != name} for name, path in modules.items()}
    found = {}
    for circle in strongly_connected(arrows):
        common = os.path.commonpath(name.replace(".", "/") for name in circle).replace("/", ".")
        assert height(common) is not None, f"a circle goes through the rooms of {sorted(circle)}"
        found.setdefault(common.removeprefix("helpers."), set()).update(circle)
    assert sorted(found) == sorted(CIRCLES), found


def needs(path: Path, modules: Iterable[str]) -> set[str]:
    """The modules of ours that a file imports: of `from package import module` the module, and not the package."""
    wanted = [name for _, name in imports(path)]
    return {
        name
        for name, after in pairwise([*wanted, ""])
        if name in modules and not (after in modules and after.rpartition(".")[0] == name)
    }


def strongly_connected(arrows: dict[str, set[str]]) -> list[set[str]]:
    """Sets of two modules or more, each of which leads to every other."""
    reached: dict[str, set[str]] = {}
    for start in arrows:
        seen, todo = set(), [start]
        while todo:
            for step in arrows[todo.pop()] - seen:
                seen.add(step)
                todo.append(step)
        reached[start] = seen
    circles = {frozenset(m for m in reached[name] if name in reached[m]) for name in arrows if name in reached[name]}
    return [set(circle) for circle in circles]


@pytest.mark.parametrize(("module", "files", "why"), ONLY_IN, ids=[row[0] for row in ONLY_IN])
def test_imported_in_its_own_place_only(module, files, why):
    strays = [
        f"{relative(path)}:{line}"
        for path in FILES
        if not relative(path).startswith(files)
        for line, imported in imports(path)
        if under(imported, module)
    ]
    assert not strays, f"{module} belongs in {', '.join(files)}: {why}"


def test_importing_helpers_stays_cheap(tmp_path):
    code = f"import sys, helpers; print([name for name in {HEAVY!r} if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


# -- the walk itself ------------------------------------------------------------------------------------


def test_the_walk_sees_every_form_of_import(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = tmp_path / "helpers" / "vgpu" / "thing.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "import a.b\nfrom c import d\ndef f():\n    from . import e\n    from ..plots import g\n",
        encoding="utf-8",
    )
    assert set(imports(path)) == {
        (1, "a.b"),
        (2, "c"),
        (2, "c.d"),
        (4, "helpers.vgpu"),
        (4, "helpers.vgpu.e"),
        (5, "helpers.plots"),
        (5, "helpers.plots.g"),
    }


def test_heights_are_told_apart():
    assert height("helpers.vgpu.ptx") < height("helpers.results.profile") < height("helpers.pictures.plots.banks")
    assert height("helpers.vgpu.ptx.lines") == height("helpers.vgpu.ptx")
    assert height("helpers") is None and height("helpers.vgpu") is None and height("numpy") is None


def test_a_circle_is_found():
    assert strongly_connected({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]

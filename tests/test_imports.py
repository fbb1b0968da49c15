"""Who may import whom in helpers/: arrows run one way, heavy packages wait until they are used."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HELPERS = ROOT / "helpers"
FILES = sorted(HELPERS.rglob("*.py"))

# From what is stood upon to what stands upon it. A module may import its own layer and those before it.
# A module of helpers/ that no row names belongs with the results, which know nothing of drawing.
RESULTS = (
    "helpers.results.roofline",
    "helpers.results.timing",
    "helpers.results.profile",
    "helpers.results.streams.recording",
)
LAYERS = (
    ("helpers.hardware.gpus", "helpers.hardware.sources", "helpers.callable_module", "helpers.vgpu.standins.calls"),
    ("helpers.hardware.device",),
    (
        "helpers.hardware.occupancy",
        "helpers.hardware.time_model",
    ),  # arithmetic on a row of gpus.py; Triton's autotuner goes by it
    ("helpers.vgpu", "helpers.vgpu.standins.twins"),  # traces are made of twins, and twins of the virtual GPU's kernels
    ("helpers.vgpu.standins.backend",),
    RESULTS,
    (
        "helpers.checking.check",
        "helpers.checking",
        "helpers.checking.evidence",
        "helpers.checking.examine",
        "helpers.checking.exercise",
        "helpers.checking.predict",
        "helpers.checking.probe",
        "helpers.checking.verdicts",
    ),
    ("helpers.pictures.figures", "helpers.pictures.plots"),
    ("helpers.pictures.widgets",),
    ("helpers.grading",),
)
# Tools about the project; no module of the workbook imports them.
TOOLS = (
    "helpers.workbook.chapter_table",
    "helpers.cli",
    "helpers.workbook.doctor",
    "helpers.workbook.authoring.first_light",
    "helpers.workbook.glossary",
    "helpers.workbook.authoring.grading_bench",
    "helpers.workbook.grading_commands",
    "helpers.workbook.lab_style",
    "helpers.workbook.authoring.how_it_works",
    "helpers.workbook.run",
    "helpers.workbook.style",
    "helpers.workbook.script",
)
# What may only be imported in certain files, as (module, the files, why).
ONLY_IN = (
    ("llvmlite.binding", ("helpers/vgpu/runtime/jit.py",), "one place turns LLVM IR into machine code"),
    (
        "matplotlib",
        ("helpers/pictures/figures.py", "helpers/pictures/plots/", "helpers/pictures/widgets/"),
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


def layer(module: str) -> int | None:
    for height, names in enumerate(LAYERS):
        if any(under(module, name) for name in names):
            return height
    return LAYERS.index(RESULTS) if under(module, "helpers") and module != "helpers" else None


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_arrows_run_one_way(path):
    name = module_name(path)
    if name == "helpers" or any(under(name, tool) for tool in TOOLS):
        return  # the front door names everything, and the tools look at everything
    own = layer(name)
    for line, imported in imports(path):
        if not under(imported, "helpers"):
            continue
        where = f"{relative(path)}:{line} imports {imported}"
        assert not any(under(imported, tool) for tool in TOOLS), f"{where}, a tool of the project"
        above = layer(imported)
        assert above is None or above <= own, f"{where}, which stands above it: turn the arrow round"


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
        (5, "helpers.pictures.plots"),
        (5, "helpers.pictures.plots.g"),
    }


def test_layers_are_told_apart():
    assert (
        layer("helpers.vgpu.ptx")
        < layer("helpers.results.profile")
        < layer("helpers.pictures.plots")
        < layer("helpers.pictures.widgets.x")
    )
    assert layer("helpers.hardware.gpus") < layer("helpers.hardware.device")
    assert layer("helpers.something_new") == layer("helpers.results.profile")
    assert layer("helpers") is None and layer("numpy") is None

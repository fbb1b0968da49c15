"""Both pyproject.toml, constraints.txt, environment.yml, the Makefile and the CI script say the same thing."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from helpers.workbook import install, packages
from helpers.workbook.checks import PYTHONS
from helpers.workbook.packages import canonical, read_pins, same_version


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def engine(root):
    return tomllib.loads((root / "vgpu" / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def pins(root):
    return read_pins((root / "constraints.txt").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def conda(root):
    return yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))


def requirements(*projects):
    groups = [rows for each in projects for rows in (each["dependencies"], *each["optional-dependencies"].values())]
    return [Requirement(row) for rows in groups for row in rows]


def test_every_dependency_is_pinned_exactly(project, engine, pins):
    unpinned = {row.name for row in requirements(project, engine) if canonical(row.name) not in pins}
    assert not unpinned, "add a `name==version` line to constraints.txt for each"


def test_bounds_go_from_the_pinned_minor_version_to_the_next_major_one(project, engine, pins):
    bad = []
    for row in requirements(project, engine):
        major, minor, *_ = Version(pins[canonical(row.name)]).release
        if row.specifier != SpecifierSet(f">={major}.{minor},<{major + 1}"):
            bad.append(f"{row}: {major}.{minor} is pinned")
    assert not bad, "change the bounds together with constraints.txt"


def test_what_was_tried_beside_the_pins_lies_within_the_bounds_where_it_works(project, engine, root):
    """`make versions` has tried the newest versions, and kept which of them work."""
    bounds = {canonical(row.name): row.specifier for row in requirements(project, engine)}
    rows = json.loads((root / "vgpu" / "tests" / "versions.json").read_text(encoding="utf-8"))["rows"].values()
    tried = [(name, version, not row["fails"]) for row in rows for name, version in row["newest"].items()]
    assert tried
    wrong = [row for row in tried if row[0] in bounds and bounds[row[0]].contains(row[1]) != row[2]]
    assert not wrong


def test_pins_are_exact_sorted_and_of_no_one_machine(root, pins):
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[A-Za-z0-9.]+", row) for row in rows), "no URL, no +local tag, no range"
    names = [row.split("==")[0] for row in rows]
    assert names == sorted(set(names))
    assert all(canonical(name) == name and Version(pins[name]) for name in names)


def test_cuda_pins_stand_at_one_release(pins):
    release = Version(pins["cuda-toolkit"]).release[:2]
    compilers = (
        "nvidia-cuda-nvrtc",
        "nvidia-cuda-runtime",
        "nvidia-cuda-crt",
        "nvidia-cuda-cccl",
        "nvidia-nvvm",
    )
    assert {Version(pins[name]).release[:2] for name in compilers} == {release}
    # The linker reads what all older compilers of its major version write.
    assert Version(pins["nvidia-nvjitlink"]).release[0] == release[0]
    assert Version(pins["nvidia-nvjitlink"]).release[:2] >= release


AT_TRITON = ("nvidia-cuda-nvcc", "nvidia-cuda-nvdisasm")


def test_the_engine_comes_from_the_checkout_and_never_by_its_name(project, engine):
    """Who installs the workbook alone is told what to do, as `import helpers` says it."""
    assert engine["name"] not in {row.name for row in requirements(project, engine)}


def test_nothing_of_nvidia_is_asked_for_on_macos(project, engine):
    nvidia = [row for row in requirements(project, engine) if re.match(r"nvidia-|cu(da|py)|numba-cuda", row.name)]
    assert len(nvidia) >= 7
    for row in nvidia:
        assert row.marker and not row.marker.evaluate({"sys_platform": "darwin"}), row
        assert row.marker.evaluate({"sys_platform": "win32"})
        # On Linux Triton has an assembler and a disassembler of its own.
        assert row.marker.evaluate({"sys_platform": "linux"}) == (row.name not in AT_TRITON)


def test_conda_adds_python_and_leaves_the_rest_to_pip(conda, project):
    *plain, nested = conda["dependencies"]
    assert plain[1:] == ["pip"]
    python = Version(plain[0].removeprefix("python="))
    assert Requirement("python" + project["requires-python"]).specifier.contains(python)
    ours = [f"--editable {path}[{extras}]" for path, extras in (("./vgpu", "cupy,numba,torch,triton"), (".", "test"))]
    assert nested == {"pip": ["--constraint constraints.txt", *ours]}
    assert conda["name"] == project["name"]


def test_one_range_of_pythons(project, engine, root):
    oldest, newest = (".".join(map(str, version)) for version in PYTHONS)
    above = f"3.{PYTHONS[1][1] + 1}"
    assert project["requires-python"] == engine["requires-python"] == f">={oldest},<{above}"
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    assert f"not (3, {PYTHONS[0][1]}) <= sys.version_info < (3, {PYTHONS[1][1] + 1})" in makefile
    for page in (makefile, (root / "README.md").read_text(encoding="utf-8")):
        assert f"Python {oldest} to {newest}" in page


ELSEWHERE = r"nvidia-.*|appnope|colorama|pywinpty|protobuf|overrides|axe-playwright-python"
"""Pins that not every environment needs: for other platforms, CUDA's libraries for one build of PyTorch, CuTe, Python
3.11, and what only .ci/run installs."""


def test_every_pin_admits_every_python_down_to_its_first_release(pins):
    """By what each installed package says of itself; of pins that are not installed here nothing is known."""
    versions = [f"3.{minor}.0" for minor in range(PYTHONS[0][1], PYTHONS[1][1] + 1)]
    excluded, unknown = [], []
    for name, pin in pins.items():
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            package = None
        if package is None or not same_version(package.version, pin):
            unknown.append(name)
            continue
        admits = SpecifierSet(package.metadata.get("Requires-Python", ""))
        excluded += [f"{name}=={pin} for {version}" for version in versions if not admits.contains(version)]
    assert not excluded, "a fresh environment cannot be made with these Pythons"
    assert [name for name in unknown if not re.fullmatch(ELSEWHERE, name)] == []


def test_make_installs_as_conda_does(conda):
    words = " ".join(install.WHOLE)
    rows = [row.replace(" ", "=") for row in conda["dependencies"][-1]["pip"][1:]]
    absolute = [row.replace("=.", f"={install.ROOT}", 1) for row in rows]
    assert words == " ".join([f"install --constraint {install.PINS}", *absolute])


@pytest.fixture
def project_copy(root, tmp_path):
    """A folder with a Makefile whose environment has a Python that notes what it is given."""
    (tmp_path / "Makefile").write_text((root / "Makefile").read_text(encoding="utf-8"))
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n')
    python.chmod(0o755)
    return tmp_path


def test_make_looks_after_the_environment_each_time(project_copy):
    for _ in range(2):
        subprocess.run(["make", "environment"], cwd=project_copy, check=True, timeout=60)
    assert (project_copy / "calls").read_text().count("-m helpers.workbook.install") == 2


def test_make_makes_an_environment_anew_whose_python_is_gone(project_copy):
    python = project_copy / ".venv" / "bin" / "python3"
    python.with_name("python").unlink()
    python.symlink_to("/usr/bin/python-that-was-upgraded")  # venv stumbles over such a link
    (project_copy / ".venv" / ".installed").touch()
    base = project_copy / "base-python"
    base.write_text(f'#!/bin/sh\necho "$@" >> {project_copy}/base-calls\n')
    base.chmod(0o755)
    subprocess.run(["make", "environment", f"PYTHON={base}"], cwd=project_copy, capture_output=True, timeout=60)
    assert "-m venv .venv" in (project_copy / "base-calls").read_text()
    assert not (project_copy / ".venv" / ".installed").exists() and not python.is_symlink()


def noted(path, status=0):
    """A program that notes what it is given in a file beside it, and fails to install."""
    path.write_text(f'#!/bin/sh\necho "$@" >> {path}-calls\ncase "$*" in *install*) exit {status};; esac\n')
    path.chmod(0o755)
    return path.with_name(f"{path.name}-calls")


@pytest.mark.parametrize("status", [0, 1], ids=["installs", "nothing can be installed"])
def test_make_gpu_goes_on_with_the_python_at_hand(project_copy, status):
    calls = {name: noted(project_copy / name, status) for name in (".venv/bin/python", "base-python")}
    command = ["make", "gpu", f"PYTHON={project_copy / 'base-python'}"]
    made = subprocess.run(command, cwd=project_copy, capture_output=True, text=True, timeout=60)
    ran = [name for name, file in calls.items() if file.exists() and "-m helpers.cli gpu" in file.read_text()]
    assert made.returncode == 0 and ran == (["base-python"] if status else [".venv/bin/python"])
    assert ("Going on with" in made.stdout) == bool(status)


def test_make_refuses_an_unfit_python(root, tmp_path):
    old = tmp_path / "python-of-old"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2\nexit 1\n')
    old.chmod(0o755)
    (tmp_path / "Makefile").write_text((root / "Makefile").read_text(encoding="utf-8"))
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    made = subprocess.run(["make", "test", f"PYTHON={old}"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert made.returncode != 0
    assert "needs Python 3.11 to 3.14" in made.stdout and "Python 3.9.2" in made.stdout
    assert not (tmp_path / ".venv").exists()


@pytest.fixture(scope="module")
def stages(root):
    """The Dockerfile's stages: the stage that each begins with, and its instructions."""
    found = {}
    for line in (root / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "").splitlines():
        if line.startswith("FROM "):
            _, base, _, name = line.split()
            found[name] = (base, [])
        elif line and not line.startswith("#"):
            found[name][1].append(tuple(line.split(maxsplit=1)))
    return found


def test_the_images_are_made_of_what_there_is(root, stages, tmp_path):
    """Each file is there, and make knows its targets where only the files are that were copied before."""
    assert {base for base, _ in stages.values()} <= {*stages, stages["machine"][0]}
    targets = []
    for word, rest in stages["environment"][1]:
        names = [each for each in rest.split()[:-1] if not each.startswith("--")]
        for name in names * (word == "COPY"):
            (tmp_path / name).unlink(missing_ok=True)
            (tmp_path / name).symlink_to((root / name).resolve(strict=True))
        if word == "RUN" and rest.startswith("make "):
            targets += rest.split()[1:]
            made = subprocess.run(["make", "-n", *targets], cwd=tmp_path, capture_output=True, text=True)
            assert made.returncode == 0 and "helpers.workbook.install" in made.stdout, made.stderr
    assert targets


def test_the_images_take_versions_from_the_constraints(stages, pins):
    lines = [rest.partition("constraints.txt ")[2] for _, rest in stages["environment"][1] if "pip download" in rest]
    downloaded = [word for line in lines for word in line.split() if word != "--index-url"]
    assert sorted(set(downloaded) - set(pins)) == [f"{packages.TORCH_BUILDS}cpu"] and "torch" in downloaded


def test_what_an_image_leaves_out_are_extras(stages):
    extras = {extra for _, extras in packages.OURS.values() for extra in extras}
    lines = [rest for _, rows in stages.values() for _, rest in rows]
    left_out = [
        found[1].split() for line in lines if (found := re.search(r'echo ([a-z ]+) > "\$VENV/\.without"', line))
    ]
    assert len(left_out) == 2 and all(set(words) <= extras for words in left_out)


def test_a_container_for_development_is_the_container_for_learners(root, stages):
    page = json.loads((root / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    build = {name: page["build"][name] for name in ("dockerfile", "context")}
    assert all((root / ".devcontainer" / path).resolve(strict=True) for path in build.values())
    assert page["build"]["target"] == list(stages)[-1], "what Docker and Binder build where no target is named"
    users = " ".join(rest for _, rest in stages["machine"][1])
    assert f" {page['remoteUser']} " in users
    (port,) = (int(rest) for word, rest in stages["lab"][1] if word == "EXPOSE")
    assert page["forwardPorts"] == [port]
    assert f":{port} " in (root / "README.md").read_text(encoding="utf-8")
    for user in (dict(pairs).get("USER") for _, pairs in stages.values()):
        assert user in (None, page["remoteUser"]), "the last user of each stage is not root"


def test_ci_runs_the_command_of_the_readme(root):
    script = (root / ".ci" / "run").read_text(encoding="utf-8")
    assert script.startswith("#!/usr/bin/env bash\n") and "set -euo pipefail" in script
    assert re.search(r"^make test$", script, re.MULTILINE)
    assert "make test" in (root / "README.md").read_text(encoding="utf-8")


def test_workflows_call_what_there_is(root):
    targets = re.findall(r"^([a-z]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    called = []
    for path in sorted((root / ".github" / "workflows").glob("*.yml")):
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
            called += [step["run"].split() for step in job["steps"] if "run" in step]
    assert {target for word, *rest in called if word == "make" for target in rest} <= set(targets)
    scripts = [word for word, *_ in called if "/" in word]
    assert scripts == [".ci/run"] and (root / ".ci" / "run").stat().st_mode & 0o111


def test_one_version_everywhere(project, root):
    helpers = (root / "helpers" / "__init__.py").read_text(encoding="utf-8")
    assert re.search(r'^__version__ = "(.+)"$', helpers, re.MULTILINE)[1] == project["version"]
    assert yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["version"] == project["version"]
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## warpbook ([\d.]+)", changes, re.MULTILINE)[1] == project["version"]


def test_console_script_and_packages(project):
    assert project["scripts"] == {"warpbook": "helpers.cli:main"}
    assert project["name"] == "warpbook"


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "CONTRIBUTING.md",
        "notebooks/README.md",
        "labs/README.md",
        "labs/TEACHING.md",
        "labs/YOUR_OWN.md",
        "vgpu/README.md",
    ],
)
def test_links_lead_somewhere(root, name):
    page = root / name
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    gone = [link for link in links if not link.startswith("https://") and not (page.parent / link).exists()]
    assert not gone

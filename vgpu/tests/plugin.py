"""The pytest plugin of all the repository's tests: marks, tiers, and which tests this machine can run."""

from __future__ import annotations

import importlib.metadata
import os
import signal
from functools import cache
from pathlib import Path

import pytest

from vgpu.tests import tiers
from vgpu.tests.alone import room

MARKS = (
    "check: one of each kind, quick; `make check` runs these, too",
    "exhaustive: tells little that others do not, or takes minutes; only the tier `all` has it",
    "rotating(file): one of very many about a file; tried where that has changed, else when its share has its turn",
    "alone: starts so many processes that nothing else may be tested meanwhile",
    "gpu: needs an NVIDIA GPU; skipped where there is none",
    "slow: takes more than about three seconds, and is not in `make check`",
)


def let_processes_find(distribution: str) -> None:
    """Let the processes that tests start find a package of the repository, installed or here."""
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(tiers.ROOT), os.environ.get("PYTHONPATH")]))


let_processes_find("vgpu")
# Workers share what was compiled, with one another and with the next run: it is kept by the sources of the virtual GPU,
# so a compiler that was changed compiles anew.
os.environ.setdefault("VGPU_CACHE", str(tiers.ROOT / ".pytest_cache" / "compiled"))
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background by a shell: tests press Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

TURN = pytest.StashKey[tiers.Turn]()
WHOLE = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=tiers.TIERS, default=tiers.DEFAULT, help="which tests: see vgpu/tests/tiers.py")
    parser.addoption(
        "--record", action="store_true", help=f"with {tiers.ENGINE_TESTS}: keep that all of the engine's tests passed"
    )


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    sent = getattr(config, "workerinput", {}).get("turn")
    config.stash[TURN] = tiers.Turn.now() if sent is None else tiers.Turn(sent[0], frozenset(sent[1]), sent[2])
    # Which tests a tier leaves out is asked where no tests were named: who names some wants them.
    whole = config.args_source is config.ArgsSource.TESTPATHS
    config.stash[WHOLE] = whole if sent is None else sent[3]
    if config.option.record and sent is None and not whole_engine(config):
        raise pytest.UsageError(f"--record is for all of the engine's tests: pytest {tiers.ENGINE_TESTS} --record")


def whole_engine(config: pytest.Config) -> bool:
    """Whether all of the engine's tests are to run, and not some of them."""
    return config.args == [tiers.ENGINE_TESTS] and not (config.option.keyword or config.option.markexpr)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_configure_node(node) -> None:
    """All processes collect the same tests, though a file may be changed meanwhile."""
    turn = node.config.stash[TURN]
    node.workerinput["turn"] = (turn.commit, sorted(turn.changed), turn.engine_passed, node.config.stash[WHOLE])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not config.stash[WHOLE] or not collection_path.name.startswith("test_") or collection_path.is_dir():
        return None
    return config.stash[TURN].leaves_out(collection_path, config.getoption("tier")) or None


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if session.config.option.record and exitstatus == 0 and not hasattr(session.config, "workerinput"):
        tiers.record_engine()


def pytest_report_header(config: pytest.Config) -> str:
    tier = config.getoption("tier")
    return f"tier: {tier}" + f" ({config.stash[TURN]})" * (tier != "all")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    found = list(zip(items, tiers.chosen(items, config.getoption("tier"), config.stash[TURN]), strict=True))
    items[:] = [item for item, wanted in found if wanted]
    config.hook.pytest_deselected(items=[item for item, wanted in found if not wanted])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item):
    with room(alone=item.get_closest_marker("alone") is not None):
        return (yield)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and (reason := no_gpu()):
        pytest.skip(reason)


@cache
def no_gpu() -> str:
    """Why the tests marked `gpu` cannot run here; empty when they can."""
    from vgpu.hardware import driver

    if driver.usable():
        return ""
    return driver.trouble() or "no NVIDIA GPU found: run on a machine with one and its driver"


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's folder."""
    return tiers.ROOT


@pytest.fixture(scope="session", autouse=True)
def own_triton_cache(tmp_path_factory):
    """Compile what is tested, and leave the user's cache alone.

    One folder for all: Triton keeps a kernel in this process, and looks for its PTX later.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield


@pytest.fixture(scope="session")
def some(pytestconfig):
    """Of very many things as many as the tier has time for: `some(things, most)`."""
    if pytestconfig.getoption("tier") == "all":
        return lambda things, most: list(things)
    return pytestconfig.stash[TURN].some

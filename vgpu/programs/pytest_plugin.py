"""The pytest plugin: tests of CUDA code without a GPU, with budgets for counters and with the sanitizer.

    @pytest.mark.vgpu(max_sectors_per_request=4.2, no_races=True)
    def test_add():
        ...                     # launches kernels of numba.cuda, cupy or triton

    def test_with_counters(vgpu):
        ...
        assert vgpu.profile("add")["sectors_per_load_request"] == 4

`pytest --vgpu` lets the tests use the virtual GPU under the names numba.cuda, cupy, triton and torch.cuda.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from vgpu.programs.observed import Launched, Observed
    from vgpu.tools.profile import Profile
    from vgpu.tools.sanitize.findings import Finding

MARK = "vgpu"
BANS = {"no_races": "race", "no_errors": ""}
"""Arguments of the mark that need the sanitizer, and how the kinds begin that they forbid."""
OBSERVED = pytest.StashKey["Observed"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("vgpu", "CUDA without a GPU")
    group.addoption("--vgpu", action="store_true", help="run numba.cuda, cupy and triton on the virtual GPU")
    group.addoption("--vgpu-gpu", metavar="NAME", help="the modelled GPU, such as H100")
    group.addoption("--vgpu-sanitize", action="store_true", help="run every launch under the sanitizer; errors fail")
    group.addoption(
        "--vgpu-schedules", type=int, default=0, metavar="N",
        help="under the sanitizer, run every launch under N random schedules too; results that differ fail",
    )  # fmt: skip
    parser.addini("vgpu", "as --vgpu", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "vgpu(kernel=None, no_races=False, no_errors=False, max_NAME=…, min_NAME=…): what the kernels that the test "
        "launches may do, NAME being a counter or metric of a profile; `kernel` names the one that is meant",
    )
    if config.getoption("--vgpu") or config.getini("vgpu"):
        from vgpu.programs.python import on_virtual_gpu

        on_virtual_gpu()
    if chosen := config.getoption("--vgpu-gpu"):
        from vgpu.hardware.device import device

        device(chosen)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Observe the launches of a test that asks for it, and judge them when the test has passed."""
    budgets = [Budget.of(mark) for mark in item.iter_markers(MARK)]
    schedules = item.config.getoption("--vgpu-schedules")
    everywhere = item.config.getoption("--vgpu-sanitize") or schedules > 0
    wanted = bool(budgets) or MARK in getattr(item, "fixturenames", ())
    if not (wanted or everywhere):
        return (yield)
    from vgpu.programs.observed import observing

    sanitizer = everywhere or any(budget.bans for budget in budgets)
    with observing(counters=wanted, sanitizer=sanitizer, seeds=tuple(range(schedules))) as observed:
        item.stash[OBSERVED] = observed
        result = yield
    bans = {"no_errors"} if everywhere else set()
    wrong = list(forbidden(observed, bans, schedules > 0))
    for budget in budgets:
        wrong += budget.exceeded(observed, schedules > 0)
    if wrong:
        pytest.fail("\n\n".join(dict.fromkeys(wrong)), pytrace=False)
    return result


@dataclass(frozen=True)
class Budget:
    """The arguments of one mark."""

    kernel: str | None
    bans: frozenset[str]
    limits: tuple[tuple[str, str, float], ...]
    """("max" or "min", the metric, the limit)."""

    @classmethod
    def of(cls, mark: pytest.Mark) -> Budget:
        """Read a mark; fails the test at an argument that there isn't."""
        given = dict(mark.kwargs)
        kernel = given.pop("kernel", None)
        bans = frozenset(name for name in BANS if given.pop(name, False))
        limits = []
        for name, limit in given.items():
            side, _, metric = name.partition("_")
            if side not in ("max", "min") or not metric or mark.args:
                words = f"pytest.mark.vgpu has no {name!r}: it has max_NAME, min_NAME, {', '.join(BANS)} and kernel"
                pytest.fail(words, pytrace=False)
            limits.append((side, metric, limit))
        return cls(kernel, bans, tuple(limits))

    def exceeded(self, observed: Observed, schedules: bool) -> Iterator[str]:
        """What breaks this budget, in words."""
        yield from forbidden(observed, self.bans, schedules, self.kernel)
        meant = [each for each in observed.launched if self.kernel in (None, each.kernel.name)]
        if not observed.launched and _on_gpu():
            pytest.skip("budgets are counted on the virtual GPU: run pytest with --vgpu")
        if not meant:
            which = f"no kernel called {self.kernel!r}" if self.kernel else "no kernel"
            others = ", ".join(dict.fromkeys(each.kernel.name for each in observed.launched))
            instead = f"It launched {others}." if others else "Run pytest with --vgpu, or import from vgpu."
            yield f"The test launched {which} on the virtual GPU. {instead}"
        for each in meant:
            profile = each.profile()
            for side, metric, limit in self.limits:
                try:
                    value = profile[metric]
                except KeyError as error:
                    yield f"pytest.mark.vgpu: {error.args[0]}"
                    return
                if value is not None and (value > limit if side == "max" else value < limit):
                    than = "more than" if side == "max" else "less than"
                    yield f"{_launch(each)}: {metric} is {value:.6g}, {than} {limit:g}{_worst(profile, metric)}"


def _on_gpu() -> bool:
    from vgpu.standins.backend import on_gpu

    return on_gpu()


def forbidden(
    observed: Observed, bans: frozenset[str] | set[str], schedules: bool, kernel: str | None = None
) -> Iterator[str]:
    """The sanitizer's findings that are banned, in words; with `schedules` results that depend on the order are."""
    kinds = [BANS[ban] for ban in bans]
    for each in observed.found:
        for finding, _ in each.findings.values():
            if kernel in (None, each.kernel) and _banned(finding, kinds, schedules):
                yield f"{each.kernel}: {finding}"


def _banned(finding: Finding, kinds: list[str], schedules: bool) -> bool:
    if finding.kind == "schedule":
        return schedules and bool(kinds)
    return finding.level == "error" and any(finding.kind.startswith(kind) for kind in kinds)


def _launch(each: Launched) -> str:
    from vgpu.base.words import sizes

    return f"{each.kernel.name}, grid {sizes(each.grid)}, block {sizes(each.block)}"


def _worst(profile: Profile, metric: str) -> str:
    """The line that counts most of what a counter counts, or whose ratio is largest; "" where lines don't have it."""
    values = profile.by_line(metric)
    if not values:
        return ""
    line = max(values, key=values.__getitem__)
    return f"\n  line {line.number}: {line.source.strip()}  ({values[line]:.6g})"


class Seen:
    """The fixture `vgpu`: what the test has launched so far."""

    def __init__(self, item: pytest.Item):
        self._item = item

    @property
    def launches(self) -> list[Launched]:
        """Each kernel by grid and block: `kernel`, `grid`, `block`, `counters`, and how many `launches`."""
        return self._item.stash[OBSERVED].launched

    def profile(self, kernel: str | None = None) -> Profile:
        """The profile of the kernel of this name, or of the only one; LookupError where there is none or several."""
        found = [each for each in self.launches if kernel in (None, each.kernel.name)]
        if len(found) != 1:
            names = ", ".join(_launch(each) for each in self.launches) or "none"
            raise LookupError(f"{len(found)} launches fit {kernel!r}, not one; the test has launched: {names}")
        return found[0].profile()


@pytest.fixture
def vgpu(request: pytest.FixtureRequest) -> Seen:
    """What the test launches on the virtual GPU: `vgpu.profile("kernel")`, `vgpu.launches`."""
    return Seen(request.node)

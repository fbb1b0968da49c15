"""Which tests a tier has, and that a test can have all processes to itself."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from vgpu.tests import alone, tiers
from vgpu.tests.tiers import Turn, chosen

NEVER = Turn("", frozenset())


def item(name: str, *marks: pytest.MarkDecorator) -> SimpleNamespace:
    """What is asked of a test that pytest has collected."""
    by_name = {mark.name: mark.mark for mark in marks}
    return SimpleNamespace(nodeid=name, get_closest_marker=by_name.get)


ITEMS = [
    item("tests/test_a.py::test_one[1]"),
    item("tests/test_a.py::test_one[2]"),
    item("tests/test_a.py::test_two", pytest.mark.slow),
    item("tests/test_a.py::test_three[1]", pytest.mark.exhaustive),
    item("tests/test_a.py::test_three[2]"),
    item("tests/test_b.py::test_one[1]"),
    item("tests/test_b.py::test_one[2]"),
    item("tests/test_c.py::test_chapter[1]", pytest.mark.slow),
    item("tests/test_c.py::test_chapter[2]", pytest.mark.slow),
    item("tests/test_c.py::test_other"),
    item("tests/far/test_d.py::test_one"),
    item("tests/far/test_e.py::test_one"),
]


@pytest.mark.parametrize(
    ("tier", "names"),
    [
        ("check", ["a one 1", "b one 1", "b one 2", "c chapter 1", "e one"]),
        ("test", ["a one 1", "a one 2", "a two", "a three 2", "b one 1", "b one 2", "c chapter 1", "c chapter 2",
                  "c other", "d one", "e one"]),
    ],
)  # fmt: skip
def test_a_tier_has(monkeypatch, tier, names):
    rows = {
        "tests/test_b.py": tiers.EVERY,
        "tests/test_c.py": tiers.NONE,
        "tests/test_c.py::test_chapter": tiers.FIRST,
        "tests/far": tiers.NONE,
        "tests/far/test_e.py": tiers.FIRST,
    }
    monkeypatch.setattr(tiers, "CHECK", rows)
    every = zip(ITEMS, chosen(ITEMS, tier, NEVER), strict=True)
    found = [it.nodeid.replace("far/", "") for it, wanted in every if wanted]
    assert found == [
        f"tests/test_{file}.py::test_{name}" + "".join(f"[{number}]" for number in rest)
        for file, name, *rest in map(str.split, names)
    ]


def test_all_is_all():
    assert all(chosen(ITEMS, "all", NEVER))


def test_what_rotates_has_its_turn_or_is_about_what_changed():
    rotating = [item(f"tests/test_a.py::test[{n}]", pytest.mark.rotating("helpers/x.py")) for n in range(1000)]
    by_share: dict[int, set[str]] = {}
    even = 1000 / tiers.SHARES
    for commit in map(str, range(400)):
        turn = Turn(commit, frozenset({"helpers/y.py"}))
        tried = {it.nodeid for it, wanted in zip(rotating, chosen(rotating, "test", turn), strict=True) if wanted}
        assert by_share.setdefault(turn.share, tried) == tried and even / 2 < len(tried) < even * 2
    assert sorted(by_share) == list(range(tiers.SHARES))
    assert sum(map(len, by_share.values())) == len(set().union(*by_share.values())) == 1000
    changed = Turn("", frozenset({"helpers/x.py"}))
    assert all(chosen(rotating, "test", changed))
    absolute = item("tests/test_a.py::test", pytest.mark.rotating(tiers.ROOT / "helpers" / "x.py"))
    assert list(chosen([absolute], "test", changed)) == [True]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with two files of tests and an engine of one file; its folder."""
    for name, text in {
        "vgpu/tests/test_engine.py": "import vgpu\n",
        "tests/test_other.py": "",
        "vgpu/engine.py": "",
        "constraints.txt": "numba==1",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(tiers, "ROOT", tmp_path)
    monkeypatch.setattr(tiers, "RECORD", tmp_path / "vgpu" / "tests" / "passed.json")
    return tmp_path


def left_out(project, turn: Turn, tier: str) -> list[str]:
    return sorted(path.name for path in project.rglob("test_*.py") if turn.leaves_out(path, tier))


@pytest.mark.parametrize("changed", ["vgpu/engine.py", "constraints.txt", "vgpu/tests/test_engine.py"])
def test_all_of_the_engines_tests_are_tried_until_they_have_passed_on_it_as_it_is(project, changed):
    assert not tiers.engine_passed()
    tiers.record_engine()
    (project / "tests" / "test_other.py").write_text("changed")
    assert tiers.engine_passed()
    (project / changed).write_text("import vgpu  # changed\n")
    assert not tiers.engine_passed()


def test_an_engine_that_has_passed_is_tried_in_shares_and_all_others_always(project):
    tried = [left_out(project, Turn(commit, frozenset(), True), "test") for commit in map(str, range(200))]
    assert {tuple(names) for names in tried} == {(), ("test_engine.py",)}
    assert 1 <= tried.count([]) <= 20
    assert left_out(project, Turn("0", frozenset(), False), "test") == []
    assert left_out(project, Turn("0", frozenset(), True), "all") == []


def test_check_reads_no_file_of_which_it_has_nothing(project, monkeypatch):
    monkeypatch.setattr(tiers, "CHECK", {"vgpu/tests": tiers.NONE, "tests/test_other.py::test_a": tiers.FIRST})
    assert left_out(project, NEVER, "check") == ["test_engine.py"]
    (project / "vgpu" / "tests" / "test_engine.py").write_text("@pytest.mark.check\n")
    assert left_out(project, NEVER, "check") == []


def test_every_row_of_check_names_tests_that_there_are():
    for name in tiers.CHECK:
        file, _, function = name.partition("::")
        assert (tiers.ROOT / file).exists(), name
        assert not function or f"def {function}(" in (tiers.ROOT / file).read_text(encoding="utf-8"), name


@pytest.mark.skipif(alone.fcntl is None, reason="files are locked by fcntl, which Windows has not")
def test_who_is_alone_waits_for_the_others_and_they_for_them(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", "run")
    monkeypatch.setattr(alone.tempfile, "gettempdir", lambda: str(tmp_path))
    told, inside = [], threading.Event()

    def go(name: str, by_itself: bool) -> None:
        with alone.room(by_itself):
            told.append(f"{name} in")
            inside.set()
            told.append(f"{name} out")

    def door_is_held() -> bool:
        with (tmp_path / "warpbook-door-run").open("w") as file:
            try:
                alone.fcntl.flock(file, alone.fcntl.LOCK_EX | alone.fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            alone.fcntl.flock(file, alone.fcntl.LOCK_UN)
            return False

    with alone.room(False):
        go("another", False)  # two who share are in at once
        assert told == ["another in", "another out"]
        inside.clear()
        single = threading.Thread(target=go, args=("single", True))
        single.start()
        while not door_is_held():
            pass
        late = threading.Thread(target=go, args=("late", False))
        late.start()
        assert not inside.is_set()
        told.append("first out")
    for thread in (single, late):
        thread.join(60)
    assert told[2:5] == ["first out", "single in", "single out"]
    assert told[5:] == ["late in", "late out"]


def test_some_of_very_many_are_others_with_each_commit():
    drawn = [Turn(commit, frozenset()).some(map(str, range(50)), 5) for commit in ("a", "a", "b")]
    assert drawn[0] == drawn[1] != drawn[2] and len(set(drawn[2])) == 5
    assert NEVER.some([3, 1], 5) in ([3, 1], [1, 3])

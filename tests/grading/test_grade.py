"""A class from a folder of submissions to a folder of reports, in real sandboxes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.grading import ledger, pools, report, secret, source
from helpers.grading.grade import NotGradable, Options, grade, in_shard
from helpers.grading.policy import Policy
from helpers.grading.results import GRADED, REJECTED, STUDENT_FAULT
from helpers.grading.sandbox import SandboxUnavailable, best
from tests.grading import small_lab

try:
    best()
except SandboxUnavailable as reason:
    pytest.skip(str(reason), allow_module_level=True)

pytestmark = pytest.mark.slow
SEED = 20_261_121_307
OPTIONS = Options(workers=2, seed=SEED, policy=Policy(cell_seconds=10))


class Lent:
    """Workers that one run after another is lent, as they take longer to start than to grade."""

    def __init__(self, pool: pools.Pool):
        self.pool = pool

    def __enter__(self) -> pools.Pool:
        return self.pool

    def __exit__(self, *_) -> None:
        pass


@pytest.fixture(scope="module")
def lent():
    with pools.processes(OPTIONS.workers) as pool:
        yield Lent(pool)


class Class:
    """The small lab, what the class handed in, and folders for results."""

    def __init__(self, folder: Path, pool: Lent):
        self.folder, self.lab = folder, small_lab.lab()
        self.source = small_lab.written(folder / "source", self.lab)
        self.submissions = small_lab.handed_in(folder / "handed_in", self.lab)
        (self.submissions / "junk.ipynb").write_bytes(b"\x00\x01")
        self.results = folder / "results"
        self.graded = grade(self.lab, self.submissions, self.results, OPTIONS, pool=pool)

    def command(self, submissions: Path, out: Path) -> list[str]:
        line = [sys.executable, "-m", "helpers.cli", "grade", str(self.source), str(submissions)]
        return [*line, "--out", str(out), "--seed", str(SEED), "--timeout", "10", "--workers", "2"]

    def call(self, submissions: Path, out: Path) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(submissions, out), **self.options, capture_output=True, timeout=600)

    @property
    def options(self) -> dict:
        return dict(cwd=self.folder, env={**os.environ, "PYTHONPATH": str(small_lab.ROOT)}, text=True)


@pytest.fixture(scope="module")
def course(tmp_path_factory, lent):
    return Class(tmp_path_factory.mktemp("class"), lent)


NO_REPORTS = {ledger.NAME, ledger.LOCK, secret.NAME, "results.jsonl", "seconds.csv"}
"""Files that may differ from run to run: what the grader keeps, and seconds."""


def reports(folder: Path) -> dict[str, bytes]:
    """All reports but the one that has seconds, by their names."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name not in NO_REPORTS}


# -- one run --------------------------------------------------------------------------------------------


def test_everybody_has_the_state_and_points_that_they_earned(course):
    one, two = (small_lab.points(course.lab, key) for key in small_lab.EXERCISES)
    assert {result.student: (result.state, result.points) for result in course.graded.results} == {
        "good": (GRADED, one + two),
        "half": (GRADED, two),
        "broken": (GRADED, two),
        "crashing": (STUDENT_FAULT, two),
        "endless": (STUDENT_FAULT, one),
        "untouched": (GRADED, 0),
        "junk": (REJECTED, 0),
    }
    assert all(result.out_of == one + two for result in course.graded.results if result.state != REJECTED)


def test_every_mark_has_the_outcome_that_led_to_it(course):
    outcomes = {
        result.student: {mark.exercise: mark.outcome for mark in result.marks} for result in course.graded.results
    }
    assert outcomes["half"] == {"lab05.total": "wrong", "lab05.logsumexp": "right"}
    assert outcomes["broken"] == {"lab05.total": "error", "lab05.logsumexp": "right"}
    assert outcomes["crashing"] == {"lab05.total": "crash", "lab05.logsumexp": "right"}
    assert outcomes["endless"] == {"lab05.total": "right", "lab05.logsumexp": "timeout"}
    assert outcomes["untouched"] == {"lab05.total": "missing", "lab05.logsumexp": "missing"}


def test_the_seed_is_in_no_report(course):
    assert (course.results / secret.NAME).read_text().strip() == str(SEED)
    for name, data in reports(course.results).items():
        assert str(SEED).encode() not in data, name


def test_what_is_graded_is_not_graded_again(course):
    lines = (course.results / ledger.NAME).read_bytes()
    again = grade(course.lab, course.submissions, course.results, OPTIONS)
    assert again.kept == 6
    assert again.results == course.graded.results
    assert (course.results / ledger.NAME).read_bytes() == lines


def test_only_what_changed_is_graded_anew(course, lent, tmp_path):
    changed = shutil.copytree(course.submissions, tmp_path / "handed_in")
    results = shutil.copytree(course.results, tmp_path / "results")
    small_lab.handed_in(changed, course.lab, {"half": {}})
    again = grade(course.lab, changed, results, OPTIONS, pool=lent)
    assert again.kept == 5
    assert next(result for result in again.results if result.student == "half").points == course.lab.out_of


def test_one_student_is_graded_again_on_request(course, lent, tmp_path):
    results = shutil.copytree(course.results, tmp_path / "results")
    before = (results / ledger.NAME).read_text().splitlines()
    again = grade(course.lab, course.submissions, results, replace(OPTIONS, again=("good",)), pool=lent)
    (line,) = (results / ledger.NAME).read_text().splitlines()[len(before) :]
    assert json.loads(line)["student"] == "good" and again.kept == 5
    assert again.results == course.graded.results
    with pytest.raises(NotGradable, match="Did you mean good"):
        grade(course.lab, course.submissions, results, replace(OPTIONS, again=("goood",)), pool=lent)


def test_a_name_that_changed_or_an_output_is_no_reason_to_grade_anew(course, tmp_path):
    """Notebooks are saved again and again with other outputs and execution counts."""
    changed = shutil.copytree(course.submissions, tmp_path / "handed_in")
    results = shutil.copytree(course.results, tmp_path / "results")
    notebook = json.loads((changed / "good.ipynb").read_text())
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"execution_count": 7, "outputs": [{"output_type": "stream", "name": "stdout", "text": "10/10"}]}
    (changed / "good.ipynb").write_text(json.dumps(notebook))
    assert grade(course.lab, changed, results, OPTIONS).kept == 6


# -- runs that are stopped, divided, or two at once -----------------------------------------------------


@pytest.fixture
def scratch(tmp_path):
    """A folder for temporary files whose path is longer than a socket's may be."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    return folder


def test_a_killed_run_goes_on(course, lent, tmp_path, scratch):
    quick = {student: answers for student, answers in small_lab.CLASS.items() if student not in ("crashing", "endless")}
    submissions = small_lab.handed_in(tmp_path / "handed_in", course.lab, quick)
    grade(course.lab, submissions, tmp_path / "whole", OPTIONS, pool=lent)
    out = tmp_path / "results"
    options = course.options
    options["env"] = {**options["env"], "TMPDIR": str(scratch)}
    running = subprocess.Popen(course.command(submissions, out), **options, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 300
        while time.monotonic() < until and running.poll() is None:
            lines = (out / ledger.NAME).read_bytes().count(b"\n") if (out / ledger.NAME).exists() else 0
            if lines >= 2:
                break
            time.sleep(0.02)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert lines >= 2 and not (out / "files.json").exists()
    while time.monotonic() < until and list(scratch.glob("warpbook-*")):
        time.sleep(0.1)
    assert not list(scratch.glob("warpbook-*"))  # the workers have ended, too
    done = course.call(submissions, out)
    assert done.returncode == 0, done.stderr
    assert "were already graded" in done.stdout
    assert reports(out) == reports(tmp_path / "whole")


def test_shards_come_to_the_same_reports_as_one_run(course, lent, tmp_path):
    for which in (1, 2):
        out = tmp_path / f"shard-{which}"
        grade(course.lab, course.submissions, out, replace(OPTIONS, shard=(which, 2)), pool=lent)
        assert 0 < len(report.read(out).results) < len(course.graded.results)
    found = report.merge([tmp_path / "shard-1", tmp_path / "shard-2"])
    report.keep(tmp_path / "whole", found.results)
    report.write(tmp_path / "whole", found.results, found.lab, fingerprints=course.graded.fingerprints)
    assert reports(tmp_path / "whole") == reports(course.results)


def test_shards_divide_a_class_whoever_else_is_in_it():
    names = [f"student {number}" for number in range(200)]
    shards = [[name for name in names if in_shard(name, (which, 3))] for which in (1, 2, 3)]
    assert sorted(name for shard in shards for name in shard) == sorted(names)
    assert min(map(len, shards)) > 40


def test_a_second_grader_in_one_folder_is_told_so(course, tmp_path):
    results = shutil.copytree(course.results, tmp_path / "results")
    with ledger.Ledger(results):
        done = course.call(course.submissions, results)
    assert done.returncode == 2
    assert "Another `warpbook grade` is at work" in done.stderr


def test_a_torn_line_is_told_and_its_submission_graded_anew(course, lent, tmp_path):
    results = shutil.copytree(course.results, tmp_path / "results")
    path = results / ledger.NAME
    path.write_bytes(path.read_bytes()[:-30])
    told = []
    again = grade(course.lab, course.submissions, results, OPTIONS, tell=told.append, pool=lent)
    assert len(told) == 1 and "torn" in told[0]
    assert again.kept == 5
    assert reports(results) == reports(course.results)


SLOWLY = [pytest.mark.exhaustive, pytest.mark.alone]


# 2 is the number of the other tests; a hundred with each: HONEST.md
@pytest.mark.parametrize("workers", [pytest.param(1, marks=SLOWLY), 4, pytest.param(8, marks=SLOWLY)])
def test_honest_work_gets_full_marks_however_many_work_at_once(course, tmp_path, workers):
    lab = small_lab.lab(small_lab.EXERCISES[:1])
    submissions = small_lab.handed_in(tmp_path / "handed_in", lab, {f"student {n}": {} for n in range(8)})
    graded = grade(lab, submissions, tmp_path / "results", replace(OPTIONS, workers=workers))
    assert [(result.state, result.points) for result in graded.results] == [(GRADED, lab.out_of)] * 8


# -- what is no way to grade ----------------------------------------------------------------------------


def test_where_the_authors_solution_fails_nobody_is_graded(course, lent, tmp_path):
    notebook = json.loads(json.dumps(course.lab.notebook))
    answer = next(c for c in notebook["cells"] if c["metadata"]["nbgrader"]["grade_id"] == small_lab.TOTAL)
    answer["source"] = "".join(answer["source"]).replace("atomicAdd(", "atomicSub(").replace("+=", "-=")
    broken = source.lab(notebook, course.lab.path)
    with pytest.raises(NotGradable, match="author's own solution does not get all points") as raised:
        grade(broken, course.submissions, tmp_path / "results", OPTIONS, pool=lent)
    assert raised.value.unready
    assert not (tmp_path / "results" / "files.json").exists()


def test_results_do_not_lie_among_submissions(course):
    with pytest.raises(NotGradable, match="among the submissions"):
        grade(course.lab, course.submissions, course.submissions / "results", OPTIONS)
    assert not (course.submissions / "results").exists()


def test_no_submissions_are_no_class(course, tmp_path):
    with pytest.raises(NotGradable, match="no folder or archive"):
        grade(course.lab, tmp_path / "nothing", tmp_path / "results", OPTIONS)


def test_an_empty_folder_is_no_class_that_is_done(course, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.txt").write_text("")
    with pytest.raises(NotGradable, match="Nothing was handed in"):
        grade(course.lab, tmp_path / "in", tmp_path / "out", Options())
    assert not (tmp_path / "out").exists()

"""A class over Dask: real workers in processes of their own, one of them killed."""

import os
import signal
import time
from dataclasses import replace

import pytest

from helpers.grading import course, pools
from helpers.grading.grade import NotGradable, Options, grade
from helpers.grading.policy import Policy
from helpers.grading.results import GRADED
from helpers.grading.sandbox import SandboxUnavailable, best
from tests.grading import small_lab
from tests.grading.scripted import SETTINGS, job
from tests.grading.test_course import good

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow
with_workers = pytest.mark.exhaustive  # they take long to start


@pytest.fixture
def cluster():
    """Two workers of one thread each; a worker that dies is started again."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, resources={"GPU": 1}
    ) as made:
        yield made


def slow(job, settings):
    time.sleep(0.05)
    return replace(good(job, settings), reason=str(os.getpid()))


@with_workers
def test_a_worker_that_is_killed_costs_no_result(cluster):
    names = [f"student {number}" for number in range(60)]
    with pools.cluster(cluster.scheduler_address) as pool:
        found = []
        for result in course.graded(map(job, names), SETTINGS, pool, slow):
            found.append(result)
            if len(found) == 5:
                os.kill(int(result.reason), signal.SIGKILL)
    assert sorted(result.student for result in found) == sorted(names)
    assert {result.state for result in found} == {GRADED}


@with_workers
def test_a_gpu_is_asked_for(cluster):
    with pools.cluster(cluster.scheduler_address, {"GPU": 1}) as pool:
        (result,) = course.graded([job("ann")], SETTINGS, pool, good)
    assert result.state == GRADED


def test_a_scheduler_that_is_not_there_is_said_so():
    with pytest.raises(pools.NoCluster, match="No Dask scheduler answers"):
        pools.cluster("tcp://127.0.0.1:1", seconds=1)
    with pytest.raises(pools.NoCluster, match="tcp://host:8786"):
        pools.cluster("nonsense://", seconds=1)


@with_workers
def test_real_submissions_come_to_the_same_as_on_one_machine(cluster, tmp_path):
    try:
        best()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    lab = small_lab.lab()
    submissions = small_lab.handed_in(tmp_path / "handed_in", lab)
    options = Options(workers=2, seed=3, policy=Policy(cell_seconds=10))
    here = grade(lab, submissions, tmp_path / "here", options)
    victims = [info["pid"] for info in cluster_pids(cluster)]

    def progress(done, of, counts):
        if done == 2 and victims:
            os.kill(victims.pop(), signal.SIGKILL)
            victims.clear()

    there = grade(lab, submissions, tmp_path / "there", replace(options, scheduler=cluster.scheduler_address), progress)
    assert not victims
    assert there.results == here.results
    name = "gradebook.csv"
    assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def cluster_pids(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        return [{"pid": pid} for pid in client.run(os.getpid).values()]


def test_no_scheduler_is_no_way_to_grade(tmp_path):
    lab = small_lab.lab()
    submissions = small_lab.handed_in(tmp_path / "handed_in", lab, {"good": {}})
    with pytest.raises(NotGradable, match="No Dask scheduler answers"):
        grade(lab, submissions, tmp_path / "results", Options(scheduler="nonsense://"))

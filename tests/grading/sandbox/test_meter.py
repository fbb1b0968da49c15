"""What counts against a limit: seconds in which a job runs or sleeps, not those in which it waits for a CPU."""

import subprocess
import sys

import pytest

from helpers.grading.sandbox import cgroups, meter
from helpers.grading.sandbox.meter import Allowance, Reading, TooSlow, counted
from helpers.grading.sandbox.wire import Late

SECOND = Reading(), 1.0


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        (Reading(cpu=1.0, ready=True), 1.0),
        (Reading(cpu=0.1, ready=True), 0.1),
        (Reading(cpu=0.1, waits={7: 0.9}), 0.1),
        (Reading(cpu=0.1, waits={7: 0.4}), 0.6),
        (Reading(), 1.0),
        (Reading(cpu=4.0, ready=True), 4.0),
        (Reading(cpu=2.0, waits=dict.fromkeys(range(100), 1.0), ready=True), 2.0),
    ],
    ids=["runs", "waits", "waits, seen by the thread's own count", "waits and sleeps", "sleeps", "runs on four CPUs",
         "a hundred threads wait for one another"],
)  # fmt: skip
def test_running_and_sleeping_count_and_waiting_for_a_cpu_does_not(after, seconds):
    before, passed = SECOND
    assert counted(before, after, passed) == pytest.approx(seconds)


def test_only_what_a_thread_has_waited_since_is_waiting():
    assert counted(Reading(waits={7: 5.0}), Reading(waits={7: 5.25}), 1.0) == pytest.approx(0.75)


class Machine:
    """A clock and a job on it that has so much of a CPU: each look at the clock is a second later."""

    def __init__(self, share, ready=True):
        self.now, self.share, self.ready = 0.0, share, ready

    def clock(self):
        self.now += 1.0
        return self.now

    def reading(self):
        return Reading(cpu=self.share * self.now, ready=self.ready)

    def receive(self, seconds):
        raise Late

    def allowance(self, seconds):
        return Allowance(seconds, [self.reading], self.clock, own=lambda: 0.0)


@pytest.mark.parametrize(
    ("machine", "after"),
    [(Machine(1.0), 10), (Machine(0.25), 40), (Machine(0.0, ready=False), 10)],
    ids=["an idle machine", "a busy machine", "a job that sleeps"],
)
def test_a_limit_is_reached_when_enough_was_counted(machine, after):
    with pytest.raises(Late):
        machine.allowance(10).receive(machine)
    assert machine.now == pytest.approx(after, abs=3)


def test_a_job_that_hardly_had_a_cpu_is_the_machine_s_fault():
    machine = Machine(0.01)
    with pytest.raises(TooSlow, match="the machine is too busy"):
        machine.allowance(10).receive(machine)
    assert machine.now > 10 * meter.BACKSTOP


def test_time_in_which_the_grader_itself_was_busy_does_not_count():
    machine = Machine(0.0, ready=False)
    allowance = Allowance(10, [machine.reading], machine.clock, own=lambda: 0.5 * machine.now)
    with pytest.raises(Late):
        allowance.receive(machine)
    assert machine.now == pytest.approx(20, abs=3)


def test_a_part_is_counted_with_the_rest():
    machine = Machine(1.0)
    allowance = machine.allowance(10)
    with pytest.raises(Late):
        allowance.part(4).receive(machine)
    assert allowance.used == pytest.approx(4, abs=1)
    with pytest.raises(Late):
        allowance.part(100).receive(machine)
    assert allowance.used == pytest.approx(10, abs=1)


BURNS = """
import os, time
input()
if os.fork() == 0:
    while time.process_time() < 0.3: pass
    os._exit(0)
os.wait()
print(flush=True)
input()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("groups", [True, False], ids=["with control groups", "without"])
def test_processes_that_have_ended_are_counted_too(groups):
    group = None
    if groups:
        if (place := cgroups.place()) is None:
            pytest.skip("this user may make no control groups")
        group = cgroups.Group(place, 1 << 30, 64)
    with subprocess.Popen([sys.executable, "-c", BURNS], stdin=-1, stdout=-1, text=True) as process:
        if group is not None:
            group.add(process.pid)
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
        seen = meter.read(process.pid, group)
        process.stdin.write("\n")
    if group is not None:
        group.close()
    assert seen.cpu > 0.25
    assert seen.waits

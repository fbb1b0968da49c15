"""What can be run in a sandbox, as a table: a new job is one row."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from helpers.grading.sandbox.wire import Channel, encode

LONGEST_ANSWER = 1 << 20


@dataclass(frozen=True)
class Job:
    """A row: `run(settings, channel)` speaks with the grader; `settings` are of the job, from the grader."""

    name: str
    run: Callable[[dict, Channel], None]


def _function(path: str) -> Callable:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def asked(path: str) -> Callable[[dict, Channel], None]:
    """A job that gives one answer: `path`, as "module:function", makes a dictionary of one."""

    def run(settings: dict, channel: Channel) -> None:
        answer = _function(path)(channel.receive())
        if len(encode(answer)) > LONGEST_ANSWER:
            raise ValueError(f"an answer may have {LONGEST_ANSWER:,} bytes, and this one has {len(encode(answer)):,}")
        channel.send({"answer": answer})

    return run


def conversing(path: str) -> Callable[[dict, Channel], None]:
    """The same, of a function that takes another one too, by which it asks whoever is outside on its way."""

    def run(settings: dict, channel: Channel) -> None:
        def ask(request: dict) -> dict:
            channel.send({"ask": request})
            return channel.receive()["served"]

        channel.send({"answer": _function(path)(channel.receive(), ask)})

    return run


def speaking(path: str) -> Callable[[dict, Channel], None]:
    """A job that says and hears what it likes."""
    return lambda settings, channel: _function(path)(settings, channel)


JOBS = (
    Job("kernel", speaking("helpers.grading.sandbox.courier:run")),
    Job("runner", speaking("helpers.grading.runner:serve")),
    Job("judge", conversing("helpers.grading.judge:answer")),
    # What a job may do wrong, to try a sandbox out with.
    Job("echo", asked("helpers.grading.sandbox.dry_run:echo")),
    Job("dry_run", asked("helpers.grading.sandbox.dry_run:dry_run")),
)


def job(name: str) -> Job:
    """The row called `name`; a KeyError names all."""
    for row in JOBS:
        if row.name == name:
            return row
    raise KeyError(f"no job {name!r}: there are {', '.join(row.name for row in JOBS)}")

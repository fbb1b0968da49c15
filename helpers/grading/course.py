"""A whole class over a pool of workers: who is graded when, and what becomes of those on whom the grader failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait

from helpers.grading import submission
from helpers.grading.pools import Pool
from helpers.grading.results import UNGRADED, Result
from helpers.grading.sandbox import InfrastructureFault
from helpers.grading.submission import Job
from helpers.grading.worker import Settings

TRIES_ALONE = 2
"""How often a submission on which the grader failed is tried again, with nothing beside it."""


def graded(
    jobs: Iterable[Job], settings: Settings, pool: Pool, grade: Callable[[Job, Settings], Result] = submission.grade
) -> Iterator[Result]:
    """A result for each job, in the order in which they come to an end.

    A worker that dies, or says nothing for too long, costs those that were under way a second try, and the others
    nothing. What fails every time is ungraded.
    """
    again: list[Job] = []
    for job, result in _side_by_side(jobs, settings, pool, grade):
        if result.state == UNGRADED:
            again.append(job)
        else:
            yield result
    for job in again:
        for _ in range(TRIES_ALONE):
            ((_, result),) = _side_by_side([job], settings, pool, grade)
            if result.state != UNGRADED:
                break
        yield result


def _side_by_side(jobs: Iterable[Job], settings: Settings, pool: Pool, grade: Callable) -> Iterator[tuple[Job, Result]]:
    """Every job with its result, as many under way at once as the pool is wide."""
    waiting = iter(jobs)
    running: dict[Future, Job] = {}
    more = True
    while more or running:
        ended: list[tuple[Job, Result]] = []
        broken = False
        while more and not broken and len(running) < max(1, pool.width()):
            job = next(waiting, None)
            if job is None:
                more = False
                break
            try:
                running[pool.submit(grade, job, settings)] = job
            except Exception as error:  # the pool broke just now, so nothing more comes of what it has
                ended.append((job, _lost(job, error)))
                broken = True
        if running and not broken:
            done, _ = wait(running, settings.policy.hang_seconds if pool.watched else None, FIRST_COMPLETED)
            broken = not done
            for future in done:
                job = running.pop(future)
                try:
                    ended.append((job, future.result()))
                except Exception as error:  # `submission.grade` raises nothing, so the worker itself is gone
                    ended.append((job, _lost(job, error)))
                    broken |= isinstance(error, BrokenExecutor)
        if broken:
            ended += [(job, _lost(job)) for job in running.values()]
            running.clear()
            pool.renew()
        yield from ended


def _lost(job: Job, error: Exception | None = None) -> Result:
    why = f"{type(error).__name__}: {error}" if error else "it, or another beside it, died or hung"
    return submission.ungraded(job, InfrastructureFault(f"the worker was lost: {why}"))

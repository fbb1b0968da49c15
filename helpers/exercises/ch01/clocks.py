"""How long many chains take on lanes that are pipelines."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake, plural

WORK = (
    # chains, steps, lanes, latency
    (1, 100, 64, 4),
    (64, 100, 64, 4),
    (200, 10, 64, 4),
    (256, 10, 64, 4),
    (257, 10, 64, 4),
    (1000, 10, 64, 4),
    (5000, 32, 16, 5),
    (30, 7, 16, 1),
)
CHAINS = "(chains + lanes - 1) // lanes"


def _case(chains: int, steps: int, lanes: int, latency: int) -> Case:
    name = f"{plural(chains, 'chain')} of {steps} steps, {lanes} lanes, {plural(latency, 'clock')} of latency"
    return Case(name, (chains, steps, lanes, latency), expected=steps * max(latency, math.ceil(chains / lanes)))


EXERCISE = Exercise(
    key="ch01.clocks",
    title="clocks of many chains",
    language="python",
    name="clocks",
    cases=lambda: [_case(*row) for row in WORK],
    hints=(
        "How many chains has the lane that has most of them? And in how many clocks has it started a step of each?",
        "A round takes as long as starting one step of each chain, or as long as the latency, whichever is more.",
        "steps * max(latency, (chains + lanes - 1) // lanes)",
    ),
    solution="""
def clocks(chains, steps, lanes, latency):
    on_a_lane = (chains + lanes - 1) // lanes
    return steps * max(latency, on_a_lane)
""",
    why="A chain takes its next step once a round. With few chains a lane has started them all before the first result "
    "is there, and waits: the round takes the latency, however few they are. With many chains the first result is "
    "there before the last step has started, so nobody waits and the number of chains decides. The two are equal where "
    "a lane has as many chains as a result takes clocks.",
    stretch="how many chains does an H100 need until none of its lanes waits? Its row is in gpus.find('H100').",
    mistakes=(
        Mistake(
            "the latency alone",
            "That is right for few chains. A lane that has more chains than a result takes clocks is not done with "
            "starting them when the first result comes.",
            (("max(latency, on_a_lane)", "latency"),),
        ),
        Mistake(
            "the number of chains alone",
            "That is right for many chains. With few of them the lane has started all, and waits for the first result.",
            (("max(latency, on_a_lane)", "on_a_lane"),),
        ),
        Mistake(
            "one chain after the other",
            "A lane does not wait for one chain's result before it starts a step of the next chain: it is a pipeline.",
            (
                ("max(latency, on_a_lane)", "latency * on_a_lane"), ("max(latency, on_a_lane)", "latency * chains"),
                ("max(latency, on_a_lane)", "latency * chains / lanes"),
            ),
        ),
        Mistake(
            "both times added",
            "Starting steps and waiting for results go on at the same time, so the longer of the two decides.",
            (
                ("max(latency, on_a_lane)", "(latency + on_a_lane)"),
                ("max(latency, on_a_lane)", "(latency - 1 + on_a_lane)"),
            ),
        ),
        Mistake(
            "the shorter of the two",
            "A round ends when both are done: all steps started, and the first result there.",
            (("max(", "min("),),
        ),
        Mistake(
            "rounded down",
            "If the chains do not divide evenly, some lanes have one more. They decide when all have ended: round up.",
            (("(chains + lanes - 1) // lanes", "chains // lanes"),),
        ),
        Mistake(
            "part of a chain on a lane",
            "A lane has whole chains. Round their number up to the next whole one.",
            (("(chains + lanes - 1) // lanes", "chains / lanes"),),
        ),
        Mistake(
            "the steps are left out",
            "That is one round, in which each chain takes one step. There are as many rounds as steps.",
            (("steps * max", "max"),),
        ),
        Mistake(
            "all chains on one lane",
            "The chains are dealt out to the lanes. How many are there on each?",
            (("(chains + lanes - 1) // lanes", "chains"),),
        ),
    ),
)  # fmt: skip

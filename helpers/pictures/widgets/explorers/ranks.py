"""Explorers of several ranks: collectives, schedules, memory, and scaling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from helpers.pictures import plots
from helpers.pictures.figures import Drawing, Picture
from helpers.pictures.plots.ranks import MOST_RANKS, collective_height, collective_moment
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, slider, suited
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.ranks.collectives import Steps, ring_steps, star_steps
from helpers.results.ranks.pipeline import ORDERS, pipeline_spans
from helpers.results.ranks.weak import Workload, efficiency
from vgpu.hardware.gpus import GPUS
from vgpu.hardware.interconnects import LINKS

Order = Callable[[int, int, int], Sequence]
ALGORITHMS = {"ring": ring_steps, "through rank 0": star_steps}
CAPTION = 62


def collective(
    algorithms: Callable[[int], Steps] | Mapping[str, Callable[[int], Steps]] = ALGORITHMS,
    *,
    ranks: tuple[int, int] = (2, 6),
    start: int = 4,
    step: int = 1,
) -> Explorer:
    """Sliders for the number of ranks and the step, over what each rank holds after it.

    algorithms: a function of the number of ranks that gives the steps, each a list of (source, target, chunk, adds) as
    in `helpers.ranks.ring_steps`, or a mapping from short names to several. The tensor has as many chunks as there are
    ranks. ranks: the ends of their slider, at most 8; start, step: with how many ranks, and where, it begins.
    """
    several = checked.versions(algorithms, "a function that gives the steps of a collective", Callable)
    low, high = checked.bounds("ranks", ranks)
    if low < 2 or high > MOST_RANKS:
        raise ValueError(f"ranks goes from 2 to {MOST_RANKS} at most, not from {low} to {high}")
    first = next(iter(several))
    controls = {"ranks": slider("ranks", start, low, high), "step": slider("step", step, 0, len(several[first](start)))}
    if len(several) > 1:
        controls = {"algorithm": dropdown("algorithm", first, several), **controls}

    def fit() -> None:
        """As many steps as this algorithm has for this number of ranks."""
        make = several[controls["algorithm"].value if "algorithm" in controls else first]
        controls["step"].max = len(make(controls["ranks"].value))

    def draw(ranks: int, step: int, algorithm: str = first) -> Drawing:
        return collective_moment(several[algorithm](ranks), ranks, step, name=f"all-reduce, {algorithm or 'steps'}")

    return Explorer("collective", draw, controls, fit=fit, height=collective_height(high) + CAPTION)


def pipeline_schedule(
    orders: Order | Mapping[str, Order] = ORDERS,
    *,
    stages: tuple[int, int] = (2, 6),
    micro_batches: tuple[int, int] = (1, 12),
    start: tuple[int, int] = (4, 4),
    backward: float = 2.0,
) -> Explorer:
    """A pipeline schedule, with its bubble, for a number of stages and micro-batches.

    orders: a function of (stage, stages, micro_batches) that gives the stage's work in order, as pairs ("forward" or
    "backward", number of the micro-batch), or a mapping from short names to several. start: stages and
    micro-batches to begin with. backward: how many times as long as a forward pass a backward pass takes.
    """
    several = checked.versions(orders, "a function that gives the order of work", Callable)
    first = next(iter(several))
    controls = {
        "schedule": dropdown("schedule", first, several),
        "stages": slider("stages", start[0], *checked.bounds("stages", stages)),
        "micro_batches": slider("micro-batches", start[1], *checked.bounds("micro_batches", micro_batches)),
    }

    def draw(schedule: str, stages: int, micro_batches: int) -> Picture:
        spans = pipeline_spans(stages, micro_batches, several[schedule], backward=backward)
        return plots.schedule_gantt(spans, name=schedule or "this order")

    return Explorer("pipeline_schedule", draw, controls)


def rank_gantt(
    spans: Callable[..., Sequence] | Mapping[str, Sequence], *, kind: str = "modelled", unit: str = "", **ranges: object
) -> Explorer:
    """What each rank does over time: one row per rank, one box per span.

    spans: a function that gives the spans (`helpers.ranks.RankSpan`) for the values of its arguments, each of which
    gets a control by `ranges`, as in `widgets.explore`; or a mapping from names to the spans of real
    runs, to choose from.
    kind: where the times come from; unit: see `plots.rank_gantt`. All views have one axis of time where they are chosen
    from a mapping.
    """
    if isinstance(spans, Mapping):
        runs: dict[str, Sequence] = checked.versions(spans, "the spans of a run")
        if ranges:
            raise TypeError("a mapping of runs has its own control: give no others")
        first = next(iter(runs))
        until = max(each.end for run in runs.values() for each in run)

        def draw(run: str) -> Picture:
            return plots.rank_gantt(runs[run], name=run, kind=kind, until=until, unit=unit)

        return Explorer("rank_gantt", draw, {"run": choice("run", first, runs)})
    make = checked.called("spans", spans)
    controls = {name: suited(name, given) for name, given in ranges.items()}
    if not controls:
        raise TypeError("give a range for each argument of the function, such as slow=(0, 3)")

    def draw_modelled(**values: Any) -> Picture:
        return plots.rank_gantt(make(**values), kind=kind, unit=unit)

    return Explorer("rank_gantt", draw_modelled, controls)


PARAMETERS = (125e6, 1.3e9, 7e9, 13e9, 70e9, 175e9)
RANKS_SHARING = (1, 2, 4, 8, 16, 32, 64, 128, 512, 1024)


def rank_memory(
    parameters: Sequence[float] = PARAMETERS, *, ranks: Sequence[int] = RANKS_SHARING, gpu: str = "H100",
    start: tuple[float, int] | None = None, mixed: bool = True,
) -> Explorer:  # fmt: skip
    """Sliders for the size of the model and the number of ranks, over a bar for each stage of sharding.

    parameters: numbers to choose from; ranks: numbers to choose from; gpu: whose memory is the line to begin with;
    start: (parameters, ranks) to begin with, each one of those; mixed: 16 bytes a parameter in mixed precision, which
    are as many in single precision, but others.
    """
    sizes = checked.options("parameters", parameters)
    counts = checked.options("ranks", ranks)
    size, count = start or (sizes[len(sizes) // 2], counts[len(counts) // 2])
    named = [(f"{each / 1e9:.3g} billion", each) for each in sizes]
    controls = {
        "parameters": choice("parameters", checked.among("parameters", size, named), named),
        "ranks": choice("ranks", count, counts),
        "gpu": dropdown("GPU", checked.gpu_name(gpu), list(GPUS)),
    }

    def draw(parameters: float, ranks: int, gpu: str) -> Picture:
        return plots.rank_memory_bars(parameters, ranks, capacity=GPUS[gpu].memory_bytes, gpu=gpu, mixed=mixed)

    return Explorer("rank_memory", draw, controls)


RANKS = tuple(2**power for power in range(13))
OVERLAPS = (0.0, 0.25, 0.5, 0.66)


def scaling(
    work: Workload | Mapping[str, Workload], *, ranks: Sequence[int] = RANKS, link: str = "Ethernet 50 Gb/s",
    published: Mapping[str, Mapping[str, tuple[int, float]]] | None = None,
) -> Explorer:  # fmt: skip
    """Choices of workload, link and overlap; curves of weak and strong scaling, for a ring and for trees.

    work: what a step computes and reduces, or a mapping from names to several. ranks: where the curves are calculated.
    link: one of `vgpu.hardware.interconnects.LINKS` to begin with. published: for a workload's name, its
    points by who published them, (ranks, efficiency).
    """
    several = checked.versions(work, "a Workload(name, seconds, nbytes)", Workload)
    counts = checked.options("ranks", ranks)
    first = next(iter(several))
    controls = {
        "link": dropdown("link", checked.among("link", link, LINKS), LINKS),
        "overlap": choice("overlap", 0.0, [(f"{each:.0%}", each) for each in OVERLAPS]),
    }
    if len(several) > 1:
        controls = {"workload": dropdown("workload", first, several), **controls}

    def draw(link: str, overlap: float, workload: str = first) -> Picture:
        step = replace(several[workload], overlap=overlap)
        curves = {
            f"{kind}, {how}": [efficiency(step, n, LINKS[link], algorithm=how, strong=kind == "strong") for n in counts]
            for kind in ("weak", "strong")
            for how in ("ring", "tree")
        }
        points = (published or {}).get(step.name)
        return plots.scaling_curves(counts, curves, published=points, title=f"{step.name}, {link}")

    return Explorer("scaling", draw, controls)

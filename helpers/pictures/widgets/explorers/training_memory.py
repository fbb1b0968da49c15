"""Explorers of memory in training: allocations over time, and the blocks of the allocator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from helpers.pictures import plots
from helpers.pictures.figures import CAPTION_LINE, Drawing, Picture, card_height
from helpers.pictures.plots.training_memory import block_map as drawn
from helpers.pictures.plots.training_memory import block_map_height, rows_needed, widest_row
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import Control, choice, dropdown, steps, suited, toggle
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.torch.allocator_parts import MIB
from helpers.results.torch.memory import memory_line
from helpers.results.torch.replay import Replay, replay


def memory(program: Callable[..., object], *, kept: Mapping[str, str] | None = None, **controls: object) -> Explorer:
    """Bytes held by tensors and reserved by the allocator over one run of `program(**values of the controls)`.

    A control is a name of one of its arguments with what it may be: (low, high) or a list makes a slider, True or False
    a box to tick. `torch.profiler.record_function("name")` in the program marks its phases. On a GPU the program
    has to put its tensors there; both lines are then what PyTorch reports.

    kept: what each phase leaves behind, {"forward": "activations", …}; then the bytes are stacked by what they are for.
    """
    checked.called("program", program)
    made = {
        name: choice(name, checked.options(name, given)[0], given) if isinstance(given, list) else suited(name, given)
        for name, given in controls.items()
    }

    def draw(**values: Any) -> Picture:
        said = ", ".join(f"{name} {value}" for name, value in values.items())
        line = memory_line(lambda: program(**values))
        return plots.memory_kinds(line, kept, name=said) if kept else plots.memory_steps(line, name=said)

    return Explorer("memory", draw, made, height=card_height(caption_lines=3 if kept else 2))


CAPTION_LINES = 2
NO_LIMIT = "no limit"


def block_map(
    trace: Sequence[tuple] | Mapping[str, Sequence[tuple]],
    *,
    capacity: int | Sequence[int] | None = None,
    max_split_size_mb: Sequence[int] = (),
    roundup_power2_divisions: Sequence[int] = (),
    start: int | None = None,
) -> Explorer:
    """Replay allocations through the modelled allocator, with a slider over the steps and a box for each setting.

    trace: a list of ("alloc", name, nbytes), ("free", name) and ("empty_cache",), such as `memory_line(run).trace`, or
    a mapping from short names to several. capacity: bytes of the device, or a list of them to choose from.
    max_split_size_mb, roundup_power2_divisions: values to choose from, beside none. start: the step shown first; the
    last where it is None. A replay that runs out of memory ends with that step.
    """
    traces: dict[str, Sequence[tuple]] = checked.versions(_one(trace), "a list of allocations")
    capacities = checked.options("capacity", capacity if isinstance(capacity, list | tuple) else [capacity])
    capacities = [each or 0 for each in capacities]
    replays: dict[tuple, Replay] = {}

    def replayed(version: str, limit: int, expandable: bool, split: int, divisions: int) -> Replay:
        key = version, limit, expandable, split, divisions
        if key not in replays:
            settings = {"expandable_segments": expandable, "max_split_size_mb": split or None}
            replays[key] = replay(traces[version], limit or None, roundup_power2_divisions=divisions, **settings)
        return replays[key]

    first = next(iter(traces))
    known = [replayed(name, limit, grows, 0, 0) for name in traces for limit in capacities for grows in (False, True)]
    rows, widest = max(map(rows_needed, known)), max(map(widest_row, known))
    shown_first = replayed(first, capacities[0], False, 0, 0)
    last = len(shown_first) - 1
    step = steps("step", 0, last)
    step.value = last if start is None else min(start, last)
    controls: dict[str, Control] = {}
    if len(traces) > 1:
        controls["program"] = dropdown("program", first, list(traces))
    controls["step"] = step
    controls["expandable"] = toggle("expandable segments")
    if len(capacities) > 1:
        named = [(f"{each / MIB:,.4g} MiB" if each else NO_LIMIT, each) for each in capacities]
        controls["limit"] = choice("capacity", capacities[0], named)
    for name, words, options in (
        ("split", "max_split_size_mb", max_split_size_mb),
        ("divisions", "roundup_power2_divisions", roundup_power2_divisions),
    ):
        if options:
            controls[name] = choice(words, 0, [("none", 0), *((str(each), each) for each in options)])

    def now(values: dict) -> Replay:
        return replayed(
            values.get("program", first), values.get("limit", capacities[0]), values["expandable"],
            values.get("split", 0), values.get("divisions", 0),
        )  # fmt: skip

    def fit() -> None:
        """A replay that ends early has fewer steps; whoever stood at the end stays at the end."""
        values = {name: control.value for name, control in controls.items()}
        end = len(now(values)) - 1
        at_end = step.value == step.max
        if step.max != end:
            step.max = end
            step.value = end if at_end else min(step.value, end)

    def draw(**values: Any) -> Drawing:
        found = now(values)
        return drawn(found, min(values["step"], len(found) - 1), rows=rows, widest=widest, name=_said(values))

    height = round(block_map_height(rows) + 30 + CAPTION_LINES * CAPTION_LINE)
    return Explorer("block_map", draw, controls, fit=fit, height=height)


def _one(trace: Sequence[tuple] | Mapping[str, Sequence[tuple]]) -> Mapping[str, Sequence[tuple]]:
    """A mapping of traces; a single one has no name."""
    if isinstance(trace, Mapping):
        return trace
    if not isinstance(trace, Sequence) or isinstance(trace, str):
        raise TypeError(f"a trace is a list of steps such as ('alloc', 'a', 512); this is a {type(trace).__name__}")
    return {"": trace}


def _said(values: dict) -> str:
    parts = [values.get("program", "")]
    parts += ["expandable segments"] if values["expandable"] else []
    parts += [f"max_split_size_mb {values['split']}"] if values.get("split") else []
    parts += [f"roundup_power2_divisions {values['divisions']}"] if values.get("divisions") else []
    said = ", ".join(each for each in parts if each)
    return f"{said[:1].upper()}{said[1:]}"

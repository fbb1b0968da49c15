"""What a PyTorch program's tensors hold, allocation by allocation, as its arguments change."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from helpers.pictures import plots
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, suited
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.torch.memory import memory_line


def memory(program: Callable[..., object], *, kept: Mapping[str, str] | None = None, **controls) -> Explorer:
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

    def draw(**values) -> Picture:
        said = ", ".join(f"{name} {value}" for name, value in values.items())
        line = memory_line(lambda: program(**values))
        return plots.memory_kinds(line, kept, name=said) if kept else plots.memory_steps(line, name=said)

    return Explorer("memory", draw, made, height=card_height(caption_lines=3 if kept else 2))

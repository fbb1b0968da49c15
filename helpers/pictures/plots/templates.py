"""Drawings from the SVG templates in `helpers/pictures/templates`, which hold every coordinate that is fixed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from helpers.pictures.figures import PALETTE, Drawing
from helpers.pictures.plots.common import bytes_text, speed_text
from helpers.pictures.plots.short_values import fitted
from vgpu.base.words import plural

FOLDER = Path(__file__).parents[1] / "templates"


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=lambda value: f"{value:.5g}" if isinstance(value, float) else value,
    )
    found.globals |= {**PALETTE, "zip": zip, "max": max, "min": min}
    found.filters |= {"bytes": bytes_text, "speed": speed_text, "fitted": fitted, "plural": plural}
    return found


def from_template(name: str, finding: str, **values: object) -> Drawing:
    """The drawing that `templates/<name>.svg` makes of these values, as wide as its viewBox says."""
    svg = re.sub(r">\s+<", "><", _environment().get_template(f"{name}.svg").render(values)).strip()
    width = svg.partition('viewBox="0 0 ')[2].split()[0]
    return Drawing(svg, finding, round(float(width)))

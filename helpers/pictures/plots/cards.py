"""One kernel's profile as cards, in the manner of Nsight Compute: what is busy, memory, occupancy, warps, hot lines."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from helpers.pictures.figures import PALETTE, Markup
from helpers.pictures.plots.common import bytes_text
from helpers.pictures.plots.short_values import fitted
from helpers.results.diagnose import WARP, Diagnosis
from vgpu.hardware.time_model import seconds_text
from vgpu.tools.profile import Line, Profile
from vgpu.tools.profile_table import number

WIDTH = 760
HOT_LINES = 3
LONGEST_NAME = 40
_SHOWN_SOURCE = 64
_BAR = 110  # pixels of a full bar
_MOST_UNITS = 6
_SHORT = {
    "L1 and shared memory": "L1 + shared",
    "special functions": "special units",
    "issue": "instruction issue",
    "launch": "launch overhead",
}

_TABLE = "border-collapse:collapse;width:100%;color:#222;background:transparent;font:13px/1.35 system-ui,sans-serif"
_CELL = "padding:1px 6px 1px 0;text-align:left;vertical-align:top;font-weight:normal;color:#222;background:transparent"
_NUMBER = _CELL.replace("text-align:left", "text-align:right").replace("0;text", "6px;text") + ";white-space:nowrap"
_HEAD = "margin:0;font:bold 13px/1.6 system-ui,sans-serif;color:#222"
_KIND = "font-weight:normal;color:#595959"
_HALF = "vertical-align:top;text-align:left;color:#222;background:transparent"
_CLEAR = "background:transparent"  # of every row: a stored page is untrusted, and JupyterLab gives its rows colours


def kernel_cards(diagnosis: Diagnosis, *, name: str = "") -> Markup:
    """A profile's cards on a white page of fixed width: the rule that fired, then five cards; all texts stay text."""
    profile = diagnosis.profile
    halves = ((_speed(profile), _memory(profile)), (_occupancy(profile), _warps(profile)))
    rows = "".join(
        f'<tr style="{_CLEAR}">'
        + "".join(f'<td style="width:50%;padding:4px 14px 4px 0;{_HALF}">{card}</td>' for card in row)
        + "</tr>"
        for row in halves
    )  # fmt: skip
    body = f'{_rule(diagnosis)}<table style="{_TABLE};table-layout:fixed"><tbody>{rows}</tbody></table>{_hot(profile)}'
    said = f"{fitted(name, LONGEST_NAME)}: " if name else ""
    return Markup(body, f"{said}{diagnosis.name} ({_found(diagnosis)}).", width=WIDTH)


def _found(diagnosis: Diagnosis) -> str:
    model, worst = diagnosis.profile.model, diagnosis.worst
    now = f"modelled {seconds_text(model.seconds)} on {model.gpu}, bound by {model.bound}"
    return f"{now}; {worst.gain:.2g} times as fast once fixed" if worst else f"{now}; no symptom worth fixing"


def _rule(diagnosis: Diagnosis) -> str:
    """What fired and what to do, and the symptoms that are there and do not matter."""
    worst = diagnosis.worst
    colour = PALETTE["vermilion"] if worst else PALETTE["green"]
    reading = f"{escape(worst.reading)}. " if worst else ""
    idle = [a for a in diagnosis.answers if a.present and a is not worst]
    more = "; ".join(
        f"{a.symptom.name} ({f'{a.gain:.2g} times' if a.counts else 'next to nothing to gain'})" for a in idle
    )
    also = f"<br>Also there: {escape(more)}." if more else "<br>&nbsp;"
    return (
        f'<div style="border-left:5px solid {colour};padding:2px 10px;margin-bottom:6px;'
        'font:13px/1.4 system-ui,sans-serif;color:#222">'
        f"<b>{'✗' if worst else '✓'} {escape(diagnosis.name)}</b>: {reading}{escape(diagnosis.remedy)}{also}</div>"
    )


def _card(title: str, kind: str, rows: Iterable[str]) -> str:
    return (
        f'<div style="{_HEAD}">{escape(title)} <span style="{_KIND}">· {escape(kind)}</span></div>'
        f'<table style="{_TABLE}"><tbody>{"".join(rows)}</tbody></table>'
    )


def _row(
    name: str, value: str, bar: float | None = None, *, strong: bool = False, colour: str = "blue", wraps: bool = False
) -> str:  # fmt: skip
    drawn = "" if bar is None else f'<td style="{_CELL};width:{_BAR}px">{_bar(bar, colour)}</td>'
    weight, span = ";font-weight:bold" if strong else "", "" if drawn else ' colspan="2"'
    look = _NUMBER.replace("white-space:nowrap", "white-space:normal") if wraps and len(value) > 24 else _NUMBER
    return (
        f'<tr style="{_CLEAR}">'
        f'<th scope="row" style="{_CELL};white-space:nowrap{weight}">{escape(name)}</th>{drawn}'
        f'<td{span} style="{look}{weight}">{escape(value)}</td></tr>'
    )


def _bar(share: float, colour: str) -> str:
    filled = round(_BAR * min(1.0, max(0.0, share)))
    return (
        f'<div style="width:{_BAR}px;height:10px;margin-top:4px;background:{PALETTE["mist"]}">'
        f'<div style="width:{filled}px;height:10px;background:{PALETTE[colour]}"></div></div>'
    )


def _speed(profile: Profile) -> str:
    """How much of the modelled time each resource is at work: the busiest one is the limit."""
    model = profile.model
    busiest = sorted(model.terms, key=model.terms.__getitem__, reverse=True)[:_MOST_UNITS]
    rows = []
    for unit in (unit for unit in model.terms if unit in busiest):
        share, limits = model.terms[unit] / model.seconds, unit == model.bound
        colour = "vermilion" if limits else "blue"
        rows.append(_row(_SHORT.get(unit, unit), f"{share:.0%}", share, strong=limits, colour=colour))
    return _card("Speed of light", f"modelled, % of {seconds_text(model.seconds)}", rows)


def _memory(profile: Profile) -> str:
    total, footprint = profile.total, profile.counters.footprint
    rows = []
    for op in ("load", "store"):
        per, use = profile[f"sectors_per_{op}_request"], profile[f"{op}_efficiency"]
        if use is not None:
            rows.append(_row(f"global {op}s", f"{number(per)} sectors a request, {min(use, 100):.0f} % used"))
    asked = sum(total[f"global_{op}_bytes"] for op in ("load", "store"))
    moved = 32 * sum(total[f"global_{op}_sectors"] for op in ("load", "store", "atomic"))
    if moved:
        rows.append(_row("lanes request", bytes_text(asked, "bytes")))
        rows.append(_row("sectors bring", bytes_text(moved, "bytes")))
        rows.append(_row("distinct", bytes_text(footprint.read_bytes + footprint.written_bytes, "bytes")))
    for op in ("load", "store"):
        per = profile[f"wavefronts_per_shared_{op}"]
        if per:
            rows.append(_row(f"shared {op}s", f"{number(per)} wavefronts a request"))
    local = total["local_load_requests"] + total["local_store_requests"]
    if local:
        rows.append(_row("local memory", f"{local:,} requests"))
    return _card("Memory workload", "counted", rows)


def _occupancy(profile: Profile) -> str:
    held = profile.occupancy
    return _card(
        "Occupancy",
        "compiler",
        (
            _row("warps an SM", f"{held.warps_per_sm} of {held.max_warps_per_sm}", held.fraction),
            _row("limited by", held.limiter, wraps=True),
            _row("registers a thread", str(profile.registers)),
            _row("shared memory a block", bytes_text(held.shared_bytes, "bytes")),
            _row("waves (modelled)", f"{profile['waves'] or 0:.2g}"),
        ),
    )


def _warps(profile: Profile) -> str:
    total, lanes = profile.total, profile["lanes_per_instruction"] or 0
    return _card(
        "Warps",
        "counted in PTX",
        (
            _row("active lanes", f"{lanes:.3g} of {WARP}", lanes / WARP),
            _row("divergent branches", f"{total['divergent_branches']:,} of {total['branches']:,}"),
            _row("warp instructions", f"{total['instructions']:,}"),
            _row("barriers", f"{total['barriers']:,}"),
            _row("stall reasons", "on a real GPU only"),
        ),
    )


_HOT = (
    ("instructions", lambda line: line["instructions"]),
    ("sectors", lambda line: line["global_load_sectors"] + line["global_store_sectors"]),
    ("conflicts", lambda line: line["shared_load_conflicts"] + line["shared_store_conflicts"]),
)


def _hot(profile: Profile) -> str:
    """The lines with the greatest share of anything."""
    sums = {name: sum(map(of, profile.lines)) for name, of in _HOT}
    shares = [(line, [of(line) / max(1, sums[name]) for name, of in _HOT]) for line in profile.lines]
    shares.sort(key=lambda row: (-max(row[1]), row[0].number))
    head = "".join(f'<th scope="col" style="{_NUMBER};color:#595959">{name}</th>' for name, _ in _HOT)
    rows = "".join(_hot_row(line, found) for line, found in shares[:HOT_LINES])
    return (
        f'<div style="{_HEAD}">Source hot spots <span style="{_KIND}">· counted, share of the kernel</span></div>'
        f'<table style="{_TABLE}"><thead><tr style="{_CLEAR}">'
        f'<th scope="col" style="{_CELL};color:#595959">line</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _hot_row(line: Line, shares: list[float]) -> str:
    source = line.source.strip()
    source = source if len(source) <= _SHOWN_SOURCE else source[: _SHOWN_SOURCE - 1] + "…"
    cells = "".join(f'<td style="{_NUMBER}">{f"{share:.0%}" if share else "–"}</td>' for share in shares)
    code = "background:transparent;color:#222;font-size:12px;white-space:pre"
    return (
        f'<tr style="{_CLEAR}"><th scope="row" style="{_CELL};white-space:nowrap">{line.number} '
        f'<code style="{code}">{escape(source)}</code></th>{cells}</tr>'
    )

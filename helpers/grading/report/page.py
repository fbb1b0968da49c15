"""The frame of every page: one self-contained file without scripts, read on a screen, a telephone, or paper."""

from __future__ import annotations

import base64
import hashlib

from helpers.grading.report.words import escaped

COLOURS = {
    "light": {
        "paper": "#ffffff",
        "card": "#f6f7f9",
        "ink": "#1c2127",
        "quiet": "#525a64",
        "line": "#cfd4da",
        "good": "#0b6640",
        "bad": "#a3311a",
        "open": "#7a4b00",
        "blue": "#0b5cad",
        "alarm": "#fff0ec",
        "track": "#e3e7eb",
    },
    "dark": {
        "paper": "#15181c",
        "card": "#1e2329",
        "ink": "#e8eaed",
        "quiet": "#aab2bb",
        "line": "#3a424b",
        "good": "#67d6a2",
        "bad": "#ff9f88",
        "open": "#f0bf5a",
        "blue": "#7fb8f5",
        "alarm": "#3a1d17",
        "track": "#333b44",
    },
}
"""By name: what text and lines stand on, what they are; green, red, amber, blue; the ground of an alarm, of a bar."""

_STYLE = """
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:anywhere;
font:16px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:52rem;margin:0 auto;padding:1.25rem 1rem 3rem}
h1{font-size:1.6rem;line-height:1.25;margin:.25rem 0}
h2{font-size:1.2rem;line-height:1.3;margin:2rem 0 .5rem}
h3{font-size:1rem;margin:1rem 0 .25rem}
p{margin:.4rem 0}
a{color:var(--blue)}
code{font:.9em/1.45 ui-monospace,"Cascadia Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
caption{text-align:left;color:var(--quiet);padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;font-weight:400;
border-bottom:1px solid var(--line);min-width:4rem}
thead th{color:var(--quiet);font-size:.875rem;border-bottom-width:2px}
tfoot th,tfoot td{font-weight:600;border-bottom:0}
th.number,td.number{text-align:right;padding-right:1.25rem;white-space:nowrap;font-variant-numeric:tabular-nums}
td.number:last-child,th.number:last-child{padding-right:0}
.quiet{color:var(--quiet)}
.small{font-size:.875rem}
.good{color:var(--good)}
.bad{color:var(--bad)}
.open{color:var(--open)}
.sign{display:inline-block;width:1.3em;font-weight:700}
.scroll{overflow-x:auto}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:.75rem 0}
.card>:first-child{margin-top:0}
.card>:last-child{margin-bottom:0}
.alarm{background:var(--alarm);border:2px solid var(--bad)}
.said{white-space:pre-wrap;margin:.5rem 0;padding:.1rem 0 .1rem .8rem;border-left:3px solid var(--line);overflow:hidden}
.said.code{font:.875rem/1.5 ui-monospace,"Cascadia Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
.score{font-size:1.25rem;margin:.75rem 0 .25rem}
.score b{font-size:2rem}
.steps{margin:.5rem 0;padding-left:1.2rem}
.steps li{margin:.35rem 0}
.steps code{display:inline-block;background:var(--track);border-radius:.25rem;padding:.05rem .4rem}
.tiles{display:flex;flex-wrap:wrap;gap:.75rem;margin:.75rem 0;padding:0;list-style:none}
.tiles li{flex:1 1 6.5rem;box-sizing:border-box;padding:.5rem .9rem;
background:var(--card);border:1px solid var(--line);border-radius:.5rem}
.tiles b{display:block;font-size:1.6rem;line-height:1.3;font-variant-numeric:tabular-nums}
.tiles .alarm{background:var(--alarm);border:2px solid var(--bad);color:var(--bad)}
figure{margin:.5rem 0}
figcaption{color:var(--quiet)}
svg{display:block;max-width:100%}
.histogram{width:34rem}
svg text{font:12px system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
svg .faint{fill:var(--quiet)}
svg .track{fill:var(--track)}
svg .bar{fill:var(--blue)}
svg .full{fill:var(--good)}
svg .axis{stroke:var(--line)}
.meter{width:100%;height:.6rem;border-radius:.3rem}
.share{width:8rem;height:.6rem;margin:.45rem 0;border-radius:.3rem}
footer{margin-top:2.5rem;padding-top:.75rem;border-top:1px solid var(--line);color:var(--quiet);font-size:.875rem}
@media (max-width:36rem){
main{padding:.75rem .75rem 2rem}
h1{font-size:1.35rem}
.card{padding:.6rem .75rem}
th,td{padding-right:.5rem}
.share{width:4rem}
}
@media print{
body{font-size:11pt}
main{max-width:none;padding:0}
h2,h3,thead,caption{break-after:avoid}
.card,tr,.tiles{break-inside:avoid}
.said{max-height:none}
}
"""


def _variables(name: str) -> str:
    return ":root{" + "".join(f"--{key}:{value};" for key, value in COLOURS[name].items()) + "}"


STYLE = (
    f":root{{color-scheme:light dark}}{_variables('light')}"
    f"@media (prefers-color-scheme:dark){{{_variables('dark')}}}"
    f"{_STYLE}@media print{{:root{{color-scheme:light}}{_variables('light')}}}"
)

_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"
"""What a browser may do for the page: apply its own style sheet, known by its hash, and nothing else."""


def page(title: str, body: str) -> bytes:
    """A page whose `body` is HTML with all texts escaped; `title` is plain."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f"<title>{escaped(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n"
        "</html>\n"
    ).encode()


def table(caption: str, heads: list[str], rows: list[list[str]], *, numbers: tuple[int, ...] = (), foot=()) -> str:
    """A table of HTML cells; the first of each row heads it, `numbers` are the columns set to the right."""
    css = lambda column: ' class="number"' if column in numbers else ""
    head = "".join(f'<th scope="col"{css(i)}>{text}</th>' for i, text in enumerate(heads))
    body = "".join(_row(row, css) for row in rows)
    last = f"<tfoot>{_row(list(foot), css)}</tfoot>" if foot else ""
    return (
        f'<div class="scroll"><table>{f"<caption>{caption}</caption>" if caption else ""}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody>{last}</table></div>"
    )


def _row(row: list[str], css) -> str:
    first, *others = row
    cells = "".join(f"<td{css(i)}>{text}</td>" for i, text in enumerate(others, 1))
    return f'<tr><th scope="row"{css(0)}>{first}</th>{cells}</tr>\n'


def name(text: str) -> str:
    """A name of a person or a file: escaped, and kept from turning round the words beside it."""
    return f"<bdi>{escaped(text)}</bdi>"


def meter(share: float, words: str, kind: str = "meter") -> str:
    """A bar filled to `share`, with words for whoever does not see it."""
    filled = round(200 * max(0.0, min(1.0, share)), 1)
    full = "full" if share >= 1 else "bar"
    return (
        f'<svg class="{kind}" viewBox="0 0 200 8" preserveAspectRatio="none" role="img" aria-label="{escaped(words)}">'
        f'<rect class="track" width="200" height="8"/><rect class="{full}" width="{filled:g}" height="8"/></svg>'
    )

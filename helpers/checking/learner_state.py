"""What a learner has answered and passed, kept outside the notebooks: in the user's data folder, one for each workbook.

A workbook is a folder with notebooks/ and helpers/, so a second clone begins at chapter 00. `WARPBOOK_STATE` names
another folder; `WARPBOOK_STATE=off` keeps nothing, for runs whose outputs are stored. Every entry is a file of its own,
replaced as a whole, so that two notebooks that write at once lose nothing of each other's.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from datetime import date
from pathlib import Path
from urllib.parse import quote

_one = threading.Lock()  # within this process; a thread reads an entry and replaces it
HERE = Path(__file__).resolve().parents[2]
PREDICTIONS, EXERCISES = "predictions", "exercises"


def state_folder() -> Path | None:
    """Where entries are kept, or None when `WARPBOOK_STATE=off`."""
    chosen = os.environ.get("WARPBOOK_STATE", "")
    if chosen.lower() == "off":
        return None
    if chosen:
        return Path(chosen).expanduser()
    place = workbook() or HERE
    return shared_folder() / f"{place.name}-{hashlib.sha256(str(place).encode()).hexdigest()[:8]}"


def workbook() -> Path | None:
    """The workbook that this process works in, else the one that `helpers` lies in; None in a wheel's installation."""
    try:
        here = Path.cwd()
    except OSError:  # a folder that was removed meanwhile
        here = HERE
    for folder in (here, *here.parents, HERE):
        if os.path.isdir(folder / "notebooks") and os.path.isdir(folder / "helpers"):
            return folder.resolve()
    return None


def shared_folder() -> Path:
    """The folder that holds those of all workbooks. Older versions kept everything in it, whatever the workbook."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "warpbook"


def _file(kind: str, key: str) -> Path | None:
    folder = state_folder()
    return folder / kind / f"{quote(key, safe='')}.json" if folder else None


def entry(kind: str, key: str) -> dict[str, object]:
    """What is kept of one prediction or exercise; empty when nothing is, or nothing that can be read."""
    path = _file(kind, key)
    try:
        kept = json.loads(path.read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError):  # no file yet, or one that someone cut short: never stop a lesson
        return {}
    return kept if isinstance(kept, dict) else {}


def keep(kind: str, key: str, **fields: object) -> None:
    """Add `fields` to what is kept under `key`; a folder that cannot be written stops no lesson."""
    path = _file(kind, key)
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.tmp")
        with _one:
            text = json.dumps({**entry(kind, key), **fields}, indent=1, sort_keys=True)
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(path)
    except (OSError, TypeError):  # a read-only home, or an answer that JSON has no form for
        pass


def today() -> str:
    """The date as it is kept, such as 2026-11-21."""
    return date.today().isoformat()

"""A program's stream operations: recorded, ordered and scheduled; `recording` has the functions that users call."""

from vgpu.tools.streams.exported import RecordingError
from vgpu.tools.streams.measured import MeasuredTimeline
from vgpu.tools.streams.order import Hazard
from vgpu.tools.streams.recording import Timeline, dry_run, record, schedule
from vgpu.tools.streams.spans import Schedule, Span
from vgpu.tools.streams.tally import Tally, tally

__all__ = [
    "Hazard",
    "MeasuredTimeline",
    "RecordingError",
    "Schedule",
    "Span",
    "Tally",
    "Timeline",
    "dry_run",
    "record",
    "schedule",
    "tally",
]


def __dir__() -> list[str]:
    return __all__

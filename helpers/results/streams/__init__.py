"""What a program asks of its streams: recorded, ordered, and scheduled; `recording` has the words that learners use."""

from helpers.results.streams.exported import RecordingError
from helpers.results.streams.measured import MeasuredTimeline
from helpers.results.streams.order import Hazard
from helpers.results.streams.recording import Timeline, record, rehearse, schedule
from helpers.results.streams.spans import Schedule, Span
from helpers.results.streams.tally import Tally, tally

__all__ = [
    "Hazard",
    "MeasuredTimeline",
    "RecordingError",
    "Schedule",
    "Span",
    "Tally",
    "Timeline",
    "record",
    "rehearse",
    "schedule",
    "tally",
]


def __dir__() -> list[str]:
    return __all__

"""What a program asks of its streams: recorded, ordered, and scheduled; `recording` has the words that learners use."""

from helpers.results.streams.recording import (
    Hazard,
    MeasuredTimeline,
    RecordingError,
    Schedule,
    Span,
    Timeline,
    record,
    rehearse,
    schedule,
)

__all__ = [
    "Hazard",
    "MeasuredTimeline",
    "RecordingError",
    "Schedule",
    "Span",
    "Timeline",
    "record",
    "rehearse",
    "schedule",
]

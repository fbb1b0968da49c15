"""Chapter 11, streams: functions that ask for work and return, judged by what their recording shows."""

ORDER = ("overlap", "join", "replay")

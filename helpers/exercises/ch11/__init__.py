"""Chapter 11, streams: what is asked of the GPU, judged by its recording, and a time worked out by hand."""

ORDER = ("early", "send", "finish", "overlap", "fill", "join", "replay")

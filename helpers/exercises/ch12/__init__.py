"""Chapter 12, profiling: gauges, times and tables read, a kernel's bottleneck named, and two problems fixed."""

ORDER = ("utilisation", "bandwidth", "selftime", "worth", "bottleneck", "settle")

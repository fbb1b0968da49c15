"""Launches: checks of the configuration, blocks on worker threads, counters per source line."""

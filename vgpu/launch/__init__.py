"""Launches: what one asks for is checked, its blocks run over worker threads, its counts come to lines."""

"""Results drawn, and moved by controls."""
